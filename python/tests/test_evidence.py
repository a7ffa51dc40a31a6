"""Evidence ids: every number of an answer leads back to its question, window and events."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import DEMO
from test_mcp import answered, refused

import borescope
from borescope import cli
from borescope._agents._ids import EvidenceId, Question, make, parse
from borescope._agents._resolve import UnknownEvidence, resolve
from borescope._agents._root import Root
from borescope._agents._text import plain
from borescope._agents._words import in_tools

ALL = {"top": 50, "max_bytes": 1_000_000}


@pytest.fixture
def root(monkeypatch: pytest.MonkeyPatch) -> Root:
    monkeypatch.chdir(DEMO.parent)
    return Root(".")


def test_every_number_of_the_summary(root: Root, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    answer = borescope.open(DEMO).summary()
    tables = answered(root, "ask", path="demo_run", verb="summary", **ALL)["tables"]
    assert [table["table"] for table in tables] == [table.name for table in answer]
    for table in tables:
        assert table["shown"] == table["rows"] == len(answer[table["table"]])
        for number, identity in enumerate(table["evidence"]):
            assert cli.main(["evidence", identity, "demo_run", "-f", "json"]) == 0
            evidence = json.loads(capsysbinary.readouterr().out)
            assert (evidence["table"], evidence["row"]) == (table["table"], number)
            row = evidence["data"]["row"]
            if "help" in row:  # of the command line here, of tools there
                row["help"] = plain(in_tools(answer[table["table"]]["help"][number] or ""), 600) or None
            assert list(row.values()) == table["data"]["rows"][number]
            assert evidence["window"]


def test_every_table_of_every_verb(root: Root) -> None:
    run = borescope.open(DEMO)
    for verb in answered(root, "open_run", path="demo_run")["verbs"]:
        for table in answered(root, "ask", path="demo_run", verb=verb, **ALL)["tables"]:
            assert len(set(table["evidence"])) == table["shown"]
            for number in {0, table["shown"] - 1} if table["shown"] else ():
                found = resolve(table["evidence"][number], [run])
                assert (found.table.name, found.row) == (table["table"], number)


def test_the_command_gives_the_number_again(root: Root, capfdbinary: Any) -> None:
    question = {"by": "step", "rank": "1", "all": True, "step_rule": "time"}
    table = answered(root, "ask", path="demo_run", verb="kernels", options=question, **ALL)["tables"][0]
    evidence = answered(root, "evidence", path="demo_run", id=table["evidence"][7])
    words = shlex.split(evidence["command"])
    assert words[0] == "borescope" and cli.main([*words[1:], "-q"]) == 0
    answer = json.loads(capfdbinary.readouterr().out)
    columns = {column["name"]: column["values"] for column in answer["tables"][0]["columns"]}
    row = evidence["data"]["row"]
    assert {name: values[evidence["row"]] for name, values in columns.items()} == row


def test_windows_and_events(root: Root) -> None:
    run = borescope.open(DEMO)
    table = answered(root, "ask", path="demo_run", verb="kernels", options={"by": "rank"}, **ALL)["tables"][0]
    for identity in table["evidence"]:
        evidence = answered(root, "evidence", path="demo_run", id=identity)
        row, (window,) = evidence["data"]["row"], evidence["window"]
        events = evidence["data"]["events"]
        assert events["count"] == row["count"] and window["rank"] == row["rank"]
        found = run.sql(events["sql"]).to_dicts()
        assert [sum(each["dur_ns"] for each in found), len(found)] == [row["total_ns"], row["count"]]
        assert found[:len(events["first"])] == events["first"]
        assert min(each["ts_ns"] for each in found) == window["begin_ns"]
        assert max(each["ts_ns"] + each["dur_ns"] for each in found) == window["end_ns"]
    only = run.kernels(rank=window["rank"], begin=window["begin_ns"], end=window["end_ns"])
    assert row["count"] in [each["count"] for each in only["kernels"] if each["name"] == row["name"]]


@pytest.mark.parametrize("verb,table", [("top", "top"), ("ops", "ops"), ("annotations", "annotations"),
                                        ("kernels", "kernel_classes"), ("summary", "copies")])
def test_events_of_other_tables(root: Root, verb: str, table: str) -> None:
    (answer,) = answered(root, "ask", path="demo_run", verb=verb, table=table, **ALL)["tables"]
    for identity in answer["evidence"]:
        evidence = answered(root, "evidence", path="demo_run", id=identity)
        assert "events" in evidence["data"], evidence


def test_rows_with_a_time_of_their_own(root: Root) -> None:
    (table,) = answered(root, "ask", path="demo_run", verb="steps", **ALL)["tables"]
    evidence = answered(root, "evidence", path="demo_run", id=table["evidence"][1])
    row = evidence["data"]["row"]
    assert evidence["window"] == [{"rank": row["rank"], "begin_ns": row["begin_ns"],
                                   "end_ns": row["begin_ns"] + row["span_ns"]}]


def test_what_is_not_known(root: Root) -> None:
    table = answered(root, "ask", path="demo_run", verb="breakdown", options={"begin": "50%"})["tables"][0]
    evidence = answered(root, "evidence", path="demo_run", id=table["evidence"][0])
    assert evidence["window"] is None and "begin" in evidence["no_events"]
    assert "events" not in evidence["data"]
    part = answered(root, "ask", path="demo_run", verb="kernels", options={"begin": "50%"})["tables"][0]
    evidence = answered(root, "evidence", path="demo_run", id=part["evidence"][0])
    assert "events" not in evidence["data"] and "begin" in evidence["no_events"]


def test_ids_do_not_depend_on_places_or_what_is_shown(root: Root, tmp_path: Path) -> None:
    table = answered(root, "ask", path="demo_run", verb="info", **ALL)["tables"][0]
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    for number, path in enumerate(sorted(DEMO.iterdir())):
        shutil.copy(path, moved / f"r{number}.json.gz")
    (moved / "notes.txt").write_text("no recording")
    again = answered(Root(str(tmp_path)), "ask", path="elsewhere", verb="info", **ALL)["tables"][0]
    assert again["evidence"] == table["evidence"]
    kernels = answered(root, "ask", path="demo_run", verb="kernels", **ALL)["tables"][0]
    few = answered(root, "ask", path="demo_run", verb="kernels", top=2, sort="max_ns")["tables"][0]
    assert set(few["evidence"]) < set(kernels["evidence"])


def test_short_ids(root: Root) -> None:
    run = borescope.open(DEMO)
    for verb, table in (("summary", "verdict"), ("queue", "queue"), ("ops", "ops")):
        (answer,) = answered(root, "ask", path="demo_run", verb=verb, table=table, **ALL)["tables"]
        found = resolve(answer["evidence"][1].partition(".")[0], [run])
        assert (found.asked.question.verb, found.table.name, found.row) == (verb, table, 1)
    with pytest.raises(UnknownEvidence, match="the files changed, or the question had options"):
        resolve("b1:" + "a" * 16, [run])


def test_statements(root: Root) -> None:
    statement = "select name, '1.5%,=&' x, count(*) n from kernels group by 1 order by 3 desc"
    answer = answered(root, "sql", path="demo_run", statement=statement)
    rows = answer["tables"][0]["data"]["rows"]
    evidence = answered(root, "evidence", path="demo_run", id=answer["evidence"] + ".row=2")
    assert list(evidence["data"]["row"].values()) == rows[2]
    assert shlex.split(evidence["command"])[2] == statement
    assert "no row 999" in refused(root, "evidence", path="demo_run", id=answer["evidence"] + ".row=999")
    other = answer["evidence"].replace("desc", "asc")
    assert "not the one of the id" in refused(root, "evidence", path="demo_run", id=other)


def test_comparisons(root: Root, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    base, test = "demo_run/rank-0.json.gz", "demo_run/rank-1.json.gz"
    table = answered(root, "compare", base=base, test=test)["tables"][1]
    evidence = answered(root, "evidence", id=table["evidence"][0], path=base, test=test)
    assert list(evidence["data"]["row"].values()) == table["data"]["rows"][0]
    assert cli.main(["evidence", table["evidence"][0], base, test]) == 0
    assert cli.main(["evidence", table["evidence"][0].partition(".")[0], base, test]) == 0
    assert cli.main(["evidence", table["evidence"][0], test, base]) == 2
    assert cli.main(["evidence", table["evidence"][0], base]) == 2
    assert b"the base and the test" in capsysbinary.readouterr().err


def test_what_changed(root: Root, tmp_path: Path) -> None:
    identity = answered(root, "ask", path="demo_run", verb="kernels")["tables"][0]["evidence"][0]
    shutil.copytree(DEMO, tmp_path / "run")
    other = borescope.open(tmp_path / "run")
    assert resolve(identity, [other]).row == 0
    (tmp_path / "run" / "rank-1.json.gz").unlink()
    with pytest.raises(UnknownEvidence, match="the files changed.*borescope kernels RUN"):
        resolve(identity, [borescope.open(tmp_path / "run")])
    run = borescope.open(DEMO)
    row, files, verb = identity[3:].split(".")
    for changed, message in ((f"b1:{'a' * 16}.{files}.{verb}", "files are the same, and none of the"),
                             (f"b1:{row}.{files}.{verb}.by=rank", "files are the same, and none of the"),
                             (f"b1:{row}.{files}.{verb}.nope", "no table 'nope'"),
                             (f"b1:{row}.{files}.nope", "no verb"),
                             (f"b1:{row}.{files}.report", "no verb"),
                             (f"b1:{row}.{files}.{verb}.nope=1", "no keyword"),
                             (f"b1:{row}.{files}.memory", "no answer")):
        with pytest.raises(UnknownEvidence, match=message):
            resolve(changed, [run])


@pytest.mark.parametrize("option", ["save", "overlay"])
def test_ids_open_no_files(option: str, tmp_path: Path) -> None:
    target = tmp_path / "written"
    identity = make(["0" * 64], Question("critical-path", ((option, str(target)),)), "critical_path", None)
    with pytest.raises(UnknownEvidence, match="names a file"):
        resolve(identity, [borescope.open(DEMO)])
    assert not target.exists()


def test_parsing() -> None:
    options = (("annotation", "a.b=c %&;'\" \n\udcff ü"), ("by", "rank,step"))
    text = make(["x"], Question("kernels", options), "kernel_classes", [1])
    assert shlex.quote(text) == text.replace("'", "") or set(text) <= set(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:._-,=%~")
    parsed = parse(text)
    assert parsed.question == Question("kernels", options) and parsed.table == "kernel_classes"
    assert parse("b1:abcdefghijklmn27") == EvidenceId("abcdefghijklmn27")
    for wrong in ("", "b1:", "b1:abc", "b2:abcdefghijklmn27", "b1:ABCDEFGHIJKLMN27", "b1:abcdefghijklmn27.x",
                  "b1:abcdefghijklmn27.abcdefg2", "x" * 1_000_000):
        with pytest.raises(borescope.UsageError, match="no evidence id"):
            parse(wrong)


def test_the_command(root: Root, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    identity = answered(root, "ask", path="demo_run", verb="kernels")["tables"][0]["evidence"][0]
    assert cli.main(["evidence", identity, "demo_run"]) == 0
    text = capsysbinary.readouterr().out.decode()
    assert "total_ns   23,474,962" in text and "borescope kernels demo_run -f json" in text
    assert "rank 1:" in text and "Events   24" in text
    assert cli.main(["evidence", identity, "demo_run/rank-0.json.gz"]) == 2
    assert b"the files changed" in capsysbinary.readouterr().err
    for words, message in ((["evidence"], b"an id and a run"), (["evidence", "x", "demo_run"], b"no evidence id"),
                           (["evidence", identity, "nope"], b"No such file"),
                           (["evidence", "-f", "yaml", identity, "demo_run"], b"no format"),
                           (["evidence", "--nope"], b"no option"), (["evidence", "-f"], b"needs a value"),
                           (["mcp", "x"], b"takes no input"), (["mcp", "--root", "nope"], b"")):
        assert cli.main(words) == 2
        error = capsysbinary.readouterr().err
        assert message in error and b"Traceback" not in error
    with open("/dev/full", "wb") as full:
        done = subprocess.run([sys.executable, "-m", "borescope", "evidence", identity, str(DEMO)], stdout=full,
                              stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2 and done.stderr.startswith(b"borescope: standard output: cannot write: No space")


@pytest.mark.parametrize("word", ["mcp", "evidence"])
def test_help(word: str, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    for flag in ("--help", "-h"):
        assert cli.main([word, flag]) == 0
        text = capsysbinary.readouterr().out.decode()
        assert text.startswith(f"borescope {word}: ") and "\nExample: " in text
        assert max(map(len, text.splitlines())) <= 80


def test_without_the_package(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name in [each for each in sys.modules if each.split(".")[0] == "mcp"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mcp", None)
    monkeypatch.delitem(sys.modules, "borescope._agents._server", raising=False)
    assert cli.main(["mcp"]) == 2
    assert "pip install '.[mcp]'" in capsys.readouterr().err
