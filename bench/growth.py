#!/usr/bin/env python3
"""How the cost of each verb grows with its input: instructions at n, 2n and 4n events, for ten shapes of traces.

    bench/growth.py [--build build/bench] [--events 4000] [--verbs V,...] [--shapes S,...] [--output FILE.md]

The exponent of a verb is log2 of (I(4n) - I(2n)) / (I(2n) - I(n)), where I counts instructions on one thread: 1 is
linear and 2 quadratic, and what does not depend on the input drops out. The table has the exponents; 1.1 is the
goal, and exit status 1 says that one is above it. A trained eye needs the shapes, too: most are what somebody
would write who wants the program to hang.
"""

import argparse
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

from counted import Valgrind, environment, missing_tools

ROOT = Path(__file__).resolve().parent.parent
GOAL = 1.1
# Two runs of a reference tool's verb, or none of a recording.
LEFT_OUT = {"report", "check", "open", "convert", "link", "chakra", "query", "map", "reduce", "launch", "scrub", "record",
            "bench-kernel", "list", "diff", "waits"}
WITH_DATA = {"memory": "training", "counters": None}


def host(name, begin, duration, args=None, category="cpu_op", thread=1):
    return {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": thread, "ts": begin, "dur": duration, "args": args or {}}


def launch(begin, correlation, thread=1):
    return host("cudaLaunchKernel", begin, 2, {"correlation": correlation}, "cuda_runtime", thread)


def kernel(name, begin, duration, correlation, stream=7, more=None):
    args = {"device": 0, "stream": stream, "correlation": correlation, "context": 1, **(more or {})}
    return {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": stream, "ts": begin, "dur": duration, "args": args}


def plain(events, name=lambda i: f"gemm_{i % 10}", stream=lambda i: 7, thread=lambda i: 1, correlation=lambda i: i + 1):
    """Operators with a launch and a kernel each, under steps of a hundred."""
    for i in range(events // 3):
        at = 20 * i
        yield host("aten::mm", at, 10, thread=thread(i))
        yield launch(at + 3, correlation(i), thread(i))
        yield kernel(name(i), at + 8, 9, correlation(i), stream(i))


def steps(events, each):
    length = 20 * each
    return [host(f"ProfilerStep#{i}", i * length, length, category="user_annotation") for i in range(max(1, events // 3 // each))]


def training(events):
    return steps(events, 100) + list(plain(events))


def every_name_another(events):
    return steps(events, 100) + list(plain(events, name=lambda i: f"void kernel<{i}, {'x' * 60}>(float*)"))


def streams(events):
    return steps(events, 100) + list(plain(events, stream=lambda i: 7 + i))


def threads(events):
    return steps(events, 100) + list(plain(events, thread=lambda i: 1 + i))


def one_correlation(events):
    return steps(events, 100) + list(plain(events, correlation=lambda i: 1))


def many_steps(events):
    return steps(events, 1) + list(plain(events))


def nested(events):
    """Calls inside calls, a thousand deep, again and again."""
    depth, result = 1000, steps(events, 100)
    for i in range(events):
        level, at = i % depth, 4 * depth * (i // depth)
        result.append(host(f"frame_{level}", at + level, 4 * depth - 2 * level - 1, category="python_function"))
    return result + list(plain(300))


def one_moment(events):
    result = steps(300, 100)
    for i in range(events // 3):
        result += [host("aten::mm", 5, 10), launch(5, i + 1), kernel(f"gemm_{i % 10}", 5, 10, i + 1)]
    return result


def overlapping(events):
    """Each piece of work lasts until the end of the recording, on one stream."""
    end, result = 20 * events, steps(events, 100)
    for i in range(events // 3):
        result += [host("aten::mm", 20 * i, 10), launch(20 * i + 3, i + 1), kernel(f"gemm_{i % 10}", 20 * i + 8, end - 20 * i, i + 1)]
    return result


def groups(events):
    """Collectives, each of a process group of its own."""
    result = steps(events, 100)
    for i in range(events // 3):
        args = {"Collective name": "allreduce", "In msg nelems": 1024, "Out msg nelems": 1024, "dtype": "Float", "Group size": 8,
                "Process Group Name": str(i), "Process Group Ranks": "[0, 1, 2, 3, 4, 5, 6, 7]"}
        result += [host("record_param_comms", 20 * i, 10), launch(20 * i + 3, i + 1),
                   kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 20 * i + 8, 9, i + 1, more=args)]
    return result


SHAPES = {"training": training, "names": every_name_another, "streams": streams, "threads": threads,
          "correlation": one_correlation, "steps": many_steps, "nested": nested, "moment": one_moment,
          "overlap": overlapping, "groups": groups}


def write_trace(path, events):
    meta = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-80GB"}],
            "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 8}}
    path.write_text(json.dumps({**meta, "traceEvents": events}, separators=(",", ":")))


def verbs_of(program):
    done = subprocess.run([program, "list", "-f", "json"], capture_output=True, text=True, check=True)
    kinds, names = (column["values"] for column in json.loads(done.stdout)["tables"][0]["columns"][:2])
    return [name for kind, name in zip(kinds, names) if kind == "verb" and name not in LEFT_OUT]


def exponent(counts):
    first, second = counts[1] - counts[0], counts[2] - counts[1]
    return math.log2(second / first) if first > 0 and second > 0 else 0.0


def measure(valgrind, folder, verb, shape):
    """The exponent, and instructions an event; None where the verb has no answer."""
    counts = []
    for path, _ in folder[shape]:
        words = [verb, path, "--threads", "1", "-q", "-o", path.parent / "out.csv", "-f", "csv"]
        (path.parent / "out.csv").unlink(missing_ok=True)
        try:
            counts.append(valgrind.instructions(words))
        except RuntimeError as error:
            own = [line for line in str(error).splitlines() if not line.startswith("==")]
            print(f"{verb}, {shape}: {own[-1][:150] if own else error}", file=sys.stderr)
            return None
    events = folder[shape][2][1]
    return exponent(counts), (counts[2] - valgrind.fixed) / events


def table_of(results, shapes, events, here):
    lines = ["# Growth", "", f"Made by `bench/growth.py`: exponents of growth from {events:,} to {4 * events:,} events, by counted "
             "instructions on one thread; 1 is", "linear, 2 quadratic, the goal 1.1, and what is above it is bold. What does not "
             "depend on the size drops out.", "A verb that has no answer for a shape has none here. Shapes:", ""]
    lines += [f"- `{name}`: {(SHAPES[name].__doc__ or name.replace('_', ' ')).splitlines()[0]}" for name in shapes]
    lines += ["", f"Counted with {here['compiler']}, {here['valgrind']}, {here['processor']}.", "",
              "| verb | " + " | ".join(shapes) + " | instructions an event |",
              "| --- |" + " --: |" * (len(shapes) + 1)]
    for verb, row in results.items():
        cells = ["–" if row[shape] is None else f"**{row[shape][0]:.2f}**" if row[shape][0] > GOAL else f"{row[shape][0]:.2f}"
                 for shape in shapes]
        costs = [value[1] for value in row.values() if value]
        lines.append(f"| `{verb}` | {' | '.join(cells)} | {min(costs):,.0f} to {max(costs):,.0f} |" if costs else
                     f"| `{verb}` | {' | '.join(cells)} | |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "bench")
    parser.add_argument("--events", type=int, default=4000)
    parser.add_argument("--verbs", default="")
    parser.add_argument("--shapes", default=",".join(SHAPES))
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    if missing_tools():
        print(f"skipped: {', '.join(missing_tools())} is not installed (scripts/setup --dev)")
        return 77
    program = arguments.build / "bin" / "borescope"
    shapes, results = arguments.shapes.split(","), {}
    verbs = arguments.verbs.split(",") if arguments.verbs else verbs_of(program)
    valgrind = Valgrind(program)
    with tempfile.TemporaryDirectory() as name:
        folder = {shape: [] for shape in shapes}
        for shape in shapes:
            for factor in (1, 2, 4):
                events = SHAPES[shape](factor * arguments.events)
                path = Path(name) / f"{shape}-{factor}.json"
                write_trace(path, events)
                folder[shape].append((path, len(events)))
        for verb in verbs:
            results[verb] = {shape: measure(valgrind, folder, verb, shape) for shape in shapes}
            print(verb, *("–" if cell is None else f"{cell[0]:.2f}" for cell in results[verb].values()), flush=True)
    if arguments.output:
        arguments.output.write_text(table_of(results, shapes, arguments.events, environment(arguments.build)))
    return 1 if any(cell and cell[0] > GOAL for row in results.values() for cell in row.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
