#!/usr/bin/env python3
"""Writes one recording in the forms of five profilers: the input of the test that all agree.

    write_databases.py [--without-memsets] [--more] KINETO.json FOLDER

--more adds a few rows of what only some of the forms can hold, and Kineto's cannot: the seeds of the
fuzzer have them.

KINETO.json is a trace of borescope-synth. FOLDER gets kineto.json (the events every format can
hold: annotations, runtime calls, kernels, copies and memsets), nsys.sqlite, nvprof.nvvp,
trace.rpd and rocpd.db. The schemas are those of docs/formats/. Nothing of the product is used: what
checks it must not share its mistakes.
"""

import json
import sqlite3
import struct
import sys
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

HOST = {"user_annotation": "annotation", "cuda_runtime": "call", "cuda_driver": "call"}
DEVICE = {"kernel": "kernel", "gpu_memcpy": "copy", "gpu_memset": "set"}

# hipMemcpyKind, CUPTI's copy kind, and the operation types of rocmProfileData, by direction.
DIRECTIONS = {"HtoD": (1, 1, "CopyHostToDevice"), "DtoH": (2, 2, "CopyDeviceToHost"),
              "DtoD": (3, 8, "CopyDeviceToDevice")}
CUPTI_MEMORY = {"Pageable": 1, "Pinned": 2, "Device": 3}
NSYS_MEMORY = {name: number - 1 for name, number in CUPTI_MEMORY.items()}  # no "unknown" there


@dataclass
class Event:
    kind: str
    name: str
    pid: int  # of device work: the device
    tid: int  # of device work: the stream
    start: int
    end: int
    correlation: int = 0
    args: dict = field(default_factory=dict)

    @property
    def direction(self) -> str:
        return self.name.split()[1]

    @property
    def memories(self) -> list[str]:
        return self.name[self.name.index("(") + 1 : -1].split(" -> ")


def read(path: Path, with_memsets: bool) -> tuple[dict, list[Event], list[dict]]:
    """The document, what every format can hold of it, and the same as JSON objects."""
    document = json.loads(path.read_text(), parse_float=Decimal)
    events, kept = [], []
    for row in document["traceEvents"]:
        kind = HOST.get(row.get("cat")) or DEVICE.get(row.get("cat"))
        if row["ph"] != "X" or kind is None or (kind == "set" and not with_memsets):
            continue
        start = int(row["ts"] * 1000)
        args = row.get("args", {})
        events.append(Event(kind, row["name"], row["pid"], row["tid"], start,
                            start + int(row["dur"] * 1000), args.get("correlation", 0), args))
        kept.append(row)
    return document, events, kept


class Texts:
    """A table of strings, each once."""

    def __init__(self, first: int):
        self.ids: dict[str, int] = {}
        self.first = first

    def __call__(self, text: str) -> int:
        return self.ids.setdefault(text, self.first + len(self.ids))

    def rows(self):
        return [(number, text) for text, number in self.ids.items()]


def database(path: Path, schema: str) -> sqlite3.Connection:
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA page_size=512")  # small: they are the seeds of a fuzzer as well
    connection.executescript(schema)
    return connection


def insert(connection: sqlite3.Connection, table: str, rows: list[tuple]) -> None:
    if rows:
        marks = ",".join("?" * len(rows[0]))
        connection.executemany(f'INSERT INTO "{table}" VALUES({marks})', rows)


def pick(events: list[Event], *kinds: str) -> list[Event]:
    return [event for event in events if event.kind in kinds]


def process(events: list[Event]) -> int:
    return next(event.pid for event in events if event.kind == "call")


# ---------------------------------------------------------------- Kineto


def write_kineto(path: Path, document: dict, kept: list[dict]) -> None:
    class Exact(json.JSONEncoder):
        def default(self, value):
            return float(value)  # nanoseconds of a day in microseconds fit a double exactly enough

    whole = dict(document, traceEvents=kept)
    path.write_text(json.dumps(whole, cls=Exact))


# ---------------------------------------------------------------- Nsight Systems

NSYS = """
CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INT, end INT, deviceId INT, contextId INT, streamId INT,
  correlationId INT, globalPid INT, demangledName INT, shortName INT, gridX INT, gridY INT, gridZ INT,
  blockX INT, blockY INT, blockZ INT, registersPerThread INT, staticSharedMemory INT,
  dynamicSharedMemory INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INT, end INT, deviceId INT, contextId INT, streamId INT,
  correlationId INT, globalPid INT, bytes INT, copyKind INT, srcKind INT, dstKind INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET(start INT, end INT, deviceId INT, contextId INT, streamId INT,
  correlationId INT, globalPid INT, value INT, bytes INT, memKind INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INT, end INT, eventClass INT, globalTid INT,
  correlationId INT, nameId INT, returnValue INT);
CREATE TABLE NVTX_EVENTS(start INT, end INT, eventType INT, rangeId INT, domainId INT, text TEXT,
  globalTid INT, textId INT);
"""


def write_nsys(path: Path, events: list[Event]) -> None:
    connection = database(path, NSYS)
    texts = Texts(1)
    global_pid = process(events) << 24

    def device(event: Event) -> tuple:
        return (event.start, event.end, event.pid, 1, event.tid, event.correlation, global_pid)

    insert(connection, "CUPTI_ACTIVITY_KIND_KERNEL",
           [device(e) + (texts(e.name), texts(e.name.split("<")[0]), *e.args["grid"], *e.args["block"],
                         e.args["registers per thread"], int(e.args["shared memory"]), 0)
            for e in pick(events, "kernel")])
    insert(connection, "CUPTI_ACTIVITY_KIND_MEMCPY",
           [device(e) + (e.args["bytes"], DIRECTIONS[e.direction][1],
                         *(NSYS_MEMORY[m] for m in e.memories)) for e in pick(events, "copy")])
    insert(connection, "CUPTI_ACTIVITY_KIND_MEMSET",
           [device(e) + (0, e.args["bytes"], NSYS_MEMORY["Device"]) for e in pick(events, "set")])
    insert(connection, "CUPTI_ACTIVITY_KIND_RUNTIME",
           [(e.start, e.end, 0, e.pid << 24 | e.tid, e.correlation, texts(e.name), 0)
            for e in pick(events, "call")])
    notes = pick(events, "annotation")
    insert(connection, "NVTX_EVENTS",  # every other text as recent versions write it, by its id
           [(e.start, e.end, 59, None, 0, e.name if i % 2 else None, e.pid << 24 | e.tid,
             None if i % 2 else texts(e.name)) for i, e in enumerate(notes)])
    insert(connection, "StringIds", texts.rows())
    connection.commit()


# ---------------------------------------------------------------- nvprof

NVPROF = """
CREATE TABLE StringTable(_id_ INTEGER PRIMARY KEY, value TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL(_id_ INTEGER PRIMARY KEY, registersPerThread INT,
  start INT, end INT, completed INT, deviceId INT, contextId INT, streamId INT, gridX INT, gridY INT,
  gridZ INT, blockX INT, blockY INT, blockZ INT, staticSharedMemory INT, dynamicSharedMemory INT,
  correlationId INT, name INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(_id_ INTEGER PRIMARY KEY, copyKind INT, srcKind INT,
  dstKind INT, flags INT, bytes INT, start INT, end INT, deviceId INT, contextId INT, streamId INT,
  correlationId INT, runtimeCorrelationId INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET(_id_ INTEGER PRIMARY KEY, value INT, bytes INT, start INT,
  end INT, deviceId INT, contextId INT, streamId INT, correlationId INT, memoryKind INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(_id_ INTEGER PRIMARY KEY, cbid INT, start INT, end INT,
  processId INT, threadId INT, correlationId INT, returnValue INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_DRIVER(_id_ INTEGER PRIMARY KEY, cbid INT, start INT, end INT,
  processId INT, threadId INT, correlationId INT, returnValue INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_MARKER(_id_ INTEGER PRIMARY KEY, flags INT, timestamp INT, id INT,
  objectKind INT, objectId BLOB, name INT, domain INT);
"""
MARKER_STARTS, MARKER_ENDS = 2, 4


def write_nvprof(path: Path, events: list[Event]) -> None:
    connection = database(path, NVPROF)
    texts = Texts(1)
    insert(connection, "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL",
           [(None, e.args["registers per thread"], e.start, e.end, e.end, e.pid, 1, e.tid,
             *e.args["grid"], *e.args["block"], int(e.args["shared memory"]), 0, e.correlation,
             texts(e.name)) for e in pick(events, "kernel")])
    insert(connection, "CUPTI_ACTIVITY_KIND_MEMCPY",
           [(None, DIRECTIONS[e.direction][1], *(CUPTI_MEMORY[m] for m in e.memories), 0,
             e.args["bytes"], e.start, e.end, e.pid, 1, e.tid, e.correlation, e.correlation)
            for e in pick(events, "copy")])
    insert(connection, "CUPTI_ACTIVITY_KIND_MEMSET",
           [(None, 0, e.args["bytes"], e.start, e.end, e.pid, 1, e.tid, e.correlation, 3)
            for e in pick(events, "set")])
    for table, is_driver in (("RUNTIME", False), ("DRIVER", True)):
        insert(connection, f"CUPTI_ACTIVITY_KIND_{table}",
               [(None, e.args["cbid"], e.start, e.end, e.pid, e.tid, e.correlation, 0)
                for e in pick(events, "call") if e.name.startswith("cuda") != is_driver])
    markers = []
    for number, e in enumerate(pick(events, "annotation"), 1):
        thread = struct.pack("<iq", e.pid, e.tid)
        markers.append((e.start, MARKER_STARTS, number, thread, texts(e.name)))
        markers.append((e.end, MARKER_ENDS, number, thread, 0))
    insert(connection, "CUPTI_ACTIVITY_KIND_MARKER",
           [(None, flags, time, number, 2, thread, name, 0)
            for time, flags, number, thread, name in sorted(markers, key=lambda row: row[:3])])
    insert(connection, "StringTable", texts.rows())
    connection.commit()


# ---------------------------------------------------------------- rocmProfileData

RPD = """
CREATE TABLE rocpd_metadata(id INTEGER PRIMARY KEY AUTOINCREMENT, tag TEXT, value TEXT);
CREATE TABLE rocpd_string(id INTEGER PRIMARY KEY AUTOINCREMENT, string TEXT);
CREATE TABLE rocpd_ustring(id INTEGER PRIMARY KEY AUTOINCREMENT, string TEXT);
CREATE TABLE rocpd_api(id INTEGER PRIMARY KEY AUTOINCREMENT, pid INT, tid INT, start INT, end INT,
  apiName_id BIGINT, category_id BIGINT, domain_id BIGINT, args_id BIGINT);
CREATE TABLE rocpd_op(id INTEGER PRIMARY KEY AUTOINCREMENT, gpuId INT, queueId INT, sequenceId INT,
  start INT, end INT, description_id BIGINT, opType_id BIGINT);
CREATE TABLE rocpd_api_ops(id INTEGER PRIMARY KEY AUTOINCREMENT, api_id BIGINT, op_id BIGINT);
CREATE TABLE rocpd_kernelapi(api_ptr_id BIGINT PRIMARY KEY, stream TEXT, gridX INT, gridY INT,
  gridZ INT, workgroupX INT, workgroupY INT, workgroupZ INT, groupSegmentSize INT,
  privateSegmentSize INT, kernelName_id BIGINT);
CREATE TABLE rocpd_copyapi(api_ptr_id BIGINT PRIMARY KEY, stream TEXT, size INT, width INT, height INT,
  kind INT, dst TEXT, src TEXT, dstDevice INT, srcDevice INT, sync BOOL, pinned BOOL);
CREATE TABLE rocpd_monitor(id INTEGER PRIMARY KEY AUTOINCREMENT, deviceType TEXT, deviceId INT,
  monitorType TEXT, start INT, end INT, value TEXT);
INSERT INTO rocpd_metadata(tag, value) VALUES('schema_version','3'),('session_count','1');
"""
FIRST_MARKER = 2**31 + 1


def rpd_operation(event: Event) -> str:
    if event.kind == "copy":
        return DIRECTIONS[event.direction][2]
    return "KernelExecution" if event.kind == "kernel" else "FillBuffer"


def write_rpd(path: Path, events: list[Event]) -> None:
    connection = database(path, RPD)
    texts, arguments = Texts(1), Texts(1)
    texts(""), arguments("")
    calls = {e.correlation: e for e in pick(events, "call")}
    insert(connection, "rocpd_api",
           [(e.correlation, e.pid, e.tid, e.start, e.end, texts(e.name), texts(""), texts("hip"),
             arguments("")) for e in calls.values()])
    insert(connection, "rocpd_api",
           [(FIRST_MARKER + i, e.pid, e.tid, e.start, e.end, texts("UserMarker"), texts(""),
             texts("UserMarker"), arguments(e.name))
            for i, e in enumerate(pick(events, "annotation"))])
    work = pick(events, "kernel", "copy", "set")
    insert(connection, "rocpd_op",
           [(i, e.pid, e.tid, 0, e.start, e.end, texts(e.name if e.kind == "kernel" else ""),
             texts(rpd_operation(e))) for i, e in enumerate(work, 1)])
    insert(connection, "rocpd_api_ops",
           [(None, e.correlation, i) for i, e in enumerate(work, 1) if e.correlation in calls])
    kernels = {e.correlation: e for e in pick(events, "kernel") if e.correlation in calls}
    insert(connection, "rocpd_kernelapi",
           [(number, "0x0", *e.args["grid"], *e.args["block"], int(e.args["shared memory"]), 0,
             texts(e.name)) for number, e in kernels.items()])
    insert(connection, "rocpd_copyapi",
           [(e.correlation, "0x0", e.args["bytes"], 0, 0, DIRECTIONS[e.direction][0], "0x2", "0x1", 0, 0,
             0, 0) for e in pick(events, "copy") if e.correlation in calls])
    insert(connection, "rocpd_string", texts.rows())
    insert(connection, "rocpd_ustring", arguments.rows())
    connection.commit()


# ---------------------------------------------------------------- rocpd

GUID = "00000000_0000_4000_8000_000000000001"
ROCPD = """
CREATE TABLE "rocpd_metadata{id}"(id INTEGER PRIMARY KEY, tag TEXT, value TEXT);
CREATE TABLE "rocpd_string{id}"(id INTEGER PRIMARY KEY, guid TEXT, string TEXT);
CREATE TABLE "rocpd_info_node{id}"(id INTEGER PRIMARY KEY, guid TEXT, hash INT, machine_id TEXT);
CREATE TABLE "rocpd_info_process{id}"(id INTEGER PRIMARY KEY, guid TEXT, nid INT, ppid INT, pid INT);
CREATE TABLE "rocpd_info_thread{id}"(id INTEGER PRIMARY KEY, guid TEXT, nid INT, ppid INT, pid INT,
  tid INT, name TEXT);
CREATE TABLE "rocpd_info_agent{id}"(id INTEGER PRIMARY KEY, guid TEXT, nid INT, pid INT, type TEXT,
  absolute_index INT, logical_index INT, type_index INT, uuid INT, name TEXT, model_name TEXT,
  vendor_name TEXT, product_name TEXT);
CREATE TABLE "rocpd_info_queue{id}"(id INTEGER PRIMARY KEY, guid TEXT, nid INT, pid INT, name TEXT);
CREATE TABLE "rocpd_info_stream{id}"(id INTEGER PRIMARY KEY, guid TEXT, nid INT, pid INT, name TEXT);
CREATE TABLE "rocpd_info_kernel_symbol{id}"(id INTEGER PRIMARY KEY, guid TEXT, nid INT, pid INT,
  code_object_id INT, kernel_name TEXT, display_name TEXT);
CREATE TABLE "rocpd_event{id}"(id INTEGER PRIMARY KEY, guid TEXT, category_id INT, stack_id INT,
  parent_stack_id INT, correlation_id INT, call_stack TEXT, line_info TEXT, extdata TEXT);
CREATE TABLE "rocpd_region{id}"(id INTEGER PRIMARY KEY, guid TEXT, nid INT, pid INT, tid INT, start INT,
  end INT, name_id INT, event_id INT, extdata TEXT);
CREATE TABLE "rocpd_kernel_dispatch{id}"(id INTEGER PRIMARY KEY, guid TEXT, nid INT, pid INT, tid INT,
  agent_id INT, kernel_id INT, dispatch_id INT, queue_id INT, stream_id INT, start INT, end INT,
  private_segment_size INT, group_segment_size INT, workgroup_size_x INT, workgroup_size_y INT,
  workgroup_size_z INT, grid_size_x INT, grid_size_y INT, grid_size_z INT, region_name_id INT,
  event_id INT, extdata TEXT);
CREATE TABLE "rocpd_memory_copy{id}"(id INTEGER PRIMARY KEY, guid TEXT, nid INT, pid INT, tid INT,
  start INT, end INT, name_id INT, dst_agent_id INT, dst_address INT, src_agent_id INT,
  src_address INT, size INT, queue_id INT, stream_id INT, region_name_id INT, event_id INT,
  extdata TEXT);
"""
ROCPD_COPY = {"HtoD": "MEMORY_COPY_HOST_TO_DEVICE", "DtoH": "MEMORY_COPY_DEVICE_TO_HOST",
              "DtoD": "MEMORY_COPY_DEVICE_TO_DEVICE"}
CPU_AGENT, FIRST_GPU_AGENT = 1, 2


def write_rocpd(path: Path, events: list[Event]) -> None:
    """Memsets are kernels of the runtime there, and are written as such."""
    suffix = "_" + GUID
    connection = database(path, ROCPD.replace("{id}", suffix))
    texts, symbols = Texts(1), Texts(1)
    threads: dict[tuple[int, int], int] = {}
    rows: dict[str, list[tuple]] = {name: [] for name in ("event", "region", "kernel_dispatch",
                                                          "memory_copy")}

    def add_event(category: str, correlation: int, message: str = "") -> int:
        number = len(rows["event"]) + 1
        extdata = json.dumps({"message": message}) if message else "{}"
        rows["event"].append((number, GUID, texts(category), correlation, 0, correlation, "{}", "{}",
                              extdata))
        return number

    for e in pick(events, "call", "annotation"):
        thread = threads.setdefault((e.pid, e.tid), len(threads) + 1)
        if e.kind == "call":
            event, name = add_event("HIP_RUNTIME_API", e.correlation), e.name
        else:
            event, name = add_event("MARKER_CORE_API", 0, e.name), "roctxThreadRangeA"
        rows["region"].append((None, GUID, 1, 1, thread, e.start, e.end, texts(name), event, "{}"))
    for i, e in enumerate(pick(events, "kernel", "set")):
        block = e.args.get("block", [256, 1, 1])
        grid = [a * b for a, b in zip(e.args.get("grid", [1, 1, 1]), block)]
        rows["kernel_dispatch"].append(
            (None, GUID, 1, 1, 1, FIRST_GPU_AGENT + e.pid, symbols(e.name), i, e.tid, e.tid, e.start,
             e.end, 0, int(e.args.get("shared memory", 0)), *block, *grid, 0,
             add_event("KERNEL_DISPATCH", e.correlation), "{}"))
    for e in pick(events, "copy"):
        gpu = FIRST_GPU_AGENT + e.pid
        target = CPU_AGENT if e.direction == "DtoH" else gpu
        source = CPU_AGENT if e.direction == "HtoD" else gpu
        rows["memory_copy"].append(
            (None, GUID, 1, 1, 1, e.start, e.end, texts(ROCPD_COPY[e.direction]), target, 0, source, 0,
             e.args["bytes"], e.tid, e.tid, 0, add_event("MEMORY_COPY", e.correlation), "{}"))
    gpus = sorted({e.pid for e in pick(events, "kernel", "copy", "set")})
    streams = sorted({e.tid for e in pick(events, "kernel", "copy", "set")})
    rows |= {
        "metadata": [(1, "schema_version", "3"), (2, "uuid", suffix), (3, "guid", GUID)],
        "info_node": [(1, GUID, 1, "machine")],
        "info_process": [(1, GUID, 1, 1, process(events))],
        "info_thread": [(number, GUID, 1, 1, 1, tid, "") for (_, tid), number in threads.items()],
        "info_agent": [(CPU_AGENT, GUID, 1, 1, "CPU", 0, 0, 0, 0, "cpu", "", "", "cpu")]
        + [(FIRST_GPU_AGENT + gpu, GUID, 1, 1, "GPU", gpu + 1, gpu, gpu, 0, "gfx942", "", "AMD", "MI")
           for gpu in gpus],
        "info_queue": [(stream, GUID, 1, 1, f"Queue {stream}") for stream in streams],
        "info_stream": [(stream, GUID, 1, 1, f"Stream {stream}") for stream in streams],
        "info_kernel_symbol": [(number, GUID, 1, 1, 0, name, name) for number, name in symbols.rows()],
        "string": [(number, GUID, text) for number, text in texts.rows()],
    }
    for table, table_rows in rows.items():
        insert(connection, f"rocpd_{table}{suffix}", table_rows)
    connection.commit()


# ---------------------------------------------------------------- What is not in every form

MORE = {
    "nsys.sqlite": """
INSERT INTO NVTX_EVENTS VALUES(1000, 99000, 60, 7, 3, 'request', 100 << 24 | 102, NULL),
  (0, NULL, 75, NULL, 3, 'server', 100 << 24 | 102, NULL), (2000, NULL, 34, NULL, 0, 'mark', 0, NULL),
  (1, NULL, 39, NULL, 0, 'worker', 100 << 24 | 102, NULL),
  (6000, 9000, 59, NULL, 0, 'aten::mm, seq = 5, op_id = 9, sizes = [[2, 3], []]', 100 << 24 | 101, NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start INT, end INT, deviceId INT, streamId INT,
  correlationId INT, globalPid INT, syncType INT);
INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES(70000, 71000, 0, 7, 5, 100 << 24, 3);
CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE(start INT, end INT, deviceId INT, streamId INT,
  correlationId INT, globalPid INT, graphId INT);
INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES(72000, 73000, 0, 7, 6, 100 << 24, 3);
CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS(start INT, globalPid INT, deviceId INT, address INT,
  bytes INT, memKind INT, memoryOperationType INT);
INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES(10, 100 << 24, 0, 4096, 512, 2, 0);
CREATE TABLE ThreadNames(nameId INT, globalTid INT);
INSERT INTO ThreadNames VALUES(1, 100 << 24 | 101);
CREATE TABLE META_DATA_EXPORT(name TEXT, value TEXT);
INSERT INTO META_DATA_EXPORT VALUES('EXPORT_SCHEMA_VERSION', '3.30.1');
CREATE TABLE TARGET_INFO_GPU(id INT, name TEXT, totalMemory INT, smCount INT, maxWarpsPerSm INT);
INSERT INTO TARGET_INFO_GPU VALUES(0, 'L4', 24000000000, 58, 48);
CREATE TABLE OSRT_API(start INT, end INT, globalTid INT, nameId INT);
INSERT INTO OSRT_API VALUES(1, 5, 100 << 24 | 101, 1);
""",
    "nvprof.nvvp": """
INSERT INTO CUPTI_ACTIVITY_KIND_MARKER VALUES(NULL, 2, 1000, 90, 1, X'640000000000000000000000', 1, 2),
  (NULL, 4, 99000, 90, 1, X'640000000000000000000000', 0, 0),
  (NULL, 2, 2000, 91, 2, X'640000000100000000000000', 1, 0),
  (NULL, 4, 9000, 91, 2, X'640000000200000000000000', 0, 0), (NULL, 1, 9000, 92, 2, X'64', 1, 0);
CREATE TABLE CUPTI_ACTIVITY_KIND_DEVICE(id INT, name INT, globalMemorySize INT,
  maxWarpsPerMultiprocessor INT, numThreadsPerWarp INT);
INSERT INTO CUPTI_ACTIVITY_KIND_DEVICE VALUES(0, 1, 17179869184, 64, 32);
CREATE TABLE CUPTI_ACTIVITY_KIND_OVERHEAD(start INT, end INT);
INSERT INTO CUPTI_ACTIVITY_KIND_OVERHEAD VALUES(1, 2);
""",
    "trace.rpd": """
CREATE TABLE rocpd_stackframe(id INTEGER PRIMARY KEY, api_ptr_id INT, depth INT, name_id INT);
INSERT INTO rocpd_stackframe VALUES(1, 1, 0, 2), (2, 1, 1, 3), (3, 2, 0, 3);
INSERT INTO rocpd_monitor VALUES(NULL, 'gpu', 0, 'sclk', 10, 20, '1200'), (NULL, 'gpu', 0, 'sclk', 20, 0, '9');
CREATE TABLE rocpd_counter(id INTEGER PRIMARY KEY, value REAL, op_id INT, name_id INT);
INSERT INTO rocpd_counter VALUES(1, 0.5, 1, 1);
""",
    "rocpd.db": f"""
CREATE TABLE "rocpd_memory_allocate_{GUID}"(id INTEGER PRIMARY KEY, pid INT, tid INT, agent_id INT,
  type TEXT, level TEXT, start INT, end INT, address INT, size INT);
INSERT INTO "rocpd_memory_allocate_{GUID}" VALUES(1, 1, 1, 2, 'ALLOC', 'REAL', 10, 11, 4096, 512),
  (2, 1, 1, 2, 'FREE', 'REAL', 20, 21, 4096, 0);
CREATE TABLE "rocpd_info_pmc_{GUID}"(id INTEGER PRIMARY KEY, agent_id INT, name TEXT, symbol TEXT);
INSERT INTO "rocpd_info_pmc_{GUID}" VALUES(1, 2, 'SQ_WAVES', ''), (2, 2, 'busy', '');
CREATE TABLE "rocpd_pmc_event_{GUID}"(id INTEGER PRIMARY KEY, event_id INT, pmc_id INT, value REAL);
INSERT INTO "rocpd_pmc_event_{GUID}" VALUES(1, 7, 1, 3.0), (2, 7, 1, 4.0), (3, 99, 2, 5.0);
CREATE TABLE "rocpd_sample_{GUID}"(id INTEGER PRIMARY KEY, track_id INT, timestamp INT, event_id INT);
INSERT INTO "rocpd_sample_{GUID}" VALUES(1, 1, 123, 99);
CREATE TABLE "rocpd_arg_{GUID}"(id INTEGER PRIMARY KEY, event_id INT, name TEXT, value TEXT);
INSERT INTO "rocpd_arg_{GUID}" VALUES(1, 1, 'stream', '0x0');
""",
}


def add_more(folder: Path) -> None:
    for name, sql in MORE.items():
        connection = sqlite3.connect(folder / name)
        connection.executescript(sql)
        connection.commit()


def main() -> int:
    options = [word for word in sys.argv[1:] if word.startswith("--")]
    with_memsets = "--without-memsets" not in options
    paths = [word for word in sys.argv[1:] if word not in options]
    if len(paths) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    folder = Path(paths[1])
    folder.mkdir(parents=True, exist_ok=True)
    document, events, kept = read(Path(paths[0]), with_memsets)
    write_kineto(folder / "kineto.json", document, kept)
    write_nsys(folder / "nsys.sqlite", events)
    write_nvprof(folder / "nvprof.nvvp", events)
    write_rpd(folder / "trace.rpd", events)
    write_rocpd(folder / "rocpd.db", events)
    if "--more" in options:
        add_more(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
