"""Ray: a real cluster of processes on this machine, a worker and a node killed in the middle.

A cluster takes seconds to start: there is one test, and it asks everything of it.
"""

import os
import sys

import joblib
import numpy as np
import pytest
from tests.chunks import dies, endless, picky, seen, sums

import dataworth as dw
from dataworth.embed import embed
from dataworth.measure.options import Options
from dataworth.measure.streaming_posterior import Passes
from dataworth.parallel import Local, Ray, get_engine, on_ray
from dataworth.wording import needs_extra
from streams import stream_of, two_classes
from worlds import numeric_labels, refusal


def measured():
    """A score of pairs and an audit of whole data, to the last bit. Numeric labels: nothing to compile."""
    data, test = numeric_labels(120, seed=5), numeric_labels(100, seed=6)
    asked = {"yardstick": dw.Yardstick.fit(test), "ignore": "all"}
    score = dw.score(data, test, pairs=9, size=20, seed=1, **asked)
    audit = dw.audit(before=data, after=data.take(np.arange(80)), test=test, **asked)
    return [result.table.values.tobytes() for result in (score, audit)]


def check_cluster(engine, backend, folder):
    """What holds on every cluster; the engine is that of a user who has connected already."""
    here = measured()
    with joblib.parallel_config(backend=backend):
        assert measured() == here
        assert type(get_engine()) is type(engine)
        assert repr(get_engine("local")) == "Local(jobs=1)"
        assert repr(get_engine(jobs=1)).startswith(type(engine).__name__)

    looks = list(engine.map(seen, range(12), shared={"pool": 1}))
    assert [chunk for chunk, *_ in looks] == list(range(12))
    assert {tuple(threads) for *_, threads in looks} == {(1,)}
    processes = {process for _, process, *_ in looks}
    assert len(processes) <= 2  # one, if it is done before the other has started
    assert os.getpid() not in processes
    assert len({(process, address) for _, process, address, _ in looks}) == len(
        processes
    )  # loaded once by each

    shared = (np.random.default_rng(0).standard_normal((300, 300)), folder / "killed")
    shared[1].touch()
    expected = list(Local(1).map(sums, range(10), shared=shared))
    shared[1].unlink()
    assert list(engine.map(sums, range(10), shared=shared)) == expected
    assert shared[1].exists()  # somebody was killed indeed

    images = np.random.default_rng(1).integers(0, 256, (40, 6, 6), dtype=np.uint8)
    vectors = embed(images, "pixels", batch=3, engine=engine)
    assert np.array_equal(vectors, embed(images, "pixels"))

    # one fit of a file, its row groups wherever workers are
    stream, yard = stream_of(two_classes(300, 7), folder / "rows.parquet", group=100)
    fits = []
    for one in (Local(1), engine):
        with Passes(stream, yard, Options(engine=one), None, "the data") as made:
            posterior, gain = made.fitted(1.0)
            fits.append((posterior.mean, posterior.precision, gain))
    assert len(stream.pieces) == 3
    assert all(np.array_equal(a, b) for a, b in zip(*fits, strict=True))

    assert refusal(list, engine.map(picky, range(5), shared=2)) == "chunk 2 is bad"
    one = type(engine)(jobs=1)
    assert len({process for _, process, *_ in one.map(seen, range(3), shared=0)}) <= 2
    assert one.workers == 1
    assert engine.workers >= 2


@pytest.mark.cluster
def test_ray(tmp_path, monkeypatch):
    ray = pytest.importorskip("ray", reason="ray is an extra")
    from ray.cluster_utils import Cluster
    from ray.util.joblib import register_ray

    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    small = {"num_cpus": 1, "object_store_memory": 80_000_000, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=small)
    try:
        second = cluster.add_node(num_cpus=1, object_store_memory=80_000_000)
        register_ray()
        ray.init(cluster.address, namespace="theirs", log_to_driver=False)
        check_cluster(Ray(), "ray", tmp_path)

        # closed early: what was under way is ended, or the two CPUs would be taken for ten minutes
        results = Ray().map(endless, range(4), shared=None)
        assert next(results) == 0
        results.close()
        assert list(Ray().map(picky, range(4), shared=9)) == [0, 1, 2, 3]

        # a machine goes down with what runs on it
        results = Ray().map(seen, range(12), shared=0)
        first = next(results)
        cluster.remove_node(second, allow_graceful=False)
        assert [chunk for chunk, *_ in (first, *results)] == list(range(12))

        monkeypatch.setattr(on_ray, "RETRIES", 0)
        assert "A chunk was lost on Ray" in refusal(list, Ray().map(dies, range(4), shared=2))
        assert ray.get_runtime_context().namespace == "theirs"
    finally:
        ray.shutdown()
        cluster.shutdown()


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing", "sequential"])
def test_joblib_on_this_machine_is_local(backend):
    with joblib.parallel_config(backend=backend, n_jobs=3):
        assert get_engine() == Local(3)
        assert get_engine(jobs=2) == Local(2)  # what is asked for here comes first
    assert get_engine(enough=4) == Local(4)

    class Other(joblib.parallel.BACKENDS["threading"]):
        pass

    with joblib.parallel_config(backend=Other()):
        assert "There is no engine 'Other': use 'local' or 'ray'." in refusal(get_engine)


def test_a_package_that_is_not_installed_and_an_address_at_which_nobody_is(monkeypatch):
    pytest.importorskip("ray")
    assert refusal(get_engine, "ray", None, "127.0.0.1:1").startswith("There is no Ray at 127.0.0.1:1 (")
    assert "name the engine too" in refusal(get_engine, None, None, "127.0.0.1:1")
    monkeypatch.setitem(sys.modules, "ray", None)
    assert refusal(get_engine, "ray") == needs_extra("the engine 'ray'", "ray")


def test_a_worker_with_another_version_or_without_a_package_is_a_sentence(monkeypatch):
    monkeypatch.setattr(on_ray, "receive", lambda held: held)
    assert on_ray.in_worker([(picky, 1)], dw.__version__, 2) == (2, None)
    assert "The workers have dataworth" in str(on_ray.in_worker([(picky, 1)], "0.0.1", 2)[1])
    _, error = on_ray.in_worker([None], dw.__version__, 2)  # None does not unpack
    assert "A worker cannot load its work (cannot unpack" in str(error)
