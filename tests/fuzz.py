"""Hostile input, made from small good files: for every reader, for the files of a run, for the command line.

A `Case` is pure in (seed, i): files in a folder of its own, and words for the command line. `outcome` says
how it ended: "done", "refused", or what must never be: "traceback", "bug", "hang", "half-written", "garbage".
"""

import gzip
import io
import json
import os
import shutil
import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from dataworth.atomic import BLANK, CHECKSUM, with_checksum
from dataworth.embed.images import Images
from dataworth.embed.labelled import read_images
from dataworth.parallel.runs import _read_config, signer
from dataworth.yardstick.file import digest_of
from fuzz_bytes import ODD, VALUES, changed_json, mutate, repacked, strange_array, strange_table
from fuzz_outcome import SMALL, Case, made

TABLES = (
    "csv", "tsv", "txt", "csv.gz", "jsonl", "jsonl.gz", "json", "parquet", "feather", "arrow", "npz", "xlsx",
)  # fmt: skip


def case(seed: int, i: int, seeds: Path, folder: Path) -> Case:
    rng = np.random.default_rng([seed, i])
    make, name = MAKERS[i % len(MAKERS)]
    return make(name, rng, seeds, folder)


def _table(name: str, rng: np.random.Generator, seeds: Path, folder: Path) -> Case:
    place = folder / f"bad.{name}"
    place.write_bytes(_content(name, rng, seeds))
    if rng.random() < 0.8:
        more = [
            [], ["--label", "label"], ["--impute"], ["--no-label-normalization"], ["--decimal", ","],
            ["--json"],
        ]  # fmt: skip
        return Case(name, ["describe", place.name, *more[rng.integers(len(more))]])
    _copied(seeds, folder, "y.json", "test.csv")
    words = ["score", place.name, "--test", "test.csv", "--label", "label", "--yardstick", "y.json", "-q"]
    return Case(name, [*words, "--ignore", "all", "--features", "a,b"])


def _content(name: str, rng: np.random.Generator, seeds: Path) -> bytes:
    raw = (seeds / f"t.{name}").read_bytes()
    how = rng.random()
    if how < 0.05:  # another format under this name
        raw = (seeds / f"t.{TABLES[rng.integers(len(TABLES))]}").read_bytes()
        return raw if rng.random() < 0.5 else mutate(raw, rng)
    if name.endswith(".gz") and how < 0.7:
        return gzip.compress(mutate(gzip.decompress(raw), rng))
    if name in ("npz", "xlsx") and how < 0.6:
        return repacked(raw, rng)
    if how < 0.35:
        return _typed(name, raw, rng)
    return mutate(raw, rng)


def _typed(name: str, raw: bytes, rng: np.random.Generator) -> bytes:
    out = io.BytesIO()
    if name == "json":
        return json.dumps(changed_json(json.loads(raw), rng)).encode()
    if name == "jsonl":
        rows = [json.loads(line) for line in raw.splitlines()]
        return "".join(json.dumps(row) + "\n" for row in changed_json(rows, rng)).encode()  # type: ignore[attr-defined]
    if name in ("csv", "tsv", "txt"):
        lines = [line.split(b",") for line in raw.splitlines()]
        for _ in range(rng.integers(1, 30)):
            row = lines[rng.integers(len(lines))]
            row[rng.integers(len(row))] = ODD[rng.integers(len(ODD))]
        return b"\n".join(map(b",".join, lines))
    if name in ("parquet", "feather", "arrow"):
        table = strange_table(rng)
        if name == "parquet":
            try:
                pa.parquet.write_table(table, out)
            except pa.ArrowException:  # what parquet has no type for
                pa.parquet.write_table(table.select(["label"]), out)
        else:
            with pa.ipc.new_file(out, table.schema) as sink:
                sink.write_table(table)
        return out.getvalue()
    if name == "npz":
        np.savez(out, **{key: strange_array(rng) for key in ("X", "y", "groups")[: rng.integers(1, 4)]})
        return out.getvalue()
    return mutate(raw, rng)


def _copied(seeds: Path, folder: Path, *names: str) -> None:
    for name in names:
        (shutil.copytree if (seeds / name).is_dir() else shutil.copy)(seeds / name, folder / name)


MEASURED = ["--label", "label", "-q", "--ignore", "all", "--pairs", "4", "--size", "10"]


def _spoiled(place: Path, rng: np.random.Generator, share: float, digest: bool = False) -> None:
    """Bytes damaged; or plain data changed under a checksum that fits, which anybody can compute."""
    raw = place.read_bytes()
    if place.suffix != ".json" or rng.random() >= share:
        place.write_bytes(mutate(raw, rng))
        return
    told, sealed = changed_json(json.loads(raw), rng), b'"checksum"' in raw
    if isinstance(told, dict) and sealed:
        told = {"checksum": BLANK, **{k: v for k, v in told.items() if k != "checksum"}}
        if digest and rng.random() < 0.7:
            told["digest"] = digest_of({k: v for k, v in told.items() if k not in ("digest", "checksum")})
    raw = json.dumps(told).encode()
    place.write_bytes(with_checksum(raw) if sealed else raw)


def _sealed(name: str, rng: np.random.Generator, seeds: Path, folder: Path) -> Case:
    _copied(seeds, folder, "good.csv", "test.csv", "y.json", "v.safetensors")
    place = folder / {"sealed": "v.safetensors", "yardstick": "y.json"}[name]
    _spoiled(place, rng, 0.5, digest=True)
    raw = place.read_bytes()
    found = CHECKSUM.search(raw.decode("latin-1"))
    if found and rng.random() < 0.7:
        place.write_bytes(with_checksum(raw.replace(found[0].encode(), BLANK.encode(), 1)))
    given = "v.safetensors" if name == "sealed" or rng.random() < 0.2 else "good.csv"
    return Case(name, ["score", given, "--test", "test.csv", "--yardstick", "y.json", *MEASURED[:5]])


def _run(name: str, rng: np.random.Generator, seeds: Path, folder: Path) -> Case:
    _copied(seeds, folder, "good.csv", "test.csv", "run")
    files = ("config.json", "config.json", "chunks.jsonl", "result.json")
    place = folder / "run" / files[rng.integers(4)]
    # the run was made elsewhere: its files are here now
    config = (folder / "run" / "config.json").read_text().replace(str(seeds), str(folder))
    (folder / "run" / "config.json").write_text(config)
    log = folder / "run" / "chunks.jsonl"
    rows = [json.loads(line)["rows"] for line in log.read_text().splitlines()]
    changed = place == log and rng.random() < 0.5
    rows = changed_json(rows, rng) if changed else rows
    sign = signer(_read_config(folder / "run"))  # by the user's own key, else they are computed again
    told = [{"chunk": k, "mac": sign(k, one), "rows": one} for k, one in enumerate(rows)]
    log.write_text("".join(json.dumps(one) + "\n" for one in told))
    if changed:
        (folder / "run" / "result.json").unlink(missing_ok=True)
    elif place.exists():
        _spoiled(place, rng, 0.6 if place.name == "config.json" else 0.0)
    if name == "run directory":
        return Case(name, ["resume", "run", "-q", "--ladder", "ladder.json"])
    shutil.copy(folder / "run" / "config.json", folder / "job.json")
    return Case(name, ["run", "job.json", "-q"])


def _ladder(name: str, rng: np.random.Generator, seeds: Path, folder: Path) -> Case:
    _copied(seeds, folder, "good.csv", "test.csv", "ladder.json")
    _spoiled(folder / "ladder.json", rng, 0.6)
    ladder = ["--prior-variance", "1", "--ladder", "ladder.json"]
    return Case(name, ["score", "good.csv", "--test", "test.csv", *ladder, *MEASURED])


def _values(name: str, rng: np.random.Generator, seeds: Path, folder: Path) -> Case:
    """Beside the data, where an audit looks for them."""
    _copied(seeds, folder, "good.csv", "test.csv", "values.csv", "values.csv.about.json")
    place = folder / ("values.csv", "values.csv.about.json")[rng.integers(2)]
    _spoiled(place, rng, 0.5)
    lines = (folder / "good.csv").read_text().splitlines(keepends=True)
    (folder / "after.csv").write_text("".join(lines[:50]))
    yard = ["--yardstick", str(seeds / "y.json")]
    words = ["audit", "good.csv", "after.csv", "--test", "test.csv", *yard, *MEASURED[:5]]
    return Case(name, [*words, "--values", place.name] if rng.random() < 0.3 else words)


SUITE = {
    "base": "HEAD",
    "defaults": {"test": "test.csv", "label": "label", "fail_on": ["harmful"], "max_rows_lost": 0.2},
    "audit": {
        "same": {"data": "good.csv", "before": "good.csv", "slices": ["city"]},
        "cut": {
            "data": "good.csv", "before": "t.csv", "yardstick": "y.json", "ignore": "all", "pairs": 4,
            "size": 10, "features": ["a", "b"], "min_rows": 10, "min_of_ceiling": 0.1, "checks": ["DW001"],
        },
        "alone": {"data": "good.csv", "before": False, "yardstick": "y.json", "pairs": 4, "size": 10},
        "from-git": {"data": "good.csv", "na_values": ["-999", "?"], "ladder": "ladder.json"},
    },
}  # fmt: skip


def _toml(value: object) -> str:
    """Plain data as a value of TOML, of a kind that it may not have."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(str(k))} = {_toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return '"none"' if value is None else json.dumps(value).replace("NaN", "nan").replace("Infinity", "inf")


def _suite(name: str, rng: np.random.Generator, seeds: Path, folder: Path) -> Case:
    """Keys and values that are gone, odd or in another's place; bytes damaged; files that are not there."""
    _copied(seeds, folder, "good.csv", "test.csv", "t.csv", "y.json")
    told: object = SUITE
    if rng.random() < 0.7:  # there is no repository
        told = {**SUITE, "audit": {k: v for k, v in SUITE["audit"].items() if k != "from-git"}}
    for _ in range(rng.integers(0, 4)):
        told = changed_json(json.loads(json.dumps(told)), rng)
    if rng.random() < 0.3 and isinstance(told, dict):  # options that there are, with values that are none
        from dataworth.cli.suite.file import KNOWN

        key, value = KNOWN[rng.integers(len(KNOWN))], VALUES[rng.integers(len(VALUES))]
        told = {**told, "defaults": {"test": "test.csv", key: value}}
    tables = told if isinstance(told, dict) else {"audit": told}
    raw = "".join(f"{json.dumps(str(key))} = {_toml(value)}\n" for key, value in tables.items()).encode()
    raw = raw if rng.random() < 0.6 else mutate(raw, rng)
    (folder / "dataworth.toml").write_bytes(raw)
    if rng.random() < 0.1:
        _spoiled(folder / ("good.csv", "y.json", "test.csv")[rng.integers(3)], rng, 0.5)
    words = ["check", "--no-cache"] if rng.random() < 0.9 else ["check", "same", "--no-cache"]
    more = [[], ["--json"], ["-q"], ["--junit", "j.xml", "--markdown", "c.md"], ["--base", "none"]]
    return Case(name, [*words, *more[rng.integers(len(more))]])


def _images(name: str, rng: np.random.Generator, seeds: Path, folder: Path) -> Case:
    for file in (seeds / "i").rglob("*.*"):
        place = folder / "i" / file.parent.name / file.name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(mutate(file.read_bytes(), rng) if rng.random() < 0.3 else file.read_bytes())
    return Case(name, [], lambda: look_at(folder / "i"))


def _directory(name: str, rng: np.random.Generator, seeds: Path, folder: Path) -> Case:
    """Shards, links in circles and to nowhere, pipes, what Hugging Face writes; one of them is damaged."""
    place = folder / "d"
    place.mkdir()
    for k in range(rng.integers(1, 4)):
        source = seeds / f"t.{TABLES[rng.integers(len(TABLES))]}"
        target = place / f"{('part', 'train', 'a b')[rng.integers(3)]}-{k}.{source.name[2:]}"
        target.write_bytes(source.read_bytes() if rng.random() < 0.5 else mutate(source.read_bytes(), rng))
    odd = rng.integers(6)
    if odd == 0:
        os.mkfifo(place / "pipe.csv")
    elif odd == 1:
        (place / "dataset_dict.json").write_bytes(mutate(b'{"splits": ["train", "test"]}', rng))
    else:
        links = {
            "loop": place, "gone.csv": place / "nothing", "self.csv": place / "self.csv",
            "dev.csv": "/dev/zero",
        }  # fmt: skip
        link = list(links)[odd - 2]
        (place / link).symlink_to(links[link])
    given = ["d", "d/*", "d/**", "d/*.csv", "d/pipe.csv", "d/dev.csv"][rng.integers(6)]
    return Case(name, ["describe", given])


def _preferences(name: str, rng: np.random.Generator, seeds: Path, folder: Path) -> Case:
    raw = (seeds / "p.jsonl").read_bytes()
    made = _typed("jsonl", raw, rng) if rng.random() < 0.5 else mutate(raw, rng)
    (folder / "bad.jsonl").write_bytes(made)
    return Case(name, ["describe", "bad.jsonl"])


def _words(name: str, rng: np.random.Generator, seeds: Path, folder: Path) -> Case:
    """Words in any order, most of them options that there are, with values that are none."""
    _copied(seeds, folder, "good.csv", "test.csv", "y.json", "v.safetensors")
    commands = {k: v for k, v in made().commands.items() if k not in ("demo", "study", "embed")}  # type: ignore[attr-defined]
    chosen = list(commands)[rng.integers(len(commands))]
    options = [one for p in commands[chosen].params for one in p.opts if one.startswith("--")]
    files = ["good.csv", "y.json", "v.safetensors", "none.csv", ".", "/dev/null", "", "é", "-", "good.csv/x"]
    files.append("x" * 300)
    odd = "0 -1 1e999 nan a,b , label auto \0 \x1b[31m 1,2,3 a=b é all".split(" ")  # noqa: SIM905
    odd += ["10" * 30, *files]
    words = [chosen, *(str(files[k]) for k in rng.integers(len(files), size=rng.integers(0, 3)))]
    if rng.random() < 0.8:
        words += ["--test", "test.csv"]
    for _ in range(rng.integers(0, 4)):
        words.append(options[rng.integers(len(options))])
        if rng.random() < 0.7:
            words.append(odd[rng.integers(len(odd))])
    # what is measured where nothing is wrong is to be small
    small = [*SMALL[:6], "-q"] if chosen in ("score", "audit", "rank") else []
    return Case(name, [word.replace("\0", "\\0") for word in [*words, *small]])


def _bomb(name: str, rng: np.random.Generator, seeds: Path, folder: Path) -> Case:
    """Small files that are large, wide or deep."""
    kind, n = rng.integers(10), int(rng.integers(1, 4))
    if kind == 6:
        with gzip.open(folder / "bad.csv.gz", "wb", 1) as out:
            out.write(b"a,label\n")
            for _ in range(40 * n):
                out.write(b"0,0\n" * 1_000_000)
        return Case(name, ["describe", "bad.csv.gz"])
    if kind == 7:
        np.savez_compressed(folder / "bad.npz", X=np.zeros((n * 10**6, 20)), y=np.zeros(n * 10**6))
        return Case(name, ["describe", "bad.npz"])
    if kind == 8:
        head = ",".join(f"c{j}" for j in range(2000 * n))
        (folder / "bad.csv").write_text(head + ("\n" + "1," * (2000 * n - 1) + "0") * 3)
        return Case(name, ["describe", "bad.csv", "--label", "c0"])
    if kind == 9:
        deep = '{"a": ' * 500 * n + "1" + "}" * 500 * n
        (folder / "bad.jsonl").write_text('{"a": ' + deep + ', "label": 1}\n')
        return Case(name, ["describe", "bad.jsonl"])
    if kind == 0:
        (folder / "bad.json").write_text('[{"a": ' + "[" * 10**5 * n + "]" * 10**5 * n + "}]")
        return Case(name, ["describe", "bad.json"])
    if kind == 1:
        (folder / "bad.csv").write_text('a,label\n"' + "x" * 10**7 * n + '",1\n2,0\n')
        return Case(name, ["describe", "bad.csv"])
    if kind == 2:  # 10⁹ rows in a few kilobytes
        schema = pa.schema([("a", pa.int64()), ("label", pa.int64())])
        with pa.parquet.ParquetWriter(folder / "bad.parquet", schema) as out:
            out.write_table(pa.table([np.zeros(10**6, int), np.ones(10**6, int)], schema=schema))
        raw = bytearray((folder / "bad.parquet").read_bytes())
        (folder / "bad.parquet").write_bytes(raw.replace(b"\x80\x89z", b"\x80\xa8\xd6\xb9\x07"))
        return Case(name, ["describe", "bad.parquet"])
    if kind == 3:  # an image of 50,000 × 50,000 pixels, and one of 300 MB of zeros
        chunk = b"IHDR" + struct.pack(">IIBBBBB", 50_000, 50_000, 8, 2, 0, 0, 0)
        png = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + chunk + struct.pack(">I", zlib.crc32(chunk))
        (folder / "i" / "a").mkdir(parents=True)
        (folder / "i" / "a" / "1.png").write_bytes(png if n > 1 else bytes(300_000_000))
        return Case(name, [], lambda: look_at(folder / "i"))
    if kind == 4:  # a cell far away, or 150 MB of spaces
        raw, made = (seeds / "t.xlsx").read_bytes(), io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(raw)) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
            for entry in old.namelist():
                content = old.read(entry)
                if entry.endswith("sheet1.xml"):
                    far = content.replace(b'r="A2"', b'r="XFD1048576"', 1)
                    content = far if n == 1 else content + b" " * 150_000_000
                new.writestr(entry, content)
        (folder / "bad.xlsx").write_bytes(made.getvalue())
        return Case(name, ["describe", "bad.xlsx"])
    for k in range(200):
        (folder / f"d{k}").symlink_to(folder / f"d{(k + 1) % 200}")
    return Case(name, ["describe", "d0"])


def look_at(place: Path) -> None:
    """All that embedding does with images before a network sees them."""
    images = Images(read_images(place).images)
    images.sizes()
    for i in range(len(images)):
        images.pixels(i, 8)


CHEAP = [
    *[(_table, name) for name in TABLES], (_sealed, "sealed"), (_sealed, "yardstick"), (_images, "images"),
    (_directory, "directory"), (_preferences, "preferences"), (_words, "words"),
]  # fmt: skip
DEAR = [
    (_run, "run directory"), (_run, "configuration"), (_ladder, "ladder"), (_values, "values"),
    (_suite, "suite"), (_bomb, "bomb"),
]  # fmt: skip
MAKERS = [*CHEAP, *DEAR, *CHEAP, *CHEAP]
"""What is read in hundredths of a second three times as often as what is measured, in tenths."""
