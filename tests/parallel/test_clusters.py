"""Ray and Dask: real clusters of processes on this machine, a worker and a node killed in the middle.

A cluster takes seconds to start, and pytest-xdist would start one in each of its processes: there is one test
for each cluster, and it asks everything of it.
"""

import os
import sys

import joblib
import numpy as np
import pytest
from tests.chunks import dies, endless, picky, seen, sums

import dataworth as dw
from dataworth.embed import embed
from dataworth.measure.partition_sums import Chunk, Lens, sums_over
from dataworth.parallel import Dask, Local, Ray, get_engine, on_ray
from dataworth.parallel.chunks import Far, in_order
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
    chunks = [Chunk(i, piece) for i, piece in enumerate(stream.pieces)]
    theta = np.ones(yard.recipe.width + 1)
    local, far = (sums_over(e, Lens(stream.reader, yard), chunks)(theta, True) for e in (Local(1), engine))
    assert len(chunks) == 3
    assert all(np.array_equal(a, b) for a, b in zip(local, far, strict=True))

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


@pytest.mark.cluster
def test_dask(tmp_path):
    distributed = pytest.importorskip("distributed", reason="dask is an extra")
    # Two threads each: they must take turns, or one would change the other's number of BLAS threads.
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        check_cluster(Dask(), "dask", tmp_path)
        assert Dask().client is client
        cluster.scheduler.allowed_failures = 0
        assert "A chunk was lost on Dask" in refusal(list, Dask().map(dies, range(4), shared=2))
        assert client.status == "running"


@pytest.mark.parametrize("jobs", [-1, 1, 2, 3])
def test_results_come_in_order_and_no_more_than_asked_are_under_way(jobs):
    under_way, most = set(), 0

    def submit(chunk):
        nonlocal most
        under_way.add(chunk)
        most = max(most, len(under_way))
        return chunk

    def still(running):
        under_way.discard(running[-1])  # the last one is done first
        return running[:-1]

    assert list(in_order(range(7), jobs, submit, still)) == list(range(7))
    assert most == (7 if jobs < 0 else jobs)


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing", "sequential"])
def test_joblib_on_this_machine_is_local(backend):
    with joblib.parallel_config(backend=backend, n_jobs=3):
        assert get_engine() == Local(3)
        assert get_engine(jobs=2) == Local(2)  # what is asked for here comes first
    assert get_engine(enough=4) == Local(4)


def test_a_backend_that_is_none_of_ours_is_refused():
    class Other(joblib.parallel.BACKENDS["threading"]):
        pass

    with joblib.parallel_config(backend=Other()):
        assert "There is no engine 'Other': use one of 'local', 'dask', 'ray'." in refusal(get_engine)


@pytest.mark.parametrize(("name", "package"), [("ray", "ray"), ("dask", "distributed")])
def test_a_package_that_is_not_installed(name, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    assert refusal(get_engine, name) == needs_extra(f"the engine '{name}'", name)


def test_an_address_at_which_nobody_is(monkeypatch):
    monkeypatch.setattr("dataworth.parallel.on_dask.PATIENCE", 0.2)
    for name, engine in (("ray", "Ray"), ("distributed", "Dask")):
        pytest.importorskip(name)
        sentence = refusal(get_engine, engine.lower(), None, "127.0.0.1:1")
        assert sentence.startswith(f"There is no {engine} at 127.0.0.1:1 (")
    assert "name the engine too" in refusal(get_engine, None, None, "127.0.0.1:1")


def test_a_worker_with_another_version_is_refused():
    assert Far.of(dw.__version__, lambda: (picky, 1), 2).get() == 2
    assert "The workers have dataworth" in refusal(Far.of("0.0.1", lambda: (picky, 1), 2).get)


def test_a_worker_that_lacks_a_package_is_a_sentence():
    def receive():
        raise ModuleNotFoundError("No module named 'mine'")

    sentence = refusal(Far.of(dw.__version__, receive, 2).get)
    assert sentence == (
        "A worker cannot load its work (No module named 'mine'): install there what is installed here."
    )
