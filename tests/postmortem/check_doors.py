#!/usr/bin/env python3
"""Whether scrubbed dumps and snapshots hold nothing of their owner and give the same verdict, and whether other
verbs and SQL see what is in them.

    check_doors.py BORESCOPE [--first SEED] [--seeds N] [--samples FOLDER]
"""

import argparse
import gzip
import json
import os
import pickle
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import faults

# What must not be left: names of people, hosts, folders, and secrets.
CANARIES = ("alice", "nightjar", "node17.example.com", "hunter2", "sk-live", "kestrel_secret", "10.4.7.19")
HOME = "/" + "/".join(("home", "alice"))
FRAMES = {
    "user": {"name": "train_step", "filename": f"{HOME}/nightjar/train.py", "line": 40},
    "module": {"name": "_call_impl", "filename": "/opt/env/lib/python3.12/site-packages/torch/nn/modules/module.py",
               "line": 1},
    "vendor": {"name": "wrap", "filename": f"{HOME}/env/lib/python3.12/site-packages/nightjar/wrap.py", "line": 2},
    "python": {"name": "run", "filename": "/usr/lib/python3.12/threading.py", "line": 3},
    "optim": {"name": "step", "filename": f"{HOME}/nightjar/optim/lion.py", "line": 5},
    "engine": {"name": "torch::autograd::Engine::evaluate_function(torch::autograd::Node*)", "filename": "??", "line": 0},
}


def run(borescope, *words, status=0):
    done = subprocess.run([borescope, *map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode != status:
        raise SystemExit(f"{' '.join(map(str, words))}: status {done.returncode}: {done.stderr}")
    return done


def tables(borescope, *words):
    answer = json.loads(run(borescope, *words, "-f", "json", "-q").stdout)
    return {table["name"]: table for table in answer["tables"]}


def rows(answer, name):
    columns = answer[name]["columns"] if name in answer else []
    return [dict(zip([column["name"] for column in columns], cells))
            for cells in zip(*(column["values"] for column in columns))]


def snapshot(seed):
    """A program that allocates, frees, steps, and runs out of memory; with secrets wherever there are texts."""
    picks = random.Random(seed)
    user, optim, engine = ([FRAMES[name] for name in stack] for stack in (
        ("module", "python", "vendor", "user"), ("optim", "user"), ("engine",)))
    base, at, events, blocks, time = 1 << 40, 1 << 40, [], [], 1_700_000_000_000_000
    size = 1 << 28
    events.append({"action": "segment_alloc", "addr": base, "size": size, "stream": 0, "time_us": time, "frames": user})
    for number in range(40):
        time += 10
        bytes_ = picks.randrange(1 << 20, 4 << 20) // 512 * 512
        frames = picks.choice((user, optim, engine))
        events.append({"action": "alloc", "addr": at, "size": bytes_, "stream": 0, "time_us": time, "frames": frames,
                       "user_metadata": f"kestrel_secret {number}", "compile_context": "job of alice on node17.example.com"})
        blocks.append({"address": at, "size": bytes_, "requested_size": bytes_, "state": "active_allocated",
                       "frames": frames})
        at += bytes_
    blocks.append({"address": at, "size": base + size - at, "requested_size": 0, "state": "inactive", "frames": []})
    events.append({"action": "oom", "device_free": 1 << 20, "size": 300 << 20, "stream": 0, "time_us": time + 10,
                   "frames": user})
    held = at - base
    return {"segments": [{"device": 0, "address": base, "total_size": size, "allocated_size": held, "active_size": held,
                          "requested_size": held, "stream": 0, "segment_type": "large", "segment_pool_id": (0, 0),
                          "is_expandable": False, "frames": user, "blocks": blocks}],
            "device_traces": [events], "alice": {"token": "sk-live-abcdef0123456789"},
            "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": "max_split_size_mb:512", "max_split_size": 512 << 20,
                                   "garbage_collection_threshold": 0.0, "expandable_segments": False,
                                   "roundup_power2_divisions": {"1": 0, "2": 0}},
            "external_annotations": [{"stage": stage, "name": "Optimizer.step#AdamW.step", "device": 0,
                                      "time_us": 1_700_000_000_000_100 + 100 * number}
                                     for number, stage in enumerate(("START", "END"))]}


def plant(dump):
    """Texts in a dump of the generator that say who and where."""
    for entry in dump["entries"]:
        if entry.get("frames"):
            entry["frames"] = [FRAMES["module"], FRAMES["vendor"], *entry["frames"], FRAMES["user"]]
        entry["thread_name"] = "alice's loader"
        entry["nightjar"] = "password=hunter2"
    dump["nccl_comm_state"] = {"0xdeadbeef": {"host": "node17.example.com", "address": "10.4.7.19"}}
    return dump


def content(path):
    data = path.read_bytes()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def loaded(path):
    data = content(path)
    return json.loads(data) if data[:1] == b"{" else pickle.loads(data)


def shape(value):
    """The structure without texts, and without the names of keys that are not the format's."""
    if isinstance(value, dict):
        return [shape(each) for each in value.values()]
    if isinstance(value, (list, tuple)):
        return [shape(each) for each in value]
    return "text" if isinstance(value, str) else value


def scrubbed(borescope, folder, target, key, names):
    """Copies of all dumps of a folder, each of which is whole and holds nothing of its owner."""
    target.mkdir()
    word = "--scrub=names" if names else "--scrub"
    for path in sorted(folder.iterdir()):
        copy = target / path.name
        run(borescope, "convert", word, "--scrub-key", key, path, "-o", copy, "-q")
        text = content(copy).lower()
        left = [canary for canary in CANARIES if canary.encode() in text]
        if left:
            raise SystemExit(f"{path}: {word} leaves {left}")
        if shape(loaded(copy)) != shape(loaded(path)):
            raise SystemExit(f"{path}: {word} changed more than texts")
        if copy.stat().st_mtime_ns != path.stat().st_mtime_ns:
            raise SystemExit(f"{path}: {word} changed the time of the file")


# Columns of the verdict that hold names of the program and of its files.
OF_NAMES = {"where", "evidence", "line", "stack", "last_line", "waiting_line", "head_line", "others_line", "stack_line",
            "change", "file", "group", "group_desc", "head_group", "head_desc", "bytes", "value", "help"}


def verdict(answer, names):
    """All numbers of an answer, in an order that names do not change; without `names` groups keep theirs."""
    kept = OF_NAMES - ({"group", "group_desc", "head_group", "head_desc"} if not names else set())
    found = {}
    for name, table in answer.items():
        found[name] = sorted(repr({key: value for key, value in row.items() if key not in kept or name == "memory_live" and key == "bytes"})
                             for row in rows(answer, name))
    return found


def check_scrub(borescope, folder, work, what):
    key = work / "key"
    key.write_bytes(b"a key of sixteen bytes or more")
    before = tables(borescope, "postmortem", folder)
    for names in (False, True):
        target = work / f"{folder.name}-{'names' if names else 'secrets'}"
        scrubbed(borescope, folder, target, key, names)
        after = tables(borescope, "postmortem", target)
        want, got = verdict(before, names), verdict(after, names)
        for table in sorted(set(want) | set(got)):
            if want.get(table) != got.get(table):
                raise SystemExit(f"{what}, names={names}: {table} differs:\n{want.get(table)}\n{got.get(table)}")


def check_sql(borescope, folder, dumps):
    """Each entry of each dump is a row, with its state and its frames."""
    found = rows(tables(borescope, "query",
                        "SELECT rank, record_id, state, name, ifnull((SELECT group_concat(f.line) FROM frames f WHERE "
                        "f.rank IS e.rank AND f.stack_id = e.stack_id), '') AS lines FROM fr_entries e ORDER BY rank, id",
                        folder), "query")
    want = [(rank, entry["record_id"], entry["state"], entry["profiling_name"],
             ",".join(str(frame["line"]) for frame in entry.get("frames") or []))
            for rank, dump in sorted(dumps.items()) for entry in sorted(dump["entries"], key=lambda each: each["record_id"])]
    got = [tuple(row.values()) for row in found]
    if got != want:
        raise SystemExit(f"fr_entries: {len(got)} rows for {len(want)}: {next((pair for pair in zip(got, want) if pair[0] != pair[1]), '')}")


def check_dumps(borescope, seeds, work):
    checked = 0
    for seed in seeds:
        job = faults.make(seed)
        if job is None:
            continue
        folder = work / f"job-{seed}"
        folder.mkdir()
        job.write(folder, {"gzip": False, "json": False, "missing": False})
        dumps = {}
        for path in sorted(folder.iterdir()):
            dump = plant(pickle.loads(content(path)))
            time = path.stat().st_mtime_ns
            path.write_bytes(pickle.dumps(dump, random.Random(seed).choice((2, 4, 5))))
            os.utime(path, ns=(time, time))
            digits = "".join(filter(str.isdigit, path.name))
            dumps[int(digits)] = dump
        check_scrub(borescope, folder, work, f"seed {seed}")
        check_sql(borescope, folder, dumps)
        kinds = rows(tables(borescope, "info", folder), "job")
        if [(row["kind"], row["files"], row["records"]) for row in kinds] != [
                ("flight-recorder", len(dumps), sum(len(dump["entries"]) for dump in dumps.values()))]:
            raise SystemExit(f"seed {seed}: info says {kinds}")
        if not rows(tables(borescope, "doctor", folder), "quality"):
            raise SystemExit(f"seed {seed}: doctor says nothing")
        checked += 1
    print(f"{checked} jobs have the same verdict when they are scrubbed")


def check_snapshots(borescope, seeds, work):
    for seed in seeds:
        folder = work / f"memory-{seed}"
        folder.mkdir()
        data = snapshot(seed)
        (folder / "snapshot_rank3.pickle").write_bytes(pickle.dumps(data, 4 if seed % 2 else 5))
        check_scrub(borescope, folder, work, f"snapshot {seed}")
        peak = rows(tables(borescope, "memory", folder), "memory_peak")
        held = sum(block["size"] for block in data["segments"][0]["blocks"] if block["state"] == "active_allocated")
        if [(row["rank"], row["category"], row["bytes"], row["source"]) for row in peak] != [
                (3, "allocated", held, "replay"), (3, "reserved", 1 << 28, "replay")]:
            raise SystemExit(f"snapshot {seed}: memory says {peak}")
        live = rows(tables(borescope, "memory", folder), "memory_live")
        if sum(row["bytes"] for row in live if row["moment"] == "peak") != held:
            raise SystemExit(f"snapshot {seed}: memory_live does not add up to {held}")
        (last,) = rows(tables(borescope, "query", "SELECT max(allocated_bytes) AS most, count(*) AS n, sum(action = 'alloc') "
                              "AS allocs FROM mem_events", folder), "query")
        if (last["most"], last["n"], last["allocs"]) != (held, 42, 40):
            raise SystemExit(f"snapshot {seed}: mem_events says {last}")
    print(f"{len(seeds)} snapshots have the same verdict when they are scrubbed")


def check_samples(borescope, samples, work):
    """Recorded ones: the verdict stays, and every block of the end is in SQL."""
    folders = sorted((samples / "data" / "cases" / "flight_recorder").glob("*/"))
    for folder in folders:
        target = work / folder.name
        target.mkdir()
        for path in folder.iterdir():
            if path.suffix not in (".log", ".md", ".py"):
                (target / path.name).write_bytes(path.read_bytes())
        check_scrub(borescope, target, work, folder.name)
    for path in sorted((samples / "data" / "h100" / "memory").glob("*.pickle.gz")):
        folder = work / path.name.split(".")[0]
        folder.mkdir()
        data = gzip.decompress(path.read_bytes())
        (folder / "snapshot_rank0.pickle").write_bytes(data)
        value = pickle.loads(data)
        blocks = [block for segment in value["segments"] for block in segment["blocks"]]
        (found,) = rows(tables(borescope, "query", "SELECT count(*) AS n, sum(size_bytes) AS bytes, sum(state = 'allocated') AS live "
                               "FROM mem_blocks", folder), "query")
        want = (len(blocks), sum(block["size"] for block in blocks),
                sum(block["state"] == "active_allocated" for block in blocks))
        if tuple(found.values()) != want:
            raise SystemExit(f"{path}: mem_blocks says {found}, not {want}")
        (peak,) = rows(tables(borescope, "query", "SELECT max(allocated_bytes) AS most FROM mem_events", folder), "query")
        shown = [row["bytes"] for row in rows(tables(borescope, "memory", folder), "memory_peak") if row["category"] == "allocated"]
        if shown != [peak["most"]]:
            raise SystemExit(f"{path}: memory says {shown}, mem_events {peak}")
        scrub_only_checks(borescope, folder, work)
    print(f"{len(folders)} folders of dumps and the snapshots of a device are the same when they are scrubbed")


def scrub_only_checks(borescope, folder, work):
    key = work / "key"
    before = tables(borescope, "postmortem", folder, "--fix-time", 2)
    target = work / f"{folder.name}-scrubbed"
    scrubbed(borescope, folder, target, key, False)
    after = tables(borescope, "postmortem", target, "--fix-time", 2)
    for table in ("oom", "memory_live", "memory_growth", "allocator_replay"):
        if verdict(before, True).get(table) != verdict(after, True).get(table):
            raise SystemExit(f"{folder}: {table} differs when it is scrubbed")


def check_answer(borescope, work):
    """postmortem --scrub: the answer about dumps, snapshots and logs, and its page, say who and where no more."""
    folder = work / "nightjar-job"
    logs = folder / "alice" / "attempt_0" / "3"
    logs.mkdir(parents=True)
    faults.make(0).write(folder, {"gzip": False, "json": False, "missing": False})
    for path in folder.iterdir():
        if path.is_file():
            path.write_bytes(pickle.dumps(plant(pickle.loads(content(path)))))
    (folder / "snapshot_rank3.pickle").write_bytes(pickle.dumps(snapshot(1)))
    (logs / "stderr.log").write_text(
        "node17.example.com:77:78 [0] misc/socket.cc:50 NCCL WARN connect to 10.4.7.19 failed\n"
        f'Traceback (most recent call last):\n  File "{HOME}/nightjar/train.py", line 12, in main\n'
        "ValueError: password=hunter2 of alice@node17.example.com, sk-live-abcdef0123456789abcdef\n")
    page = work / "page.html"
    plain = tables(borescope, "postmortem", folder)
    done = run(borescope, "postmortem", folder, "--scrub", "-f", "json", "--html", page)
    for what, text in (("answer", done.stdout), ("talk", done.stderr), ("page", page.read_text())):
        left = [canary for canary in CANARIES if canary in text.lower()]
        if left:
            raise SystemExit(f"postmortem --scrub leaves {left} in its {what}")
    if "nightjar" not in json.dumps(plain):
        raise SystemExit("nothing was planted")
    clean = tables(borescope, "postmortem", folder, "--scrub")
    for name, table in plain.items():
        texts = {column["name"] for column in table["columns"] if any(isinstance(value, str) for value in column["values"])}
        numbers = [[{key: value for key, value in row.items() if key not in texts} for row in rows(answer, name)]
                   for answer in (plain, clean)]
        if numbers[0] != numbers[1]:
            raise SystemExit(f"postmortem --scrub changed numbers of {name}")
    key = work / "key-of-answers"
    key.write_bytes(b"another key of sixteen bytes")
    twice = [run(borescope, "postmortem", folder, "--scrub", "--scrub-key", key, "-f", "json").stdout for _ in range(2)]
    if twice[0] != twice[1]:
        raise SystemExit("postmortem --scrub with one key gives two answers")
    if "convert" not in run(borescope, "postmortem", folder, "--scrub=names", status=2).stderr:
        raise SystemExit("postmortem --scrub=names is not refused")
    print("the answer and the page say nothing of who and where")


def check_hostile(borescope, work):
    """What is no such file, or asks to run code, is refused, and nothing is written."""
    class Harmful:
        def __reduce__(self):
            return print, ("ran",)

    for name, data in {"code": pickle.dumps({"version": "2.10", "entries": [Harmful()]}),
                       "cut": pickle.dumps({"version": "2.10", "entries": [1] * 100}, 2)[:-30],
                       "cut.json": b'{"version": "2.10", "pg_config": {}, "entries": ['}.items():
        path, out = work / name, work / f"out-{name}.pickle" if "json" not in name else work / "out.json"
        path.write_bytes(data)
        done = subprocess.run([borescope, "convert", "--scrub", path, "-o", out], capture_output=True, text=True, check=False)
        if done.returncode != 2 or out.exists() or not done.stderr:
            raise SystemExit(f"{name}: status {done.returncode}, {done.stderr!r}, written: {out.exists()}")
    said = run(borescope, "kernels", work / "cut", status=2).stderr
    if "flight recorder" not in said or "borescope postmortem" not in said:
        raise SystemExit(f"kernels does not say what a dump is: {said}")
    print("what asks to run code is refused")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("borescope")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=12)
    parser.add_argument("--samples", type=Path)
    args = parser.parse_args()
    seeds = range(args.first, args.first + args.seeds)
    with tempfile.TemporaryDirectory(prefix="borescope-doors-") as folder:
        work = Path(folder)
        check_dumps(args.borescope, seeds, work)
        check_snapshots(args.borescope, seeds[:6], work)
        check_answer(args.borescope, work)
        check_hostile(args.borescope, work)
        if args.samples is not None and args.samples.exists():
            check_samples(args.borescope, args.samples, work)
    return 0


if __name__ == "__main__":
    sys.exit(main())
