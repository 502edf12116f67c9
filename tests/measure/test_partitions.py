"""One fit shared out by partitions: that of all rows at once, the same bits whoever works them out."""

import pytest
from tests.chunks import Elsewhere

from dataworth.measure import streaming_posterior as passes
from dataworth.measure.options import Options
from dataworth.measure.streaming_posterior import Passes
from dataworth.parallel import Local
from streams import stream_of, two_classes


def fitted(stream, yard, engine, **settings):
    with Passes(stream, yard, Options(engine=engine, **settings), None, "the data") as made:
        return made.fitted(1.0), made


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    return stream_of(two_classes(900, 2), tmp_path_factory.mktemp("numbers") / "rows.parquet", group=400)


def test_the_same_bits_with_more_processes_or_features_that_are_not_kept(numbers, monkeypatch):
    stream, yard = numbers
    (one, _), kept = fitted(stream, yard, Local(1))
    assert kept.lens.folder is not None
    assert not kept.lens.folder.exists()  # once it is over
    for engine in (Local(2), Elsewhere()):
        (other, _), made = fitted(stream, yard, engine)
        assert (other.mean == one.mean).all()
        assert (other.precision == one.precision).all()
    assert made.lens.folder is None
    monkeypatch.setattr(passes, "ROOM", 0.0)  # a disk that is full
    assert fitted(stream, yard, Local(1))[1].lens.folder is None


def test_large_files_are_shared_out_unless_it_is_said_otherwise(numbers, monkeypatch):
    stream, _ = numbers
    assert passes._engine(stream, Options()) == Local(1)
    monkeypatch.setattr(passes, "PARALLEL_CELLS", 900 * 4 - 1)
    assert passes._engine(stream, Options()) == Local(-1)
    assert passes._engine(stream, Options(jobs=1)) == Local(1)
