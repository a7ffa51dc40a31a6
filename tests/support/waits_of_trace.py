"""The tables of waits, queues, launches, copies and collectives, recomputed from the text of a run.

Part of check_truth.py: every function takes one Rank, or all of them, and yields rows in the order of the
columns in truth.json. Slow and plain on purpose.
"""

from collections import defaultdict

KERNEL_WAIT_NS = 30_000
QUEUE_LIMIT = 4


def launch_of(rank, event):
    """The call that started the work: of several with its number, the later."""
    calls = rank.calls_by_correlation[event.correlation()]
    return max(calls, key=lambda call: call.begin) if calls else None


def streams(rank):
    """(gpu, stream): works by begin."""
    found = defaultdict(list)
    for event in sorted(rank.device, key=lambda e: e.begin):
        found[tuple(int(part) for part in event.row)].append(event)
    return found


def bounds(rank):
    events = [e for e in rank.events if e.category != "Trace"]
    return min(e.begin for e in events), max(e.end for e in events)


def idle(rank):
    begin, end = bounds(rank)
    for (gpu, stream), works in streams(rank).items():
        waits = dict.fromkeys(("host_wait", "kernel_wait", "other", "unlinked"), 0)
        begins = sorted({work.begin for work in works})
        covered = begins[0]
        for start in begins:
            ending = [work for work in works if work.begin == start]
            gap = start - covered
            launches = [launch.begin for launch in (launch_of(rank, work) for work in ending) if launch]
            if gap > 0:
                launched = min(max(min(launches), covered), start) if launches else covered
                rest = start - launched
                waits["host_wait"] += launched - covered
                waits["unlinked" if not launches
                      else "kernel_wait" if rest < KERNEL_WAIT_NS else "other"] += rest
            covered = max([covered] + [work.end for work in ending])
        yield (rank.number, gpu, stream, *waits.values(), begins[0] - begin, end - covered)


def overlap(rank, measure):
    comm = measure(rank.intervals("comm"))
    # |A and B| = |A| + |B| - |A or B|
    both = comm + measure(rank.intervals("compute")) - measure(rank.intervals("comm compute"))
    yield rank.number, rank.gpu, comm, both


def queue(rank):
    for (gpu, stream), works in streams(rank).items():
        first_work = {}
        for work in works:
            launch = launch_of(rank, work)
            if launch is not None:
                first_work.setdefault(launch.order, (launch.begin, work.begin))
        changes = []
        for launched, began in first_work.values():
            changes += [(min(launched, began), 0, 1), (began, 1, -1)]
        if not changes:
            continue
        lengths, blocked, since = [], 0, 0
        for now, _, by in sorted(changes):
            length = lengths[-1] if lengths else 0
            blocked += now - since if length >= QUEUE_LIMIT else 0
            lengths.append(length + by)
            since = now
        yield (rank.number, gpu, stream, len(lengths), sum(lengths), min(lengths), max(lengths), blocked)


def bandwidth(rank):
    kinds = defaultdict(list)
    for event in rank.device:
        if event.category != "kernel":
            kinds["memset" if event.category == "gpu_memset" else event.name.split()[1]].append(event)
    for kind, events in kinds.items():
        yield (rank.number, kind, len(events), sum(int(e.args["bytes"]) for e in events),
               sum(e.duration for e in events), sum(1 for e in events if e.duration == 0))


def launches(rank):
    pairs = [(launch_of(rank, event), event) for event in rank.device]
    pairs = [(launch, event) for launch, event in pairs if launch is not None]
    yield (rank.number, len(pairs), sum(launch.duration for launch, _ in pairs),
           sum(event.duration for _, event in pairs),
           sum(max(0, event.begin - launch.end) for launch, event in pairs))


def delays(ranks):
    sums = defaultdict(lambda: [0, 0, 0])
    for rank in ranks:
        calls = defaultdict(list)
        for event in rank.device:
            launch = launch_of(rank, event)
            if launch is None:
                continue
            innermost = op = rank.op_of_call.get(launch.order)
            while op is not None and not op.name.startswith("aten::"):
                op = op.parent
            op = op or innermost
            key = ("launch", launch.order) if op is None else ("op", op.order)
            calls[key].append((launch.begin, event.begin, event.order, event, op))
        for works in calls.values():
            works.sort(key=lambda work: work[:3])
            op = works[0][4]
            row = sums[op.name if op else "(no operator)", " -> ".join(work[3].name for work in works)]
            row[0] += 1
            row[1] += works[0][0] - op.begin if op else 0
            row[2] += max(0, works[0][1] - works[0][0])
    for key, row in sums.items():
        yield (*key, *row)


def annotations(rank):
    sides = {"user_annotation": "host", "gpu_user_annotation": "device"}
    found = defaultdict(list)
    for event in rank.events:
        if event.category in sides:
            found[sides[event.category], event.name].append(event.duration)
    for key, values in found.items():
        yield (rank.number, *key, len(values), sum(values), min(values), max(values))


def collectives(rank):
    sizes = {"Float": 4}
    found = defaultdict(list)
    for event in rank.device:
        if "Collective name" in event.args:
            args = event.args
            found[args["Collective name"], args["Process Group Name"], args["Group size"],
                  args["dtype"]].append(event)
    for (name, group, size, dtype), events in found.items():
        sent = sum(e.args["In msg nelems"] * sizes[dtype] for e in events)
        yield (rank.number, name, group, size, dtype, len(events), sent,
               sum(e.duration for e in events))


def stragglers(ranks):
    if len(ranks) < 2:
        return
    durations = [[e.duration for e in sorted(rank.device, key=lambda e: e.begin)
                  if e.name.startswith("nccl")] for rank in ranks]
    if not durations[0]:
        return
    caused = [0] * len(ranks)
    waited = [0] * len(ranks)
    last = [0] * len(ranks)
    for together in zip(*durations, strict=True):
        shortest = min(together)
        late = together.index(shortest)
        last[late] += 1 if max(together) > shortest else 0
        for i, duration in enumerate(together):
            waited[i] += duration - shortest
            caused[late] += duration - shortest
    for i, rank in enumerate(ranks):
        yield rank.number, caused[i], waited[i], last[i]
