#!/usr/bin/env python3
"""What recording costs a program, in one run, so that ratios hold on a busy machine.

    bench/record.py BUILD    with the tests built there; exit status 3 where a goal is missed
"""

import os
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def environment(library, folder):
    return {"PATH": os.environ["PATH"], "LD_PRELOAD": str(library), "BORESCOPE_RECORD": str(folder),
            "NVTX_INJECTION64_PATH": str(library)}


def pairs(program, variables):
    text = subprocess.run([program], env=variables, capture_output=True, text=True, check=True)
    return [float(number) for number in text.stdout.split()]


def start_ms(variables):
    """The quickest of many starts of a program that does nothing."""
    best = 1e9
    for _ in range(300):
        begin = time.perf_counter()
        subprocess.run(["/bin/true"], env=variables, check=True)
        best = min(best, time.perf_counter() - begin)
    return best * 1e3


def measure(build, folder):
    library = build / "lib/libborescope_record.so"
    program = build / "tests/record/programs/cost"
    plain = {"PATH": os.environ["PATH"]}
    on = environment(library, folder)
    clocks, recorded = pairs(program, on)
    page = struct.pack("<IIII", 0x54435342, 1, 0, 0).ljust(4096, b"\0")
    (folder / "control").write_bytes(page)
    paused = pairs(program, on)[1]
    return {"clocks": clocks, "recorded": recorded, "paused": paused,
            "untraced": pairs(program, plain)[1],
            "start": start_ms(on) - start_ms(plain)}


def launches(build, how):
    """Nanoseconds of a launch within the simulated CUPTI at best, its flushes, and how often it was asked for a record:
    with the library, or with callbacks that do next to nothing."""
    programs = build / "tests/record/programs"
    with tempfile.TemporaryDirectory() as folder:
        library = build / "lib/libborescope_record.so"
        variables = environment(library, folder) if how == "recorded" else {"PATH": os.environ["PATH"]}
        variables |= {"BORESCOPE_CUPTI": str(programs / "libsimcupti.so"), "LD_LIBRARY_PATH": str(programs),
                      "SIMCUPTI_VERSION": "130000"}
        if how == "recorded":
            variables["CUDA_INJECTION64_PATH"] = str(library)
        text = subprocess.run([programs / "launches", how, "3"], env=variables, capture_output=True, text=True,
                              check=True).stdout.split()
    return float(text[0]), int(text[2]), int(text[3])


def main():
    build = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        found = measure(build, Path(folder).resolve())
    ratio = found["recorded"] / found["clocks"]
    rows = [("two clock reads", f"{found['clocks']:.1f} ns", ""),
            ("NVTX pair recorded", f"{found['recorded']:.1f} ns", f"{ratio:.2f} times the reads (goal 4)"),
            ("NVTX pair, recording paused", f"{found['paused']:.1f} ns", "goal 5 a call"),
            ("NVTX pair without a tool", f"{found['untraced']:.1f} ns", ""),
            ("/bin/true, more than plain", f"{found['start']:.3f} ms", "goal 0.5")]
    bare, (ours, flushes, asked) = launches(build, "bare")[0], launches(build, "recorded")
    rows += [("a launch, simulated CUPTI alone", f"{bare:.0f} ns", ""),
             ("a launch, recorded", f"{ours:.0f} ns", f"{flushes} flushes, asked for {asked} records")]
    for name, value, note in rows:
        print(f"{name:32} {value:>12}  {note}")
    return 0 if ratio <= 4 and found["paused"] <= 10 and found["start"] <= 0.5 else 3


if __name__ == "__main__":
    sys.exit(main())
