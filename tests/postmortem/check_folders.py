#!/usr/bin/env python3
"""What `borescope postmortem` makes of dumps by their names, their folders and the logs beside them.

    check_folders.py BORESCOPE
"""

import json
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path

from check_faults import rows

BEGIN_NS = 1_793_527_200_000_000_000
STEPS = 10


def entry(record, rank, state, second=0):
    """The record of an all_reduce of the default group."""
    return {"record_id": record, "pg_id": 0, "process_group": ("0", "default_pg"), "collective_seq_id": record + 1,
            "p2p_seq_id": 0, "op_id": record + 1, "profiling_name": "nccl:all_reduce",
            "time_created_ns": BEGIN_NS + second * 1_000_000_000 + record * 20_000_000 + rank * 100_000,
            "input_sizes": [[256]], "input_dtypes": ["Float"], "output_sizes": [[256]], "output_dtypes": ["Float"],
            "state": state, "time_discovered_started_ns": None, "time_discovered_completed_ns": None, "retired": state == "completed",
            "timeout_ms": 600_000, "is_p2p": False}


def dump(rank, world, comes=True, second=0, groups=None):
    """Of a rank that stands in operation 11 of all ranks, or did not come there."""
    entries = [entry(i, rank, "completed", second) for i in range(STEPS)]
    entries += [entry(STEPS, rank, "started", second)] if comes else []
    config = {"0": {"name": "0", "desc": "default_pg", "ranks": str(list(range(world)))}}
    for name, members in (groups or {}).items():
        config[name] = {"name": name, "desc": "tp", "ranks": str(members)}
    return {"version": "2.10", "entries": entries, "pg_config": config}


def twice(earlier, later):
    """Dumps of one hang that were written twice: rank 2 stood in operation 11 with the others first, and ended it between the two, but
    issued nothing more, so that its newest record is the same in both."""
    files = {}
    for r in range(4):
        files[f"{earlier}/trace_{r}"] = dump(r, 4)
        second = dump(r, 4)
        second["entries"][-1].update(state="completed", retired=True, time_discovered_completed_ns=BEGIN_NS + 32_000_000_000)
        if r != 2:
            second["entries"].append(entry(STEPS + 1, r, "started", 33))
        files[f"{later}/trace_{r}"] = second
    return files


def at(second):
    return BEGIN_NS + int(second * 1_000_000_000)


def steps(first, last, second, pace=1.0, group="0", desc="default_pg", record=0, **changes):
    """Finished all_reduces of a group, one after the other."""
    made = []
    for i, number in enumerate(range(first, last + 1)):
        begun = second + i * pace
        made.append(entry(record + i, 0, "completed") | {
            "pg_id": int(group), "process_group": (group, desc), "collective_seq_id": number, "time_created_ns": at(begun),
            "time_discovered_completed_ns": at(begun + 0.001)} | changes)
    return made


def open_step(number, second, record, **changes):
    return steps(number, number, second, record=record, **{"state": "started", "retired": False, "time_discovered_completed_ns": None} | changes)


def of_four(entries, groups=None):
    return dump(0, 4, groups=groups) | {"entries": entries}


def restarted():
    """Rank 3 of the second attempt was killed; its file is of the attempt five minutes before, in which it stood at 11."""
    files = {f"trace_{r}": of_four(steps(1, 30, 0) + open_step(31, 31 + r / 100, 30)) for r in range(3)}
    return files | {"trace_3": of_four(steps(1, 10, -300) + open_step(11, -289, 10))}


def of_an_hour_before(innocent):
    """Rank 3 left a dump of an hour before, whose numbers no other ring has any more. If it is innocent, rank 1 keeps a
    group of three from going on."""
    files = {"trace_3": of_four(steps(1, 12, -3600))}
    for r in range(3):
        mine = open_step(520, 20 + r / 100, 519) if not innocent or r == 2 else []
        mine += open_step(7, 20, 519, pg_id=1, process_group=("1", "tp")) if innocent and r == 0 else []
        files[f"trace_{r}"] = of_four(steps(500, 519, 0, record=499) + mine, {"1": [0, 1, 2]})
    return files


def of_a_minute_before():
    """Rank 2 is innocent, but its dump was written when it stood at world 10; rank 1 stopped after 20."""
    files = {}
    for r in range(4):
        name = str(1 + r // 2)
        made = []
        for i in range(1, 21):
            made += steps(i, i, 6 * i, record=2 * i - 2) + steps(i, i, 6 * i + 1, group=name, desc="tp", record=2 * i - 1)
        made += open_step(21, 126, 40, pg_id=int(name), process_group=(name, "tp")) if r == 0 else open_step(21, 126, 40) if r == 3 else []
        if r == 2:
            made = made[:18] + open_step(10, 60, 18)
        files[f"trace_{r}"] = of_four(made, {name: [r // 2 * 2, r // 2 * 2 + 1]})
    return files


def far_apart():
    """The others went on for 20 minutes in a group without rank 2: what it did since its dump nobody knows."""
    files = {"trace_2": of_four(steps(1, 10, 0))}
    for r in (0, 1, 3):
        files[f"trace_{r}"] = of_four(steps(1, 10, 0) + steps(1, 12, 20, 100, "1", "tp", 10) + open_step(11, 1300, 22), {"1": [0, 1, 3]})
    return files


def one_changed(rank, change, comes=3):
    """Dumps of ranks that wait for one of them, of which the entries of another one are changed."""
    files = {}
    for r in range(4):
        made = dump(r, 4, comes=r != comes)
        if r == rank:
            for one in made["entries"]:
                change(one)
        files[f"trace_{r}"] = made
    return files


def without(*keys):
    return lambda one: [one.pop(key) for key in keys]


def bad_number(value):
    return lambda one: one.update(collective_seq_id=value) if one["state"] == "started" else None


def as_1_0(made):
    made = as_1_4(made)
    del made["pg_config"]
    return made | {"version": "1.0"}


def slow_once():
    """Rank 2 came 650 s late to number 5, which nobody aborted: all went on to 20. Then rank 2 stopped."""
    files = {}
    for r in range(4):
        made = steps(1, 5, 0) + steps(6, 20, 656, record=5)
        made[4]["time_discovered_completed_ns"] = at(655)
        made[4]["time_created_ns"] = at(654 if r == 2 else 4)
        files[f"trace_{r}"] = of_four(made + (open_step(21, 680 + r / 100, 20) if r != 2 else []))
    return files


def aborted():
    """All wait for rank 2, give up after the timeout, and see what they had issued meanwhile end with their communicator."""
    files = {"trace_2": of_four(steps(1, 10, 0))}
    for r in (0, 1, 3):
        files[f"trace_{r}"] = of_four(steps(1, 10, 0) + steps(11, 19, 20, record=10, time_discovered_completed_ns=at(620.01)))
    return files


def gloo_unused():
    """Group 1 has ranks 0 and 2; ranks 0 and 1 made another group since, which has no entry, but is the one that is listed."""
    files = {}
    for r, listed in enumerate(([0, 1], [0, 1], [0, 2], [0, 1, 2, 3])):
        made = []
        for i in (1, 2, 3):
            if i < 3:
                made += steps(i, i, i, record=len(made), profiling_name="gloo:all_gather", output_sizes=[[1024]])
            if r == 0 or (r == 2 and i < 3):
                made += steps(i, i, i + 0.5, group="1", desc="undefined", record=len(made), profiling_name="gloo:all_reduce", retired=i < 3)
        for one in made:
            one.update(state="scheduled", time_discovered_completed_ns=None)
        files[f"trace_{r}"] = {"version": "2.10", "entries": made, "pg_config": {"": {"name": "", "desc": "", "ranks": str(listed)}}}
    return files


def as_1_4(made):
    """The same as versions 1.x write it: one number of all operations of a group, and groups by number alone."""
    gone = ("process_group", "collective_seq_id", "p2p_seq_id", "input_dtypes", "output_dtypes", "timeout_ms", "is_p2p")
    entries = [{key: value for key, value in one.items() if key not in gone} | {"seq_id": one["collective_seq_id"]} for one in made["entries"]]
    return {"version": "1.4", "entries": entries, "pg_config": {0: json.loads(made["pg_config"]["0"]["ranks"])}}


def without_names(made):
    for one in made["entries"]:
        del one["profiling_name"]
    return made


def watchdog(rank, operation, seq):
    return (f"[rank{rank}]:[E1101 10:10:00.1 ProcessGroupNCCL.cpp:616] [Rank {rank}] Watchdog caught collective operation timeout: "
            f"WorkNCCL(SeqNum={seq}, OpType={operation}, NumelIn=10, NumelOut=10, Timeout(ms)=600000) ran for 600012 milliseconds before timing out.\n")


def stack(name, line, function):
    """As py-spy dump --json writes it."""
    return json.dumps([{"pid": 77, "thread_id": 1, "thread_name": "MainThread", "owns_gil": False, "active": True,
                        "frames": [{"name": function, "filename": f"/app/{name}", "line": line}]}])


def issued_at(made, place):
    """A dump of which all entries were issued there."""
    file, line, name = place
    for one in made["entries"]:
        one["frames"] = [{"filename": file, "line": line, "name": name}]
    return made


def interrupted(line):
    """Ctrl-C, as each of four ranks writes it; rank 2 was elsewhere."""
    return "".join(f"[rank{r}]: Traceback (most recent call last):\n[rank{r}]:   File \"/app/train.py\", line {77 if r == 2 else line}, in main\n"
                   f"[rank{r}]:     step(batch)\n[rank{r}]: KeyboardInterrupt\n" for r in range(4))


def threads():
    """As faulthandler.dump_traceback_later writes them: no current one, the main thread last."""
    helper = 'Thread 0x00007f07 (most recent call first):\n  File "/usr/lib/python3.11/threading.py", line 331 in wait\n  File "/app/heartbeat.py", line 12 in beat\n\n'
    return f'step 1\nTimeout (0:10:00)!\n{helper}Thread 0x00007f01 (most recent call first):\n  File "/app/data.py", line 55 in read\n  File "/app/train.py", line 80 in <module>\n'


def ras():
    """Of four processes of one node, of which that of rank 1 is behind."""
    ranks = [{"rank": r, "host": "10.0.0.1", "pid": 4000 + r, "cuda_dev": r, "nvml_dev": r, "collective_counts": {"AllReduce": 10 if r == 1 else 11}} for r in range(4)]
    return json.dumps({"nccl_version": "2.28.3", "communicators_count": 1, "communicators": [{"hash": "0x7f", "size": 4, "ranks": ranks}]})


def in_order(rank):
    """Of two ranks that use two groups in another order, at two lines."""
    groups = [("0", "default_pg"), ("1", "dp")]
    entries = []
    for i, number in enumerate((1, 1, 2, 2)):
        one = entry(i, rank, "completed" if number == 1 else "scheduled")
        group = i % 2 if rank == 0 else 1 - i % 2
        entries.append(one | {"pg_id": group, "process_group": groups[group], "collective_seq_id": number,
                              "frames": [{"filename": "/app/train.py", "line": 10 * (rank + 1) + (i == 3), "name": "step"}]})
    return {"version": "2.10", "entries": entries, "pg_config": {name: {"name": name, "desc": desc, "ranks": "[0, 1]"} for name, desc in groups}}


WAITING = {f"trace_{r}": dump(r, 4, comes=r != 2) for r in range(4)}
VALUE_ERROR = 'step 1\nTraceback (most recent call last):\n  File "/app/train.py", line 12, in main\n    step(batch)\nValueError: bad batch\n'
PLACES = [("/app/train.py", 9, "sync"), ("/app/data.py", 51, "wait"), ("/app/train.py", 9, "sync"), ("/app/save.py", 53, "wait")]
TWO_PLACES = {f"trace_{r}": issued_at(dump(r, 4, comes=r in (0, 2)), PLACES[r]) for r in range(4)}
OTHER_WATCHDOG = ("[rank0]:[E1101 10:10:00.1 ProcessGroupNCCL.cpp:616] [PG ID 3 PG GUID 5(pp) Rank 0] Watchdog caught collective operation timeout: "
                  "WorkNCCL(SeqNum=3, OpType=BROADCAST, NumelIn=10, NumelOut=10, Timeout(ms)=600000) ran for 600012 milliseconds before timing out.\n")
ASSUMED = "That this is a hang is assumed"

# Name, files, and what the first finding says in a column: that, or, after "not ", anything but that.
SAID = [
    ("each side of an order has its line", {f"trace_{r}": in_order(r) for r in range(2)}, "where", "rank 0: issued at /app/train.py:10 step; rank 1: issued at /app/train.py:20 step"),
    ("each place has its line", TWO_PLACES, "where", "rank 1: last issued at /app/data.py:51 wait; rank 3: last issued at /app/save.py:53 wait; the others: at /app/train.py:9 sync"),
    ("the main thread is where a rank is", {**WAITING, "rank2.log": threads()}, "where", "rank 2 is at /app/data.py:55 read"),
    ("RAS says which rank a process is", {**{f"trace_{r}": dump(r, 4, comes=r != 1) for r in range(4)}, "ras.json": ras(), "spy.json": stack("data.py", 55, "read").replace('"pid": 77', '"pid": 4001')}, "where", "rank 1 is at /app/data.py:55 read"),
    ("a watchdog of another operation", {**WAITING, "rank0.log": OTHER_WATCHDOG}, "evidence", ASSUMED),
    ("the watchdog of that operation", {**WAITING, "rank0.log": watchdog(0, "ALLREDUCE", 11)}, "evidence", "not " + ASSUMED),
    ("an exception without a rank and the rank that is waited for", {**WAITING, "job.log": VALUE_ERROR}, "evidence", "Nothing says whose it is; rank 2 is the one for which the others wait."),
    ("nothing", {"job.log": "epoch 1\nepoch 2\n"}, "evidence", "No dump of the flight recorder, no memory snapshot, no error file and no stack of py-spy is there. job.log was read, and has no exception"),
]

NODE_FAILURE = "srun: error: Node failure on node7\nsrun: error: node7: tasks 4-7: Killed\n"
PREEMPTION = "slurmstepd: error: *** JOB 1 ON node3 CANCELLED AT 2026-11-01T10:00:00 DUE TO PREEMPTION ***\n"
NO_DUMP = "Others wait for a rank without a dump"
NOT_FINISHED = "All issued a collective, none finished it"
NEVER_ISSUED = "Ranks stopped issuing work"

OUT_OF_MEMORY = "Out of memory: the device is full"


def snapshot():
    """Of a device of 1 GiB on which the second block of 600 MiB was refused at BEGIN_NS."""
    size = 600 << 20
    at = BEGIN_NS // 1000
    frames = [{"name": "step", "filename": "/app/train.py", "line": 7}]
    events = [{"action": action, "addr": 1 << 40, "size": size, "stream": 0, "frames": frames, "time_us": at - 10} for action in ("segment_alloc", "alloc")]
    events.append({"action": "oom", "addr": 400 << 20, "size": size, "stream": 0, "frames": frames, "time_us": at, "device_free": 400 << 20})
    block = {"address": 1 << 40, "size": size, "requested_size": size, "state": "active_allocated", "frames": frames}
    segment = {"device": 0, "address": 1 << 40, "total_size": size, "stream": 0, "segment_type": "large", "allocated_size": size, "active_size": size,
               "requested_size": size, "blocks": [block], "segment_pool_id": (0, 0), "is_expandable": False, "frames": frames}
    return {"segments": [segment], "device_traces": [events], "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": ""}}


SNAPSHOT = snapshot()
LIMITED = "".join(f"2026-11-01 {10 + i // 60}:{i % 60:02}:00,000 INFO step {i}\n" for i in range(180)) + "slurmstepd: error: *** JOB 77 ON node7 CANCELLED AT 2026-11-01T13:00:00 DUE TO TIME LIMIT ***\n"

# Name, files, and the first finding, its certainty and its ranks.
CASES = [
    ("a node failed", {**{f"trace_{r}": dump(r, 8) for r in range(4)}, "slurm-1.out": NODE_FAILURE}, ("A node of the job failed", "certain", "4..7")),
    ("no node failed", {f"trace_{r}": dump(r, 8) for r in range(4)}, (NO_DUMP, "cannot tell", "4..7")),
    ("preempted in an all_reduce", {**{f"trace_{r}": dump(r, 4) for r in range(4)}, "slurm-1.out": PREEMPTION}, ("Slurm took the nodes for another job", "certain", "")),
    ("a rank without a dump waited as well", {**{f"trace_{r}": dump(r, 4) for r in range(3)}, "rank3.log": watchdog(3, "ALLREDUCE", 11)}, (NOT_FINISHED, "cannot tell", "0..3")),
    ("one of two waited as well", {**{f"trace_{r}": dump(r, 4) for r in range(2)}, "rank3.log": watchdog(3, "ALLREDUCE", 11)}, (NO_DUMP, "likely", "2")),
    ("it waited elsewhere", {**{f"trace_{r}": dump(r, 4) for r in range(3)}, "rank3.log": watchdog(3, "BROADCAST", 4)}, (NO_DUMP, "cannot tell", "3")),
    ("a rank of the newest attempt left nothing", {**{f"attempt_0/trace_{r}": dump(r, 4) for r in range(4)}, **{f"attempt_1/trace_{r}": dump(r, 4, second=400) for r in range(3)}}, (NO_DUMP, "likely", "3")),
    ("names are places on nodes", {f"node{r // 4}/trace_{r % 4}": dump(r, 8, comes=r != 6) for r in range(8)}, ("The dumps do not say their ranks", "cannot tell", "")),
    ("places on nodes, and groups that say which", {f"n{'ba'[r // 4]}/trace_{r % 4}": dump(r, 8, comes=r != 6, groups={"1": list(range(r // 4 * 4, r // 4 * 4 + 4))}) for r in range(8)}, (NEVER_ISSUED, "certain", "6")),
    ("one process wrote two dumps", {f"at{i}/trace_{r}": dump(r, 4, comes=r != 2) for r in range(4) for i in range(2)}, (NEVER_ISSUED, "certain", "2")),
    ("written twice", twice("first", "second"), (NEVER_ISSUED, "certain", "2")),
    ("written twice, and the names sort the other way", twice("zfirst", "second"), (NEVER_ISSUED, "certain", "2")),
    ("two attempts, half of each", {f"at{i}/trace_{r}": dump(r, 8, comes=r != 2, second=100 * i) for r in range(4) for i in range(2)}, (NEVER_ISSUED, "likely", "2")),
    ("folders are named by ranks", {f"rank_{r}/nccl_trace": dump(r, 4, comes=r != 2) for r in range(4)}, (NEVER_ISSUED, "certain", "2")),
    ("folders are named by ranks, and all files are number 0", {f"rank{r}/dumps/trace_0": dump(r, 4, comes=r != 2) for r in range(4)}, (NEVER_ISSUED, "certain", "2")),
    ("a snapshot of an attempt before", {"attempt_0/snapshot_rank3.pickle": SNAPSHOT, **{f"attempt_1/trace_{r}": dump(r, 4, comes=r != 2, second=400) for r in range(4)}}, (NEVER_ISSUED, "certain", "2")),
    ("memory was caught, hours before", {"snapshot_rank3.pickle": SNAPSHOT, **{f"trace_{r}": dump(r, 4, comes=r != 2, second=9000) for r in range(4)}}, (NEVER_ISSUED, "certain", "2")),
    ("memory was caught, and a limit ended the job", {"snapshot_rank0.pickle": SNAPSHOT, "rank0.log": LIMITED}, ("Slurm cancelled the job at its time limit", "certain", "")),
    ("the program tries again", {"snapshot_rank0.pickle": SNAPSHOT, "rank0.log": "CUDA out of memory at batch 64, retrying with batch 32\n" + "".join(f"step {i}\n" for i in range(9))}, ("A request for memory failed, and the program went on", "likely", "0")),
    ("memory alone", {"snapshot_rank0.pickle": SNAPSHOT, "rank0.log": "step 1\nstep 2\n"}, (OUT_OF_MEMORY, "certain", "0")),
    ("stacks alone", {f"rank{r}.json": stack("data.py", 55, "read") if r == 2 else stack("train.py", 33, "step") for r in range(4)}, ("Ranks are at another line than the others", "likely", "2")),
    ("interrupted while it hung", {**WAITING, "job.log": "step 1\n" + interrupted(12)}, (NEVER_ISSUED, "certain", "2")),
    ("an exception without a rank", {**WAITING, "job.log": VALUE_ERROR}, ("Ranks ended with an exception", "likely", "2")),
    ("an exception without a rank, and no dump of one", {**{f"trace_{r}": dump(r, 4) for r in (0, 1, 3)}, "job.log": VALUE_ERROR}, ("Ranks ended with an exception", "likely", "2")),
    ("a rank of the second attempt left nothing", restarted(), (NO_DUMP, "likely", "3")),
    ("a dump of an hour before", of_an_hour_before(False), (NO_DUMP, "likely", "3")),
    ("a dump of an hour before, of an innocent", of_an_hour_before(True), (NEVER_ISSUED, "likely", "1")),
    ("a dump of a minute before, of an innocent", of_a_minute_before(), (NEVER_ISSUED, "likely", "1")),
    ("a dump of a few seconds before", {f"trace_{r}": of_four(steps(1, 9, 0) + open_step(10, 9, 9) if r == 2 else steps(1, 13, 0) + open_step(14, 13 + r / 100, 13)) for r in range(4)}, ("Devices stopped inside a collective", "likely", "2")),
    ("others went on for longer than the timeout", far_apart(), (NEVER_ISSUED, "likely", "2")),
    ("one dump without types", one_changed(1, without("input_dtypes", "output_dtypes")), (NEVER_ISSUED, "certain", "3")),
    ("one dump without sizes", one_changed(1, without("input_sizes", "output_sizes")), (NEVER_ISSUED, "certain", "3")),
    ("one dump without groups", one_changed(1, without("process_group")), (NEVER_ISSUED, "certain", "3")),
    ("no number", one_changed(1, bad_number(None)), (NEVER_ISSUED, "likely", "3")),
    ("a number that is too large", one_changed(1, bad_number(3_000_000_011)), (NEVER_ISSUED, "likely", "3")),
    ("no number where the others come", one_changed(1, bad_number("eleven"), -1), ("Others wait for a rank without a whole dump", "cannot tell", "1")),
    ("version 1.0", {f"trace_{r}": as_1_0(dump(r, 4, comes=r != 2)) for r in range(4)}, (NEVER_ISSUED, "likely", "2")),
    ("an operation took longer than its timeout", slow_once(), (NEVER_ISSUED, "certain", "2")),
    ("aborted at the timeout", aborted(), (NEVER_ISSUED, "certain", "2")),
    ("gloo lists a group that nobody used", gloo_unused(), (NEVER_ISSUED, "certain", "2")),
    ("version 1.4", {f"trace_{r}": as_1_4(dump(r, 4, comes=r != 2)) for r in range(4)}, (NEVER_ISSUED, "certain", "2")),
]


def ask(borescope, files):
    with tempfile.TemporaryDirectory(prefix="postmortem-folders-") as name:
        for path, content in files.items():
            at = Path(name) / path
            at.parent.mkdir(parents=True, exist_ok=True)
            at.write_bytes(content.encode() if isinstance(content, str) else pickle.dumps(content, 2))
        return subprocess.run([borescope, "postmortem", name, "-f", "json", "--threads", "1"], capture_output=True, text=True, check=False)


def main():
    borescope = sys.argv[1]
    wrong = 0
    for name, files, expected in CASES:
        done = ask(borescope, files)
        if done.returncode != 0:
            raise SystemExit(f"{name}: status {done.returncode}: {done.stderr}")
        first = rows({table["name"]: table for table in json.loads(done.stdout)["tables"]}, "postmortem")[0]
        found = (first["finding"], first["certainty"], first["ranks"] or "")
        if found != expected:
            wrong += 1
            print(f"wrong: {name}: {found}, not {expected}: {first['evidence']}")
    for name, files, column, words in SAID:
        done = ask(borescope, files)
        first = rows({table["name"]: table for table in json.loads(done.stdout)["tables"]}, "postmortem")[0]
        is_there = words.removeprefix("not ") in (first[column] or "")
        if is_there == words.startswith("not "):
            wrong += 1
            print(f"wrong: {name}: {first[column]}")
    # What is left out, or cannot be read, is said.
    nameless = ask(borescope, {f"trace_{r}": without_names(dump(r, 4)) for r in range(4)})
    if "entries-left-out" not in nameless.stdout + nameless.stderr:
        wrong += 1
        print("wrong: entries without a name are left out without a word")
    for bad in (None, "eleven"):
        numberless = ask(borescope, one_changed(1, bad_number(bad)))
        if "entries-left-out" not in numberless.stdout or "bad-field-type" not in numberless.stdout:
            wrong += 1
            print("wrong: an entry without a number is left out without a word", bad)
    torn = ask(borescope, {"attempt_0/3/error.json": '{"message": {"message": "ValueError: x", "extraIn'})
    if torn.returncode != 2 or "attempt_0/3/error.json" not in torn.stderr or "middle" not in torn.stderr:
        wrong += 1
        print("wrong: a torn error file:", torn.returncode, torn.stderr)
    deep = ask(borescope, {f"a/b/c/d/trace_{r}": dump(r, 2) for r in range(2)})
    if deep.returncode != 2 or "are not searched" not in deep.stderr or "a/b/c/d" not in deep.stderr:
        wrong += 1
        print("wrong: folders that lie too deep:", deep.returncode, deep.stderr)
    older = ask(borescope, {"attempt_0/snapshot_rank3.pickle": SNAPSHOT, "attempt_1/rank0.log": "ValueError: x\n"})
    if "older-attempt" not in older.stdout + older.stderr:
        wrong += 1
        print("wrong: a snapshot of an older attempt is left out without a word")
    print(f"{len(CASES) + len(SAID) + 6 - wrong} of {len(CASES) + len(SAID) + 6} folders are right")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
