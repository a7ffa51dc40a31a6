"""What is left of a program that is killed, ends in other ways, or is started and stopped."""

import mmap
import os
import signal
import struct
import time

from checks.registry import Failures, check

DELIVERED_NS = 150_000_000  # device records are fetched every 100 ms


def counter(path):
    path.write_bytes(bytes(4096))
    with path.open("r+b") as file:
        return mmap.mmap(file.fileno(), 4096)


@check(6, "kill -9 under 10,000 launches a second",
       "all calls up to the kill; kernels up to 150 ms before it; the log opens")
def killed(bench):
    failures = Failures()
    path = bench.out / "counter"
    memory = counter(path)
    folder, process = bench.start(bench.program(), "rate", 10_000, path)
    while struct.unpack("<QQ", memory[:16])[1] == 0:
        time.sleep(0.01)
    time.sleep(2)
    pid = struct.unpack("<QQ", memory[:16])[1]
    at = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    os.kill(pid, signal.SIGKILL)
    process.communicate(timeout=60)
    finished = struct.unpack("<QQ", memory[:16])[0]
    last = bench.value("SELECT MAX(end_ns) FROM kernels", folder)
    # Calls come with CUPTI's buffers, as kernels do, not from a callback.
    calls = bench.value("SELECT COUNT(*) FROM launches WHERE name LIKE 'cudaLaunchKernel%'", folder)
    failures.expect(last >= at - DELIVERED_NS, f"the last kernel is {(at - last) / 1e6:.0f} ms before the kill")
    failures.expect(calls >= finished - 10_000 * DELIVERED_NS / 1e9, f"{calls} calls of {finished}")
    return {"finished": finished, "calls": calls, "last_kernel_ms_before": (at - last) / 1e6}, failures


@check(7, "SIGTERM, _exit, a segmentation fault, abort", "all kernels that had ended; exit statuses unchanged")
def ended(bench):
    failures, figures = Failures(), {}
    for how, status in (("term", -signal.SIGTERM), ("_exit", 7), ("segv", -signal.SIGSEGV),
                        ("abort", -signal.SIGABRT)):
        folder, result = bench.record(bench.program(), "end", 1000, how)
        kernels = bench.value("SELECT COUNT(*) FROM kernels", folder)
        figures[how] = {"status": result.returncode, "kernels": kernels}
        failures.equal(f"{how}: status", result.returncode, status)
        failures.equal(f"{how}: kernels", kernels, 1000)
    return figures, failures


@check(10, "a hundred starts and stops while a program runs",
       "windows right, nothing outside, no leak; a toggle within two flushes")
def toggled(bench):
    failures = Failures()
    path = bench.out / "counter"
    memory = counter(path)
    folder, process = bench.start(bench.program(), "rate", 5000, path, options=["--paused"])
    while struct.unpack("<QQ", memory[:16])[1] == 0:
        time.sleep(0.01)
    pid = struct.unpack("<QQ", memory[:16])[1]
    windows, resident = [], []
    for _ in range(20 if bench.quick else 100):
        begin = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        bench.plain(bench.borescope, "record", "-q", "start", folder)
        time.sleep(0.25)
        bench.plain(bench.borescope, "record", "-q", "stop", folder)
        windows.append((begin, time.clock_gettime_ns(time.CLOCK_MONOTONIC)))
        time.sleep(0.25)
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            resident.append(int(file.read().split()[1]))
    os.kill(pid, signal.SIGKILL)
    process.communicate(timeout=60)
    starts = [row[0] for row in bench.query("SELECT ts_ns FROM launches ORDER BY ts_ns", folder)]
    slack = 200_000_000
    outside = sum(not any(begin <= start <= end + slack for begin, end in windows) for start in starts)
    empty = sum(not any(begin <= start <= end for start in starts) for begin, end in windows)
    failures.equal("calls outside of windows", outside, 0)
    failures.equal("windows without calls", empty, 0)
    grown = resident[-1] - resident[len(resident) // 2]
    failures.expect(grown < 4096, f"{grown} pages more in the second half")
    return {"calls": len(starts), "outside": outside, "pages_grown": grown}, failures
