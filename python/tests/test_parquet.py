"""Tables and runs as Parquet, read back by other programs."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import DEMO, ROOT, SMALL, trace_text
from many_ranks import SLOW_RANK, write_run

import borescope

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
_events = pytest.importorskip("borescope._events")
SQL_NAMES: dict[str, str] = _events.TABLES
SAMPLES = ROOT.parent / "shared" / "data" / "kineto"


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that has `parquet`, with the two ranks of the demo."""
    folder = tmp_path_factory.mktemp("exported")
    borescope.events_to_parquet(borescope.open(DEMO), folder / "parquet")
    return folder


def sums_of(run: borescope.Run, table: str) -> dict[int, tuple[int, int, int]]:
    """Of each rank the rows, and what times and ids add up to."""
    time = "dur_ns" if has(run, table, "dur_ns") else "id"
    start = "ts_ns" if has(run, table, "ts_ns") else "id"
    rows = run.sql(f"SELECT rank, count(*) AS n, sum({time}) AS a, sum({start}) AS b FROM {table} GROUP BY rank")
    return {row["rank"]: (row["n"], row["a"], row["b"]) for row in rows.to_dicts()}


def has(run: borescope.Run, table: str, column: str) -> bool:
    return any(row["table"] == table and row["column"] == column for row in run.schema()["columns"])


def selection(run: borescope.Run, table: str) -> tuple[str, str]:
    return ("dur_ns" if has(run, table, "dur_ns") else "id"), ("ts_ns" if has(run, table, "ts_ns") else "id")


def test_every_rank_has_every_file(exported: Path) -> None:
    found = sorted(str(path.relative_to(exported)) for path in exported.rglob("*") if path.is_file())
    assert found == sorted(f"parquet/run=demo_run/rank={rank}/{table}.parquet" for rank in (0, 1)
                           for table in SQL_NAMES)


def test_columns_are_those_of_sql(exported: Path) -> None:
    rows = borescope.open(DEMO).schema()["columns"].to_dicts()
    kinds = {"INTEGER": "int64", "REAL": "double", "TEXT": "string"}
    for table, in_sql in SQL_NAMES.items():
        expected = {row["column"]: kinds[row["type"]] for row in rows if row["table"] == in_sql}
        for redundant in ("rank", "end_ns") if "dur_ns" in expected else ("rank",):
            del expected[redundant]
        for rank in (0, 1):
            schema = parquet.ParquetFile(exported / f"parquet/run=demo_run/rank={rank}/{table}.parquet").schema_arrow
            assert {field.name: str(field.type) for field in schema} == expected, table


def test_integers_are_differences_sorted_by_time(exported: Path) -> None:
    file = parquet.ParquetFile(exported / "parquet/run=demo_run/rank=0/kernels.parquet")
    group = file.metadata.row_group(0)
    for number in range(group.num_columns):
        column = group.column(number)
        assert column.compression == "ZSTD"
        assert ("DELTA_BINARY_PACKED" in column.encodings) == (column.physical_type == "INT64")
        assert column.statistics is not None
    starts = file.read(["ts_ns"])["ts_ns"].to_pylist()
    assert starts == sorted(starts) and len(starts) > 100
    assert file.schema_arrow.names[group.sorting_columns[0].column_index] == "ts_ns"


def test_files_say_nothing_about_the_machine(exported: Path) -> None:
    file = exported / "parquet/run=demo_run/rank=0/events.parquet"
    assert parquet.ParquetFile(file).metadata.metadata is None
    for word in (str(exported), str(ROOT), os.uname().nodename, "rank-0.json"):
        assert word.encode() not in file.read_bytes()


# --- read back

def test_duckdb_adds_up_to_the_same(exported: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    duckdb = pytest.importorskip("duckdb")
    monkeypatch.chdir(exported)
    run = borescope.open(DEMO)
    for table, in_sql in SQL_NAMES.items():
        time, start = selection(run, in_sql)
        rows = duckdb.sql(f"SELECT run, rank, count(*), sum({time}), sum({start}) FROM "
                          f"read_parquet('parquet/run=*/rank=*/{table}.parquet') GROUP BY ALL").fetchall()
        assert {row[0] for row in rows} <= {"demo_run"}
        assert {row[1]: tuple(map(int, row[2:])) for row in rows} == sums_of(run, in_sql), table


def test_polars_adds_up_to_the_same(exported: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    polars = pytest.importorskip("polars")
    monkeypatch.chdir(exported)
    run = borescope.open(DEMO)
    for table, in_sql in SQL_NAMES.items():
        time, start = selection(run, in_sql)
        frame = polars.scan_parquet(f"parquet/run=*/rank=*/{table}.parquet", hive_partitioning=True)
        rows = frame.group_by("run", "rank").agg(polars.len(), polars.col(time).sum().alias("a"),
                                                 polars.col(start).sum().alias("b")).collect().rows()
        assert {row[1]: row[2:] for row in rows} == sums_of(run, in_sql), table


def test_pyarrow_and_pandas_read_one_rank(exported: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pandas = pytest.importorskip("pandas")
    dataset = pytest.importorskip("pyarrow.dataset")
    monkeypatch.chdir(exported)
    run = borescope.open(DEMO)
    frame = pandas.read_parquet("parquet/run=demo_run/rank=1/kernels.parquet")
    assert (len(frame), frame["dur_ns"].sum()) == sums_of(run, "kernels")[1][:2]
    files = sorted(map(str, Path("parquet").glob("run=*/rank=*/steps.parquet")))
    steps = dataset.dataset(files, partitioning="hive", partition_base_dir="parquet").to_table()
    assert steps["rank"].to_pylist() == [0, 0, 0, 1, 1, 1] and set(steps["run"].to_pylist()) == {"demo_run"}


def test_cells_are_those_of_sql(exported: Path) -> None:
    """Every cell of every table, texts and missing ones too."""
    run = borescope.open(DEMO)
    for table, in_sql in SQL_NAMES.items():
        read = parquet.ParquetFile(exported / f"parquet/run=demo_run/rank=1/{table}.parquet").read().to_pylist()
        names = list(read[0]) if read else []
        rows = run.sql(f"SELECT * FROM {in_sql} WHERE rank = 1").to_dicts()
        expected = [{name: row[name] for name in names} for row in rows]
        assert sorted(map(json.dumps, read)) == sorted(map(json.dumps, expected)), table


# --- batches

def rows_of(folder: Path) -> dict[str, list[dict[str, Any]]]:
    return {str(path.relative_to(folder)): parquet.ParquetFile(path).read().to_pylist()
            for path in sorted(folder.rglob("*.parquet"))}


@pytest.mark.parametrize("rows", [1, 7, 100])
def test_batches_hold_few_rows_and_lose_none(rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = SMALL / "counters.json" if rows == 1 else DEMO
    run = borescope.open(source)
    borescope.events_to_parquet(run, tmp_path / "one")
    monkeypatch.setattr(_events, "ROWS", rows)
    borescope.events_to_parquet(run, tmp_path / "many", tables=["kernels", "steps", "events"][:2 if rows < 100 else 3])
    whole = rows_of(tmp_path / "one")
    for name, read in rows_of(tmp_path / "many").items():
        order = "ts_ns"
        assert [row[order] for row in read] == [row[order] for row in whole[name]]
        assert sorted(map(json.dumps, read)) == sorted(map(json.dumps, whole[name]))
        groups = parquet.ParquetFile(tmp_path / "many" / name).metadata
        # One number may be that of a host and of a device event.
        assert all(groups.row_group(i).num_rows <= 2 * rows for i in range(groups.num_row_groups))


def test_many_events_at_one_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_events, "ROWS", 10)
    events = [{"ph": "X", "cat": "cpu_op", "name": f"op{i % 3}", "pid": 1, "tid": i, "ts": 5 if i < 95 else i,
               "dur": 1, "args": {}} for i in range(100)]
    source = json.dumps({"traceEvents": events}).encode()
    borescope.events_to_parquet(borescope.open(source), tmp_path)
    file = parquet.ParquetFile(tmp_path / "run=run" / "rank=0" / "operators.parquet")
    assert sorted(file.read(["tid"])["tid"].to_pylist()) == list(range(100))
    assert [file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)][:9] == [10] * 9


def test_events_without_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A memory timeline: what was allocated before it began comes first."""
    monkeypatch.setattr(_events, "ROWS", 10)
    before = [[-1, 1, 512 * (i + 1), 7] for i in range(25)]
    after = [[1_700_000_000_000_000_000 + i, 1, 1024, 5] for i in range(25)]
    run = borescope.open(json.dumps(before + after).encode())
    file, = borescope.events_to_parquet(run, tmp_path, tables=["memory"])
    read = parquet.ParquetFile(file).read(["ts_ns", "bytes"]).to_pylist()
    assert [row["ts_ns"] for row in read[:25]] == [None] * 25 and None not in [row["ts_ns"] for row in read[25:]]
    expected = run.sql("SELECT ts_ns, bytes FROM memory_events ORDER BY ts_ns, id").to_dicts()
    assert read == expected and len(read) == 50


def windows(values: list[int], rows: int, monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int | None]]:
    monkeypatch.setattr(_events, "ROWS", rows)
    return list(_events._windows(values))


def test_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    assert windows([1], 2, monkeypatch) == [(1, None)]
    assert windows([1, 2, 3, 4], 2, monkeypatch) == [(1, 3), (3, None)]
    assert windows([1, 2, 2, 2, 2, 3], 2, monkeypatch) == [(1, 2), (2, 2), (3, None)]
    assert windows([1, 1, 1, 2**63 - 1], 2, monkeypatch) == [(1, 1), (2**63 - 1, None)]


# --- size

@pytest.mark.parametrize("name, most", [("nccl_two_gpu", 8), ("mi300_resnet_checkpoint", 8)])
def test_bytes_of_an_event(name: str, most: float, tmp_path: Path) -> None:
    """Real traces of an A100 and of an MI300X."""
    trace = SAMPLES / f"{name}.json.gz"
    if not trace.exists():
        pytest.skip("needs the sample traces")
    file, = borescope.events_to_parquet(borescope.open(trace), tmp_path, tables=["events"])
    assert os.path.getsize(file) <= most * parquet.ParquetFile(file).metadata.num_rows


# --- what is written where

def test_the_same_run_gives_the_same_bytes(tmp_path: Path) -> None:
    first = borescope.events_to_parquet(borescope.open(DEMO, threads=1), tmp_path)
    before = {name: Path(name).read_bytes() for name in first}
    assert borescope.events_to_parquet(borescope.open(DEMO, threads=2), tmp_path) == first
    assert {name: Path(name).read_bytes() for name in first} == before
    assert sorted(os.listdir(tmp_path)) == ["run=demo_run"]


def test_chosen_ranks_and_tables(tmp_path: Path) -> None:
    run = borescope.open(DEMO, ranks=1)
    files = borescope.events_to_parquet(run, tmp_path, name="step7", tables=["steps", "copies"])
    assert files == [f"{tmp_path}/run=step7/rank=1/{table}.parquet" for table in ("steps", "copies")]


def test_an_empty_shard_writes_nothing(tmp_path: Path) -> None:
    assert borescope.events_to_parquet(borescope.open(DEMO, shard="2/3"), tmp_path) == []
    files = [file for index in (0, 1, 2) for file in
             borescope.events_to_parquet(borescope.open(DEMO, shard=(index, 3)), tmp_path, tables=["steps"])]
    assert [re.findall(r"rank=\d", file)[0] for file in files] == ["rank=0", "rank=1"]


def test_names_of_files_do_not_show(tmp_path: Path) -> None:
    folder = tmp_path / "3rd run, night"
    folder.mkdir()
    (folder / "secret-host_4711.1700000000.pt.trace.json").write_bytes(trace_text())
    files = borescope.events_to_parquet(borescope.open(folder), tmp_path / "out")
    assert files[0].startswith(f"{tmp_path}/out/run=3rd_run__night/rank=0/")
    assert not any(b"secret-host" in Path(file).read_bytes() for file in files)


def test_names_that_are_no_text(tmp_path: Path) -> None:
    odd = os.path.join(os.fsencode(tmp_path), b"odd\xff-rank-3.json")
    try:
        Path(os.fsdecode(odd)).write_bytes(trace_text())
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    file, = borescope.events_to_parquet(borescope.open(os.fsdecode(odd)), tmp_path / "out", name="a", tables=["steps"])
    assert file == f"{tmp_path}/out/run=a/rank=3/steps.parquet" and os.path.isfile(file)


def test_what_cannot_be_asked(tmp_path: Path, demo: borescope.Run) -> None:
    with pytest.raises(borescope.UsageError, match="name of a folder"):
        borescope.events_to_parquet(demo, tmp_path, name="a/b")
    with pytest.raises(borescope.UsageError, match="choose among events"):
        borescope.events_to_parquet(demo, tmp_path, tables=["strings"])
    with pytest.raises(borescope.UsageError, match="takes a run, not str"):
        borescope.events_to_parquet(str(DEMO), tmp_path)  # type: ignore[arg-type]
    (tmp_path / "file").write_text("")
    with pytest.raises(borescope.InputError, match="cannot write"):
        borescope.events_to_parquet(demo, tmp_path / "file")


def test_a_failure_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = borescope.events_to_parquet(borescope.open(DEMO), tmp_path)
    before = {name: Path(name).read_bytes() for name in files}

    def fail(one: Any, name: str, path: str, is_small: bool, count: Iterator[int] = iter(range(9))) -> None:
        if next(count) == 8:
            raise OSError("the disk is full")
        Path(path).write_bytes(b"half")

    monkeypatch.setattr(_events, "_write", fail)
    with pytest.raises(OSError, match="disk is full"):
        borescope.events_to_parquet(borescope.open(DEMO), tmp_path)
    assert {name: Path(name).read_bytes() for name in files} == before
    assert sorted(os.listdir(tmp_path)) == ["run=demo_run"]


def test_ranks_are_those_of_the_run(tmp_path: Path) -> None:
    """Two files that claim one rank, one without any, one that is no trace and one that is damaged."""
    folder = write_run(tmp_path / "runs", 2)
    (folder / "again-rank-1.json").write_bytes((folder / "rank-1.json").read_bytes())
    (folder / "other.json").write_bytes(trace_text())
    (folder / "README").write_text("no trace")
    (folder / "rank-9.json").write_text('{"traceEvents": 3}')
    run = borescope.open(folder)
    with pytest.warns(borescope.DataWarning):
        files = borescope.events_to_parquet(run, tmp_path / "out", tables=["events"])
    written = {int(re.findall(r"rank=(\d+)", file)[0]): parquet.ParquetFile(file).metadata.num_rows for file in files}
    with pytest.warns(borescope.DataWarning):
        rows = borescope.open(folder).sql("SELECT rank, count(*) AS n FROM events GROUP BY rank").to_dicts()
    assert written == {row["rank"]: row["n"] for row in rows} and len(written) == 4


def test_bytes_and_a_store(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    files = borescope.events_to_parquet(borescope.open(trace_text()), "memory://parquet", name="a")
    local = borescope.events_to_parquet(borescope.open(trace_text()), tmp_path, name="a")
    assert [file.partition("run=")[2] for file in files] == [file.partition("run=")[2] for file in local]
    for here, there in zip(local, files):
        assert fsspec.filesystem("memory").cat_file(there) == Path(here).read_bytes()


def test_the_package_that_is_missing_is_named(demo: borescope.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("borescope._events", "borescope._parquet"):
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.delattr(borescope, "_events")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(borescope.UsageError, match=r"pip install '\.\[parquet\]'"):
        borescope.events_to_parquet(demo, "nowhere")


# --- tables

def test_tables_are_compact_and_take_options(demo: borescope.Run, tmp_path: Path) -> None:
    table = demo.sql("SELECT * FROM events")
    for name, options in {"own": {}, "plain": {"column_encoding": None, "use_dictionary": True},
                          "snappy": {"compression": "snappy"}}.items():
        table.to_parquet(tmp_path / name, **options)
        assert pyarrow.parquet.read_table(tmp_path / name).to_pylist() == table.to_dicts()
    sizes = {path.name: path.stat().st_size for path in tmp_path.iterdir()}
    assert sizes["own"] < 0.7 * sizes["plain"] and sizes["own"] < sizes["snappy"]


# --- the page

def test_the_questions_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has an answer on 64 ranks, and those that the plant determines have that one."""
    duckdb = pytest.importorskip("duckdb")
    borescope.events_to_parquet(borescope.open(write_run(tmp_path / "night", 64)), tmp_path / "parquet")
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "use" / "parquet.md").read_text()
    views, *questions = re.findall(r"^```sql\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    connection = duckdb.connect()
    connection.execute(views)
    answers = [connection.execute(question).fetchall() for question in questions]
    assert len(answers) == 10 and all(answers)
    assert answers[0][0] == ("ampere_sgemm_64x64_nn", "gemm", 192, 38_700_000, 300_000)
    assert answers[1][0][:4] == ("night", SLOW_RANK, "collective", 150_000)
    assert answers[2][0][3:] == (1_110_000, pytest.approx(1_110_000 / 2_510_000))
    assert answers[4][0] == ("night", SLOW_RANK, 3, 3 * 63 * 100_000)
    assert answers[5] == [("allreduce", "Float", 4096, 192, 28_500_000 / 192)]
    assert answers[6][0] == ("aten::mm", "[[64, 64]]", 192, 38_700_000)
    assert answers[7][0] == ("night", 0, 6, [9_000, 9_000])
    assert answers[8] == [("Memcpy HtoD (Pageable -> Device)", 192, 192 << 20, (1 << 20) / 20_000)]
    assert answers[9][0] == ("night", 0, 0, 1536, 2_005_000)


def test_the_python_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("polars")
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for block in re.findall(r"^```python\n(.*?)^```", (ROOT / "docs" / "use" / "parquet.md").read_text(),
                            re.DOTALL | re.MULTILINE):
        exec(compile(block, "docs/use/parquet.md", "exec"), names)
    assert names["files"][0] == "parquet/run=demo_run/rank=0/events.parquet"
    assert names["slow"].item() == sums_of(borescope.open(DEMO), "kernels")[1][1]
