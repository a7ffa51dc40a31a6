"""Folders of small dumps, as PyTorch's flight recorder writes them: three ranks, of which rank 2 stops."""

import gzip
import json
import os
import pickle
from pathlib import Path

BEGIN = 1_700_000_000_000_000_000


def entry(number, state, line, created):
    return {"record_id": number - 1, "pg_id": 0, "process_group": ("0", "default_pg"), "collective_seq_id": number,
            "p2p_seq_id": 0, "op_id": number, "profiling_name": "nccl:all_reduce", "time_created_ns": created,
            "input_sizes": [[16]], "input_dtypes": ["Float"], "output_sizes": [[16]], "output_dtypes": ["Float"],
            "state": state, "time_discovered_started_ns": None,
            "time_discovered_completed_ns": created + 1000 if state == "completed" else None,
            "retired": state == "completed", "timeout_ms": 60000, "is_p2p": False,
            "frames": [{"name": "all_reduce", "filename": "/x/site-packages/torch/distributed/c10d.py", "line": 1},
                       {"name": "sync", "filename": "/vendor/sync.py", "line": 2},
                       {"name": "step", "filename": "/app/train.py", "line": line}]}


def dump(rank, begin=BEGIN, finished=False):
    entries = [entry(1, "completed", 10, begin + rank)]
    if rank != 2 or finished:
        entries.append(entry(2, "completed" if finished else "scheduled", 20, begin + 5_000_000 + rank))
    return {"version": "2.10",
            "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1, 2]"}},
            "pg_status": {"0": {"last_enqueued_collective": len(entries), "last_started_collective": -1,
                                "last_completed_collective": 1}},
            "entries": entries}


def as_json(value):
    value = json.loads(json.dumps(value))
    for one in value["entries"]:
        del one["frames"]
    return json.dumps(value).encode()


def write(path, data, modified=BEGIN + 100_000_000_000):
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    os.utime(path, ns=(modified, modified))


for rank in range(3):
    whole = pickle.dumps(dump(rank), 2)
    write(f"job/trace_{rank}", whole)
    write(f"json/trace_{rank}.json", as_json(dump(rank)))
    write(f"packed/trace_{rank}.pickle.gz", gzip.compress(pickle.dumps(dump(rank), 4), mtime=0))
    write(f"names/{'dump' if rank == 1 else f'dump_rank{rank}_0'}.pickle", whole)
    write(f"cut/trace_{rank}", whole[:-60] if rank == 1 else whole)
    write(f"hostile/trace_{rank}", whole)
    write(f"attempts/attempt_0/trace_{rank}", pickle.dumps(dump(rank, BEGIN - 3_600_000_000_000, True), 2))
    write(f"attempts/attempt_1/trace_{rank}", whole)
    write(f"finished/trace_{rank}", pickle.dumps(dump(rank, finished=True), 2))
write("names/copy_of_0.json", as_json(dump(0)))
write("hostile/trace_9", b"\x80\x04}\x8c\x07versioncposix\nsystem\n(\x8c\x09touch rantRs.")
write("job/notes.bin", b"\x00\x01")
