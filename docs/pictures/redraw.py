"""Draw the figures of the studies and benchmarks again, from the results that are kept in `results/`.

python docs/pictures/redraw.py
"""

import csv
import json
import sys
from pathlib import Path

from dataworth_studies.curation_tables import draw_sizes
from dataworth_studies.mi_tables import write_summary
from dataworth_studies.regimes import COLUMNS, draw_regimes
from dataworth_studies.summary import fullest

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results"
sys.path.insert(0, str(ROOT / "benchmarks"))

WORDS = ("features", "labels", "regime")


def regimes() -> list[dict]:
    """The cells of the map; severities are whole numbers."""
    with (RESULTS / "curation" / "regimes.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return [{name: row[name] if name in WORDS else float(row[name]) for name in COLUMNS} for row in rows]


if __name__ == "__main__":
    import accuracy
    import waiting

    pooled = json.loads((RESULTS / "accuracy.json").read_text())["pooled"]
    accuracy.plot(pooled, ROOT / "docs" / "accuracy.svg")
    lines = json.loads((RESULTS / "waiting.json").read_text())["lines"]
    waiting.plot(list(lines.values()), ROOT / "docs" / "waiting.svg")
    draw_regimes(regimes(), RESULTS / "curation" / "regimes.svg")
    sizes = fullest(RESULTS / "curation" / "cells" / "stylized-catsdogs.jsonl")
    draw_sizes(sizes, RESULTS / "curation" / "stylized-catsdogs-sizes.svg")
    write_summary(RESULTS / "mi")
