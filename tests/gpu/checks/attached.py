"""PyTorch: operators, its own profiler, processes that it starts."""

import sys
from pathlib import Path

from checks.registry import Failures, check

MODEL = Path(__file__).parent.parent / "programs" / "model.py"


def model(*arguments):
    return [sys.executable, MODEL, *arguments]


@check(11, "operators of a small GPT, 20 steps",
       "at least 99 % of kernels linked to operators; the step's time with each way", ("gpu", "torch", "ops"))
def operators(bench):
    failures, figures = Failures(), {"plain": float(bench.plain(*model("steps", 20)).stdout.split()[-1])}
    for how in ("nvtx", "profile"):
        run, result = bench.record(*model("steps", 20), options=[f"--ops={how}"])
        linked, all_kernels = bench.query("SELECT COUNT(op_id), COUNT(*) FROM device_events WHERE kind = "
                                          "'kernel'", run)[0]
        figures[how] = {"step_ms": float(result.stdout.split()[-1]), "linked": linked, "kernels": all_kernels}
        failures.expect(linked >= 0.99 * all_kernels > 0, f"--ops={how}: {linked} of {all_kernels} linked")
    return figures, failures


@check(12, "torch.profiler inside of a recorded program", "no crash; who has what is said, as a gap",
       ("gpu", "torch"))
def profiler_inside(bench):
    failures = Failures()
    run, result = bench.record(*model("profiled", 10))
    theirs = int(result.stdout.split()[-1]) if result.returncode == 0 else -1
    ours = bench.value("SELECT COUNT(*) FROM kernels", run)
    failures.equal("exit status", result.returncode, 0)
    failures.expect(ours >= theirs or "recording-gap" in bench.doctor(run), "kernels are missing, and nothing says so")
    return {"torch.profiler": theirs, "ours": ours, "doctor": bench.doctor(run)}, failures


@check(13, "workers of a DataLoader, spawned processes, two ranks of torchrun",
       "one log for each process that records; statuses unchanged", ("gpu", "torch"))
def processes(bench):
    failures, figures = Failures(), {}
    commands = {"workers": model("workers", 2), "spawn": model("spawn", 2),
                "torchrun": [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", MODEL, "steps", 3]}
    for name, command in commands.items():
        run, result = bench.record(*command)
        pids = bench.query("SELECT DISTINCT pid FROM host_events", run)
        figures[name] = {"status": result.returncode, "processes": len(pids), "logs": len(list(run.glob("*.bsl")))}
        failures.equal(f"{name}: status", result.returncode, 0)
        failures.expect(pids, f"{name}: nothing was recorded")
    failures.expect(figures["torchrun"]["processes"] >= 2, "torchrun: fewer than two ranks")
    return figures, failures


@check(16, "functions of Python by sys.monitoring", "the step's time with it", ("gpu", "torch", "python"))
def monitoring(bench):
    plain = float(bench.plain(*model("steps", 20)).stdout.split()[-1])
    recorded = float(bench.record(*model("steps", 20), options=["--python"])[1].stdout.split()[-1])
    return {"plain_ms": plain, "recorded_ms": recorded}, Failures()


@check(18, "the same program here and under torch.profiler",
       "as many kernels; device time within 0.5 %", ("gpu", "torch"))
def against_profiler(bench):
    failures = Failures()
    run, _ = bench.record(*model("steps", 20))
    trace = bench.out / "torch_profiler.json"
    bench.plain(*model("exported", 20, trace))
    sums = "SELECT COUNT(*), SUM(dur_ns) FROM kernels"
    ours, theirs = bench.query(sums, run)[0], bench.query(sums, trace)[0]
    failures.equal("kernels", ours[0], theirs[0])
    failures.expect(abs(ours[1] - theirs[1]) <= 0.005 * theirs[1], f"{ours[1]} ns against {theirs[1]} ns")
    return {"kernels": ours[0], "ns": ours[1], "torch_profiler": theirs}, failures
