"""Durations, clocks, and what recording costs."""

import statistics

import toolkit
from bench import Skip, last_number, number, plain_number
from checks.registry import Failures, check

PAIRS = ("SELECT launches.ts_ns, kernels.ts_ns, kernels.dur_ns FROM kernels JOIN launches ON "
         "launches.id = kernels.launch_id ORDER BY launches.ts_ns")


@check(4, "kernels that spin for known times",
       "durations within 2 % + 1 us; none begins before its call, or ends after the synchronisation",
       seconds=7, alone=True)
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


@check(5, "drift of the device's clock", "kernel start against call, lower envelope: slope under 1 us a minute",
       seconds=12, alone=True)
def drift(bench):
    failures = Failures()
    seconds = 120 if bench.is_long else 10
    run, _ = bench.record(bench.program(), "steady", seconds, 100)
    points = envelope(bench.query(PAIRS, run))
    failures.expect(len(points) >= seconds / 2, f"{len(points)} seconds with pairs of calls and kernels, of {seconds}")
    slope = slope_per_minute(points)
    failures.expect(slope is not None and abs(slope) < 1000 + NOISE_NS * 60 / seconds, f"slope of {slope} ns a minute")
    return {"seconds": len(points), "ns_per_minute": slope, "waits_ns": [wait for _, wait in points]}, failures


NOISE_NS = 100  # of the shortest wait of a second, which a slope over few seconds magnifies


def envelope(pairs):
    """The shortest wait of each second, and when it was. A wait is that of a kernel for its call, and can only be longer
    than the path between the clocks: the first launch loads modules, others meet a busy host. The first second is left
    out."""
    if not pairs:
        return []
    begin = pairs[0][0]
    best = {}
    for call, kernel, _ in pairs:
        second = (call - begin) // 1_000_000_000
        if second > 0 and (second not in best or kernel - call < best[second][1]):
            best[second] = (call - begin, kernel - call)
    return [best[second] for second in sorted(best)]


def slope_per_minute(points):
    """By the median of the slopes of all pairs of points (Theil and Sen), which single outliers do not move."""
    slopes = [(other_wait - wait) / (other - at) for i, (at, wait) in enumerate(points) for other, other_wait in points[:i]]
    return round(60e9 * statistics.median(slopes)) if slopes else None


@check(8, "what an empty kernel costs", "at most 300 ns a launch more than CUPTI itself takes for the same records",
       ("gpu", "nvcc"), 15, True)
def cost(bench):
    failures = Failures()
    count = 1_000_000 if bench.is_long else 60_000
    program = bench.program()
    ways = {
        "all": lambda: bench.record(program, "empty", count)[1],
        "kernels alone": lambda: bench.record(program, "empty", count, options=("--api=none",))[1],
        "without cuda": lambda: bench.record(program, "empty", count, options=("--no-cuda",))[1],
        "memory, sync": lambda: bench.record(program, "empty", count, options=("--memory", "--sync"))[1],
    }
    plain_ways = {"plain": lambda: bench.plain(program, "empty", count)}
    cupti = toolkit.find_cupti()
    if toolkit.find_cupti_header() and cupti:
        alone = bench.program(source="launch_cost.cu", libraries=("-Xlinker", cupti, "-Xlinker", f"-rpath={cupti.parent}"))
        for mode in ("plain", "kernels", "few", "all"):
            plain_ways[f"CUPTI: {mode}"] = lambda mode=mode: bench.plain(alone, mode, count)
    # In turns, so that a machine that slows down slows all of them.
    turns = [{name: plain_number(way()) for name, way in plain_ways.items()} |
             {name: last_number(way()) for name, way in ways.items()} for _ in range(3 if bench.is_long else 2)]
    figures = {name: min(turn[name] for turn in turns) for name in turns[0]}
    if "CUPTI: all" not in figures:
        raise Skip("the cost of CUPTI alone, to compare with, is not known: cupti.h or libcupti is missing beside nvcc",
                   figures)
    # What it is asked for beyond the calls that a tool needs at least is a choice of ours, too.
    figures["CUPTI: all, more than few"] = round(figures["CUPTI: all"] - figures["CUPTI: few"], 1)
    for ours, theirs in (("all", "CUPTI: all"), ("kernels alone", "CUPTI: kernels")):
        more = (figures[ours] - figures["plain"]) - (figures[theirs] - figures["CUPTI: plain"])
        figures[f"{ours}, more than CUPTI"] = round(more, 1)
    failures.expect(figures["all, more than CUPTI"] <= 300,
                    f"{figures['all, more than CUPTI']:.0f} ns a launch more than CUPTI itself")
    return figures, failures


@check(15, "power by NVML at 10 Hz, against nvidia-smi", "means within 5 %", seconds=6, alone=True)
def power(bench):
    failures = Failures()
    seconds = 30 if bench.is_long else 5
    folder, process = bench.start(bench.program(), "steady", seconds, 1000, options=["--sample", "100ms"])
    read = []
    while process.poll() is None:
        text = bench.output("nvidia-smi", "-i", "0", "--query-gpu=power.draw", "--format=csv,noheader,nounits")
        if text:
            read.append(number(text))
    if not read or not all(isinstance(value, (int, float)) for value in read):
        raise Skip(f"nvidia-smi says no power to compare with: {read[-1] if read else 'nothing'}")
    samples = [row[0] for row in bench.query(
        "SELECT value FROM samples WHERE device_type = 'gpu' AND device = 0 AND name = 'power'", folder)]
    ours, theirs = statistics.mean(samples or [0]), statistics.mean(read or [0])
    failures.expect(abs(ours - theirs) <= 0.05 * theirs, f"{ours:.1f} W, nvidia-smi {theirs:.1f} W")
    failures.expect(len(samples) > 8 * seconds, f"{len(samples)} samples in {seconds} s")
    return {"watts": ours, "nvidia_smi_watts": theirs, "samples": len(samples)}, failures
