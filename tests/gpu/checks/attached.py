"""PyTorch and JAX: operators, their own profilers, graphs, compiled code, processes that they start."""

import csv
import sys
from pathlib import Path

from bench import Missing, Skip, last_line, last_number, plain_number, table_lines
from checks.registry import Failures, check

PROGRAMS = Path(__file__).parent.parent / "programs"
MODEL = PROGRAMS / "model.py"
STEPS = 20
LINKED = "SELECT COUNT(op_id), COUNT(*) FROM device_events WHERE kind = 'kernel'"


def model(*arguments):
    return [sys.executable, MODEL, *arguments]


def exported(bench):
    """Milliseconds of a step without any tool, and the trace of torch.profiler."""
    def run():
        path = bench.out / "torch.json"
        return last_number_of_steps(bench.plain(*model("exported", STEPS, path)), 0), path
    return bench.once("exported", run)


def last_number_of_steps(result, at):
    """Of several figures that a program printed which was not recorded, one by its place."""
    plain_number(result)
    return float(result.stdout.split()[at])


@check(11, "operators of a small GPT, 20 steps",
       "at least 99 % of kernels linked to operators; a step takes at most 1.5 times as long with nvtx, 3 with profile",
       ("gpu", "torch", "ops", "python side"), 28, True)
def operators(bench):
    plain, _ = exported(bench)
    failures, figures = Failures(), {"plain": plain}
    for how, most in (("nvtx", 1.5), ("profile", 3)):
        run, result = bench.record(*model("steps", STEPS), options=[f"--ops={how}"])
        step = last_number(result)
        linked, kernels = bench.query(LINKED, run)[0]
        figures[how] = {"step_ms": step, "linked": linked, "kernels": kernels}
        failures.expect(linked >= 0.99 * kernels > 0, f"--ops={how}: {linked} of {kernels} linked")
        failures.expect(step <= most * plain, f"--ops={how}: a step of {step:.1f} ms, {plain:.1f} without")
    return figures, failures


@check(12, "torch.profiler inside of a recorded program", "no crash; who has what is said, as a gap",
       ("gpu", "torch"), 18)
def profiler_inside(bench):
    failures = Failures()
    run, result = bench.record(*model("profiled", 10))
    theirs = int(result.stdout.split()[-1]) if result.returncode == 0 else -1
    ours = bench.value("SELECT COUNT(*) FROM kernels", run)
    found = bench.doctor(run)
    failures.equal("exit status", result.returncode, 0)
    failures.expect(ours >= 2 * theirs or "recording-gap" in found, "kernels are missing, and nothing says so")
    return {"torch.profiler": theirs, "ours": ours, "doctor": found}, failures


@check(13, "workers of a DataLoader, spawned processes, two ranks of torchrun",
       "one log for each process that records; statuses unchanged", ("gpu", "torch"), 22)
def processes(bench):
    failures, figures = Failures(), {}
    commands = {"workers": model("workers", 2), "spawn": model("spawn", 2),
                "torchrun": [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", MODEL, "steps", 3]}
    runs = bench.together(*(lambda command=command: bench.record(*command) for command in commands.values()))
    for name, (run, result) in zip(commands, runs):
        pids = bench.query("SELECT DISTINCT pid FROM host_events", run)
        figures[name] = {"status": result.returncode, "processes": len(pids), "logs": len(list(run.glob("*.bsl")))}
        failures.equal(f"{name}: status", result.returncode, 0)
        failures.expect(pids, f"{name}: nothing was recorded")
    failures.expect(figures["torchrun"]["processes"] >= 2, "torchrun: fewer than two ranks")
    return figures, failures


@check(16, "functions of Python by sys.monitoring", "functions are recorded; the step's time with it",
       ("gpu", "torch", "python", "python side"), 10, True)
def monitoring(bench):
    plain, _ = exported(bench)
    failures = Failures()
    run, result = bench.record(*model("steps", STEPS), options=["--python"])
    calls = bench.value("SELECT COUNT(*) FROM host_events WHERE kind = 'python'", run)
    failures.expect(calls > 0, "no function of Python was recorded")
    return {"plain_ms": plain, "recorded_ms": last_number(result), "calls": calls}, failures


@check(18, "the same program here and under torch.profiler",
       "as many kernels; device time within 0.5 %", ("gpu", "torch"), 10, True)
def against_profiler(bench):
    failures = Failures()
    _, path = exported(bench)
    run, _ = bench.record(*model("steps", STEPS))
    if not path.exists():
        raise Skip(f"torch.profiler wrote no {path.name}")
    sums = "SELECT COUNT(*), SUM(dur_ns) FROM kernels"
    ours, theirs = bench.query(sums, run)[0], bench.query(sums, path)[0]
    failures.equal("kernels", ours[0], theirs[0])
    failures.expect(ours[0] and theirs[0] and abs(ours[1] - theirs[1]) <= 0.005 * theirs[1],
                    f"{ours[1]} ns against {theirs[1]} ns")
    return {"kernels": ours[0], "ns": ours[1], "torch_profiler": theirs}, failures


@check(19, "a training step of JAX",
       "device work linked to calls, that of steps to HLO operations; steps by StepTraceAnnotation; no call without a name",
       ("gpu", "jax", "python side"), 25)
def jax_steps(bench):
    failures = Failures()
    run, result = bench.record(sys.executable, PROGRAMS / "jax_steps.py", STEPS, options=["--ops"])
    failures.equal("exit status", result.returncode, 0)
    figures = {}
    for kind, called, all_of_it in bench.query("SELECT kind, COUNT(launch_id), COUNT(*) FROM device_events WHERE is_work = 1 "
                                               "GROUP BY kind", run):
        figures[kind] = {"with a call": called, "all": all_of_it}
        failures.expect(called >= 0.99 * all_of_it, f"{kind}: {called} of {all_of_it} have a call")
    # Kernels that are tried while XLA compiles have no operation.
    linked, kernels = bench.query("SELECT COUNT(op_id), COUNT(*) FROM kernels WHERE step IS NOT NULL", run)[0]
    figures |= {"kernels of steps with an operation": linked, "kernels of steps": kernels,
                "steps": bench.value("SELECT COUNT(*) FROM steps", run),
                "without a name": bench.value("SELECT COUNT(*) FROM launches WHERE name LIKE 'cuApi_%' OR name LIKE "
                                              "'cudaApi_%'", run)}
    failures.expect(linked >= 0.99 * kernels > 0, f"{linked} of {kernels} kernels of steps have an operation")
    failures.equal("steps", figures["steps"], STEPS)
    failures.equal("calls without a name", figures["without a name"], 0)
    return figures, failures


@check(20, "a CUDA graph of PyTorch", "a row for each replay; with --graph-nodes the same kernels each time",
       ("gpu", "torch"), 15)
def torch_graph(bench):
    failures, replays = Failures(), 10
    runs = bench.together(*(lambda options=options: bench.record(*model("graph", replays), options=options)[0]
                            for options in ((), ("--graph-nodes",))))
    rows = bench.value("SELECT COUNT(*) FROM kernels WHERE name LIKE 'CUDA graph%'", runs[0])
    kernels, nodes = bench.query("SELECT COUNT(*), COUNT(DISTINCT graph_node_id) FROM kernels WHERE graph_node_id IS NOT "
                                 "NULL", runs[1])[0]
    failures.equal("rows", rows, replays)
    failures.expect(kernels == replays * nodes > 0, f"{kernels} kernels of {nodes} nodes in {replays} replays")
    return {"rows": rows, "kernels": kernels, "nodes": nodes}, failures


def compiled(bench):
    """A recording of torch.compile, and the folder of its kernels, which have their benchmarks."""
    cache = bench.out / "inductor"
    settings = {"TORCHINDUCTOR_CACHE_DIR": str(cache), "TORCHINDUCTOR_BENCHMARK_KERNEL": "1",
                "TORCHINDUCTOR_UNIQUE_KERNEL_NAMES": "1"}
    return bench.once("compiled", lambda: (*bench.record(*model("compiled", 5), options=["--ops"], **settings), cache))


@check(24, "torch.compile", "kernels of Triton are recorded; at least 99 % of kernels linked to operators",
       ("gpu", "torch", "ops", "python side"), 30)
def torch_compile(bench):
    failures = Failures()
    run, result, _ = compiled(bench)
    failures.equal("exit status", result.returncode, 0)
    linked, kernels = bench.query(LINKED, run)[0]
    triton = bench.value("SELECT COUNT(*) FROM kernels WHERE name LIKE 'triton%'", run)
    failures.expect(linked >= 0.99 * kernels > 0, f"{linked} of {kernels} linked")
    failures.expect(triton > 0, "no kernel of Triton")
    return {"kernels": kernels, "linked": linked, "triton": triton}, failures


@check(21, "bench-kernel on a file of torch.compile", "a row for each config, each with a time",
       ("gpu", "torch", "ops", "python side"), 15)
def bench_kernel(bench):
    failures = Failures()
    run, _, cache = compiled(bench)
    files = sorted(path for path in cache.glob("*/*.py") if is_kernel(path.read_text(encoding="utf-8", errors="replace")))
    if not files:
        raise Missing(f"torch.compile left no kernel with a benchmark in {cache}")
    result = bench.plain(bench.borescope, "bench-kernel", files[0], "--python", sys.executable, "--trace", run, "-f", "csv",
                         "-q")
    failures.equal(f"status ({last_line(result.stderr)})", result.returncode, 0)
    rows = list(csv.DictReader(table_lines(result.stdout.partition("# traced")[0])))
    failures.expect(rows and all(row["time_ns"] or int(row["spills"] or 0) > 0 for row in rows),
                    f"{len(rows)} rows, not all with a time")
    return {"file": files[0].name, "kernels": len(files),
            "configs": [{name: row[name] for name in ("config", "time_ns", "gbps")} for row in rows]}, failures


def is_kernel(code):
    """The file of one kernel, not of a module that has kernels as texts."""
    return "\ndef benchmark_all_configs(" in code and "async_compile" not in code


@check(23, "--start=step:N --stop=step:M of an optimizer's steps", "three times the kernels of one step",
       ("gpu", "torch", "python side"), 15)
def window_of_steps(bench):
    failures = Failures()
    windows = {"one": ("--start=step:8", "--stop=step:9"), "three": ("--start=step:10", "--stop=step:13")}
    runs = bench.together(*(lambda options=options: bench.record(*model("steps", STEPS), options=options)[0]
                            for options in windows.values()))
    figures = {name: bench.value("SELECT COUNT(*) FROM kernels", run) for name, run in zip(windows, runs)}
    failures.expect(figures["three"] == 3 * figures["one"] > 0, f"{figures['three']} kernels in three steps, "
                    f"{figures['one']} in one")
    return figures, failures
