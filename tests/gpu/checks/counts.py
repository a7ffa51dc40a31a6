"""How many calls, kernels and copies there are, and that they belong together."""

import sys

import toolkit
from bench import Skip
from checks.registry import Failures, check

LAUNCHES = "SELECT COUNT(*) FROM launches WHERE name LIKE '{}%'"


@check(1, "inventory", "a libcupti is found; the GPU, driver, nvcc and PyTorch are in the report", ("gpu",), 4)
def inventory(bench):
    failures = Failures()
    found = find_libraries(bench, "libcupti.so*")
    failures.expect(found, "no libcupti.so on this machine")
    figures = {"libcupti": {path: bench.output(sys.executable, "-c", VERSION_OF_CUPTI, path) or "cannot be loaded"
                            for path in found}, **bench.inventory()}
    return figures, failures


# In a process of its own: whoever loads a CUPTI keeps it.
VERSION_OF_CUPTI = """import ctypes, sys
version = ctypes.c_uint32()
ctypes.CDLL(sys.argv[1]).cuptiGetVersion(ctypes.byref(version))
print(version.value)"""


def find_libraries(bench, pattern):
    """Their paths. Of `find`, the status says nothing: it fails where one folder may not be looked into."""
    result = bench.try_to("find", *toolkit.search_roots(), "-name", pattern)
    return sorted(set(result.stdout.splitlines())) if result is not None else []


def expect_work(bench, failures, run, kernels, call, linked=True):
    """So many kernels, each with its call."""
    figures = {"kernels": bench.value("SELECT COUNT(*) FROM kernels", run),
               "calls": bench.value(LAUNCHES.format(call), run),
               "linked": bench.value("SELECT COUNT(launch_id) FROM kernels", run)}
    for name, measured in figures.items():
        if name != "linked" or linked:
            failures.equal(name, measured, kernels)
    return figures


@check(2, "a thousand launches of the runtime",
       "exit 0; 1000 kernels, 1000 cudaLaunchKernel, all linked; 2 copies of 4 MiB; doctor finds nothing",
       seconds=6)
def launches(bench):
    failures = Failures()
    run, ended = bench.record(bench.program(), "saxpy", 1000, 1)
    failures.equal("exit status", ended.returncode, 0)
    figures = expect_work(bench, failures, run, 1000, "cudaLaunchKernel")
    copies = bench.query("SELECT name, bytes FROM copies ORDER BY ts_ns", run)
    figures["copies"] = copies
    failures.equal("directions", [name.split()[1] for name, _ in copies], ["HtoD", "DtoH"])
    failures.equal("bytes", [size for _, size in copies], [4 << 20, 4 << 20])
    failures.equal("doctor", bench.doctor(run), [])
    return figures, failures


@check(3, "the driver's calls, streams of threads, four threads",
       "counts exact; thread ids are those of gettid", seconds=8)
def threads(bench):
    failures, figures = Failures(), {}
    run, _ = bench.record(bench.program(), "driver", 1000, 1)
    figures["driver"] = expect_work(bench, failures, run, 1000, "cuLaunchKernel")
    run, _ = bench.record(bench.program("--default-stream=per-thread"), "saxpy", 1000, 1)
    figures["stream of a thread"] = expect_work(bench, failures, run, 1000, "cudaLaunchKernel")
    run, ended = bench.record(bench.program(), "saxpy", 1000, 4)
    figures["four threads"] = expect_work(bench, failures, run, 4000, "cudaLaunchKernel")
    said = sorted(int(line.split()[1]) for line in ended.stdout.splitlines() if line.startswith("tid "))
    seen = [row[0] for row in bench.query(
        "SELECT DISTINCT tid FROM launches WHERE name LIKE 'cudaLaunchKernel%' ORDER BY tid", run)]
    failures.equal("threads", seen, said)
    return figures, failures


# What a machine refuses: rights, a CUPTI before 12.6, a driver that has no counters, as in a sandbox.
NO_COUNTERS = ("is not permitted", "has no range profiler", "cuptiProfilerInitialize")


@check(25, "hardware counters of launches (--counters)",
       "100 of 200 launches have counters, by the number of their launch; fused multiplications = floats, bytes read "
       ">= 8 a float of cold caches; all 200 kernels and their calls are recorded, or a state says why there are none",
       seconds=8)
def counters(bench):
    failures = Failures()
    fused, read = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "dram__bytes_read.sum"
    run, ended = bench.record(bench.program(), "saxpy", 200, 1,
                              options=["--counters", f"{fused},{read}", "--counters-skip", "50", "--counters-count", "100"])
    failures.equal("exit status", ended.returncode, 0)
    figures = expect_work(bench, failures, run, 200, "cudaLaunchKernel")
    figures["counted"] = bench.query("SELECT metric, COUNT(*), MIN(value), MAX(value) FROM counters GROUP BY metric "
                                     "ORDER BY metric", run)
    # Of the first that are counted, by the place of its kernel: the number of the launch is right if this is 50.
    figures["before the first"] = bench.query(
        "SELECT COUNT(*) FROM kernels WHERE correlation < (SELECT MIN(d.correlation) FROM device_events d "
        "JOIN counters c ON c.range_id = d.id)", run)
    figures["said"] = [text for check, text in bench.findings(run) if check == "recording-gap"]
    refused = next((text for text in figures["said"] if any(reason in text for reason in NO_COUNTERS)), None)
    if not figures["counted"] and refused:
        raise Skip(refused, figures)
    floats = 1 << 20
    failures.equal("fused multiplications", [row[1:] for row in figures["counted"] if row[0] == fused],
                   [[100, floats, floats]])
    failures.equal("kernels with bytes", [row[1] for row in figures["counted"] if row[0] == read], [100])
    failures.equal("kernels before the first that was counted", figures["before the first"], [[50]])
    return figures, failures


@check(9, "graphs of 100 nodes, many times", "a row for each run; with --graph-nodes 100 kernels each, with node ids", seconds=3)
def graphs(bench):
    failures = Failures()
    runs = 1000 if bench.is_long else 100
    run, _ = bench.record(bench.program(), "graph", 100, runs)
    rows = bench.value("SELECT COUNT(*) FROM kernels WHERE name LIKE 'CUDA graph%'", run)
    failures.equal("rows", rows, runs)
    run, _ = bench.record(bench.program(), "graph", 100, runs, options=["--graph-nodes"])
    nodes = bench.value("SELECT COUNT(*) FROM kernels WHERE graph_node_id IS NOT NULL", run)
    failures.equal("kernels of nodes", nodes, 100 * runs)
    return {"rows": rows, "nodes": nodes}, failures
