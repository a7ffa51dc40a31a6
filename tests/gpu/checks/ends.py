"""What is left of a program that is killed, ends in other ways, or is started and stopped."""

import mmap
import os
import signal
import struct
import time

from bench import Missing, last_line
from checks.registry import Failures, check

LAUNCHED = "SELECT COUNT(*) FROM launches WHERE name LIKE 'cudaLaunchKernel%'"
DELIVERED_NS = 150_000_000  # device records are fetched every 100 ms


class Launching:
    """programs/work.cu that launches without an end, recorded."""

    def __init__(self, bench, hertz, options=()):
        path = bench.out / f"counter{hertz}"
        path.write_bytes(bytes(4096))
        with path.open("r+b") as file:
            self.memory = mmap.mmap(file.fileno(), 4096)
        self.folder, self.process = bench.start(bench.program(), "rate", hertz, path, options=options)
        until = time.monotonic() + 60
        while self.pid() == 0:
            if self.process.poll() is not None or time.monotonic() > until:
                self.process.kill()
                bench.failed.append(((bench.program(), "empty", 10), 0, {}))
                raise Missing(f"programs/work.cu did not begin: {last_line(self.process.communicate()[1])}")
            time.sleep(0.01)

    def finished(self):
        return struct.unpack("<QQ", self.memory[:16])[0]

    def pid(self):
        return struct.unpack("<QQ", self.memory[:16])[1]

    def kill(self):
        os.kill(self.pid(), signal.SIGKILL)
        self.process.communicate(timeout=60)


@check(6, "kill -9 under 10,000 launches a second",
       "all calls up to the kill; kernels up to 150 ms before it; the log opens",
       seconds=4, alone=True)
def killed(bench):
    failures = Failures()
    program = Launching(bench, 10_000)
    time.sleep(2)
    at = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    program.kill()
    finished = program.finished()
    last = bench.value("SELECT MAX(end_ns) FROM kernels", program.folder)
    # Calls come with CUPTI's buffers, as kernels do, not from a callback.
    calls = bench.value(LAUNCHED, program.folder)
    failures.expect(last >= at - DELIVERED_NS, f"the last kernel is {(at - last) / 1e6:.0f} ms before the kill")
    failures.expect(calls >= finished - 10_000 * DELIVERED_NS / 1e9, f"{calls} calls of {finished}")
    return {"finished": finished, "calls": calls, "last_kernel_ms_before": (at - last) / 1e6}, failures


@check(7, "SIGTERM, _exit, a segmentation fault, abort", "all kernels that had ended; exit statuses unchanged", seconds=6)
def ended(bench):
    failures, figures = Failures(), {}
    for how, status in (("term", -signal.SIGTERM), ("_exit", 7), ("segv", -signal.SIGSEGV),
                        ("abort", -signal.SIGABRT)):
        folder, result = bench.record(bench.program(), "end", 1000, how, status=status)
        kernels = bench.value("SELECT COUNT(*) FROM kernels", folder)
        figures[how] = {"status": result.returncode, "kernels": kernels}
        failures.equal(f"{how}: status", result.returncode, status)
        failures.equal(f"{how}: kernels", kernels, 1000)
    return figures, failures


@check(10, "starts and stops while a program runs",
       "windows right, nothing outside, no leak; a toggle within two flushes", seconds=7, alone=True)
def toggled(bench):
    failures = Failures()
    program = Launching(bench, 5000, ["--paused"])
    windows, resident = [], []
    for _ in range(100 if bench.is_long else 10):
        begin = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        bench.plain(bench.borescope, "record", "-q", "start", program.folder)
        time.sleep(0.25)
        bench.plain(bench.borescope, "record", "-q", "stop", program.folder)
        windows.append((begin, time.clock_gettime_ns(time.CLOCK_MONOTONIC)))
        time.sleep(0.25)
        with open(f"/proc/{program.pid()}/statm", encoding="ascii") as file:
            resident.append(int(file.read().split()[1]))
    program.kill()
    starts = [row[0] for row in bench.query("SELECT ts_ns FROM launches ORDER BY ts_ns", program.folder)]
    slack = 200_000_000
    outside = sum(not any(begin <= start <= end + slack for begin, end in windows) for start in starts)
    empty = sum(not any(begin <= start <= end for start in starts) for begin, end in windows)
    failures.equal("calls outside of windows", outside, 0)
    failures.equal("windows without calls", empty, 0)
    grown = resident[-1] - resident[len(resident) // 2]
    failures.expect(grown < 4096, f"{grown} pages more in the second half")
    return {"calls": len(starts), "outside": outside, "pages_grown": grown}, failures


@check(22, "--ring 1s: a copy of the last second while the program goes on",
       "the copy has all calls of its last second, and not those of the beginning", seconds=6, alone=True)
def ring(bench):
    failures = Failures()
    hertz = 5000
    program = Launching(bench, hertz, ["--ring", "1s"])
    time.sleep(4)
    copy = bench.new_run()
    before = program.finished()
    flushed = bench.plain(bench.borescope, "record", "-q", "flush", program.folder, "-o", copy)
    program.kill()
    if not copy.exists():
        raise Missing(f"record flush made no copy: {last_line(flushed.stderr)}")
    first, last, calls = bench.query("SELECT MIN(ts_ns), MAX(ts_ns), COUNT(*) FROM launches WHERE name LIKE "
                                     "'cudaLaunchKernel%'", copy)[0]
    in_last_second = bench.value(f"{LAUNCHED} AND ts_ns > {last - 1_000_000_000}", copy)
    failures.expect(in_last_second >= 0.98 * hertz, f"{in_last_second} calls in the last second, of {hertz}")
    failures.expect(calls < before, f"{calls} calls in the copy, of {before}: nothing was overwritten")
    return {"finished": before, "calls": calls, "in_last_second": in_last_second,
            "seconds": round((last - first) / 1e9, 2)}, failures
