"""Runs mapped by the workers of Dask, Ray and Spark, on clusters of this machine, one of whose workers is
killed."""

from __future__ import annotations

import importlib.util
import os
import re
import secrets
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import DEMO, ROOT, trace_text
from many_ranks import write_run

import borescope
import borescope.dask
import borescope.ray
from borescope import _pieces

VERBS = ["breakdown", "kernels"]
BLOCK = re.compile(r"^```python\n(.*?)^```\n", re.DOTALL | re.MULTILINE)


def blocks_of(page: str) -> list[str]:
    return BLOCK.findall((ROOT / "docs" / "use" / page).read_text())


@pytest.fixture(scope="module")
def ranks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of 40 ranks, one file that is no trace, and one that is damaged: more pieces than one task
    merges."""
    folder = write_run(tmp_path_factory.mktemp("ranks") / "run", 40)
    (folder / "README").write_text("no trace")
    (folder / "rank-77.json").write_text('{"traceEvents": 3}')
    return folder


@pytest.fixture(scope="module")
def run(ranks: Path) -> borescope.Run:
    return borescope.open(ranks, on_diagnostic="ignore")


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed", reason="needs the extra dask")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1",
                                  dashboard_address="127.0.0.1:0") as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    if importlib.util.find_spec("ray") is None:
        pytest.skip("needs the extra ray")
    # Before Ray is imported: it uses loopback as on other systems, keeps no token at home, reports nothing.
    os.environ.update(RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER="0", RAY_AUTH_TOKEN=secrets.token_hex(32),
                      RAY_AUTH_MODE="token", RAY_USAGE_STATS_ENABLED="0")
    import ray

    with tempfile.TemporaryDirectory(prefix="bs", dir="/tmp") as folder:  # names of sockets are short
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, _temp_dir=folder)
        assert ray.util.get_node_ip_address() == "127.0.0.1"
        yield ray
        ray.shutdown()


def deadly(marker: Path) -> Callable[..., bytes]:
    """`map_piece`, whose process is killed when it is first called for the fourth file. What is defined in
    a function is sent to workers by value."""
    path = str(marker)

    def map_once(piece: Any, question: Any) -> bytes:
        import os
        import signal

        from borescope._pieces import map_piece

        if 3 in (piece.files or ()) and not os.path.exists(path):
            with open(path, "x") as file:
                file.write(str(os.getpid()))
            os.kill(os.getpid(), signal.SIGKILL)
        return map_piece(piece, question)

    return map_once


# --- Dask

def test_dask_gives_the_answer_of_one_process(client: Any, run: borescope.Run) -> None:
    expected = run.ask(*VERBS, by=["step"]).to_json()
    for pieces in (None, 1, 7, 1000):
        answer = borescope.dask.map_reduce(run, VERBS, client, pieces=pieces, by=["step"])
        assert answer.to_json() == expected
    shown = borescope.dask.map_reduce(run, "kernels", top=1, sort="count")
    assert shown.to_json() == run.kernels(top=1, sort="count").to_json()


def test_dask_survives_a_worker(client: Any, run: borescope.Run, tmp_path: Path,
                                monkeypatch: pytest.MonkeyPatch) -> None:
    marker = tmp_path / "killed"
    monkeypatch.setattr(borescope.dask, "map_piece", deadly(marker))
    workers = set(client.run(os.getpid).values())
    answer = borescope.dask.map_reduce(run, VERBS, client, pieces=1000)
    assert int(marker.read_text()) in workers
    assert answer.to_json() == run.ask(*VERBS).to_json()


def test_dask_raises_what_a_worker_raised(client: Any, ranks: Path, tmp_path: Path) -> None:
    moved = shutil.copytree(ranks, tmp_path / "run")
    run = borescope.open(moved)
    shutil.rmtree(moved)
    with pytest.raises(borescope.InputError, match="No such file") as raised:
        borescope.dask.map_reduce(run, "kernels", client)
    assert raised.value.path == str(moved)


def test_the_block_for_dask(ranks: Path, run: borescope.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="needs the extra dask")
    monkeypatch.chdir(ranks.parent)
    names: dict[str, Any] = {}
    exec(compile(blocks_of("clusters.md")[0], "docs/use/clusters.md", "exec"), names)
    names["client"].close()
    names["cluster"].close()
    here = borescope.open("run", on_diagnostic="ignore")
    assert names["answer"].to_json() == here.ask("breakdown", "kernels", by=["step"], top=20).to_json()


# --- Ray

def test_ray_gives_the_answer_of_one_process(ray: Any, run: borescope.Run) -> None:
    answer = borescope.ray.map_reduce(run, VERBS, pieces=1000, by=["step"])
    assert answer.to_json() == run.ask(*VERBS, by=["step"]).to_json()
    shown = borescope.ray.map_reduce(run, "kernels", top=1, sort="count")
    assert shown.to_json() == run.kernels(top=1, sort="count").to_json()


def test_ray_survives_a_worker(ray: Any, run: borescope.Run, tmp_path: Path,
                               monkeypatch: pytest.MonkeyPatch) -> None:
    marker = tmp_path / "killed"
    monkeypatch.setattr(borescope.ray, "map_piece", deadly(marker))
    answer = borescope.ray.map_reduce(run, VERBS, pieces=8)
    assert int(marker.read_text()) != os.getpid()
    assert answer.to_json() == run.ask(*VERBS).to_json()


def test_ray_raises_what_a_worker_raised(ray: Any, ranks: Path, tmp_path: Path) -> None:
    moved = shutil.copytree(ranks, tmp_path / "run")
    run = borescope.open(moved)
    shutil.rmtree(moved)
    with pytest.raises(borescope.InputError, match="No such file"):
        borescope.ray.map_reduce(run, "kernels")


def test_the_block_for_ray(ray: Any, ranks: Path, run: borescope.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    block = blocks_of("clusters.md")[1].replace("ray.init(", "dict(")
    names: dict[str, Any] = {"borescope": borescope, "run": run}
    exec(compile(block, "docs/use/clusters.md", "exec"), names)
    assert names["answer"].to_json() == run.ask("breakdown", "kernels", by=["step"], top=20).to_json()


# --- Spark

def test_the_page_of_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyspark", reason="needs pyspark (pip install pyspark)")
    pytest.importorskip("pyarrow")
    if shutil.which("java") is None:
        pytest.skip("needs Java for Spark (openjdk-17-jre-headless)")
    write_run(tmp_path / "run", 4)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYSPARK_PYTHON", "another python")
    run = borescope.open("run")
    borescope.events_to_parquet(run, "parquet")
    names: dict[str, Any] = {}
    try:
        for block in blocks_of("spark.md"):
            exec(compile(block, "docs/use/spark.md", "exec"), names)
        assert names["answer"].to_json() == run.ask("breakdown", "kernels", top=20).to_json()
        check_spark_sums(names["spark"], run)
        rank, total = names["busiest"]
    finally:
        names["spark"].stop()
    expected = run.sql("SELECT rank, sum(dur_ns) AS n FROM kernels GROUP BY rank ORDER BY n DESC").to_dicts()
    assert total == expected[0]["n"] and rank in [row["rank"] for row in expected if row["n"] == total]


def check_spark_sums(spark: Any, run: borescope.Run) -> None:
    """Every table of the Parquet folder adds up to what SQL says."""
    from borescope._events import TABLES

    spark.conf.set("spark.sql.shuffle.partitions", 2)
    for table, in_sql in TABLES.items():
        frame = spark.read.option("basePath", "parquet").parquet(f"parquet/run=*/rank=*/{table}.parquet")
        column = "dur_ns" if "dur_ns" in frame.columns else "id"
        rows = frame.groupBy("run", "rank").sum(column).collect()
        assert {row[0] for row in rows} == {"run"}
        expected = run.sql(f"SELECT rank, sum({column}) AS n FROM {in_sql} GROUP BY rank").to_dicts()
        assert {row[1]: row[2] for row in rows} == {row["rank"]: row["n"] for row in expected}, table


# --- without any cluster

def test_pieces_hold_every_file_once(run: borescope.Run) -> None:
    for count in (1, 3, 41, 42, 1000):
        pieces = _pieces.pieces_of(run, count)
        assert [number for piece in pieces for number in piece.files or ()] == list(range(42))
        assert len(pieces) <= count and max(len(piece.files or ()) for piece in pieces) == -(-42 // min(42, count))


def codes(answer: borescope.Answer) -> set[str]:
    return {each.code for each in answer.diagnostics}


def test_shards_are_the_run(ranks: Path, run: borescope.Run) -> None:
    opened = [borescope.open(ranks, shard=(index, 5) if index % 2 else f"{index}/5", on_diagnostic="ignore")
              for index in range(5)]
    assert sorted(file for some in opened for file in some.files) == sorted(run.files)
    parts = [some.map("kernels", "info") for some in opened]
    whole = borescope.reduce(parts[::-1], expect=40)
    assert whole.to_json() == run.ask("kernels", "info").to_json()
    assert "missing-parts" not in codes(whole)
    assert "missing-parts" in codes(borescope.reduce(parts[1:]))
    assert "missing-parts" in codes(borescope.reduce(parts, expect=50))
    with pytest.raises(borescope.UsageError):
        borescope.reduce(parts, expect=3)
    pieces = _pieces.pieces_of(opened[1], 3)
    question = _pieces.question_of(opened[1], ["kernels"], {})
    of_pieces = borescope.reduce([_pieces.map_piece(piece, question) for piece in pieces])
    assert of_pieces.to_json() == opened[1].kernels().to_json()


def test_shards_of_a_store(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    for path in write_run(tmp_path / "run", 12).iterdir():
        fsspec.filesystem("memory").pipe(f"/shards/{path.name}", path.read_bytes())
    run = borescope.open("memory://shards/")
    some = borescope.open("memory://shards/", shard="1/5")
    assert some.files == tuple(f"memory:///shards/rank-{rank}.json" for rank in (1, 6, 11))
    assert some.ranks == (1, 6, 11)
    question = _pieces.question_of(run, ["kernels"], {})
    parts = [_pieces.map_piece(piece, question) for index in range(5)
             for piece in _pieces.pieces_of(borescope.open("memory://shards/", shard=(index, 5)), 2)]
    assert borescope.reduce(parts).to_json() == run.kernels().to_json()


def test_a_shard_may_be_empty(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", 2)
    empty = borescope.open(folder, shard=(2, 3))
    assert empty.files == () and "no files" in repr(empty)
    question = _pieces.question_of(empty, ["kernels"], {})
    parts = [_pieces.map_piece(piece, question) for piece in _pieces.pieces_of(empty, 4)]
    parts += [borescope.open(folder, shard=(index, 3)).map("kernels") for index in (1, 0)]
    assert borescope.reduce(parts).to_json() == borescope.open(folder).kernels().to_json()
    for wrong in ((3, 3), "1", (1, 2, 3), "a/b", 3, (-1, 2)):
        with pytest.raises(borescope.UsageError, match="`shard` takes"):
            borescope.open(folder, shard=wrong)  # type: ignore[arg-type]


def test_parts_lie_among_other_files(ranks: Path, tmp_path: Path) -> None:
    for index in range(2):
        borescope.open(ranks, shard=(index, 2), on_diagnostic="ignore").map("kernels", output=tmp_path / f"{index}.part")
    (tmp_path / "1.part").rename(tmp_path / "another name")
    (tmp_path / "job.log").write_text("what a job said")
    (tmp_path / "folder").mkdir()
    expected = borescope.open(ranks, on_diagnostic="ignore").kernels().to_json()
    assert borescope.reduce(tmp_path).to_json() == expected


def test_parts_meet_in_a_tree() -> None:
    calls = []

    def merge(*some: str) -> str:
        calls.append(len(some))
        return "".join(some)

    names = [f"{i}," for i in range(2000)]
    left = _pieces.merged(names, merge)
    assert "".join(left) == "".join(names) and 1 < len(left) <= 32 and max(calls) <= 32
    assert _pieces.merged(names[:32], merge) == names[:32]


def test_pieces_of_urls_name_the_objects() -> None:
    fsspec = pytest.importorskip("fsspec")
    for rank in range(3):
        fsspec.filesystem("memory").pipe(f"/pieces/rank-{rank}.json", trace_text(rank + 1))
    run = borescope.open("memory://pieces/")
    question = _pieces.question_of(run, ["kernels"], {})
    pieces = _pieces.pieces_of(run, 2)
    assert [(piece.source, piece.files) for piece in pieces] == [
        (["memory:///pieces/rank-0.json", "memory:///pieces/rank-1.json"], None),
        (["memory:///pieces/rank-2.json"], None)]
    parts = [_pieces.map_piece(piece, question) for piece in reversed(pieces)]
    assert borescope.reduce(parts).to_json() == run.kernels().to_json()


def test_pieces_of_damaged_objects_give_the_same_bytes(tmp_path: Path) -> None:
    """More than ten ranks, so that their numbers must be compared by value; some of them cut."""
    fsspec = pytest.importorskip("fsspec")
    for number, path in enumerate(sorted(write_run(tmp_path / "run", 12).iterdir())):
        data = path.read_bytes()
        fsspec.filesystem("memory").pipe(f"/damaged/{path.name}", data[:-700] if number % 3 == 0 else data)
    run = borescope.open("memory://damaged/", on_diagnostic="ignore")
    question = _pieces.question_of(run, ["info", "kernels"], {})
    parts = [_pieces.map_piece(piece, question) for piece in reversed(_pieces.pieces_of(run, 5))]
    assert borescope.reduce(parts).to_json() == run.ask("info", "kernels").to_json()


def test_bytes_go_along() -> None:
    run = borescope.open([trace_text(1), trace_text(2)])
    question = _pieces.question_of(run, "kernels", {})
    parts = [_pieces.map_piece(piece, question) for piece in _pieces.pieces_of(run, 2)]
    assert len(parts) == 2 and borescope.reduce(parts).to_json() == run.kernels().to_json()


def test_what_cannot_be_mapped(run: borescope.Run, tmp_path: Path) -> None:
    for module in (borescope.dask, borescope.ray):
        with pytest.raises(borescope.UsageError, match="did you mean `top`|did you mean `by`|no keyword `topp`"):
            module.map_reduce(run, "kernels", topp=3)
        with pytest.raises(borescope.UsageError, match="there is no verb"):
            module.map_reduce(run, ["kernelz"])
        with pytest.raises(borescope.UsageError, match="takes a run, not str"):
            module.map_reduce("run", "kernels")  # type: ignore[arg-type]
    with open(DEMO / "rank-0.json.gz", "rb") as file, pytest.raises(borescope.UsageError, match="file-like"):
        _pieces.pieces_of(borescope.open(file), 1)


@pytest.mark.parametrize("module, missing", [("dask", "distributed"), ("ray", "ray")])
def test_what_is_not_installed_is_named(module: str, missing: str, run: borescope.Run,
                                        monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(borescope.UsageError, match=rf"needs the package {missing}; .*pip install '\.\[{module}\]'"):
        getattr(borescope, module).map_reduce(run, "kernels")


def test_no_cluster_is_started(run: borescope.Run) -> None:
    if "ray" in sys.modules and sys.modules["ray"].is_initialized():
        sys.modules["ray"].shutdown()
    pytest.importorskip("ray", reason="needs the extra ray")
    with pytest.raises(borescope.UsageError, match="ray.init"):
        borescope.ray.map_reduce(run, "kernels")


def test_adapters_stay_small() -> None:
    for module in (borescope.dask, borescope.ray):
        assert len(Path(module.__file__).read_text().splitlines()) < 100
