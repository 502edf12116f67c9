"""Write the rates of results/checks.json into docs/checks: one sentence a page, one table for all.

python benchmarks/check_rates.py
"""

from __future__ import annotations

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs" / "checks"


def put(path, mark, text):
    """Replace what stands between a mark and its end; without an end, put it there."""
    page = path.read_text()
    begin, end = f"<!-- {mark} -->", f"<!-- /{mark} -->"
    made = f"{begin}\n{text}\n{end}"
    if end in page:
        page = re.sub(f"{re.escape(begin)}.*?{re.escape(end)}", lambda _: made, page, flags=re.DOTALL)
    elif begin in page:
        page = page.replace(begin, made)
    else:
        page = page.replace("## What to do", f"{made}\n\n## What to do", 1)
    path.write_text(page)


def main():
    found = json.loads((ROOT / "results" / "checks.json").read_text())
    tables = len(found["tables"])
    lines = ["| check | fires on healthy tables | fires on made faults |", "|---|---|---|"]
    for row in found["checks"]:
        fired, of = row["healthy"]
        made = "; ".join(f"{fault}: {hits} of {n}" for fault, (hits, n) in row["faults"].items())
        lines.append(f"| {row['code']} {row['name']} | {fired} of {of} | {made or '(none made)'} |")
        told = f"On {of} healthy real tables, dealt out at random, it fires in {fired}."
        told = told if of else "It was not run on the healthy tables (slow, or for audits only)."
        hits = f" On made faults: {made}." if made else ""
        put(DOCS / f"{row['code']}.md", "rates", f"**Rates** (`python benchmarks/checks.py`). {told}{hits}")
    fired, of = found["pairs"]
    red, ran = found["tables_red"]
    head = (
        f"`python benchmarks/checks.py` deals {tables} real tables of installed packages out at random,\n"
        "300 rows of data and 400 of test at most, and scores them. "
        f"Of {of} (table, check) pairs {fired} fire ({fired / of:.1%}),\nand `--strict` is red on {red} of "
        f"{ran}. "
        "Rules were settled on 28 other tables (`results/checks.json` names both).\n\n"
    )
    put(DOCS / "README.md", "all rates", head + "\n".join(lines))


if __name__ == "__main__":
    main()
