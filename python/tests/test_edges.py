"""Wrong arguments and odd inputs: errors of this package, in the words of Python."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import DEMO, trace_text

import borescope


@pytest.mark.parametrize("source", ["", {"a": 1}, [None], 3], ids=repr)
def test_what_is_no_name_of_a_recording(source: Any) -> None:
    with pytest.raises(borescope.UsageError, match="name of the recording is empty|cannot be opened from"):
        borescope.open(source)


@pytest.mark.parametrize("given", [{"threads": -1}, {"threads": "2"}, {"threads": 2.5}, {"threads": True},
                                   {"progress": "yes"}, {"progress": 1}, {"on_diagnostic": "loud"}], ids=repr)
def test_options_of_open_are_checked_at_once(given: dict[str, Any]) -> None:
    with pytest.raises(borescope.UsageError) as caught:
        borescope.open(DEMO, **given)
    assert caught.value.parameter == next(iter(given))


def test_an_empty_choice_does_not_select_everything(demo: borescope.Run) -> None:
    with pytest.raises(borescope.UsageError, match="`step` takes at least one number"):
        demo.kernels(step=[])
    with pytest.raises(borescope.UsageError, match="`rank` takes at least one number"):
        borescope.open(DEMO, ranks=[]).breakdown()
    assert demo.kernels(by=[]) == demo.kernels()


@pytest.mark.parametrize(("verbs", "words"), [
    ((["kernels", "idle"],), 'given one by one: run.ask\\("kernels", "idle"\\)'), ((3,), "not int"),
    (("report",), "Run.report"), (("kernelz",), "did you mean 'kernels'"), ((), "no verb")], ids=repr)
def test_verbs_that_are_none(demo: borescope.Run, verbs: Any, words: str) -> None:
    with pytest.raises(borescope.UsageError, match=words):
        demo.ask(*verbs)
    with pytest.raises(borescope.UsageError, match=words):
        demo.map(*verbs)


@pytest.mark.parametrize("arguments", [
    {"text": 3}, {"text": "select ?", "params": "a"}, {"text": "select ?", "params": 1},
    {"text": "select ?", "params": [1 << 63]}, {"text": "select ?", "params": [[1]]},
    {"text": "select 1", "rows": -1}, {"text": "select 1", "rows": "2"},
    {"text": "select 1", "time_limit": -1}], ids=repr)
def test_arguments_of_sql(demo: borescope.Run, arguments: dict[str, Any]) -> None:
    with pytest.raises(borescope.UsageError):
        demo.sql(**arguments)


@pytest.mark.parametrize("arguments", [
    {"text": "select '\ud800'"}, {"text": "select ?", "params": ["a\udfff"]},
    {"text": "select :a", "params": {"a": "\ud800"}}, {"text": "select :a", "params": {"a\ud800": 1}}], ids=ascii)
def test_halves_of_characters_are_none(demo: borescope.Run, arguments: dict[str, Any]) -> None:
    with pytest.raises(borescope.UsageError, match="has half of a character"):
        demo.sql(**arguments)
    assert demo.sql("select ? as x", ["\U0001f600é"])["x"].to_list() == ["\U0001f600é"]


def test_values_by_their_place(demo: borescope.Run) -> None:
    table = demo.sql("select ?2 as a, ?1 as b, ?2 as c", ["x", 3])
    assert [table[name].to_list() for name in "abc"] == [[3], ["x"], [3]]
    with pytest.raises(borescope.UsageError, match="no value for the parameter \\?3"):
        demo.sql("select ?3", ["x", 3])


def test_more_threads_than_the_command_line_takes() -> None:
    for threads in (10**9, 1025, -1):
        with pytest.raises(borescope.UsageError, match="`threads` takes a whole number up to 1024"):
            borescope.open(DEMO, threads=threads)
        with pytest.raises(borescope.UsageError, match="`threads` takes a whole number up to 1024"):
            borescope.check(DEMO, threads=threads)
        with pytest.raises(borescope.UsageError, match="`threads` takes a whole number up to 1024"):
            borescope.postmortem(DEMO, threads=threads)


def test_values_of_sql_keep_all_their_bits(demo: borescope.Run) -> None:
    for value in (-(1 << 63), (1 << 63) - 1):
        assert demo.sql("select ? as x", [value])["x"].to_list() == [value]


def test_scrub_is_not_just_true(demo: borescope.Run, tmp_path: Any) -> None:
    with pytest.raises(borescope.UsageError, match="`scrub` takes"):
        demo.convert(tmp_path / "x.json", scrub="nam")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_keys_of_answers_and_tables(demo: borescope.Run) -> None:
    answer = demo.kernels()
    with pytest.raises(KeyError, match="did you mean 'kernels'"):
        answer["kernelz"]
    with pytest.raises(IndexError, match="table 2 of 2"):
        answer[2]
    assert answer[-1] == answer["kernel_classes"]
    with pytest.raises(TypeError, match="number of a row or a slice, not float"):
        answer["kernels"][1.5]  # type: ignore[call-overload]


def test_one_part_needs_no_list(demo: borescope.Run, tmp_path: Any) -> None:
    part = demo.map("breakdown")
    (tmp_path / "one.part").write_bytes(part)
    assert borescope.reduce(part) == borescope.reduce(str(tmp_path / "one.part")) == demo.breakdown()  # type: ignore[arg-type]
    with pytest.raises(borescope.InputError, match="nope: No such file") as caught:
        borescope.reduce("nope")
    assert caught.value.remedy and caught.value.path == "nope"


@pytest.mark.parametrize(("call", "words"), [
    (lambda run: run.sql("select nope from kernels"), "Run.schema()"),
    (lambda run: run.kernels(annotation="nope"), "Run.annotations()"),
    (lambda run: borescope.open(b"no profile").info(), 'borescope.schema()["formats"]'),
    (lambda run: run.kernels().write("x.nope"), "write json, csv, text, svg or png"),
    (lambda run: run.info().to_svg(), "others are tables only"),
    (lambda run: borescope.reduce([b"x"]), "Run.map()")])
def test_hints_speak_python(demo: borescope.Run, call: Any, words: str) -> None:
    with pytest.raises(borescope.Error) as caught:
        call(demo)
    assert words in caught.value.remedy
    assert str(caught.value).endswith(caught.value.remedy)
    assert "`borescope " not in str(caught.value) and " -f " not in str(caught.value)


def test_names_in_the_message_stay_as_they_are() -> None:
    with pytest.raises(borescope.InputError) as caught:
        borescope.open("no `borescope list` here")
    assert "no `borescope list` here" in str(caught.value)


def test_contents_are_called_as_their_keyword(demo: borescope.Run) -> None:
    with pytest.raises(borescope.UsageError, match=r"device_spec\.json: unknown key"):
        demo.roofline(device_spec={"a": 1})


def test_diagnostics_read_as_sentences() -> None:
    text = trace_text(20)
    with pytest.warns(borescope.DataWarning, match=r"ends inside an event, which is lost\. The file ends"):
        borescope.open(text[:len(text) * 2 // 3]).kernels()


def test_tracebacks_name_classes_as_they_are_imported() -> None:
    for kind in (borescope.Error, borescope.MissingData, borescope.DataWarning):
        assert f"{kind.__module__}.{kind.__qualname__}" == f"borescope.{kind.__name__}"


MANY_ROWS = "WITH RECURSIVE t(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM t LIMIT 1000001) SELECT i FROM t"


def test_a_result_is_never_cut_silently(demo: borescope.Run) -> None:
    with pytest.raises(borescope.UsageError, match="more than 1000000 rows; .*rows=N"):
        demo.sql(MANY_ROWS)
    assert sum(demo.sql(MANY_ROWS, rows=2_000_000)["i"].to_list()) == 1_000_001 * 1_000_002 // 2
    cut = demo.query(MANY_ROWS, rows=3)
    assert len(cut.tables[0]) == 3 and [each.code for each in cut.diagnostics][-1] == "row-limit"
