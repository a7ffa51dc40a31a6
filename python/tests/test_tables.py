"""Tables: cells, Arrow, frames, files, values."""

from __future__ import annotations

import math
import pickle
import random
import re
import sys

import pytest
from conftest import DEMO, ROOT, SMALL, trace_text

import borescope


@pytest.fixture(scope="module")
def kernels() -> borescope.Table:
    return borescope.open(DEMO).kernels().kernels


def test_columns_have_unit_role_and_doc(kernels: borescope.Table) -> None:
    total = kernels["total_ns"]
    assert (total.name, total.type, total.unit, total.role) == ("total_ns", "int", "ns", "sum")
    assert total.doc.endswith(".")
    assert kernels["name"].unit is None
    assert kernels.columns[0] == "name" and list(kernels.schema) == kernels.columns
    assert len(kernels) == kernels.num_rows == len(total) == len(list(total))
    assert total[0] == total.to_list()[0] and total[-1] == total.to_list()[-1]
    with pytest.raises(IndexError):
        total[len(total)]
    with pytest.raises(KeyError, match="did you mean 'total_ns'"):
        kernels["total_n"]


def test_rows_and_slices(kernels: borescope.Table) -> None:
    rows = kernels.to_dicts()
    assert kernels[0] == rows[0] and kernels[-1] == rows[-1]
    assert list(kernels) == rows
    assert kernels[1:3].to_dicts() == rows[1:3]
    assert kernels[:-1].to_dicts() == rows[:-1]
    assert kernels[5:2].num_rows == 0
    assert kernels.head(2).to_dicts() == rows[:2]
    assert kernels.head(0).to_dicts() == []
    with pytest.raises(IndexError):
        kernels[len(kernels)]

@pytest.mark.parametrize("seed", range(5))
def test_slices_are_those_of_lists(kernels: borescope.Table, seed: int) -> None:
    """Tables, columns and answers, with numbers in random places, also beyond the ends."""
    source = random.Random(seed)
    answer = borescope.open(DEMO).ask("breakdown", "kernels", "idle")
    rows, names, tables = kernels.to_dicts(), kernels["name"].to_list(), list(answer)
    for _ in range(40):
        begin, end = (source.choice([None, source.randint(-9, 40)]) for _ in range(2))
        cut = slice(begin, end, source.choice([None, 1, 2, 3, -1, -2, 50]))
        assert kernels[cut].to_dicts() == rows[cut], cut
        assert kernels[cut].columns == kernels.columns and kernels[cut]["total_ns"].unit == "ns"
        assert kernels["name"][cut] == names[cut] and kernels["share"][cut] == [row["share"] for row in rows[cut]]
        assert answer[cut] == tuple(tables[cut])
    with pytest.raises(ValueError):
        kernels[::0]


def test_immutable_and_equal_by_value(kernels: borescope.Table) -> None:
    again = borescope.open(DEMO).kernels().kernels
    assert kernels == again and not kernels != again
    assert kernels != again.head(1) and kernels != "kernels"
    with pytest.raises(AttributeError):
        kernels.name = "other"  # type: ignore[misc]
    with pytest.raises(AttributeError):
        kernels["name"].unit = "ns"  # type: ignore[misc]
    with pytest.raises(TypeError):
        hash(kernels)


def test_pickles_are_values(kernels: borescope.Table) -> None:
    assert pickle.loads(pickle.dumps(kernels)) == kernels
    answer = borescope.open(DEMO).breakdown()
    again = pickle.loads(pickle.dumps(answer))
    assert again == answer and again.to_json() == answer.to_json()
    assert again.breakdown["span_ns"].doc == answer.breakdown["span_ns"].doc


def test_buffers_are_the_engines_numbers(kernels: borescope.Table) -> None:
    numpy = pytest.importorskip("numpy")
    first, second = numpy.asarray(kernels["total_ns"]), numpy.asarray(kernels["total_ns"])
    assert first.dtype == numpy.int64 and first.tolist() == kernels["total_ns"].to_list()
    assert first.ctypes.data == second.ctypes.data
    assert not first.flags.writeable
    assert numpy.asarray(kernels["share"]).dtype == numpy.float64
    with pytest.raises(BufferError):
        memoryview(kernels["name"])
    held = numpy.asarray(borescope.open(DEMO).kernels().kernels["total_ns"])
    assert held.tolist() == first.tolist()  # alive although table, answer and run are gone


def test_arrow_has_the_same_memory(kernels: borescope.Table) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    numpy = pytest.importorskip("numpy")
    table = pyarrow.table(kernels)
    for name, column in kernels.schema.items():
        if column.type in ("int", "float"):
            chunk = table[name].chunk(0)
            assert chunk.buffers()[1].address == numpy.asarray(column).ctypes.data, name
        assert table[name].to_pylist() == column.to_list(), name
    assert table.schema.field("total_ns").metadata[b"borescope:unit"] == b"ns"
    assert pyarrow.schema(kernels) == table.schema


def test_nothing_is_freed_while_arrow_uses_it() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    run = borescope.open(DEMO)
    expected = run.kernels().kernels.to_dicts()
    answer = run.kernels()
    table = pyarrow.table(answer.kernels)
    name = table["name"]
    capsule = answer.kernels.__arrow_c_stream__()
    del run, answer, table, capsule
    assert name.to_pylist() == [row["name"] for row in expected]


def test_frames(kernels: borescope.Table) -> None:
    rows = kernels.to_dicts()
    polars = pytest.importorskip("polars")
    assert polars.DataFrame(kernels).to_dicts() == rows
    assert kernels.to_polars().columns == kernels.columns
    assert kernels.to_arrow().to_pylist() == rows


def test_pandas(kernels: borescope.Table) -> None:
    pandas = pytest.importorskip("pandas")
    frame = kernels.to_pandas()
    assert list(frame.columns) == kernels.columns and len(frame) == len(kernels)
    assert frame["total_ns"].dtype == "int64" and frame["share"].dtype == "float64"
    assert frame["name"].tolist() == kernels["name"].to_list()
    frame.loc[0, "total_ns"] = 0  # a frame is the user's own
    assert kernels["total_ns"][0] != 0
    arrow = kernels.to_pandas(types="arrow")
    assert isinstance(arrow["total_ns"].dtype, pandas.ArrowDtype)


def test_pandas_takes_tables_and_answers() -> None:
    pandas = pytest.importorskip("pandas")
    run = borescope.open(DEMO)
    for given in (run.breakdown(), run.breakdown().breakdown, run.kernels()):
        frame = pandas.DataFrame(given)
        expected = given.to_pandas()
        assert list(frame.columns) == list(expected.columns) and len(frame) == len(expected)
        for name in frame.columns:
            assert frame[name].tolist() == expected[name].tolist(), name
    assert pandas.DataFrame(run.breakdown())["busy_ns"].dtype == "int64"
    with pytest.raises(borescope.UsageError, match="choose one of"):
        pandas.DataFrame(run.ask("idle", "overlap"))


def test_missing_cells_stay_missing() -> None:
    pytest.importorskip("pandas")
    table = borescope.open(DEMO).sql(
        "select 1 as i, 2.5 as f, 'x' as t union all select null, null, null")
    assert table.to_dicts() == [{"i": 1, "f": 2.5, "t": "x"}, {"i": None, "f": None, "t": None}]
    assert table["i"].missing == b"\0\1" and table["i"].to_list() == [1, None]
    frame = table.to_pandas()
    assert str(frame["i"].dtype) == "Int64" and frame["i"].isna().tolist() == [False, True]
    assert math.isnan(frame["f"][1]) and frame["t"].isna().tolist() == [False, True]


def test_duckdb(kernels: borescope.Table) -> None:
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    total = sum(kernels["total_ns"].to_list())
    assert kernels.to_duckdb().sum("total_ns").fetchall() == [(total,)]
    connection = duckdb.connect()
    kernels.to_duckdb(connection, name="kernels")
    assert connection.sql("select sum(total_ns) from kernels").fetchall() == [(total,)]


def test_csv_and_parquet(kernels: borescope.Table, tmp_path: object) -> None:
    text = kernels.to_csv()
    assert text is not None and text.splitlines()[0] == ",".join(kernels.columns)
    assert len(text.splitlines()) == len(kernels) + 1
    path = f"{tmp_path}/kernels.csv"
    assert kernels.to_csv(path) is None
    with open(path) as file:
        assert file.read() == text
    parquet = pytest.importorskip("pyarrow.parquet")
    kernels.to_parquet(f"{tmp_path}/kernels.parquet")
    assert parquet.read_table(f"{tmp_path}/kernels.parquet").to_pylist() == kernels.to_dicts()
    with pytest.raises(borescope.InputError, match="cannot write"):
        kernels.to_parquet(f"{tmp_path}/nowhere/kernels.parquet")


def test_tables_without_rows() -> None:
    empty = borescope.open(DEMO).sql("select name, dur_ns, 0.5 as s from kernels where 0")
    assert empty.num_rows == 0 and empty.to_dicts() == [] and repr(empty)
    assert pickle.loads(pickle.dumps(empty)) == empty
    assert "name" in str(empty) and empty._repr_mimebundle_()["text/html"]
    if "pandas" in sys.modules:
        assert empty.to_pandas().empty
    pyarrow = pytest.importorskip("pyarrow")
    assert pyarrow.table(empty).num_rows == 0


def test_names_that_are_not_utf8(tmp_path: object) -> None:
    text = trace_text(1, "NAME").replace(b"NAME", b"bad\xff\xfename")
    table = borescope.open(text).kernels().kernels
    assert table["name"].to_list() == ["bad\ufffd\ufffdname"]
    pyarrow = pytest.importorskip("pyarrow")
    assert pyarrow.table(table)["name"].to_pylist() == table["name"].to_list()


def test_answers_act_as_their_main_table() -> None:
    run = borescope.open(DEMO)
    answer = run.kernels()
    assert answer.table is answer.kernels is answer["kernels"] is answer[0]
    assert answer.to_dicts() == answer.kernels.to_dicts() and answer.columns == answer.kernels.columns
    assert "kernels" in answer and "nothing" not in answer and "kernels" in dir(answer)
    assert answer["total_ns"].to_list() == answer.kernels["total_ns"].to_list() and "total_ns" in answer
    assert run.breakdown()["busy_ns"].to_list() == [30178591, 31875260]
    with pytest.raises(KeyError, match="did you mean 'total_ns'"):
        answer["total_n"]
    schema = borescope.schema()  # no main table: names are those of tables alone
    assert schema["columns"].name == "columns" and "summary" not in schema
    assert [table.name for table in answer] == [table.name for table in answer.tables]
    with pytest.raises(KeyError, match="it has kernels"):
        answer["nothing"]
    with pytest.raises(AttributeError, match="did you mean 'kernels'"):
        answer.kernel
    with pytest.raises(borescope.UsageError, match="choose one of"):
        run.ask("idle", "overlap").table
    assert {file.rank for file in answer.files} == {0, 1} and answer.files[0].events > 0


def test_display(tmp_path: object) -> None:
    answer = borescope.open(DEMO).breakdown()
    assert repr(answer) == "<Answer: breakdown (2 rows), breakdown_spread (8 rows)>"
    assert repr(answer.breakdown) == "<Table 'breakdown': 2 rows x 14 columns>"
    bundle = answer._repr_mimebundle_()
    assert "<script" not in bundle["text/html"] and "<style" not in bundle["text/html"]
    assert "<svg" in bundle["text/html"] and ">33.833</td>" in bundle["text/html"]
    assert bundle["text/plain"] == str(answer)
    assert answer._mime_() == ("text/html", bundle["text/html"])
    assert answer.to_svg().startswith("<svg") or answer.to_svg().startswith("<?xml")
    assert answer.write(f"{tmp_path}/b.svg") == [f"{tmp_path}/b.svg"]
    many = borescope.open(DEMO).launches().launches
    assert "more rows</p>" in many._repr_mimebundle_()["text/html"]


def test_hostile_names_stay_text() -> None:
    name = '<script>alert(1)</script>" onload="x'
    text = trace_text(1, "NAME").replace(b"NAME", name.replace('"', '\\"').encode())
    page = borescope.open(text).kernels()._repr_mimebundle_()["text/html"]
    assert "<script" not in page and 'onload="x' not in page


def test_cells_are_shown_as_in_a_terminal() -> None:
    run = borescope.open(DEMO)
    verdict = run.summary()["verdict"]._repr_mimebundle_()["text/html"]
    assert ">unit</th>" not in verdict and " x</td>" in verdict and " %</td>" in verdict
    recordings = run.info()["traces"]._repr_mimebundle_()["text/html"]
    assert ">2025-10-09 08:55:23.458 UTC</td>" in recordings
    tree = run.flame(top=12)["flame"]._repr_mimebundle_()["text/html"]
    assert ">depth</th>" not in tree and "padding-left:2.5em" in tree
    names = re.findall(r'<th title="(\w+): [^"]*" scope="col" style="text-align:(\w+)[^>]*>(\w+)', tree)
    assert names == [("name", "left", "name"), ("kind", "left", "kind"), ("works", "right", "works"),
                     ("device_ns", "right", "device"), ("share", "right", "share"), ("aligned_ns", "right", "aligned")]
    flops = borescope.open(SMALL / "counters.json").counters()["counter_flops"]
    assert ">4.000</td>" in flops._repr_mimebundle_()["text/html"]


HEAD = re.compile(r'<th title="(\w+): [^"]*" scope="col"[^>]*>([^<]*)(?:<br>([^<]*))?</th>')
FACTORS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "%": 0.01,
           "FLOP": 1, "MFLOP": 1e6, "GFLOP": 1e9, "TFLOP": 1e12}


@pytest.mark.parametrize("verb", ["breakdown", "kernels", "idle", "launches", "collectives", "steps", "overlap", "prof"])
def test_a_heading_has_the_unit_of_its_cells(verb: str) -> None:
    """A cell times the unit of its heading is the value, to the digits that are shown."""
    checked = 0
    for table in getattr(borescope.open(DEMO), verb)():
        page = table._repr_mimebundle_()["text/html"]
        heads = HEAD.findall(page)
        for i, row in enumerate(re.findall(r"<tr>(<td.*?)</tr>", page)):
            cells = re.findall(r"<td[^>]*>([^<]*)</td>", row)
            assert len(cells) == len(heads)
            for (name, _, unit), cell in zip(heads, cells):
                value = table[name][i]
                if table.schema[name].unit in ("ns", "share", "bytes") and value is not None and unit:
                    shown = float(cell.replace(",", ""))
                    step = max(0.0005 if unit != "%" else 0.05, abs(shown) / (200 if abs(shown) < 0.001 else 1999))
                    assert abs(shown * FACTORS[unit] - value) <= 1.001 * step * FACTORS[unit], (name, cell, value)
                    checked += 1
    assert checked > 0


def test_columns_that_are_compared_share_a_unit() -> None:
    """As in a terminal: sums of time beside each other, and a spread with its mean."""
    answer = borescope.open(DEMO).kernels()
    heads = {name: (heading, unit) for name, heading, unit in HEAD.findall(answer.to_html())}
    assert heads["total_ns"] == ("total", "ms") and heads["share"] == ("share", "%")
    assert {heads[f"{each}_ns"][1] for each in ("mean", "min", "max", "stddev")} == {"us"}
    parts = HEAD.findall(borescope.open(DEMO).breakdown().breakdown._repr_mimebundle_()["text/html"])
    assert {unit for name, _, unit in parts if name in ("span_ns", "busy_ns", "compute_ns", "idle_ns")} == {"ms"}
    text = str(answer)
    assert re.search(r"total +mean +min +max +stddev +share\n +ms +us +us +us +us +%", text)


def test_names_are_completed() -> None:
    answer = borescope.open(DEMO).breakdown()
    assert answer._ipython_key_completions_() == ["breakdown", "breakdown_spread", *answer.breakdown.columns]
    assert answer.breakdown._ipython_key_completions_() == answer.breakdown.columns
    assert borescope.open(DEMO).ask("idle", "overlap")._ipython_key_completions_() == \
        [table.name for table in borescope.open(DEMO).ask("idle", "overlap")]
    interactive = pytest.importorskip("IPython.core.completer")
    shell = interactive.IPCompleter(namespace={"answer": answer}, config=None)
    with interactive.provisionalcompleter():
        texts = {each.text for each in shell.completions('answer["bus', 11)}
    assert any("busy_ns" in text for text in texts), texts


def test_numbers_and_short_names_keep_their_line() -> None:
    page = borescope.open(DEMO).kernels()._repr_mimebundle_()["text/html"]
    cells = re.findall(r"<td[^>]*>[^<]*</td>", page)
    assert len(cells) > 100
    for cell in cells:
        is_long = len(cell[cell.index(">"):]) - len("></td>") > 32
        assert ("white-space:nowrap" in cell) != is_long, cell


def test_text_has_no_words_of_the_command_line() -> None:
    timeline = borescope.open(ROOT / "tests/data/recipes/train").memory()["memory_timeline"]
    assert "(first 20 of 108 rows)" in str(timeline) and "--top" not in str(timeline)


@pytest.mark.parametrize(("value", "unit", "text"), [
    (None, "ns", ""), (True, None, "yes"), (0, "ns", "0 ns"), (999, "ns", "999 ns"), (1000, "ns", "1.000 us"),
    (-2_500_000, "ns", "-2.500 ms"), (0.5, "share", "50.0 %"), (12.34, "percent", "12.3 %"),
    (1.5, "ratio", "1.500 x"), (3.0, "count", "3"), (2.5, "count", "2.500"), (1 << 40, "bytes", "1.100 TB"),
    (7.25, "GB/s", "7.250 GB/s"), (float("inf"), "count", "inf"), (float("nan"), "share", "nan %"),
    (1 << 62, "unix", "2116-02-20 23:53:38.427 UTC")])
def test_a_cell(value: object, unit: str | None, text: str) -> None:
    from borescope._display import shown

    assert shown(value, unit) == text
