"""Files, frames and whatever else holds a table, to Datasets."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any, Unpack

from dataworth.data.dataset import Dataset
from dataworth.data.io.notes import refuse_all, warn
from dataworth.data.io.roles import Role
from dataworth.data.io.sources import part_of
from dataworth.data.io.together import Options, naming, read_together, release, sentences


def read(
    source: Any,
    label: str | int | None = None,
    features: str | Sequence[str] | None = None,
    group: str | int | None = None,
    id: str | int | None = None,
    weights: str | int | None = None,
    impute: bool = False,
    exclude: str | Sequence[str] | None = None,
    attribute: str | int | None = None,
    *,
    categories: str | Sequence[str] | None = None,
    numbers: str | Sequence[str] | None = None,
    decimal: str | None = None,
    dates: str | None = None,
    exact_labels: bool = False,
    sep: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    sheet: str | None = None,
    sample: int | None = None,
    missing: str | Sequence[str] | None = None,
) -> Dataset:
    """Read a Dataset from a file, a directory or pattern of files, a frame, or another table.

    What is decided without being asked for (a decimal comma, a date, an id that is left out) is a
    `ReadingWarning`, which names the argument that changes it.

    Args:
        source: csv, tsv, txt, xlsx (extra `excel`), json, jsonl, parquet, feather, arrow or npz, by its
            suffix; a directory or a pattern (`part-*.csv`) of these; a pandas, polars or pyarrow frame; a
            Hugging Face `Dataset`, the directory it was saved to, or `hf:NAME:SPLIT`; a Bunch of
            scikit-learn. An npz holds `X` and `y` (and, if it likes, `groups`, `ids`, `weights`,
            `attributes`, `names`); they have these roles whatever columns are named in other files.
        label: the label column; guessed only if exactly one is named label, target, y, class or outcome.
        features: names or patterns (`emb_*`) of the feature columns; by default all that have no other role.
            A column that only numbers the rows (`rownames`, `Unnamed: 0`, or 1, 2, … n), or is named or looks
            like an id, is left out unless it is named here.
        group: the column that says which rows belong together (patient, document, prompt).
        id: the column that names rows; guessed from its name.
        weights: the column that says how often a row counts.
        impute: keep missing feature values, as NaN, for the yardstick to fill in, instead of refusing them.
        exclude: names or patterns of columns to leave out.
        attribute: the column that `match-groups`, `reweight` and the attribute check look at.
        categories: columns that are text as it is written, also if they look like numbers or dates.
        numbers: columns that are numbers, also if they look like codes (`007`).
        decimal: "." or ",", where the file leaves open whether `1,234` is 1234 or 1.234.
        dates: "dmy" or "mdy", where it leaves open whether 03/04/2021 is in March or in April.
        exact_labels: keep labels apart that differ only in case or spaces.
        sep: the separator of a text file; found by default.
        encoding: its encoding; by default UTF-8 or what its first bytes say, else Windows-1252.
        header: whether its first row names the columns; found by default.
        sheet: the sheet of an xlsx; the first by default.
        sample: how many rows to draw at random, without loading the others: of a Parquet or text file that
            does not fit in memory, say. Each set of as many rows is as likely as any other.
        missing: a text, or several, that stands for a missing value, beside empty cells, NA and the like:
            "xx", or a number such as -999.

    Returns:
        The Dataset.

    Raises:
        DataworthError: what is wrong with the file, all of it, in sentences that begin with its name.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = file.write_text("age,city,label\\n31,Ulm,0\\n45,Bonn,1\\n")
    >>> D = read(file)
    >>> D, D.names
    (Dataset(2 rows × 2 features, labels 0: 1, 1: 1), ('age', 'city'))
    >>> import pyarrow.csv
    >>> read(pyarrow.csv.read_csv(file), exclude="city")
    Dataset(2 rows × 1 feature, labels 0: 1, 1: 1)
    """
    asked: Any = {name: value for name, value in locals().items() if name not in ("source", "impute")}
    (found,) = read_together([source], impute=impute, **asked)
    refuse_all(sentences([found]))
    warn(found.notes, found.name)
    assert found.data is not None
    data = found.data
    del found
    release()
    return data


def read_with_roles(
    source: Any, *, impute: bool = False, **asked: Unpack[Options]
) -> tuple[Dataset, list[Role]]:
    """As `read`, with the role of every column, so that a guess can be shown."""
    (found,) = read_together([source], impute=impute, **asked)
    refuse_all(sentences([found]))
    assert found.data is not None
    return found.data, found.roles


def read_table(path: str | PathLike[str]) -> Any:
    """The file as a pyarrow Table, with rows and with distinct column names."""
    with naming(path):
        return part_of(path).table
