"""What a terminal shows of every kind of result, with -v: texts that a change must not move unnoticed.

    python tests/golden/texts.py            # compare with texts/*.txt; exit 1 if one moved
    python tests/golden/texts.py --write    # write them again: say in the commit what moved, and why

Words are compared as they are, numbers to two hundredths: other machines round otherwise. Hashes are masked.
"""

import io
import re
import sys
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).with_suffix("")
sys.path.insert(0, str(FOLDER.parents[1]))

from rich.console import Console  # noqa: E402

import dataworth as dw  # noqa: E402
from dataworth.data.io import describe  # noqa: E402
from dataworth.report import views  # noqa: E402
from dataworth.valuation.demo import Chapter, Demo  # noqa: E402
from worlds import classes, flipped, held_out, numeric_labels, yardstick  # noqa: E402

NUMBER = re.compile(r"[+−-]?\d[\d,]*\.?\d*(?:e[+-]?\d+)?")
PLAIN = classes(60, seed=1)
DATA = dw.Dataset(PLAIN.X, PLAIN.y, attributes=["north", "south"] * 30)
NOISY, BAD = flipped(DATA, 0.3, seed=1)
TABLE = "a,b,c,d,e,f,label\n1,2,3,4,,6,0\n2,3,4,5,6,7,1\n"


@cache
def results():
    """One of every kind, and of every way in which it is told."""
    test, options = held_out(), {"yardstick": yardstick(), "keep_data": True}
    quietly = {**options, "ignore": "all"}
    drawn = {"pairs": 4, "size": 20, **quietly}
    score = dw.score(DATA, test, **options)
    cut = dw.audit(DATA, DATA.take(range(20)), test, **quietly)
    rise = dw.audit(NOISY, NOISY.take(~BAD), test, **options)
    ranking = dw.rank({"all": DATA, "noisy": NOISY, "two thirds": DATA.take(range(40))}, test, **quietly)
    sourced = dw.Dataset(NOISY.X, NOISY.y, groups=["a", "b"] * 30)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "table.csv").write_text(TABLE)
        described = replace(describe(Path(folder, "table.csv")), path="table.csv")
    chapters = (Chapter("a cut", "most rows go", cut), Chapter("a rise", "bad labels go", rise, (0.7, 0.8)))
    return {
        "score": score,
        "score-numeric": dw.score(numeric_labels(60, seed=1), numeric_labels(80, seed=2), ignore="all"),
        "audit-rise": rise, "audit-cut": cut,
        "audit-size": dw.audit(NOISY, NOISY.take(~BAD), test, design="equal-size", **drawn),
        "rank": ranking, "rank-alone": replace(ranking, ranking=ranking.ranking[:1]),
        "values": dw.values(sourced, test, cross_fit=2, yardstick=yardstick()),
        "contributions": dw.contributions(
            {"a": DATA.take(range(30)), "b": DATA.take(range(30, 60))}, test, yardstick=yardstick()
        ),
        "forecast": dw.forecast(DATA, test, target=1.0, yardstick=yardstick()),
        "public": rise.public(),
        "sensitivity": dw.sensitivity(score, priors=[0.1, 1.0, 10.0]), "demo": Demo(chapters, 0),
        "yardstick": yardstick(), "description": described,
    }  # fmt: skip


def shown(result, width=100, **how):
    """The text of a result on a terminal of this width."""
    console = Console(width=width, file=io.StringIO(), highlight=False, color_system=None)
    console.print(views.full(result, **how))
    lines = (line.rstrip() for line in console.file.getvalue().splitlines())
    return re.sub(r"\b(?=[0-9a-f]*\d)[0-9a-f]{12,}\b", "…", "\n".join(lines) + "\n")


def same(one, other):
    if NUMBER.sub("#", " ".join(one.split())) != NUMBER.sub("#", " ".join(other.split())):
        return False
    found = [[float(n.replace("−", "-").replace(",", "")) for n in NUMBER.findall(t)] for t in (one, other)]
    return all(abs(a - b) <= 0.02 * max(1.0, abs(a)) for a, b in zip(*found, strict=True))


def main():
    moved = []
    for name, result in results().items():
        file, text = FOLDER / f"{name}.txt", shown(result, verbose=True)
        if "--write" in sys.argv:
            file.write_text(text, encoding="utf-8")
        elif not file.exists() or not same(text, file.read_text(encoding="utf-8")):
            moved.append(name)
    print("moved:", ", ".join(moved) or "none")
    return bool(moved)


if __name__ == "__main__":
    sys.exit(main())
