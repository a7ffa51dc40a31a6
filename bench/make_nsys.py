#!/usr/bin/env python3
"""Writes an SQLite export as of Nsight Systems: one process, one GPU, a step loop of PyTorch.

    make_nsys.py [--kernels N] OUT.sqlite       (default: a million kernels, two million calls)

The same arguments give the same rows. Sizes and durations follow a fixed pattern, not a real run.
"""

import argparse
import sqlite3
from pathlib import Path

PID = 4711
GLOBAL_PID = PID << 24
MAIN, BACKWARD = GLOBAL_PID | PID, GLOBAL_PID | 4800

SCHEMA = """
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER NOT NULL, utcTime TEXT NOT NULL,
  localTime TEXT NOT NULL);
CREATE TABLE TARGET_INFO_GPU (vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT,
  totalMemory INTEGER, smCount INTEGER, computeMajor INTEGER, computeMinor INTEGER,
  maxWarpsPerSm INTEGER, threadsPerWarp INTEGER, cuDevice INTEGER);
CREATE TABLE ThreadNames (nameId INTEGER NOT NULL, priority INTEGER, globalTid INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL,
  eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL,
  returnValue INTEGER NOT NULL, callchainId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL,
  deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, greenContextId INTEGER,
  streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
  demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER,
  launchType INTEGER, cacheConfig INTEGER, registersPerThread INTEGER NOT NULL,
  gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL, blockX INTEGER NOT NULL,
  blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL, staticSharedMemory INTEGER NOT NULL,
  dynamicSharedMemory INTEGER NOT NULL, localMemoryPerThread INTEGER NOT NULL,
  localMemoryTotal INTEGER NOT NULL, gridId INTEGER NOT NULL, sharedMemoryExecuted INTEGER,
  graphNodeId INTEGER, sharedMemoryLimitConfig INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL,
  deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, greenContextId INTEGER,
  streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, bytes INTEGER NOT NULL,
  copyKind INTEGER NOT NULL, deprecatedSrcId INTEGER, srcKind INTEGER, dstKind INTEGER,
  srcDeviceId INTEGER, srcContextId INTEGER, dstDeviceId INTEGER, dstContextId INTEGER,
  migrationCause INTEGER, graphNodeId INTEGER, virtualAddress INTEGER, copyCount INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER NOT NULL, end INTEGER NOT NULL,
  deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, greenContextId INTEGER,
  streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, syncType INTEGER NOT NULL,
  eventId INTEGER NOT NULL, eventSyncId INTEGER);
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL,
  rangeId INTEGER, category INTEGER, color INTEGER, text TEXT, globalTid INTEGER,
  endGlobalTid INTEGER, textId INTEGER, domainId INTEGER, uint64Value INTEGER, int64Value INTEGER,
  doubleValue REAL, uint32Value INTEGER, int32Value INTEGER, floatValue REAL, jsonTextId INTEGER,
  jsonText TEXT);
CREATE TABLE COMPOSITE_EVENTS (id INTEGER NOT NULL PRIMARY KEY, start INTEGER NOT NULL,
  cpu INTEGER, threadState INTEGER, globalTid INTEGER, cpuCycles INTEGER NOT NULL);
"""

KERNELS = [
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
    "std::array<char *, 3>>(int, T2, T3)",
    "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_nn",
    "void flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4>>(Flash_fwd_params)",
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>(T3)",
]
CALLS = ["cudaLaunchKernel_v7000", "cudaEventRecord_v3020", "cudaMemcpyAsync_v3020",
         "cudaStreamSynchronize_v3020"]
NAMES = ["python", "pt_autograd_0"]
STRINGS = [*KERNELS, *CALLS, *NAMES]
KERNELS_PER_STEP = 1000
KERNEL_NS = 10_000
STEP_GAP_NS = 50_000
DEVICE_LAG = 20_000
NCCL = 3  # in KERNELS


def string_id(text: str) -> int:
    return STRINGS.index(text) + 1


def kernel_start(i: int) -> int:
    return 1_000_000 + i * KERNEL_NS + i // KERNELS_PER_STEP * STEP_GAP_NS + DEVICE_LAG


def kernel_rows(count: int):
    for i in range(count):
        name = i % len(KERNELS)
        start = kernel_start(i)
        yield (start, start + 4_000 + i * 7919 % 5_000, 0, 1, 0, 20 if name == NCCL else 7,
               2 * i + 1, GLOBAL_PID, name + 1, name + 1, None, 0, 0, 32 + name * 16, 108, 1, 1,
               128 + 32 * name, 1, 1, 0, 16384, 0, 0, i, 32768, None, 0)


def call_rows(count: int):
    launch, record = string_id(CALLS[0]), string_id(CALLS[1])
    for i in range(count):
        start = kernel_start(i) - DEVICE_LAG
        thread = BACKWARD if i % KERNELS_PER_STEP >= KERNELS_PER_STEP // 2 else MAIN
        yield (start, start + 3_000, 0, thread, 2 * i + 1, launch, 0, None)
        yield (start + 4_000, start + 4_900, 0, thread, 2 * i + 2, record, 0, None)


def step_rows(count: int):
    """Per step: a copy of the batch with its call, a wait with its call, and ranges."""
    copies, calls, waits, ranges = [], [], [], []
    for step in range(count // KERNELS_PER_STEP):
        begin = kernel_start(step * KERNELS_PER_STEP) - DEVICE_LAG
        middle = begin + KERNEL_NS * KERNELS_PER_STEP // 2
        end = begin + KERNEL_NS * KERNELS_PER_STEP
        drained = end + 20_000
        number = 2 * count + 2 * step + 1
        calls.append((begin - 900, begin - 300, 0, MAIN, number, string_id(CALLS[2]), 0, None))
        copies.append((begin, begin + 9_000, 0, 1, 0, 7, number, GLOBAL_PID, 1 << 20, 1, None, 1, 2,
                       None, None, 0, 1, None, None, None, None))
        calls.append((end, drained + 500, 0, MAIN, number + 1, string_id(CALLS[3]), 0, None))
        waits.append((drained, drained + 100, 0, 1, 0, 7, number + 1, GLOBAL_PID, 3, 0, None))
        ranges += [(begin - 1_000, drained + 900, 59, f"ProfilerStep#{step}", MAIN),
                   (begin - 950, middle - 1_000, 59, "forward", MAIN),
                   (middle, end - 1_100, 59, "backward", BACKWARD)]
    return copies, calls, waits, ranges


def insert(database: sqlite3.Connection, table: str, rows) -> None:
    rows = iter(rows)
    first = next(rows, None)
    if first is None:
        return
    statement = f"INSERT INTO {table} VALUES ({','.join('?' * len(first))})"
    database.execute(statement, first)
    database.executemany(statement, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kernels", type=int, default=1_000_000)
    parser.add_argument("out", type=Path)
    args = parser.parse_args()
    args.out.unlink(missing_ok=True)
    database = sqlite3.connect(args.out, isolation_level=None)
    database.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;" + SCHEMA)
    database.execute("BEGIN")
    insert(database, "StringIds", enumerate(STRINGS, 1))
    insert(database, "META_DATA_EXPORT", [("EXPORT_PRODUCT_VERSION", "2024.5.1.113"),
                                          ("EXPORT_SCHEMA_VERSION", "3.13.2")])
    insert(database, "TARGET_INFO_SESSION_START_TIME",
           [(1_730_000_000_000_000_000, "2024-10-27 03:33:20", "2024-10-27 04:33:20")])
    insert(database, "TARGET_INFO_GPU",
           [(0, 0, "NVIDIA A100-SXM4-80GB", 85_899_345_920, 108, 8, 0, 64, 32, 0)])
    insert(database, "ThreadNames", [(string_id(NAMES[0]), None, MAIN),
                                     (string_id(NAMES[1]), None, BACKWARD)])
    insert(database, "CUPTI_ACTIVITY_KIND_KERNEL", kernel_rows(args.kernels))
    insert(database, "CUPTI_ACTIVITY_KIND_RUNTIME", call_rows(args.kernels))
    copies, calls, waits, ranges = step_rows(args.kernels)
    insert(database, "CUPTI_ACTIVITY_KIND_RUNTIME", calls)
    insert(database, "CUPTI_ACTIVITY_KIND_MEMCPY", copies)
    insert(database, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", waits)
    database.executemany("INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid) "
                         "VALUES (?, ?, ?, ?, ?)", ranges)
    insert(database, "COMPOSITE_EVENTS",
           ((i, i * 1_000_000, 0, 1, MAIN, 1000) for i in range(args.kernels // 100)))
    database.execute("COMMIT")
    database.close()


if __name__ == "__main__":
    main()
