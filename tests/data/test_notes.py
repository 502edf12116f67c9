"""Few lines of what was decided; keywords in Python, flags on the command line."""

import re
import warnings

import numpy as np
from typer.testing import CliRunner

import dataworth as dw
from dataworth.cli.app import app
from dataworth.data.io import describe, read_together
from dataworth.data.io.notes import in_few_lines

RNG = np.random.default_rng(4)
FLAG = re.compile(r"(?<!\w)--[a-z]")


def messy(path, columns=6, rows=40):
    """Many columns of decimal commas with gaps, dates, customers' numbers; not UTF-8."""
    head = [*(f"Größe {j}" for j in range(columns)), "Tag", "Kunden-ID", "label"]
    lines = []
    for i in range(rows):
        cells = [f"{RNG.normal():.3f}".replace(".", ",") for _ in range(columns)]
        cells[0] = "k.A." if i == 5 else cells[0]
        lines.append([*cells, f"{1 + i % 28:02}.03.2021", str(1000 + i // 2), str(i % 2)])
    path.write_bytes("\n".join(";".join(cells) for cells in [head, *lines]).encode("latin-1"))
    return path


def test_a_line_for_each_kind_of_decision(tmp_path):
    path = messy(tmp_path / "a.csv")
    done = CliRunner().invoke(app, ["commit", str(path), "--impute", "--key", "k" * 16])
    lines = [line.removeprefix("dataworth: ") for line in done.stderr.splitlines()]
    assert len(lines) <= 8
    (gaps,) = [line for line in lines if line.startswith("taken for missing")]
    assert gaps == "taken for missing: 'Größe 0' ('k.A.', 1 cell); --categories keeps the text"
    (out,) = [line for line in lines if line.startswith("left out")]
    assert out.startswith("left out: 'Kunden-ID' (named like an id); --features uses it")
    assert CliRunner().invoke(app, ["commit", str(path), "--impute", "-q"]).stderr == ""


def test_python_hears_keywords_and_the_command_line_flags(tmp_path):
    path = messy(tmp_path / "a.csv")
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        dw.read(path, impute=True)
    told = [str(one.message) for one in heard]
    assert any("decimal= says" in one for one in told)
    assert not [one for one in told if FLAG.search(one)]
    lines = CliRunner().invoke(app, ["describe", str(path)]).output
    assert "--decimal says" in " ".join(lines.split())
    assert "decimal=" not in lines


def test_a_column_with_a_marker_is_told_of_once(tmp_path):
    """One stray among numbers is a problem, many are text; neither names the rows beside."""
    for times, sep, mark in ((4, ",", "xx"), (60, ",", "xx"), (4, ",", "?"), (4, ";", "?")):
        rng = np.random.default_rng(0)
        cells = [f"{v:.3f}".replace(".", "," if sep == ";" else ".") for v in rng.normal(size=200)]
        cells[:times] = [mark] * times
        lines = [f"{cell}{sep}{i % 7}{sep}{i % 2}" for i, cell in enumerate(cells)]
        path = tmp_path / "a.csv"
        path.write_text(f"a{sep}b{sep}label\n" + "\n".join(lines))
        told = describe(path, impute=True)
        (one,) = [text for text in (*told.problems, *told.notes) if mark in text]
        if times == 60:
            assert "left out: 'a' (it seems to name the rows, for it mixes" in one
            assert "which missing='xx' reads as missing" in one
            assert in_few_lines({"a": read_together([path])[0].notes})[0].startswith("left out: 'a'")
