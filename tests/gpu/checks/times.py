"""Durations, clocks, and what recording costs."""

import statistics

from checks.registry import Failures, check

PAIRS = ("SELECT launches.ts_ns, kernels.ts_ns, kernels.dur_ns FROM kernels JOIN launches ON "
         "launches.id = kernels.launch_id ORDER BY launches.ts_ns")


@check(4, "kernels that spin for known times",
       "durations within 2 % + 1 us; none begins before its call, or ends after the synchronisation")
def spinning(bench):
    failures, figures = Failures(), {}
    for microseconds, count in ((50, 10_000), (500, 1000), (5000, 200), (50_000, 20)):
        run, _ = bench.record(bench.program(), "spin", microseconds, count, options=["--sync"])
        pairs = bench.query(PAIRS, run)
        wanted = 1000 * microseconds
        off = [abs(duration - wanted) for _, _, duration in pairs]
        early = sum(kernel < call for call, kernel, _ in pairs)
        late = bench.value("SELECT COUNT(*) FROM kernels WHERE end_ns > (SELECT MAX(end_ns) FROM launches "
                           "WHERE name LIKE 'cudaDeviceSynchronize%')", run)
        figures[f"{microseconds} us"] = {"kernels": len(pairs), "off_ns": statistics.median(off or [0]),
                                         "most_off_ns": max(off, default=0), "early": early, "late": late}
        failures.equal(f"kernels of {microseconds} us", len(pairs), count)
        failures.expect(statistics.median(off or [0]) <= 0.02 * wanted + 1000, f"{microseconds} us: durations")
        failures.equal(f"{microseconds} us: before their calls", early, 0)
        failures.equal(f"{microseconds} us: after the synchronisation", late, 0)
    return figures, failures


@check(5, "drift of the device's clock", "kernel start against call: slope under 1 us a minute")
def drift(bench):
    failures = Failures()
    seconds = 20 if bench.quick else 120
    run, _ = bench.record(bench.program(), "steady", seconds, 100)
    pairs = bench.query(PAIRS, run)
    times = [call / 60e9 for call, _, _ in pairs]
    waits = [kernel - call for call, kernel, _ in pairs]
    slope = statistics.linear_regression(times, waits).slope if len(pairs) > 2 else float("nan")
    failures.expect(abs(slope) < 1000, f"slope of {slope:.0f} ns a minute")
    return {"pairs": len(pairs), "ns_per_minute": slope}, failures


def per_launch(result):
    return float(result.stdout.split()[-1])


@check(8, "what an empty kernel costs", "all of it at most 300 ns a launch more than kernels alone")
def cost(bench):
    failures, figures = Failures(), {}
    count = 100_000 if bench.quick else 1_000_000
    turns = range(3)
    program = bench.program()
    figures["plain"] = min(per_launch(bench.plain(program, "empty", count)) for _ in turns)
    for name, options in (("all", ()), ("without cuda", ("--no-cuda",)), ("memory, sync", ("--memory", "--sync"))):
        figures[name] = min(per_launch(bench.record(program, "empty", count, options=options)[1]) for _ in turns)
    figures["kernels alone"] = min(kernels_alone(bench, program, count) for _ in turns)
    failures.expect(figures["all"] - figures["kernels alone"] <= 300, "more than 300 ns a launch")
    return figures, failures


def kernels_alone(bench, program, count):
    """Without records of calls: an option of the library that the launcher does not have."""
    words = bench.words(bench.new_run(), ["env", "BORESCOPE_RECORD_OPTIONS=api=none", program, "empty", count])
    return per_launch(bench.plain(*words))


@check(15, "power by NVML at 10 Hz, against nvidia-smi", "means within 5 %")
def power(bench):
    failures = Failures()
    seconds = 10 if bench.quick else 30
    folder, process = bench.start(bench.program(), "steady", seconds, 1000, options=["--sample", "100ms"])
    read = []
    while process.poll() is None:
        text = bench.output("nvidia-smi", "-i", "0", "--query-gpu=power.draw", "--format=csv,noheader,nounits")
        if text:
            read.append(float(text))
    samples = [row[0] for row in bench.query(
        "SELECT value FROM samples WHERE device_type = 'gpu' AND device = 0 AND name = 'power'", folder)]
    ours, theirs = statistics.mean(samples or [0]), statistics.mean(read or [0])
    failures.expect(abs(ours - theirs) <= 0.05 * theirs, f"{ours:.1f} W, nvidia-smi {theirs:.1f} W")
    failures.expect(len(samples) > 8 * seconds, f"{len(samples)} samples in {seconds} s")
    return {"watts": ours, "nvidia_smi_watts": theirs, "samples": len(samples)}, failures
