"""Jobs with a fault that is known: a model of ranks whose hosts issue operations of several groups and whose devices
run them in order, a fault in it, and the dumps that such a job leaves. What can be seen of the fault is computed from
the state of the model, which no dump holds, and not from the dumps."""

import gzip
import json
import os
import pickle
import random
from dataclasses import dataclass, field
from pathlib import Path

BASE_NS = 1_790_000_000_000_000_000
MS = 1_000_000
FAULTS = ("host", "hosts", "device", "devices", "gone", "operation", "size", "type", "swapped", "skipped", "network",
          "slow")


@dataclass
class Op:
    """One operation of one rank's program."""
    group: int
    name: str
    stream: int = 0
    shape: tuple = ((16,), (16,), "Float")  # input, output, type
    launch: tuple = ()  # of transfers: (("send" or "recv", peer), ...)
    coalesced: bool = False
    waits: bool = False  # the host waits for it
    line: int = 0


@dataclass
class Issued:
    op: Op
    record: int
    number: int  # in its group: of collectives, or of launches of transfers
    created: int
    places: tuple = ()  # of each transfer: how many of its kind came before
    started: int = 0
    done: int = 0


@dataclass
class Rank:
    program: list = field(default_factory=list)
    at: int = 0
    issued: list = field(default_factory=list)
    queues: list = field(default_factory=lambda: [[], []])
    collectives: dict = field(default_factory=dict)
    launches: dict = field(default_factory=dict)
    transfers: dict = field(default_factory=dict)
    open: int = 0
    waiting: object = None
    host_stops: int = -1  # before this operation of its program
    device_stops: int = -1  # when this record would be the next to end on its stream
    contributes: bool = False  # a stopped device lets the others end the operations at which it stands
    starts_last: bool = True  # a stopped device began what it stands at
    is_stuck: bool = False
    stuck_at: set = field(default_factory=set)  # records at which the device stood when it stopped


class Job:
    def __init__(self, seed, healthy=False, steps=None):
        self.rng = rng = random.Random(seed)
        self.seed = seed
        while True:
            self.tp, self.pp, self.dp = rng.choice((1, 2, 4)), rng.choice((1, 2, 4)), rng.choice((2, 4, 8))
            self.world = self.tp * self.pp * self.dp
            if self.world >= 4:
                break
        self.ahead = rng.choice((4, 16, 64))
        self.has_timing = rng.random() < 0.3
        self.tick = 0
        self.tick_ns = MS
        self.groups = []  # (description, members)
        self.group_of = {}
        self.make_groups()
        self.ranks = [Rank() for _ in range(self.world)]
        self.make_programs(steps)
        self.skew = [rng.randint(-3 * MS, 3 * MS) for _ in range(self.world)]
        self.clock = {}  # of ranks whose host's clock is off: by how much
        self.dead_operation = None
        self.fault = None
        self.faulty = []
        self.late = {}
        self.healthy = healthy

    # ---- the program ----

    def make_groups(self):
        place = lambda d, p, t: (d * self.pp + p) * self.tp + t
        self.groups.append(("default_pg", list(range(self.world))))
        if self.tp > 1:
            for d in range(self.dp):
                for p in range(self.pp):
                    self.add_group("TENSOR_MODEL_PARALLEL_GROUP", [place(d, p, t) for t in range(self.tp)])
        for p in range(self.pp):
            for t in range(self.tp):
                self.add_group("DATA_PARALLEL_GROUP", [place(d, p, t) for d in range(self.dp)])
        if self.pp > 1:
            for d in range(self.dp):
                for t in range(self.tp):
                    self.add_group("PIPELINE_MODEL_PARALLEL_GROUP", [place(d, p, t) for p in range(self.pp)])
        for number, (description, members) in enumerate(self.groups):
            for rank in members:
                self.group_of[description, rank] = number

    def add_group(self, description, members):
        self.groups.append((description, members))

    def make_programs(self, steps):
        rng = self.rng
        few, batches, layers = rng.randint(3, 5), rng.randint(1, 3), rng.randint(1, 3)
        steps = steps or few
        size = rng.choice((16, 256, 4096))
        uneven = rng.random() < 0.3 and self.tp > 1
        coalesced = {n for n, (d, _) in enumerate(self.groups) if d.startswith("PIPE") and rng.random() < 0.5}
        for r, rank in enumerate(self.ranks):
            stage = r // self.tp % self.pp
            add = rank.program.append
            pipe = self.group_of.get(("PIPELINE_MODEL_PARALLEL_GROUP", r))
            tensor = self.group_of.get(("TENSOR_MODEL_PARALLEL_GROUP", r))
            data = self.group_of["DATA_PARALLEL_GROUP", r]
            before, after = r - self.tp, r + self.tp
            for step in range(steps):
                for batch in range(batches):
                    pair = pipe in coalesced
                    recv = (("recv", before),) if stage > 0 else ()
                    send = (("send", after),) if stage < self.pp - 1 else ()
                    if recv and (not pair or batch == 0):
                        add(Op(pipe, "recv", launch=recv, coalesced=pair, line=10))
                    for layer in range(layers if tensor is not None else 0):
                        if uneven and layer == 0:
                            own = size + r % self.tp
                            add(Op(tensor, "all_to_all", shape=((own * 2,), (own * 2,), "Float"), line=20))
                        add(Op(tensor, "_all_gather_base", shape=((size,), (size * self.tp,), "BFloat16"),
                               line=21 + layer))
                        add(Op(tensor, "_reduce_scatter_base", shape=((size * self.tp,), (size,), "BFloat16"),
                               line=31 + layer))
                    if pair and stage > 0 and batch + 1 < batches:
                        add(Op(pipe, "send", launch=send + recv, coalesced=True, line=40))
                    elif send:
                        add(Op(pipe, "send", launch=send, coalesced=pair, line=41))
                for part in range(2):
                    add(Op(data, "_reduce_scatter_base", 1, ((size * self.dp,), (size,), "Float"), line=50 + part))
                add(Op(0, "all_reduce", shape=((1,), (1,), "Float"), waits=True, line=60))
                add(Op(data, "_all_gather_base", 1, ((size,), (size * self.dp,), "Float"), line=70))

    # ---- the model of the machine ----

    def issue(self, r):
        rank = self.ranks[r]
        op = rank.program[rank.at]
        places = []
        if op.launch:
            number = rank.launches[op.group] = rank.launches.get(op.group, 0) + 1
            for kind, peer in op.launch:
                key = (op.group, r, peer) if kind == "send" else (op.group, peer, r)
                places.append((key, rank.transfers.get((kind, key), 0)))
                rank.transfers[kind, key] = places[-1][1] + 1
        else:
            number = rank.collectives[op.group] = rank.collectives.get(op.group, 0) + 1
        record = rank.issued[-1].record + entries_of(rank.issued[-1].op) if rank.issued else 0
        issued = Issued(op, record, number, self.tick, tuple(places))
        rank.issued.append(issued)
        rank.queues[op.stream].append(issued)
        rank.open += 1
        rank.at += 1
        if op.waits:
            rank.waiting = issued

    def may_issue(self, r):
        rank = self.ranks[r]
        if rank.at >= len(rank.program) or rank.at == rank.host_stops:
            return False
        if rank.waiting is not None and not rank.waiting.done:
            return False
        return rank.open < self.ahead

    def head(self, r, stream):
        queue = self.ranks[r].queues[stream]
        return queue[0] if queue else None

    # What a device shows to the others: the operation that it runs.
    def shown(self, r, stream):
        rank = self.ranks[r]
        head = self.head(r, stream)
        if head is None or (rank.is_stuck and not (rank.contributes and head.record in rank.stuck_at)):
            return None
        return head

    def stand_at(self, members, group, number, stream):
        """Whether all members' devices stand at it, with one signature."""
        signature = None
        for r in members:
            shown = self.shown(r, stream)
            ended = self.ended.get((group, number), ())
            if r in ended:
                continue
            if shown is None or shown.op.launch or shown.op.group != group or shown.number != number:
                return False
            if signature is not None and signature_of(shown.op) != signature:
                return False
            signature = signature_of(shown.op)
        return True

    def end(self, r, stream):
        rank = self.ranks[r]
        issued = rank.queues[stream].pop(0)
        issued.done = self.tick
        rank.open -= 1

    def stop_device(self, r):
        rank = self.ranks[r]
        rank.is_stuck = True
        rank.stuck_at = {self.head(r, s).record for s in (0, 1) if self.head(r, s) is not None}

    def advance(self, r, stream):
        """Ends what the stream of the rank stands at, if it can; whether it did."""
        rank = self.ranks[r]
        head = self.head(r, stream)
        if head is None:
            return False
        if not rank.is_stuck and 0 <= rank.device_stops <= head.record:
            self.stop_device(r)
        if rank.is_stuck and not rank.contributes:
            return False
        if not head.started:
            head.started = self.tick
        op = head.op
        if self.dead_operation == (op.group, head.number) and not op.launch:
            return False
        if op.launch:
            if rank.is_stuck:
                return False
            return self.advance_transfers(r, stream, head)
        members = self.groups[op.group][1]
        if (op.group, head.number) not in self.complete:
            if not self.stand_at(members, op.group, head.number, stream):
                return False
            self.complete.add((op.group, head.number))
        if rank.is_stuck:
            return False
        self.ended.setdefault((op.group, head.number), set()).add(r)
        self.end(r, stream)
        return True

    def advance_transfers(self, r, stream, head):
        for place in head.places:
            a, b = place[0][1], place[0][2]
            if place in self.complete_transfers:
                continue
            if all(any(place in shown.places for shown in [self.shown(x, stream)] if shown is not None)
                   for x in (a, b)):
                self.complete_transfers.add(place)
        if all(place in self.complete_transfers for place in head.places):
            self.end(r, stream)
            return True
        return False

    def run(self, most_rounds=10**9):
        """Until nothing changes any more; whether everything ended."""
        self.complete, self.complete_transfers, self.ended = set(), set(), {}
        order = list(range(self.world))
        quiet = 0
        for _ in range(most_rounds):
            self.tick += 1
            self.rng.shuffle(order)
            has_changed = False
            for r in order:
                for _ in range(self.rng.randint(1, 3)):
                    if self.may_issue(r):
                        self.issue(r)
                        has_changed = True
                for stream in (0, 1):
                    has_changed |= self.advance(r, stream)
            quiet = 0 if has_changed else quiet + 1
            if quiet == 3:
                break
        return all(rank.at == len(rank.program) and rank.open == 0 for rank in self.ranks)

    # ---- faults ----

    def collectives_of(self, r, smallest=2):
        return [i for i, op in enumerate(self.ranks[r].program)
                if not op.launch and len(self.groups[op.group][1]) >= smallest]

    def inject(self, kind):
        rng = self.rng
        self.fault = kind
        count = 2 if kind in ("hosts", "devices") else 1
        self.faulty = rng.sample(range(self.world), count)
        for r in self.faulty:
            rank = self.ranks[r]
            length = len(rank.program)
            at = rng.randrange(length // 3, length)
            if kind in ("host", "hosts", "slow"):
                rank.host_stops = at
                if kind == "slow":
                    self.late[r] = 30_000 * MS
            elif kind in ("device", "devices"):
                rank.device_stops = sum(entries_of(op) for op in rank.program[:at])
                rank.contributes = rng.random() < 0.5
                rank.starts_last = rng.random() < 0.5
            elif kind == "gone":
                rank.host_stops = at
                rank.device_stops = sum(entries_of(op) for op in rank.program[:max(at - rng.randint(0, 4), 0)])
            elif kind == "network":
                place = rng.choice([i for i in self.collectives_of(r) if i >= length // 3])
                op = rank.program[place]
                number = sum(1 for other in rank.program[:place + 1]
                             if other.group == op.group and not other.launch)
                self.dead_operation = (op.group, number)
            else:
                self.change_program(r, kind, length // 3)

    def change_program(self, r, kind, first):
        rng = self.rng
        program = self.ranks[r].program
        places = [i for i in self.collectives_of(r) if i >= first]
        if kind in ("operation", "size", "type"):
            places = [i for i in places if program[i].name != "all_to_all"]
            place = rng.choice(places)
            op = program[place]
            ins, outs, dtype = op.shape
            name = op.name
            if kind == "operation":
                name = "all_reduce" if op.name != "all_reduce" else "broadcast"
                outs = ins
            elif kind == "size":
                ins, outs = (ins[0] * 2,), (outs[0] * 2,)
            else:
                dtype = "Double"
            program[place] = Op(op.group, name, op.stream, (ins, outs, dtype), waits=op.waits, line=99)
        elif kind == "skipped":
            del program[rng.choice(places)]
        else:
            pairs = [i for i in range(first, len(program) - 1)
                     if program[i].stream == program[i + 1].stream and not program[i].launch
                     and not program[i + 1].launch and not program[i].waits and not program[i + 1].waits
                     and (program[i].group != program[i + 1].group
                          or signature_of(program[i]) != signature_of(program[i + 1]))]
            if pairs:
                place = rng.choice(pairs)
                program[place], program[place + 1] = program[place + 1], program[place]

    # ---- the truth ----

    def oldest(self, r):
        open_ones = [issued for queue in self.ranks[r].queues for issued in queue]
        return min(open_ones, key=lambda issued: issued.record) if open_ones else None

    def truth(self):
        """(kinds that are right, the ranks, whether it can be told which of these)."""
        kind = self.fault
        if kind in ("host", "hosts", "slow"):
            return {"never-issued"}, {r for r in self.faulty if self.ranks[r].open == 0}, True
        if kind == "gone":
            return {"no-dump"}, set(self.faulty), True
        if kind == "network":
            group, number = self.dead_operation
            members = set(self.groups[group][1])
            return {"not-finished"}, members, False
        if kind in ("device", "devices"):
            return self.truth_of_devices()
        op = None
        r = self.faulty[0]
        if kind in ("operation", "size", "type"):
            op = next(op for op in self.ranks[r].program if op.line == 99)
            members = self.groups[op.group][1]
            kinds = {"mismatch-operation"} if kind == "operation" else {"mismatch-size-or-type"}
            return (kinds, {r}, True) if len(members) > 2 else (kinds, set(members), False)
        return {"order", "mismatch-operation", "mismatch-size-or-type", "never-issued"}, {r}, True

    def truth_of_devices(self):
        culprits, kinds, told = set(), set(), True
        for r in self.faulty:
            head = self.oldest(r)
            if head is None:
                continue
            if head.op.launch:
                peers = {peer for _, peer in head.op.launch} | {r}
                here = {p for p in peers if self.oldest(p) is not None
                        and set(self.oldest(p).places) & set(head.places)}
                if all(self.has_ended(p, place) for place in head.places for p in place[0][1:] if p != r):
                    kinds.add("device-stuck")  # the other ends are through
                    if not self.begun(r, head):
                        kinds.add("not-started")
                    culprits.add(r)
                    continue
                if here != peers:
                    continue
                if self.has_timing and not self.begun(r, head) and all(
                        self.begun(p, self.oldest(p)) for p in peers - {r}):
                    kinds.add("not-started")
                    culprits.add(r)
                else:
                    kinds.add("not-finished")
                    culprits |= peers
                    told = False
                continue
            members = self.groups[head.op.group][1]
            key = (head.op.group, head.number)
            done = self.ended.get(key, set())
            here = {p for p in members if p not in done and self.oldest(p) is not None
                    and (self.oldest(p).op.group, self.oldest(p).number) == key and not self.oldest(p).op.launch}
            if len(done) + len(here) < len(members):
                continue  # it waits for another
            if done:
                kinds.add("device-stuck")
                culprits |= here
            elif self.has_timing and len({self.begun(p, self.oldest(p)) for p in here}) == 2:
                # Who began it waits for those who did not, whatever is wrong with its own device.
                kinds.add("not-started")
                culprits |= {p for p in here if not self.begun(p, self.oldest(p))}
            else:
                kinds.add("not-finished")
                culprits |= set(members)
                told = False
        return kinds, culprits, told

    def has_ended(self, r, place):
        return any(place in issued.places and issued.done for issued in self.ranks[r].issued)

    def begun(self, r, issued):
        rank = self.ranks[r]
        return bool(issued.started) and (not rank.is_stuck or rank.starts_last)

    # ---- the dumps ----

    def write(self, folder, changes=None):
        """Dumps of all ranks but those that leave none; which ranks these are."""
        rng = random.Random(self.seed * 7919 + 1)
        options = {"ring": rng.choice((20, 60, 2000)), "active": rng.random() < 0.4,
                   "status": rng.random() >= 0.2, "missing": rng.random() < 0.15, "json": rng.random() < 0.2,
                   "gzip": rng.random() < 0.2, "frames": True, "copied": rng.random() < 0.3,
                   "rename": lambda rank: rank, "name": lambda rank: f"trace_{rank}", "guest": False,
                   "stale_ns": 3_600_000 * MS, "old": {}}
        options.update(changes or {})
        gone = set(self.faulty) if self.fault == "gone" else set()
        gone |= options.get("without", set())
        if options["missing"]:
            innocent = [r for r in range(self.world) if r not in self.faulty]
            gone.add(rng.choice(innocent))
        Path(folder).mkdir(parents=True, exist_ok=True)
        newest = 0
        paths = []
        for r in range(self.world):
            if r in gone:
                continue
            if r == options.get("stale"):
                dump = earlier_dump(self, r, options)
            else:
                dump = options["old"].get(r, self).dump(r, options)
            newest = max([newest] + [entry["time_created_ns"] - self.clock.get(r, 0) for entry in dump["entries"]])
            paths.append(write_dump(Path(folder), options["name"](options["rename"](r)), dump, options))
        if options["guest"]:
            guest = {"version": "2.9", "entries": [],
                     "pg_config": {"guest": {"name": "guest", "desc": "guest", "ranks": f"[{self.world}]"}}}
            paths.append(write_dump(Path(folder), options["name"](self.world), guest, options))
        age = options.get("age_ns", 600_000 * MS)
        written = newest + age + (10 * 86_400_000 * MS if options["copied"] else 0)
        for path in paths:
            os.utime(path, ns=(written, written))
        return gone

    def dump(self, r, options):
        rank = self.ranks[r]
        entries = []
        for issued in rank.issued:
            entries += self.entries(r, issued, options)
        entries = entries[-options["ring"]:]
        if options.get("cut"):  # to what is outstanding, or the last of a rank without
            outstanding = [issued.record for queue in rank.queues for issued in queue]
            first = min(outstanding) if outstanding else max((entry["record_id"] for entry in entries), default=0) - 2
            entries = [entry for entry in entries if entry["record_id"] >= first]
        if options["active"]:
            entries = [entry for entry in entries if entry["time_discovered_completed_ns"] is None]
        own = [n for n, (_, members) in enumerate(self.groups) if r in members]
        config = {str(n): {"name": str(n), "desc": self.groups[n][0], "ranks": str([options["rename"](member) for member in self.groups[n][1]])}
                  for n in own}
        dump = {"version": "2.9", "pg_config": config, "nccl_version": "2.27.3"}
        if options["status"]:
            dump["pg_status"] = {str(self.pg_id(r, n)): self.status(rank, n) for n in own}
        dump["entries"] = entries
        return dump

    def pg_id(self, r, group):
        own = [n for n, (_, members) in enumerate(self.groups) if r in members]
        return own.index(group)

    def status(self, rank, group):
        numbers = lambda ones: max((one.number for one in ones), default=-1)
        of_group = [issued for issued in rank.issued if issued.op.group == group]
        last = of_group[-1].number if of_group else -1
        return {"last_enqueued_collective": last, "last_started_collective": -1,
                "last_completed_collective": numbers([one for one in of_group if one.done])}

    def time(self, r, tick):
        return BASE_NS + tick * self.tick_ns + self.skew[r] + self.clock.get(r, 0)

    def entries(self, r, issued, options):
        op = issued.op
        description, members = self.groups[op.group]
        created = self.time(r, issued.created)
        if r in self.late and issued is self.ranks[r].issued[-1]:
            created += self.late[r]
        done = self.time(r, issued.done) if issued.done else None
        begun = issued.done or self.begun(r, issued)
        started = self.time(r, issued.started) if self.has_timing and begun and issued.started else None
        state = "completed" if done else "started" if started else "scheduled"
        base = {"pg_id": self.pg_id(r, op.group), "process_group": (str(op.group), description),
                "collective_seq_id": issued.number if not op.launch else self.last_collective(r, issued),
                "p2p_seq_id": issued.number if op.launch else self.last_launch(r, issued),
                "time_created_ns": created, "timeout_ms": 600_000, "is_p2p": bool(op.launch),
                "state": state, "time_discovered_started_ns": started, "time_discovered_completed_ns": done,
                "retired": bool(done)}
        if options["frames"]:
            base["frames"] = [
                {"name": op.name, "filename": "/usr/lib/python3.11/site-packages/torch/distributed/c10d.py",
                 "line": 7},
                {"name": "step", "filename": "/app/train.py", "line": op.line}]
        if not op.launch:
            ins, outs, dtype = op.shape
            return [dict(base, record_id=issued.record, op_id=issued.record, profiling_name=f"nccl:{op.name}",
                         input_sizes=[list(ins)], output_sizes=[list(outs)], input_dtypes=[dtype],
                         output_dtypes=[dtype])]
        made = []
        for i, (kind, peer) in enumerate(op.launch):
            arrow = "->" if kind == "send" else "<-"
            name = f"nccl:{kind} {members.index(r)}{arrow}{members.index(peer)}"
            single = dict(base, record_id=issued.record + i, op_id=issued.record + i, profiling_name=name,
                          input_sizes=[[64]], output_sizes=[[64]], input_dtypes=["Float"], output_dtypes=["Float"])
            if op.coalesced:  # PyTorch gives single ones of a launch no events
                single.update(state="scheduled", time_discovered_started_ns=None,
                              time_discovered_completed_ns=None, retired=False)
            made.append(single)
        if op.coalesced:
            made.append(dict(base, record_id=issued.record + len(op.launch), op_id=issued.record,
                             profiling_name="nccl:coalesced", input_sizes=[], output_sizes=[], input_dtypes=[],
                             output_dtypes=[]))
        return made

    def last_collective(self, r, issued):
        return sum(1 for other in self.ranks[r].issued
                   if other.op.group == issued.op.group and not other.op.launch and other.record < issued.record)

    def last_launch(self, r, issued):
        return sum(1 for other in self.ranks[r].issued
                   if other.op.group == issued.op.group and other.op.launch and other.record < issued.record)


def entries_of(op):
    return len(op.launch) + (1 if op.coalesced else 0) if op.launch else 1


def signature_of(op):
    if op.name == "all_to_all":
        return op.name, op.shape[2]
    return op.name, op.shape


def write_dump(folder, name, dump, options):
    if options["json"]:
        dump = json.loads(json.dumps(dump))
        for entry in dump["entries"]:
            entry.pop("frames", None)
            for key in ("time_discovered_started_ns", "time_discovered_completed_ns"):
                entry[key] = entry[key] or 0
        for status in dump.get("pg_status", {}).values():
            status.update({key: str(value) for key, value in status.items()})
        if not dump["entries"]:
            del dump["entries"]
        path, data = folder / f"{name}.json", json.dumps(dump, sort_keys=True).encode()
    else:
        path, data = folder / name, pickle.dumps(dump, 2 + options["ring"] % 3)
    if options["gzip"]:
        path, data = path.with_name(path.name + ".gz"), gzip.compress(data, 1)
    path.write_bytes(data)
    return path


def earlier_dump(job, r, options):
    """What that rank left of an attempt of the job before, by default of an hour, which ended early."""
    earlier = Job(job.seed)
    earlier.run(most_rounds=job.rng.randint(10, 40))
    dump = earlier.dump(r, options)
    for entry in dump["entries"]:
        for key in ("time_created_ns", "time_discovered_started_ns", "time_discovered_completed_ns"):
            entry[key] = entry[key] and entry[key] - options["stale_ns"]
    return dump


def at_tick(job, tick):
    """The same job when it had run so far."""
    earlier = Job(job.seed)
    earlier.tick_ns = job.tick_ns
    earlier.inject(job.fault)
    earlier.run(most_rounds=tick)
    return earlier


def make(seed, kind=None):
    """A job that hangs by the fault of that kind, or of one that the seed decides."""
    for attempt in range(20):
        job = Job(seed * 1000 + attempt)
        job.inject(kind or FAULTS[seed % len(FAULTS)])
        if not job.run() and job.truth()[1]:
            return job
    return None


def make_healthy(seed, lasts=False):
    """A job without a fault at a random moment, early or long after its rings were full."""
    job = Job(seed * 1000 + 500, healthy=True, steps=40 if lasts else None)
    job.run(most_rounds=job.rng.randint(100, 300) if lasts else job.rng.randint(5, 60))
    return job
