"""`values` as a command: its file is found beside the data, and sources have two names."""

import json

import pyarrow.csv
import pyarrow.parquet as pq

from commands import call, measured


def test_an_audit_finds_the_file_of_values_beside_the_data(inside, tmp_path, monkeypatch):
    for name in ("raw.csv", "test.csv"):
        (tmp_path / name).write_bytes((inside / name).read_bytes())
    monkeypatch.chdir(tmp_path)
    words = ("--test", "test.csv", "--yardstick", inside / "y.json", "--label", "target", "-q")
    assert call("values", "raw.csv", *words, "-o", "values.parquet")[0] == 0
    table = pq.read_table("values.parquet")
    assert table.column_names == ["row", "value", "stderr", "log_label", "p_wrong", "harmful"]
    wrong = table.column("p_wrong").to_pylist()
    kept = sorted(sorted(range(len(wrong)), key=lambda i: wrong[i])[:-12])
    pyarrow.csv.write_csv(pyarrow.csv.read_csv("raw.csv").take(kept), "fewer.csv")
    code, _, err = call("audit", "raw.csv", "fewer.csv", *words)
    assert code == 2
    assert "values.parquet puts first by" in err


def test_sources_are_named_by_source_and_by_its_older_name(inside):
    """In values --group is another name of --source."""
    told = [
        measured("values", "vendors.csv", name, "vendor", "--json", "-q")[1]
        for name in ("--source", "--group")
    ]
    assert told[0] == told[1]
    assert sorted(one["name"] for one in json.loads(told[0])["groups"]) == ["x", "y"]
