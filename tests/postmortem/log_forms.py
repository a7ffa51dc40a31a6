"""The forms in which programs, launchers, runtimes and kernels write about the end of a job, in their own words."""

import json

from job_logs import STEPS, error_file, traceback

BAD = traceback("ValueError: bad batch", 31)


def joined(*lines):
    return "\n".join(lines) + "\n"


def after_steps(*lines):
    return {"job.log": joined(*STEPS[:30], *lines)}


def watchdog(rank, seq, operation, enqueued, completed, elements=1024):
    """What PyTorch 2.4 to 2.8 writes."""
    place = f"[PG ID 0 PG GUID 0(default_pg) Rank {rank}]"
    caught = f"[Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum={seq}, OpType={operation}, NumelIn={elements}, NumelOut={elements}, Timeout(ms)=1800000) ran for 1800012 milliseconds before timing out."
    return [
        f"[rank{rank}]:[E1101 10:30:00.{rank}23456 ProcessGroupNCCL.cpp:616] {caught}",
        f"[rank{rank}]:[E1101 10:30:00.{rank}23457 ProcessGroupNCCL.cpp:1785] {place} Exception (either an error or timeout) detected by watchdog at work: {seq}, last enqueued NCCL work: {enqueued}, last completed NCCL work: {completed}.",
        f"[rank{rank}]:[E1101 10:30:00.{rank}23458 ProcessGroupNCCL.cpp:630] [Rank {rank}] Some NCCL operations have failed or timed out. Due to the asynchronous nature of CUDA kernels, subsequent GPU operations might run on corrupted/incomplete data.",
        f"[rank{rank}]:[E1101 10:30:00.{rank}23459 ProcessGroupNCCL.cpp:1595] {place} Process group watchdog thread terminated with exception: {caught}",
    ]


def watchdogs(*of_ranks):
    return {"job.log": joined(*sum(of_ranks, []))}


def observed(rank, source, enqueued, completed):
    place = f"[PG ID 0 PG GUID 0(default_pg) Rank {rank}]"
    return [
        f"[rank{rank}]:[E1101 10:30:01.1 ProcessGroupNCCL.cpp:1430] {place} Observed flight recorder dump signal from another rank via TCPStore.",
        f"[rank{rank}]:[E1101 10:30:01.2 ProcessGroupNCCL.cpp:1461] {place} Received a dump signal due to a collective timeout from  rank {source} and we will try our best to dump the debug info. Last enqueued NCCL work: {enqueued}, last completed NCCL work: {completed}.This is most likely caused by incorrect usages of collectives, e.g., wrong sizes used across ranks",
    ]


def docker(stream, text, second):
    return json.dumps({"log": text, "stream": stream, "time": f"2026-11-01T10:00:{second:02}.1Z"})


LONG = "x" * 16384
CRI_CUT = [
    "2026-11-01T10:00:31.1Z stderr F Traceback (most recent call last):",
    '2026-11-01T10:00:31.1Z stderr F   File "/app/train.py", line 31, in main',
    "2026-11-01T10:00:31.1Z stdout P step 30 of ",
    "2026-11-01T10:00:31.1Z stderr P ValueError: bad ba",
    "2026-11-01T10:00:31.1Z stdout F 100",
    f"2026-11-01T10:00:31.1Z stderr P tch {LONG}",
    "2026-11-01T10:00:31.1Z stderr F  end",
]
RICH = [
    "╭─────────────────── Traceback (most recent call last) ───────────────────╮",
    "│ /app/train.py:90 in <module>                                            │",
    "│                                                                         │",
    "│   88 │                                                                  │",
    "│ ❱ 90 │   main()                                                         │",
    "│                                                                         │",
    "│ /app/a/folder/with/a/name/that/is/too/long/for/the/width/of/this/termi │",
    "│ nal/train.py:31 in main                                                 │",
    "│                                                                         │",
    "│ ❱ 31 │   step(batch)                                                    │",
    "│      ╭─ locals ─╮                                                       │",
    "│      │ batch = 3│                                                       │",
    "│      ╰──────────╯                                                       │",
    "╰─────────────────────────────────────────────────────────────────────────╯",
    "ValueError: bad batch",
]
SHARED_MEMORY = [
    *traceback("RuntimeError: DataLoader worker (pid 4321) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory. Please try to raise your shared memory limit.", 66),
    "",
    "The above exception was the direct cause of the following exception:",
    "",
    *traceback("RuntimeError: DataLoader worker (pid(s) 4321) exited unexpectedly", 77),
]
WORKER = [
    *traceback("ValueError: Caught ValueError in DataLoader worker process 3.", 77),
    "Original Traceback (most recent call last):",
    '  File "/app/data.py", line 42, in __getitem__',
    '    raise ValueError("corrupt image")',
    "ValueError: corrupt image",
]
SPAWNED = [
    *traceback("torch.multiprocessing.spawn.ProcessRaisedException: ", 99),
    "",
    "-- Process 2 terminated with the following error:",
    *BAD,
]
LOGURU = [
    "2026-11-01 10:00:31.123 | ERROR    | __main__:main:31 - An error has been caught in function 'main'",
    "Traceback (most recent call last):",
    "",
    '  File "/app/train.py", line 90, in <module>',
    "    main()",
    "    └ <function main at 0x7f>",
    "",
    '> File "/app/train.py", line 31, in main',
    "    step(batch)",
    "    │    └ 3",
    "",
    "ValueError: bad batch",
]
FAULT = [
    "[rank2]: Fatal Python error: Aborted",
    "[rank2]: ",
    "[rank2]: Thread 0x00007f13 (most recent call first):",
    '[rank2]:   File "/usr/lib/python3.11/threading.py", line 324 in wait',
    "[rank2]: ",
    "[rank2]: Current thread 0x00007f12 (most recent call first):",
    '[rank2]:   File "/app/train.py", line 31 in main',
]
IMPORT = ["Traceback (most recent call last):", '  File "/app/a.py", line 1, in <module>', "    import flash_attn", "ModuleNotFoundError: No module named 'flash_attn'", "falling back to sdpa"]
OOM_OLD = "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 3; 79.35 GiB total capacity; 70.10 GiB already allocated; 1.19 GiB free; 76.50 GiB reserved in total by PyTorch) If reserved memory is >> allocated memory try setting max_split_size_mb to avoid fragmentation."
OOM_CONTAINER = "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.50 GiB. GPU 0 has a total capacty of 23.64 GiB of which 1.42 GiB is free. Process 2722 has 22.22 GiB memory in use. Of the allocated memory 20.13 GiB is allocated by PyTorch, and 1.75 GiB is reserved by PyTorch but unallocated."
OOM_NCCL = ["torch.distributed.DistBackendError: NCCL error in: NCCLUtils.hpp:317, unhandled cuda error (run with NCCL_DEBUG=INFO for details), NCCL version 2.21.5", "ncclUnhandledCudaError: Call to CUDA function failed.", "Last error:", "Cuda failure 2 'out of memory'"]
DUPLICATE = ["torch.distributed.DistBackendError: NCCL error in: NCCLUtils.hpp:275, invalid usage (run with NCCL_DEBUG=WARN for details), NCCL version 2.20.5", "ncclInvalidUsage: This usually reflects invalid usage of NCCL library.", "Last error:", "Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 1b000"]

RESTART = "I1101 10:01:01.0 12 torch/distributed/elastic/agent/server/api.py:879] [default] Worker group FAILED. 2/3 attempts left; will restart worker group"

# Name, files, kind and ranks of the first finding of severity error (or "none"), a part of its evidence, one of its help.
CASES = [
    # Containers, journals and launchers.
    ("containerd", {"0.log": joined(*[f"2026-11-01T10:00:{i:02}.123456789Z stdout F step {i}" for i in range(30)], *[f"2026-11-01T10:00:31.123456789Z stderr F {line}" for line in BAD])}, "exception", None, "bad batch at 10:00:31", ""),
    ("containerd, lines in parts", {"0.log": joined(*CRI_CUT)}, "exception", None, "bad batch xxx", ""),
    ("docker", {"c-json.log": joined(*[docker("stdout", f"step {i}\n", i) for i in range(30)], *[docker("stderr", line + "\n", 31) for line in BAD])}, "exception", None, "bad batch at 10:00:31", ""),
    ("docker, a line in parts", {"c-json.log": joined(*[docker("stderr", line + "\n", 31) for line in BAD[:-1]], docker("stderr", "ValueError: bad \u00e4 \"ba", 31), docker("stdout", "step 3\n", 31), docker("stderr", "tch\"\n", 31))}, "exception", None, 'bad \u00e4 "batch"', ""),
    ("kubectl with prefixes", {"all.log": joined(*[f"[pod/job-worker-{r}/pytorch] step {i}" for i in range(30) for r in range(4)], *[f"[pod/job-worker-{r}/pytorch] {line}" for line in BAD for r in (2, 3)])}, "exception", None, "bad batch, on job-worker-2", ""),
    ("journal", {"x.log": joined(*[f"Nov 01 10:00:{i:02} node7 train[4242]: step {i}" for i in range(30)], *[f"Nov 01 10:00:31 node7 train[4242]: {line}" for line in BAD])}, "exception", None, "bad batch, on node7", ""),
    ("rsyslog", {"x.log": joined(*[f"2026-11-01T10:00:31.123456+00:00 node7 train[4242]: {line}" for line in BAD])}, "exception", None, "on node7", ""),
    ("UTF-16, little end first", {"x.log": ("\ufeff" + joined(*STEPS[:30], *BAD)).encode("utf-16-le")}, "exception", None, "bad batch", ""),
    ("UTF-16, big end first", {"x": ("\ufeff" + joined(*STEPS[:30], "\U0001f9df \u00e4", *BAD)).encode("utf-16-be")}, "exception", None, "x:32: ValueError: bad batch", ""),
    ("UTF-8 with a mark", {"x.log": ("\ufeff" + joined(*BAD)).encode()}, "exception", None, "bad batch", ""),
    ("Open MPI 5", {"m.out": joined(*[f"[prterun-node7-77@1,{r}]<stdout>: step {i}" for i in range(30) for r in range(4)], *[f"[prterun-node7-77@1,2]<stderr>: {line}" for line in BAD])}, "exception", "2", "bad batch", ""),
    ("rank of a logger", {"t.log": joined(*[f"2026-11-01 10:00:31,123 [ERROR] [rank 5] {line}" for line in BAD])}, "exception", "5", "bad batch", ""),
    ("rank of hydra's logger", {"t.log": joined(*[f"[2026-11-01 10:00:31,123][rank5][ERROR] - {line}" for line in BAD])}, "exception", "5", "bad batch", ""),
    # Tracebacks.
    ("Rich", {"x.log": joined(*RICH)}, "exception", None, "bad batch", ""),
    ("Rich of a rank", {"x.log": joined(*[f"[rank3]: {line}" for line in RICH])}, "exception", "3", "bad batch", ""),
    ("grammar", {"x.log": joined('  File "/app/train.py", line 12', "    def f(:", "          ^", "SyntaxError: invalid syntax")}, "exception", None, "invalid syntax", ""),
    ("Loguru", after_steps(*LOGURU), "exception", None, "bad batch", ""),
    ("cut within a traceback", after_steps(*BAD[:3]), "exception", None, "ends before its name", ""),
    ("worker of a data loader", {"t.log": joined(*WORKER)}, "exception", None, "corrupt image", ""),
    ("spawned process", {"t.log": joined(*SPAWNED)}, "exception", "2", "bad batch", ""),
    ("spawned process, signal", {"t.log": joined(*traceback("torch.multiprocessing.spawn.ProcessExitedException: process 2 terminated with signal SIGSEGV", 99))}, "signal", "2", "signal 11", ""),
    ("Lightning", after_steps("[rank: 2] Child process with PID 4242 terminated with code -11. Forcefully terminating all other processes to avoid zombies", "Killed"), "signal", "2", "signal 11", ""),
    # Signals and aborts.
    ("abort of Python", {"x.err": joined(*STEPS[:30], *FAULT)}, "signal", "2", "Aborted", ""),
    ("abort after a watchdog", {"x.err": joined(*watchdog(2, 9, "ALLREDUCE", 9, 8), *watchdog(1, 9, "BROADCAST", 9, 8), *watchdog(0, 9, "ALLREDUCE", 9, 8), *FAULT)}, "operations", "1", "BROADCAST", ""),
    ("shell, killed", after_steps("run.sh: line 12:  4242 Killed                  python train.py"), "signal", None, "signal 9", ""),
    ("shell, killed for lack of memory", {**after_steps("Killed"), "dmesg.txt": "[1.1] Memory cgroup out of memory: Killed process 4242 (python3) total-vm:1kB, anon-rss:2kB\n"}, "host memory", None, "", ""),
    ("shell, segmentation fault", after_steps("run.sh: line 12: 4242 Segmentation fault      (core dumped) python train.py"), "signal", None, "signal 11", ""),
    ("segmentation fault", after_steps("Segmentation fault (core dumped)"), "signal", None, "signal 11", ""),
    ("bus error", after_steps("Bus error (core dumped)"), "signal", None, "signal 7", ""),
    ("faulthandler, then the shell", after_steps("Fatal Python error: Segmentation fault", "", "Current thread 0x00007f12 (most recent call first):", '  File "/app/ops.py", line 12 in fused', "", "Segmentation fault (core dumped)"), "signal", None, "Segmentation fault", ""),
    ("uncaught exception of C++", after_steps("terminate called after throwing an instance of 'std::bad_alloc'", "  what():  std::bad_alloc", "Aborted (core dumped)"), "exception", None, "std::bad_alloc", "Fewer workers"),
    ("uncaught exception of PyTorch", after_steps("terminate called after throwing an instance of 'c10::DistBackendError'", "  what():  [PG ID 0 PG GUID 0(default_pg) Rank 5] Process group watchdog thread terminated with exception: CUDA error: an illegal memory access was encountered"), "exception", "5", "illegal memory access", "CUDA_LAUNCH_BLOCKING"),
    ("libc++", after_steps("libc++abi: terminating due to uncaught exception of type std::out_of_range: vector"), "exception", None, "std::out_of_range: vector", ""),
    ("glibc", after_steps("free(): invalid pointer", "Aborted (core dumped)"), "signal", None, "free(): invalid pointer", "-fsanitize"),
    ("glibc, tcache", after_steps("free(): double free detected in tcache 2"), "signal", None, "double free detected", ""),
    ("glibc, chunk", after_steps("double free or corruption (!prev)"), "signal", None, "double free or corruption", ""),
    ("segmentation fault by the kernel", {"dmesg.txt": "[1111.1] python3[4242]: segfault at 0 ip 00007f1234567890 sp 00007ffc12345678 error 4 in libtorch_cuda.so[7f1230000000+5000000]\n"}, "signal", None, "in libtorch_cuda.so", ""),
    ("UCX", after_steps("[node7:4242:0:4242] Caught signal 11 (Segmentation fault: address not mapped to object at address 0x10)", "==== backtrace (tid:   4242) ===="), "signal", None, "address not mapped", ""),
    ("Open MPI's handler", after_steps("[node7:04242] *** Process received signal ***", "[node7:04242] Signal: Segmentation fault (11)", "[node7:04242] Signal code: Address not mapped (1)"), "signal", None, "signal 11", ""),
    ("ROCr", after_steps("Memory access fault by GPU node-1 (Agent handle: 0x55ac14d27600) on address 0x7f9587e00000. Reason: Page not present or supervisor privilege."), "signal", None, "GPU node-1", "AMD_SERIALIZE_KERNEL"),
    ("caught import, then killed", {"t.log": joined(*IMPORT, *STEPS[:2], "Killed")}, "signal", None, "signal 9", ""),
    # MPI.
    ("MPI_ABORT of Open MPI", {"m.out": joined("MPI_ABORT was invoked on rank 5 in communicator MPI_COMM_WORLD", "with errorcode 42.", "", "NOTE: invoking MPI_ABORT causes Open MPI to kill all MPI processes.")}, "exit code", "5", "MPI_Abort with code 42", ""),
    ("MPI_Abort of MPICH", after_steps("Abort(42) on node 5 (rank 5 in comm 0): application called MPI_Abort(MPI_COMM_WORLD, 42) - process 5"), "exit code", "5", "code 42", ""),
    ("MPI_Abort of Cray", after_steps("MPICH ERROR [Rank 616] [job id 7.0] [Fri Dec 12 23:04:41 2025] [nidd1411] - Abort(-1) (rank 616 in comm 0): application called MPI_Abort(MPI_COMM_WORLD, -1) - process 616"), "exit code", "616", "code -1", ""),
    ("MPI_Abort of older MPICH", after_steps("application called MPI_Abort(MPI_COMM_WORLD, 1) - process 157"), "exit code", "157", "code 1", ""),
    ("PRRTE breaks the line", after_steps("prterun noticed that process rank 3 with PID 4242 on node node7 exited on", "signal 11 (Segmentation fault)."), "signal", "3", "signal 11", ""),
    # Kubernetes and the kernel.
    ("OOMKilled", {"describe.txt": joined("Name:         train-worker-2", "    State:          Terminated", "      Reason:       OOMKilled", "      Exit Code:    137")}, "host memory", None, "OOMKilled", ""),
    ("evicted", {"events.txt": joined("LAST SEEN   TYPE      REASON    OBJECT               MESSAGE", "2m   Warning   Evicted   pod/train-worker-2   The node was low on resource: ephemeral-storage. Threshold quantity: 10Gi, available: 3Gi.")}, "evicted", None, "ephemeral-storage", ""),
    ("NVSwitch, fatal", {"dmesg.txt": "[  11.1] nvidia-nvswitch0: SXid (PCI:0000:00:00.0): 20034, Fatal, Link 30 LTSSM Fault Up\n"}, "NVSwitch", None, "SXid 20034", "Fabric Manager"),
    ("recovery alone", {"dmesg.txt": "[  11.1] NVRM: Xid (PCI:0000:c5:00): 154, GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)\n"}, "GPU", None, "Node Reboot Required", "Drain"),
    ("recovery after an error", {"dmesg.txt": joined("[  11.1] NVRM: Xid (PCI:0000:c5:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.", "[  11.1] NVRM: Xid (PCI:0000:c5:00): 154, GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)")}, "GPU", None, "Node Reboot Required", ""),
    ("reset of a GPU of AMD", {"dmesg.txt": "[  11.1] amdgpu 0000:83:00.0: amdgpu: GPU reset begin!\n"}, "GPU reset", None, "0000:83:00.0", ""),
    ("kernel panic", {"dmesg.txt": joined("[  11.1] mce: [Hardware Error]: CPU 3: Machine Check Exception: 5 Bank 7: be00000000800400", "[ 11.2] Kernel panic - not syncing: Fatal machine check")}, "machine", None, "machine check", "Drain"),
    # Watchdogs and barriers.
    ("watchdogs, another operation", watchdogs(*[watchdog(r, 100, "BROADCAST" if r == 2 else "ALLREDUCE", 100, 99) for r in range(4)]), "operations", "2", "BROADCAST 100", ""),
    ("watchdogs, another size", watchdogs(*[watchdog(r, 100, "ALLREDUCE", 100, 99, 999 if r == 2 else 1024) for r in range(4)]), "sizes", "2", "999", ""),
    ("watchdogs, uneven sizes that are right", watchdogs(*[watchdog(r, 100, "ALLTOALL_BASE", 100, 99, 999 if r == 2 else 1024) for r in range(4)]), "timeout", None, "", ""),
    ("watchdogs, two and two", watchdogs(*[watchdog(r, 100, "BROADCAST" if r > 1 else "ALLREDUCE", 100, 99) for r in range(4)]), "timeout", None, "BROADCAST 100", ""),
    ("watchdogs, one is behind", watchdogs(*[watchdog(r, 99 if r == 2 else 100, "ALLREDUCE", 99 if r == 2 else 101, 98 if r == 2 else 99) for r in range(4)]), "device", "2", "ALLREDUCE 99", ""),
    ("watchdogs, the root left early", watchdogs(*[watchdog(r, 100 if r == 0 else 99, "BROADCAST", 101, 98) for r in range(4)]), "timeout", None, "", ""),
    ("watchdogs, one issued no more", watchdogs(*[watchdog(r, 100, "ALLREDUCE", 101, 99) for r in (0, 1)], observed(3, 1, 99, 99)), "never issued", "3", "issued no more", "py-spy"),
    ("watchdog of another rank", watchdogs(observed(3, 1, 99, 99)), "timeout", "1", "completed 99", ""),
    ("barrier", {"t.log": joined(*[f"[rank0]: {line}" for line in traceback("RuntimeError: [Rank 0]: Ranks 2, 5 failed to pass monitoredBarrier in 30000 ms", 31)])}, "barrier", "2,5", "Ranks 2, 5", "py-spy"),
    ("barrier, of a rank that failed", {"t.log": joined(*[f"[rank0]: {line}" for line in traceback("RuntimeError: Rank 2 failed to pass monitoredBarrier in 30000 ms", 31)], *[f"[rank2]: {line}" for line in BAD])}, "exception", "2", "bad batch", ""),
    # Out of memory, and helps.
    ("out of memory before 2.1", after_steps(*traceback(OOM_OLD, 77)), "out of memory", None, "of 85.2 GB free on the device; 75.3 GB allocated; 6.9 GB reserved and free", "expandable_segments"),
    ("out of memory in a container", after_steps(*traceback(OOM_CONTAINER, 77)), "out of memory", None, "of 25.4 GB free", "smaller batch"),
    ("out of memory by CUDA", {"rank_3.log": joined(*traceback("torch.AcceleratorError: CUDA error: out of memory", 77))}, "out of memory", "3", "", ""),
    ("out of memory by cuBLAS", {"rank_3.log": joined(*traceback("RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`", 77))}, "out of memory", "3", "", ""),
    ("out of memory by NCCL", {"rank_3.log": joined(*traceback("\n".join(OOM_NCCL), 77))}, "out of memory", "3", "Cuda failure 2", ""),
    ("ECC", {"rank_3.log": joined(*traceback("RuntimeError: CUDA error: uncorrectable ECC error encountered", 77))}, "exception", "3", "", "Drain"),
    ("ECC, also by the kernel", {"rank_3.log": joined(*traceback("RuntimeError: CUDA error: uncorrectable ECC error encountered", 77)), "dmesg.txt": "[1.1] NVRM: Xid (PCI:0000:3b:00): 48, pid=4242, name=python3, DBE\n"}, "exception", "3", "Xid 48", "Drain"),
    ("full disk", after_steps(*traceback("OSError: [Errno 28] No space left on device", 201)), "exception", None, "", "df -h"),
    ("port in use", after_steps(*traceback("torch.distributed.DistNetworkError: The server socket has failed to listen on any local network address. port: 29500, useIpv6: false, code: -98, name: EADDRINUSE, message: address already in use", 31)), "exception", None, "", "port"),
    ("two ranks on one GPU", {"rank_1.log": joined(*traceback("\n".join(DUPLICATE), 31))}, "exception", "1", "Duplicate GPU", "set_device"),
    ("shared memory", after_steps(*SHARED_MEMORY), "exception", None, "out of shared memory", "--shm-size"),
    # Prefixes that are learned from the header of a traceback.
    ("pdsh", {"j.log": joined(*[f"node1: [rank3]: {line}" for line in BAD], *[f"node2: [rank9]: {line}" for line in traceback("RuntimeError: Connection closed by peer", 40)])}, "exception", "3", "bad batch", ""),
    ("vLLM", {"j.log": joined(*[f"(EngineCore_DP0 pid=272) ERROR 11-01 10:00:31 [core.py:710] {line}" for line in ["EngineCore failed to start.", *BAD]], *[f"(APIServer pid=1) {line}" for line in traceback("RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}", 10)])}, "exception", None, "bad batch", ""),
    ("glog", {"j.log": joined(*[f"E1101 10:00:3{i}.123456 4242 train.py:3{i}] {line}" for i, line in enumerate(BAD)])}, "exception", None, "bad batch", ""),
    ("stern", {"j.log": joined(*[f"train-worker-{r} pytorch {line}" for line in BAD for r in (3, 12)])}, "exception", None, "bad batch, on train-worker-3", ""),
    ("compose", {"j.log": joined(*[f"worker{r}_1{' ' * (3 - len(str(r)))}| {line}" for line in BAD for r in (3, 12)])}, "exception", None, "bad batch, on worker3_1", ""),
    ("a clock alone", {"rank0.log": joined(*[f"[10:05:31] {line}" for line in BAD])}, "exception", "0", "bad batch", ""),
    ("a prefix of the header alone", {"j.log": joined("trainer.py:31: Traceback (most recent call last):", *BAD[1:])}, "exception", None, "bad batch", ""),
    # Times.
    ("time of the line before", {"rank0.log": joined(*[f"2026-11-01 10:00:{i:02},000 step {i}" for i in range(30)], "2026-11-01 10:05:31,000 ERROR failed", *traceback("KeyError: 3", 31)), "rank1.log": joined(*[f"2026-11-01 10:00:{i:02},000 step {i}" for i in range(30)], "2026-11-01 10:01:31,000 ERROR failed", *traceback("ValueError: bad batch", 44))}, "exception", "1", "bad batch", ""),
    ("seconds since 1970", {"rank0.log": joined(*[f"1793527531.1 {line}" for line in traceback("KeyError: 3", 31)]), "rank1.log": joined(*[f"1793527231.1 {line}" for line in BAD])}, "exception", "1", "bad batch", ""),
    ("dates of ctime", {"rank0.log": joined(*[f"Sun Nov  1 10:05:31 2026 {line}" for line in traceback("KeyError: 3", 31)]), "rank1.log": joined(*[f"Sun Nov  1 10:01:31 2026 {line}" for line in BAD])}, "exception", "1", "bad batch", ""),
    ("dates with the month first", {"rank0.log": joined(*[f"11/01/2026 10:05:31 {line}" for line in traceback("KeyError: 3", 31)]), "rank1.log": joined(*[f"11/01/2026 10:01:31 {line}" for line in BAD])}, "exception", "1", "bad batch", ""),
    ("one type at two times", {f"attempt_0/{rank}/error.json": error_file(text, second) for rank, text, second in ((1, "RuntimeError: negative dimension -1", 0), (3, "RuntimeError: queue is closed", 30))}, "exception", "1", "negative dimension", ""),
    # What follows from others, and attempts.
    ("gloo waits", {"j.log": joined(*[f"[rank1]: {line}" for line in traceback("RuntimeError: [gloo/transport/tcp/unbound_buffer.cc:81] Timed out waiting 1800000ms for recv operation to complete", 31)], *[f"[rank2]: {line}" for line in BAD])}, "exception", "2", "bad batch", ""),
    ("started again", {"j.log": joined(*STEPS[:30], *[f"[rank3]: {line}" for line in traceback("ValueError: flaky storage", 31)], RESTART, *STEPS[:80], *[f"[rank1]: {line}" for line in BAD])}, "exception", "1", "bad batch", ""),
    ("assertion of a kernel", {"j.log": joined('../aten/src/ATen/native/cuda/IndexKernel.cu:92: operator(): block: [3,0,0], thread: [32,0,0] Assertion `-sizes[i] <= index && index < sizes[i] && "index out of bounds"` failed.', *[f"[rank1]: {line}" for line in traceback("RuntimeError: CUDA error: device-side assert triggered", 31)])}, "exception", "1", "index out of bounds", "out of its range"),
    ("assertion of C", after_steps("train: /app/kernels.cpp:12: void step(int): Assertion `n > 0' failed.", "Aborted (core dumped)"), "signal", None, "n > 0", ""),
    # Healthy jobs that mention such words.
    ("healthy: started again", {"j.log": joined(*STEPS[:30], *[f"[rank3]: {line}" for line in BAD], "E1101 10:01:00.0 12 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: 1) local_rank: 3 (pid: 103) of binary: /usr/bin/python", RESTART, *STEPS[:80], "Training finished")}, "none", None, "", ""),
    ("healthy: words", {"job.log": joined(*STEPS[:30], "Killed 3 stale workers", "Segmentation fault dataset: 300 images", "Segmentation task: val mIoU 0.4", "Bus error rate 0.0", "Aborted 2 of 7 trials", "WARNING: CUDA out of memory was caught, the batch is retried with half its size", "OOMKilled pods are started again", "freed (): 3", "Exit code: 0", *STEPS[30:90])}, "none", None, "", ""),
    ("healthy: a killed helper", {"job.log": joined(*STEPS[:30], "tools.sh: line 3: 77 Killed                  ./probe", *STEPS[30:90])}, "none", None, "", ""),
    ("healthy: progress of the watchdog", {"job.log": joined(*STEPS[:30], "[rank1]:[I1101 10:30:00.1 ProcessGroupNCCL.cpp:2000] [PG ID 0 PG GUID 0(default_pg) Rank 1] NCCL Work update periodically: last enqueued NCCL work: 77, last completed NCCL work: 76.", *STEPS[30:90])}, "none", None, "", ""),
    ("healthy: a place in a file", {"job.log": joined('  File "/app/train.py", line 12', "    warnings.warn(x)", "UserWarning: slow", *STEPS[:30])}, "none", None, "", ""),
    ("healthy: other programs of the machine", {"dmesg.txt": joined("[1.1] Xorg[77]: segfault at 0 ip 00007f1234567890 sp 00007ffc12345678 error 4 in libX.so[7f1230000000+5000000]", "[1.2] nvidia-nvswitch0: SXid (PCI:0000:ca:00.0): 28002, Non-fatal, Link 20 Therm Warn Deactivated", "[1.3] mce: [Hardware Error]: Machine check events logged", "[2.1] NVRM: Xid (PCI:0000:c5:00): 154, GPU recovery action changed from 0x2 (Node Reboot Required) to 0x0 (None)")}, "none", None, "", ""),
]
