"""borescope.postmortem, the tool of agents, and dumps and snapshots as inputs of a run."""

from __future__ import annotations

import gzip
import io
import json
import os
import pickle
import runpy
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, trace_text

import borescope
from borescope._agents._root import Root
from borescope._agents._tools import call


@pytest.fixture(scope="session")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders of dumps of three ranks, of which rank 2 stops, and a snapshot of a program out of memory."""
    folder = tmp_path_factory.mktemp("jobs")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        runpy.run_path(str(ROOT / "tests" / "data" / "postmortem" / "make_dumps.py"))
    frames = [{"name": "main", "filename": "/app/train.py", "line": 7}]
    snapshot = {
        "segments": [{"device": 0, "address": 1 << 30, "total_size": 16 << 20, "allocated_size": 16 << 20, "stream": 0,
                      "segment_type": "large",
                      "blocks": [{"address": 1 << 30, "size": 16 << 20, "requested_size": 16 << 20,
                                  "state": "active_allocated", "frames": frames}]}],
        "device_traces": [[
            {"action": "segment_alloc", "addr": 1 << 30, "size": 16 << 20, "stream": 0, "time_us": 1},
            {"action": "alloc", "addr": 1 << 30, "size": 16 << 20, "stream": 0, "time_us": 2, "frames": frames},
            {"action": "oom", "device_free": 1 << 20, "size": 16 << 20, "stream": 0, "time_us": 3, "frames": frames}]],
        "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": -1, "garbage_collection_threshold": 0.0,
                               "expandable_segments": False}}
    (folder / "memory").mkdir()
    (folder / "memory" / "snapshot_rank3.pickle").write_bytes(pickle.dumps(snapshot))
    return folder


# --- the function


def test_a_hang(jobs: Path) -> None:
    answer = borescope.postmortem(jobs / "job")
    assert isinstance(answer, borescope.Postmortem) and isinstance(answer, borescope.Answer)
    assert (answer.has_cause, answer.is_unclear, answer.has_failed) == (True, False, False)
    (finding,) = answer.findings
    assert (finding["finding"], finding["ranks"], finding["certainty"]) == ("Ranks stopped issuing work", "2", "certain")
    (culprit,) = answer["hang_culprits"].to_dicts()
    assert (culprit["rank"], culprit["kind"], culprit["waiting_ranks"]) == (2, "never-issued", "0,1")
    assert answer["finding"][0] == finding["finding"]  # the verdict is the main table
    assert len(answer["postmortem_files"]) == 3
    assert "Verdict" in str(answer) and "postmortem" in repr(answer)


def test_options(jobs: Path) -> None:
    whole = borescope.postmortem(jobs / "job")
    only = borescope.postmortem(jobs / "job", rank=[0, 1], top=1)
    assert only["hang_ranks"]["rank"].to_list() == [0]
    assert borescope.postmortem([jobs / "job" / f"trace_{rank}" for rank in range(3)]).findings == whole.findings
    assert borescope.postmortem(str(jobs / "job"), world=3, threads=1, sort="rank").findings == whole.findings
    assert borescope.postmortem(jobs / "job", skip_frames="/vendor/")["hang_culprits"]["last_line"][0] == "/app/train.py:10 step"


def test_scrub(jobs: Path) -> None:
    plain = borescope.postmortem(jobs / "job")
    clean = borescope.postmortem(jobs / "job", scrub=True)
    assert "/vendor/sync.py" in plain.to_json().decode()
    for text in (clean.to_json().decode(), str(clean), repr(clean)):
        assert "/vendor/" not in text
        assert str(jobs) not in text
    for name in ("rank", "kind", "certainty", "since_unix_ns"):
        assert clean["hang_culprits"][name].to_list() == plain["hang_culprits"][name].to_list()
    for wrong in ("names", 1, None):
        with pytest.raises(borescope.UsageError, match="scrub"):
            borescope.postmortem(jobs / "job", scrub=wrong)  # type: ignore[arg-type]


def test_out_of_memory(jobs: Path) -> None:
    answer = borescope.postmortem(jobs / "memory", limit=17 << 20, fix_time=5)
    assert answer["oom"]["cause"][0].startswith("full") or "limit" in answer["oom"]["cause"][0]
    # Devices have more than 2 GiB.
    assert len(borescope.postmortem(jobs / "memory", limit=80 << 30, fix_time=0)["oom"]) == 1
    assert answer["memory_live"]["bytes"].to_list()[0] == 16 << 20
    assert len(answer["oom_fixes"]) > 0
    with pytest.raises(borescope.UsageError, match="is no size"):
        borescope.postmortem(jobs / "memory", limit="much")


def test_frames_and_pickles(jobs: Path) -> None:
    answer = borescope.postmortem(jobs / "job")
    again = pickle.loads(pickle.dumps(answer))
    assert again == answer and again.has_cause and again.findings == answer.findings
    assert json.loads(answer.to_json())["tables"][0]["name"] == "postmortem"
    pandas = pytest.importorskip("pandas")
    assert answer.to_pandas()["ranks"].to_list() == ["2"]
    assert isinstance(answer["hang_ranks"].to_pandas(), pandas.DataFrame)
    arrow = pytest.importorskip("pyarrow")
    assert arrow.table(answer["hang_ranks"]).num_rows == 3


def test_errors(jobs: Path, tmp_path: Path) -> None:
    with pytest.raises(borescope.InputError, match="no such file"):
        borescope.postmortem(tmp_path / "nothing")
    (tmp_path / "notes").write_text("nothing of a job")
    with pytest.raises(borescope.FormatError, match="no dump"):
        borescope.postmortem(tmp_path)
    for content in (b"bytes", b""):
        with pytest.raises(borescope.FormatError, match="no dump"):
            borescope.postmortem(content)
    for wrong in ([], 3, [3], None):
        with pytest.raises(borescope.UsageError, match="takes the name of a folder"):
            borescope.postmortem(wrong)  # type: ignore[arg-type]
    for keywords in ({"rank": "9"}, {"rank": []}, {"world": -1}, {"world": "x"}, {"fix_time": True}, {"sort": "nope"},
                     {"top": 1.5}, {"skip_frames": "("}):
        with pytest.raises(borescope.UsageError):
            borescope.postmortem(jobs / "job", **keywords)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        borescope.postmortem(jobs / "job", ranks=1)  # type: ignore[call-arg]


def test_code_is_never_run(jobs: Path, tmp_path: Path) -> None:
    class Harmful:
        def __reduce__(self) -> tuple[Any, ...]:
            return (tmp_path / "ran").touch, ()

    (tmp_path / "trace_0").write_bytes(pickle.dumps({"version": "2.10", "entries": [Harmful()]}))
    for rank in (1, 2):
        (tmp_path / f"trace_{rank}").write_bytes((jobs / "job" / f"trace_{rank}").read_bytes())
    answer = borescope.postmortem(tmp_path)
    assert answer.has_failed and "unsafe-pickle" in [each.code for each in answer.diagnostics]
    assert not (tmp_path / "ran").exists()


def test_a_stop(jobs: Path) -> None:
    def stop(_: borescope.Progress) -> None:
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        for _ in range(2000):  # whichever of them is slow enough to be seen
            borescope.postmortem([jobs / "job"] * 50, progress=stop)


class Named(io.BytesIO):
    name = "snapshot_rank3.pickle"


def without_files(answer: borescope.Answer) -> list[list[dict[str, Any]]]:
    """All rows but those that name a file."""
    tables = [table.to_dicts() for table in answer if table.name != "postmortem_files"]
    return [[{key: cell for key, cell in row.items() if key != "file"} for row in table] for table in tables]


def test_contents_of_files(jobs: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory,
                           monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    data = (jobs / "memory" / "snapshot_rank3.pickle").read_bytes()
    expected = borescope.postmortem(jobs / "memory", fix_time=5)
    # The name of a file object says the rank; bytes have none.
    assert without_files(borescope.postmortem(Named(data), fix_time=5)) == without_files(expected)
    for content in (data, bytearray(data), memoryview(data), gzip.compress(data), io.BytesIO(data)):
        answer = borescope.postmortem(content, fix_time=5)
        assert answer.findings[0]["finding"] == expected.findings[0]["finding"]
        assert answer["memory_live"]["rank"].to_list()[0] is None
        assert answer["postmortem_files"]["kind"].to_list() == ["memory-snapshot"]
    two = borescope.postmortem([data, data], fix_time=0)
    assert set(two["memory_live"]["rank"].to_list()) == {None} and len(two["postmortem_files"]) == 2
    # Dumps of ranks, with the names that say so, beside a path.
    dumps = []
    for rank in range(2):
        dump = Named((jobs / "job" / f"trace_{rank}").read_bytes())
        dump.name = f"/somewhere/trace_{rank}"
        dumps.append(dump)
    # Contents have no time at which they were written, of which a hang may be seen.
    untimed = Path(shutil.copytree(jobs / "job", tmp_path_factory.mktemp("untimed") / "job"))
    for path in untimed.iterdir():
        os.utime(path, (0, 0))
    whole = borescope.postmortem([*dumps, untimed / "trace_2"])
    assert without_files(whole) == without_files(borescope.postmortem(untimed))
    with pytest.raises(TypeError, match="binary mode"):
        borescope.postmortem(io.StringIO("text"))  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_help_names_the_model_only_where_nothing_else_is_enough() -> None:
    def frames(line: int, *more: tuple[str, str]) -> list[dict[str, Any]]:
        named = [*more, ("/app/train.py", "main")]
        return [{"name": name, "filename": file, "line": line} for file, name in named]

    mib = 1 << 20
    model = frames(3, ("/lib/torch/nn/modules/module.py", "_apply"))
    kept = [("segment_alloc", 1 << 30, 16 * mib, model), ("alloc", 1 << 30, 16 * mib, model)]

    def answer(events: list[tuple[str, int, int, Any]], segments: int) -> borescope.Postmortem:
        rows = [{"action": action, ("device_free" if action == "oom" else "addr"): at, "size": size, "stream": 0,
                 "time_us": 1 + number, "frames": stack} for number, (action, at, size, stack) in enumerate(events)]
        snapshot = {"segments": [
            {"device": 0, "address": (1 << 30) * (1 + each), "total_size": 16 * mib, "stream": 0, "segment_type": "large",
             "blocks": [{"size": 16 * mib, "requested_size": 16 * mib, "state": "active_allocated", "frames": model}]}
            for each in range(segments)], "device_traces": [rows]}
        return borescope.postmortem(pickle.dumps(snapshot), limit=39 * mib)

    failing = answer([*kept, ("oom", 80 << 30, 24 * mib, frames(9))], 1)
    fixes = {row["change"]: row["fits"] for row in failing["oom_fixes"].to_dicts()}
    assert fixes["without /app/train.py:3 main"] == "yes"
    assert "requests of /app/train.py:9 main at 91 %" in failing.findings[0]["help"]
    assert "train.py:3" not in failing.findings[0]["help"]
    # The line that asks for more of the model has nothing else to name but the limit.
    second = [(action, 2 << 30, size, stack) for action, _, size, stack in kept]
    again = answer([*kept, *second, ("oom", 80 << 30, 16 * mib, [])], 2)
    assert "raise the limit" in again.findings[0]["help"] and "train.py:3" not in again.findings[0]["help"]
    assert {row["change"]: row["fits"] for row in again["oom_fixes"].to_dicts()}["without /app/train.py:3 main"] == "yes"


def damaged(change: Callable[[dict[str, Any], list[dict[str, Any]]], None]) -> dict[str, int]:
    """What is said of a snapshot that was changed: codes and counts."""
    snapshot = pickle.loads((ROOT / "fuzz" / "corpus" / "snapshot" / "whole.pickle").read_bytes())
    change(snapshot, snapshot["device_traces"][0])
    answer = borescope.postmortem(pickle.dumps(snapshot), fix_time=0)
    assert answer["postmortem_files"]["status"].to_list() == ["read"]
    return {each.code: each.count for each in answer.diagnostics if each.code != "python-stacks"}


def test_damaged_snapshots_say_what_was_repaired() -> None:
    def without_frames(_: dict[str, Any], events: list[dict[str, Any]]) -> None:
        for event in events:
            event.pop("frames")

    def some_frames(_: dict[str, Any], events: list[dict[str, Any]]) -> None:
        events[1].pop("frames")

    def overwritten(_: dict[str, Any], events: list[dict[str, Any]]) -> None:
        del events[:3]

    def cut(_: dict[str, Any], events: list[dict[str, Any]]) -> None:
        del events[3:]

    def without_segments(snapshot: dict[str, Any], _: list[dict[str, Any]]) -> None:
        snapshot["segments"] = []

    def without_events(_: dict[str, Any], events: list[dict[str, Any]]) -> None:
        events.clear()

    def not_freed(_: dict[str, Any], events: list[dict[str, Any]]) -> None:
        del events[3:5]

    def wrong_fields(_: dict[str, Any], events: list[dict[str, Any]]) -> None:
        events[0]["time_us"] = "noon"
        events[1]["stream"] = "first"

    def wrong_sums(snapshot: dict[str, Any], _: list[dict[str, Any]]) -> None:
        snapshot["segments"][0]["blocks"].pop()

    assert damaged(lambda *_: None) == {}
    assert damaged(without_frames) == {"no-stacks": 1}
    assert damaged(some_frames) == {"some-stacks-missing": 1}
    assert damaged(overwritten) == {"ring-of-events": 2}
    assert damaged(cut) == {"ring-of-events": 1, "end-differs": 1}
    assert damaged(without_segments) == {"end-differs": 1}
    assert damaged(without_events) == {"no-replay": 1}
    # No free_completed is left, so that the last free counts as complete.
    assert damaged(not_freed) == {"missing-frees": 1, "end-differs": 1}
    assert damaged(wrong_fields) == {"bad-field-type": 2}
    assert damaged(wrong_sums) == {"inconsistent-snapshot": 1}


# --- dumps and snapshots as inputs of a run


def test_info_and_doctor(jobs: Path) -> None:
    run = borescope.open(jobs / "job")
    (kind,) = run.info()["job"].to_dicts()
    assert (kind["kind"], kind["files"], kind["ranks"], kind["records"], kind["unread"]) == ("flight-recorder", 3, "0..2", 5, 0)
    assert kind["ask"].startswith("borescope postmortem ")
    checks = {row["check"]: row["severity"] for row in run.doctor()["quality"].to_dicts()}
    assert checks["unsafe-pickle"] == "ok" and checks["no-profile"] == "info"
    cut = borescope.open(jobs / "cut", on_diagnostic="ignore")
    assert {row["check"]: row["count"] for row in cut.doctor()["quality"].to_dicts()}["truncated-file"] == 1


def test_memory(jobs: Path) -> None:
    answer = borescope.open(jobs / "memory" / "snapshot_rank3.pickle").memory()
    assert [(row["rank"], row["category"], row["bytes"], row["source"]) for row in answer["memory_peak"].to_dicts()] == [
        (3, "allocated", 16 << 20, "replay"), (3, "reserved", 16 << 20, "replay")]
    assert [(row["moment"], row["line"], row["bytes"]) for row in answer["memory_live"].to_dicts()][0] == (
        "peak", "/app/train.py:7 main", 16 << 20)


def test_snapshots_in_memory(jobs: Path, tmp_path: Path) -> None:
    data = (jobs / "memory" / "snapshot_rank3.pickle").read_bytes()
    expected = borescope.open(jobs / "memory" / "snapshot_rank3.pickle")
    as_json = json.dumps(pickle.loads(data)).encode()
    for content in (data, bytearray(data), memoryview(data), gzip.compress(data), as_json, io.BytesIO(data), Named(data)):
        run = borescope.open(content)
        peak = run.memory()["memory_peak"].to_dicts()
        assert [(row["category"], row["bytes"], row["source"]) for row in peak] == [
            ("allocated", 16 << 20, "replay"), ("reserved", 16 << 20, "replay")]
        assert len(run.memory()["memory_segments"]) == len(expected.memory()["memory_segments"]) == 3
        assert run.info()["job"]["kind"].to_list() == ["memory-snapshot"]
        assert run.sql("select count(*) as n from mem_events")["n"].to_list() == [3]
        assert run.doctor()["quality"].to_dicts()
        with pytest.raises(borescope.FormatError, match="borescope postmortem"):
            run.summary()
    assert borescope.open(Named(data)).memory()["memory_peak"]["rank"].to_list() == [3, 3]
    # What is a pickle of something else says so.
    with pytest.raises(borescope.FormatError):
        borescope.open(pickle.dumps({"a": 1})).memory()
    with pytest.raises(borescope.FormatError):
        borescope.open(b"\x80").summary()
    with pytest.raises(borescope.FormatError):
        borescope.open(b"\x1f\x8b nothing").summary()


@pytest.mark.parametrize("verb", ["summary", "kernels", "memory", "steps"])
def test_other_verbs_say_what_it_is(jobs: Path, verb: str) -> None:
    with pytest.raises(borescope.FormatError, match="flight recorder.*borescope postmortem"):
        getattr(borescope.open(jobs / "job" / "trace_0"), verb)()


def test_sql(jobs: Path, tmp_path: Path) -> None:
    run = borescope.open(jobs / "job")
    found = run.sql("select rank, count(*) as n, sum(outstanding) as open from fr_entries group by rank order by rank")
    assert [tuple(row.values()) for row in found.to_dicts()] == [(0, 2, 1), (1, 2, 1), (2, 1, 0)]
    lines = run.sql("select f.line from fr_entries e join frames f on f.rank = e.rank and f.stack_id = e.stack_id "
                    "where e.rank = 0 and e.record_id = 1 order by f.depth")
    assert lines["line"].to_list() == [1, 2, 20]
    assert run.sql("select ranks from fr_groups where rank = 1")["ranks"].to_list() == ["0..2"]
    assert run.sql("select last_completed from fr_status where rank = 2")["last_completed"].to_list() == [1]
    memory = borescope.open(jobs / "memory").sql("select action, allocated_bytes, reserved_bytes, forced from mem_events order by id")
    assert [tuple(row.values()) for row in memory.to_dicts()] == [
        ("segment_alloc", 0, 16 << 20, 0), ("alloc", 16 << 20, 16 << 20, 0), ("oom", 16 << 20, 16 << 20, 0)]
    # beside a profile, of the same rank
    (tmp_path / "rank-0.json").write_bytes(trace_text())
    (tmp_path / "trace_0").write_bytes((jobs / "job" / "trace_0").read_bytes())
    (tmp_path / "job.log").write_text("[rank0]: Traceback (most recent call last):\n"
                                      '[rank0]:   File "/app/a.py", line 3, in f\n[rank0]: ValueError: no\n')
    both = borescope.open(tmp_path, on_diagnostic="ignore")
    assert both.sql("select count(*) as n from kernels")["n"].to_list() == [3]
    assert both.sql("select (select count(*) from fr_entries) as n, count(*) as ranks from ranks").to_dicts() == [
        {"n": 2, "ranks": 1}]
    logs = both.sql("select rank, kind, program_line from log_findings where rank = 0")
    assert [tuple(row.values()) for row in logs.to_dicts()] == [(0, "exception", "/app/a.py:3 f")]


# --- the tool


def told(root: Root, **arguments: Any) -> dict[str, Any]:
    text, is_error = call(root, "postmortem", arguments)
    assert not is_error, text
    assert len(text.encode()) <= arguments.get("max_bytes", 8_192)
    return dict(json.loads(text))


def test_the_tool(jobs: Path) -> None:
    answer = told(Root(str(jobs)), path="job")
    assert answer["has_cause"] and not answer["is_unclear"]
    assert answer["coverage"]["files"] == 3 and answer["coverage"]["first_ranks"] == [0, 1, 2]
    assert answer["command"].startswith("borescope postmortem ")
    verdict = answer["tables"][0]
    assert verdict["table"] == "postmortem"
    row = dict(zip(verdict["data"]["columns"], verdict["data"]["rows"][0]))
    assert row["ranks"] == "2" and "py-spy" in row["help"]
    only = told(Root(str(jobs)), path="job", table="hang_ranks", rank="0", top=1, max_bytes=2000)
    assert [each["table"] for each in only["tables"]] == ["hang_ranks"] and only["tables"][0]["rows"] == 1
    assert told(Root(str(jobs)), path="memory/snapshot_rank3.pickle", limit="1GiB", fix_time=0)["tables"]


def test_the_tool_stays_below_its_root(jobs: Path, tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "trace_0").symlink_to(jobs / "job" / "trace_0")
    (tmp_path / "inside" / "trace_1").write_bytes((jobs / "job" / "trace_1").read_bytes())
    answer = told(Root(str(tmp_path)), path="inside")
    assert answer["coverage"]["files"] == 1
    for path in ("../job", "/etc/passwd", "inside/trace_0", "nothing", "a\0b"):
        text, is_error = call(Root(str(tmp_path)), "postmortem", {"path": path})
        assert is_error, text
    for wrong in ({"fix_time": 61}, {"world": 0}, {"path": 3}, {"limit": "much", "path": "inside"}, {"rank": "x"}):
        text, is_error = call(Root(str(tmp_path)), "postmortem", {"path": "inside", **wrong})
        assert is_error, text


def test_the_tools_say_what_a_dump_is(jobs: Path) -> None:
    root = Root(str(jobs))
    text, is_error = call(root, "open_run", {"path": "job"})
    answer = json.loads(text)
    assert not is_error and "postmortem" in answer["note"]
    assert answer["tables"][0]["table"] == "job"
    text, is_error = call(root, "ask", {"path": "job", "verb": "kernels"})
    assert is_error and "the tool `postmortem`" in json.loads(text)["data"]["message"]
