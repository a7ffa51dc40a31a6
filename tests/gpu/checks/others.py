"""Other tools, and what the system can do."""

import ctypes
import mmap
import os
import tempfile

from checks.registry import Failures, check


@check(14, "under compute-sanitizer, and beside another tool", "the program is right; ours is off or refuses",
       ("gpu", "nvcc", "sanitizer"), 3)
def beside(bench):
    failures = Failures()
    program = bench.program()
    run, result = bench.record("compute-sanitizer", program, "saxpy", 10, 1, options=["--force"])
    failures.equal("status under compute-sanitizer", result.returncode, 0)
    refused = bench.plain("env", "CUDA_INJECTION64_PATH=/opt/other.so",
                          *bench.words(bench.new_run(), [program, "saxpy", 10, 1]))
    failures.expect("CUDA_INJECTION64_PATH" in refused.stderr, "another tool's variable was not refused")
    return {"doctor": bench.doctor(run), "refusal": refused.stderr.strip()}, failures


@check(17, "what the kernel offers", "MADV_WIPEONFORK, MADV_DONTFORK, fallocate; else what is used instead is said",
       ("gpu",), 1)
def system(bench):
    libc = ctypes.CDLL(None, use_errno=True)
    page = mmap.mmap(-1, mmap.PAGESIZE)
    address = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(page)))
    figures = {}
    for name, advice in (("MADV_DONTFORK", 10), ("MADV_WIPEONFORK", 18)):
        figures[name] = libc.madvise(address, ctypes.c_size_t(mmap.PAGESIZE), advice) == 0
    with tempfile.TemporaryFile(dir=bench.out) as file:
        os.posix_fallocate(file.fileno(), 0, 65536)
        figures["fallocate"] = os.fstat(file.fileno()).st_blocks * 512 >= 65536
    # Without any of them the library goes on by other means.
    run, result = bench.record(bench.borescope, "--version")
    failures = Failures()
    failures.equal("a recorded program's status", result.returncode, 0)
    return figures, failures
