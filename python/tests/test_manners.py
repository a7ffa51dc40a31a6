"""Errors, warnings, interruption, threads, processes, and what importing costs."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import resource
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from conftest import DEMO, trace_text

import borescope
from borescope._stores import Folder


def python(code: str, *words: object, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", textwrap.dedent(code), *map(str, words)],
                          capture_output=True, text=True, check=False, **options)


def test_errors_have_parts(demo: borescope.Run) -> None:
    with pytest.raises(borescope.MissingData) as missing:
        demo.memory()
    error = missing.value
    assert isinstance(error, LookupError) and error.code == "missing-data"
    assert "profile_memory=True" in error.remedy and str(error).endswith(error.remedy)
    assert error.path is not None and error.path.endswith("rank-0.json.gz")
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.code, again.remedy) == (type(error), str(error), error.code,
                                                                 error.remedy)


@pytest.mark.parametrize("call, words", [
    (lambda run: run.kernels(topp=3), "`top`"),
    (lambda run: run.kernels(top="many"), "`top`"),
    (lambda run: run.idle(kernel_wait=2.5), "`kernel_wait` takes a whole number of nanoseconds"),
    (lambda run: run.idle(kernel_wait="30"), "with a unit"),
    (lambda run: run.kernels(all=1), "`all` takes True or False"),
    (lambda run: run.breakdown(compat="hat"), "hta"),
    (lambda run: run.breakdown(by="stepp"), "step"),
    (lambda run: run.ask("kernel"), "did you mean 'kernels'"),
    (lambda run: run.ask("diff"), "Run.diff"),
    (lambda run: run.ask("idle", by="step", kernel_wayt=1), "did you mean `kernel_wait`"),
    (lambda run: run.flame(min_share=float("nan")), "`min_share`"),
    (lambda run: run.whatif(scale=0.5), "a text, or a sequence of texts"),
    (lambda run: run.whatif(scale="gemm=0.5"), "names nothing to change"),
])
def test_bad_keywords_say_what_was_meant(demo: borescope.Run, call: Any, words: str) -> None:
    with pytest.raises(borescope.UsageError) as raised:
        call(demo)
    assert words in str(raised.value)
    assert isinstance(raised.value, ValueError)


def test_unknown_keywords_are_type_errors_too(demo: borescope.Run) -> None:
    with pytest.raises(TypeError):
        demo.kernels(topp=3)  # type: ignore[call-arg]
    with pytest.raises(AttributeError, match="did you mean 'kernels'"):
        demo.kernel()


@pytest.mark.parametrize("given", [{"memory_limit": "8X"}, {"memory_limit": -1}, {"keep": "some"}])
def test_bad_options_of_open(given: dict[str, Any]) -> None:
    with pytest.raises(borescope.UsageError, match="takes"):
        borescope.open(DEMO, **given)


def test_a_closed_run() -> None:
    with borescope.open(DEMO) as run:
        answer = run.breakdown()
    assert run.closed and repr(run) == "<Run: closed>"
    for question in (run.breakdown, run.forget, lambda: run.files, lambda: run.sql("select 1")):
        with pytest.raises(borescope.UsageError, match="closed"):
            question()
    assert answer.breakdown.num_rows == 2


def test_damage_warns_once() -> None:
    cut = trace_text(50)[:-300]
    run = borescope.open(cut)
    with pytest.warns(borescope.DataWarning) as seen:
        run.breakdown()
        run.kernels()
    assert len(seen) == len({str(each.message) for each in seen})
    assert seen[0].filename == __file__
    assert any(each.severity is borescope.Severity.ERROR for each in run.breakdown().diagnostics)
    with pytest.raises(borescope.FormatError):
        borescope.open(cut, on_diagnostic="raise").breakdown()
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        borescope.open(cut, on_diagnostic="ignore").breakdown()


def test_progress_is_called_and_stops(large_trace: Path) -> None:
    seen: list[borescope.Progress] = []
    threads = set()

    def note(progress: borescope.Progress) -> None:
        seen.append(progress)
        threads.add(threading.current_thread())

    borescope.open(large_trace, progress=note).breakdown()
    assert seen[-1].done_bytes == seen[-1].total_bytes == large_trace.stat().st_size
    assert [each.done_bytes for each in seen] == sorted(each.done_bytes for each in seen)
    assert threads == {threading.current_thread()}

    def stop(progress: borescope.Progress) -> None:
        raise RuntimeError("enough")

    run = borescope.open(large_trace, progress=stop)
    with pytest.raises(RuntimeError, match="enough"):
        run.breakdown()


def test_progress_is_heard_often_enough_to_stop_soon(trace: Path) -> None:
    endless = "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n"

    def heard() -> int:
        progress: list[borescope.Progress] = []
        with pytest.raises(borescope.Error, match="time_limit"):
            borescope.open(trace, progress=progress.append).sql(endless, time_limit=1)
        return len(progress)

    # 100 on an idle machine, and 20 at most if it looked every 50 ms; a busy one is given three tries.
    assert any(heard() > 24 for _ in range(3))


def test_no_bar_without_a_terminal(trace: Path) -> None:
    done = python("import borescope, sys; borescope.open(sys.argv[1], progress=None).breakdown()", trace)
    assert (done.stdout, done.stderr) == ("", "")


def test_a_bar_where_somebody_looks(monkeypatch: pytest.MonkeyPatch,
                                    capsys: pytest.CaptureFixture[str]) -> None:
    """The bar is given its numbers here: how often a load reports depends on the machine."""
    pytest.importorskip("tqdm")
    from borescope import _progress

    def loads(begins_after_s: float) -> str:
        monkeypatch.setattr(_progress, "_BEGINS_AFTER_S", begins_after_s)
        with _progress.reporting(True) as report:
            assert report is not None
            for done in (25, 50, 100):
                report(done, 100, done // 100, 1)
        captured = capsys.readouterr()
        assert captured.out == ""
        return captured.err

    shown = loads(0)
    assert "borescope" in shown and "%" in shown
    assert loads(1e9) == ""


INTERRUPTED = """
    import borescope, os, resource, signal, sys, threading, time
    run = borescope.open(sys.argv[1])
    sent = []
    def interrupt():
        time.sleep(float(sys.argv[2]))
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=interrupt).start()
    try:
        run.breakdown()
        print("finished")
    except KeyboardInterrupt:
        print("interrupted", time.monotonic() - sent[0])
    print(run.breakdown().breakdown.num_rows)
"""


def test_ctrl_c_ends_a_question_and_not_the_run(large_trace: Path) -> None:
    for delay in (0.1, 0.05, 0.02):
        done = python(INTERRUPTED, large_trace, delay)
        if done.stdout.startswith("interrupted"):
            break
    assert done.stderr == "" and done.returncode == 0
    word, seconds, rows = done.stdout.split()
    assert (word, rows) == ("interrupted", "1")
    assert float(seconds) < 2  # 0.2 s on a quiet machine


def test_threads_get_the_same_answers() -> None:
    run = borescope.open(DEMO)
    verbs = ("breakdown", "kernels", "idle", "overlap", "ops")
    expected = {verb: getattr(borescope.open(DEMO), verb)().to_json() for verb in verbs}

    def ask(i: int) -> bool:
        if i % 6 == 5:
            return bool(run.sql("select count(*) n from kernels")["n"][0] == 970)
        verb = verbs[i % 6]
        return bool(getattr(run, verb)().to_json() == expected[verb])

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(ask, range(60)))


def test_the_gil_is_released(large_trace: Path) -> None:
    ticks = 0
    done = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    borescope.open(large_trace).breakdown()
    done.set()
    thread.join()
    assert ticks > 10


def child(queue: Any, run: borescope.Run) -> None:
    queue.put(run.breakdown().breakdown)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_other_processes(method: str) -> None:
    run = borescope.open(DEMO)
    expected = run.breakdown().breakdown
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    process = context.Process(target=child, args=(queue, run))
    process.start()
    assert queue.get(timeout=60) == expected
    process.join(timeout=60)
    assert process.exitcode == 0


def test_runs_pickle_by_their_sources() -> None:
    run = borescope.open(DEMO, ranks=1)
    again = pickle.loads(pickle.dumps(run))
    assert again.files == run.files and again.idle() == run.idle()
    with open(DEMO / "rank-0.json.gz", "rb") as file, pytest.raises(TypeError, match="file-like"):
        pickle.dumps(borescope.open(file))


def test_import_is_light() -> None:
    done = python("""
        import sys, time
        begin = time.perf_counter()
        import borescope
        print(time.perf_counter() - begin)
        print(sorted({"numpy", "pandas", "pyarrow", "polars", "duckdb", "tqdm", "fsspec", "plotly"}
                     & set(sys.modules)))
    """)
    seconds, heavy = done.stdout.splitlines()
    assert heavy == "[]"
    assert float(seconds) < 0.5  # 0.05 s on a quiet machine


def test_kept_recordings_are_not_loaded_again(large_trace: Path) -> None:
    run = borescope.open(large_trace, keep="always")
    run.breakdown()
    kept = run.memory_bytes
    assert kept > 0
    begin = time.process_time()
    run.breakdown()
    again = time.process_time() - begin
    run.forget()
    assert run.memory_bytes == 0
    begin = time.process_time()
    run.breakdown()
    assert time.process_time() - begin > 3 * again
    assert borescope.open(large_trace, keep="never").breakdown()
    # How much room columns have to spare depends on which thread was first.
    assert abs(run.memory_bytes - kept) < kept / 10


def test_the_command() -> None:
    words = [sys.executable, "-m", "borescope"]
    done = subprocess.run([*words, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"borescope {borescope.__version__}\n"
    wrong = subprocess.run([*words, "breakdown", "nothing.json"], capture_output=True, text=True,
                           check=False)
    assert wrong.returncode == 2 and wrong.stderr.startswith("borescope: nothing.json")
    from borescope.cli import main

    assert main(["breakdown", "nothing.json"]) == 2
    before = resource.getrlimit(resource.RLIMIT_DATA)
    assert main(["info", str(DEMO), "-q", "-o", os.devnull, "--memory-limit", "1G"]) == 0
    assert resource.getrlimit(resource.RLIMIT_DATA) == before
    with subprocess.Popen([*words, "launches", str(DEMO), "-f", "csv"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""


@pytest.mark.parametrize("word", ["mcp", "evidence"])
def test_an_output_that_cannot_be_written(word: str) -> None:
    words = [sys.executable, "-m", "borescope", word, "--help"]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (
        2, "borescope: standard output: cannot write: No space left on device\n")
    closed = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", *words], capture_output=True, text=True, check=False)
    assert (closed.returncode, closed.stderr) == (
        2, "borescope: standard output: cannot write: Bad file descriptor\n")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make links of others")
def test_nothing_is_written_through_a_link_of_somebody_else(demo: borescope.Run, tmp_path: Path) -> None:
    shared, victim = tmp_path / "shared", tmp_path / "victim"
    shared.mkdir()
    victim.mkdir()
    shared.chmod(0o1777)
    link = shared / "link"
    link.symlink_to(victim)
    demo.map("info", output=link / "ours.part")
    os.lchown(link, 65534, 65534)
    with pytest.raises(borescope.InputError, match="another user"):
        demo.map("info", output=link / "part")
    folder = Folder(link / "new", None)
    with pytest.raises(borescope.InputError, match="another user"):
        folder.drafts()
    with pytest.raises(borescope.InputError, match="another user"):
        folder.put(str(victim / "ours.part"), "below/part")
    assert [each.name for each in victim.iterdir()] == ["ours.part"]


def test_ctrl_c_ends_the_command(large_trace: Path) -> None:
    process = subprocess.Popen([sys.executable, "-m", "borescope", "breakdown", str(large_trace)],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    tasks = Path(f"/proc/{process.pid}/task")
    while process.poll() is None and len(list(tasks.iterdir())) == 1:
        time.sleep(0.002)  # until the command has threads, and so has begun
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT or (process.returncode == 0 and out)
    assert b"Traceback" not in err
    assert os.path.exists(large_trace)


def test_nothing_leaks_in_any_order_of_release() -> None:
    done = python("""
        import itertools, sys
        import borescope
        from borescope import _native
        _native.warn_of_leaks(True)
        def make():
            run = borescope.open(sys.argv[1])
            answer = run.kernels()
            return [run, answer, answer.kernels, answer.kernels["total_ns"],
                    memoryview(answer.kernels["total_ns"]), answer.kernels.__arrow_c_stream__()]
        for order in itertools.permutations(range(6), 3):
            made = make()
            for i in order:
                made[i] = None
            del made
    """, DEMO)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
