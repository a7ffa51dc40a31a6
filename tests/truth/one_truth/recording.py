"""What was recorded: events from the file to the tables, annotations, calls, steps, memory."""

from one_truth.claims import nonzero

MEASURES = (("count", "count"), ("total_ns", "time"), ("min_ns", "minimum"), ("max_ns", "maximum"))


def events(answers, say):
    for table in answers.tables("verbs", "traces"):
        say("events of a file", "traces", nonzero(table.values("rank", "events")))
        say("host events", "traces", nonzero(table.values("rank", "host_events")))
    for table in answers.tables("verbs", "event_counts"):
        say("events of a file", "event_counts", nonzero(table.sums("rank", "count")))
    for table in answers.tables("summary", "overview"):
        say("host events", "summary", nonzero(table.values("rank", "host_events")))
    for table in answers.tables("sql", "host"):
        say("host events", "SQL", table.values("rank", "events"))
    for table in answers.tables("sql", "device"):
        say("device events", "SQL", table.values("rank", "events"))
    for side, quantity in (("host", "host events"), ("device", "device events")):
        for table in answers.tables("sql", "tracks"):
            chosen = table.where(lambda c, side=side: c("kind") == side)
            say(quantity, "tracks in SQL", nonzero(chosen.values("rank", "events")))
        for table in answers.tables("sql", "events"):
            chosen = table.where(lambda c, side=side: c("side") == side)
            say(quantity, "events in SQL", nonzero(chosen.values("rank", "events")))
    kept(answers, say)


# Complete events that a file holds and that have no place on a timeline.
LOST = ("missing-timestamp",)


def kept(answers, say):
    """Every complete event of a Kineto file is a row of one side, or a diagnostic says why not.

    Those of the category Trace are the profiler's own span, no event of a thread.
    """
    for table in answers.tables("verbs", "traces"):
        if any(name != "kineto-json" for name in table["format"]):
            return
    for table in answers.tables("verbs", "event_counts"):
        complete = table.where(lambda c: c("phase") == "X" and c("category") != "Trace").total("count")
        say("complete events", "event_counts", complete)
    rows = sum(table.total("events") for name in ("host", "device") for table in answers.tables("sql", name))
    say("complete events", "rows in SQL and lost ones", rows + sum(answers.count(code) for code in LOST))


# Of the run, not of a file: told beside every answer, and of no rank in SQL.
OF_THE_RUN = ("missing-ranks", "missing-data", "unknown-selection")


def diagnostics(answers, say):
    found = {}
    for row in answers.diagnostics["sql"]:
        if row["code"] not in OF_THE_RUN:
            found[row["code"]] = found.get(row["code"], 0) + row["count"]
    say("diagnostics", "of a call", found)
    for table in answers.tables("sql", "diagnostics"):
        say("diagnostics", "SQL", table.values("code", "cases"))


def annotations(answers, say):
    for table in answers.tables("verbs", "annotations"):
        for column, measure in MEASURES:
            say(f"{measure} of annotations", "annotations", table.values(("rank", "side", "name"), column))
        host = table.where(lambda c: c("side") == "host")
        say("host annotations by name", "annotations", host.sums("name", "count"))
        say("time of host annotations by name", "annotations", host.sums("name", "total_ns"))
    for table in answers.tables("sql", "annotations"):
        for column, measure in (("annotations", "count"), *MEASURES[1:]):
            say(f"{measure} of annotations", "SQL", table.values(("rank", "side", "name"), column))
    for table in answers.tables("stats", "nvtx_sum"):
        say("host annotations by name", "nvtx_sum", table.sums("Range", "Instances"))
        say("time of host annotations by name", "nvtx_sum", table.sums("Range", "Total Time (ns)"))


def api_calls(answers, say):
    for call, name, key, columns in (
            ("stats", "cuda_api_sum", "Name", ("Num Calls", "Total Time (ns)", "Min (ns)", "Max (ns)")),
            ("sql", "calls", "name", ("calls", "total_ns", "min_ns", "max_ns"))):
        for table in answers.tables(call, name):
            for (_, measure), column in zip(MEASURES, columns):
                say(f"{measure} of calls", f"{name} of {call}", table.values(key, column))


def step_times(answers, say):
    """By time a step has what runs in its window, by launch what runs of its work."""
    key = ("rank", "gpu", "step")
    numbered = lambda table: table.where(lambda c: c("step") is not None)
    for call, name in (("steps_by_time", "steps"), ("by_time", "breakdown")):
        for table in answers.tables(call, name):
            for column in ("span_ns", "busy_ns", "idle_ns"):
                say(f"{column} of windows of steps", f"{name} by time", numbered(table).values(key, column))
    for rule, call in (("time", "by_time"), ("launch", "steps")):
        for table in answers.tables(call, "breakdown"):
            for column in ("span_ns", "busy_ns", "idle_ns"):
                say(f"{column} of steps by {rule}", f"breakdown of {call}", nonzero(numbered(table).values(key, column)))
        for table in answers.tables(call, "gpu_time"):
            rows = numbered(table)
            for column in ("span_ns", "busy_ns"):
                say(f"{column} of steps by {rule}", f"gpu_time of {call}", nonzero(rows.values(key, column)))
            parts = [rows.values(key, column) for column in ("gap_ns", "leading_ns", "trailing_ns")]
            say(f"idle_ns of steps by {rule}", f"gpu_time of {call}",
                nonzero({k: sum(part[k] for part in parts) for k in parts[0]}))
    for table in answers.tables("verbs", "steps"):
        own = numbered(table)
        busy, shared = own.sums(key, "busy_ns"), own.sums(key, "shared_ns")
        say("busy_ns of steps by launch", "steps", nonzero({k: busy[k] - shared[k] for k in busy}))


def step_totals(answers, say):
    """Steps, and what is in none, are all work and all busy time of the devices of their ranks."""
    table = answers.table("verbs", "steps")
    if not table:
        return
    ranks = set(table["rank"])
    of_ranks = lambda other: other.where(lambda c: c("rank") in ranks)
    key = ("rank", "gpu")
    busy, shared = table.sums(key, "busy_ns"), table.sums(key, "shared_ns")
    say("busy time of devices with steps", "steps", nonzero({k: busy[k] - shared[k] for k in busy}))
    for whole in answers.tables("verbs", "breakdown"):
        say("busy time of devices with steps", "breakdown", nonzero(of_ranks(whole).values(key, "busy_ns")))
    kernels, copies = table.sums("rank", "kernels"), table.sums("rank", "copies")
    say("works of ranks with steps", "steps", nonzero({k: kernels[k] + copies[k] for k in kernels}))
    for whole in answers.tables("by_step", "kernels"):
        say("works of ranks with steps", "kernels --all", nonzero(of_ranks(whole).sums("rank", "count")))


def steps(answers, say):
    key = ("rank", "step")
    for table in answers.tables("verbs", "steps"):
        table = table.where(lambda c: c("step") is not None)
        say("begin of steps", "steps", {k: v for k, v in zip(table.rows(*key), table["begin_ns"])})
        say("kernels of steps", "steps", nonzero(table.sums(key, "kernels")))
        # From completion to completion, as in the other places that say how long steps are.
        lengths = {rank: set() for rank in table["rank"]}
        for rank, name, step, length_ns in table.rows("rank", "name", "step", "length_ns"):
            lengths[rank].add((length_ns, step, name))
        say("shortest step", "steps", {rank: min(s)[0] for rank, s in lengths.items()})
        say("longest step", "steps", {rank: max(s)[0] for rank, s in lengths.items()})
        say("steps", "steps", {rank: len(s) for rank, s in lengths.items()})
        parts = [row for row in table.rows("length_ns", "busy_ns", "waiting_ns") if row[1] is not None]
        say("busy and waiting in steps", "length", sum(max(length, busy) for length, busy, _ in parts))
        say("busy and waiting in steps", "sum of parts", sum(busy + waiting for _, busy, waiting in parts))
    for table in answers.tables("summary", "step_spread"):
        # A row for each process, where several of a rank have steps.
        say("shortest step", "summary",
            {rank: min(ns for of, ns in table.rows("rank", "min_ns") if of == rank) for rank in table["rank"]})
        say("longest step", "summary",
            {rank: max(ns for of, ns in table.rows("rank", "max_ns") if of == rank) for rank in table["rank"]})
        say("steps", "summary", table.sums("rank", "steps"))
    for table in answers.tables("summary", "overview"):
        say("steps", "overview", nonzero(table.values("rank", "steps")))
    for table in answers.tables("verbs", "traces"):
        say("steps", "info", nonzero(table.values("rank", "steps")))
    for table in answers.tables("sql", "steps"):
        say("begin of steps", "SQL", {k: v for k, v in zip(table.rows("rank", "number"), table["begin_ns"])})
        say("steps", "SQL", table.counts("rank"))
    for table in answers.tables("sql", "step_kernels"):
        numbered = table.where(lambda c: c("step") is not None)
        say("kernels of steps", "SQL", nonzero(numbered.values(key, "works")))
    for table in answers.tables("by_step", "kernels"):
        numbered = table.where(lambda c: c("step") is not None)
        say("works of steps", "kernels --by step", nonzero(numbered.sums(key, "count")))
        say("time of works of steps", "kernels --by step", nonzero(numbered.sums(key, "total_ns")))
    for table in answers.tables("sql", "step_work"):
        numbered = table.where(lambda c: c("step") is not None)
        say("works of steps", "SQL", nonzero(numbered.values(key, "works")))
        say("time of works of steps", "SQL", nonzero(numbered.values(key, "total_ns")))


def step_sums(answers, say):
    """Time inside and outside of steps is all of it."""
    for table in answers.tables("steps", "idle"):
        for column in ("span_ns", "busy_ns", "idle_ns", "host_wait_ns", "kernel_wait_ns", "other_ns",
                       "unlinked_ns", "head_ns", "tail_ns"):
            say(f"{column} of a stream", "sum of idle --by step",
                nonzero(table.sums(("rank", "gpu", "stream"), column)))
            whole = answers.table("verbs", "idle")
            say(f"{column} of a stream", "idle", nonzero(whole.values(("rank", "gpu", "stream"), column)))


def collectives(answers, say):
    for table in answers.tables("verbs", "collectives"):
        say("collective kernels of a rank", "collectives", nonzero(table.sums("rank", "kernels")))
        say("collective time of a rank", "collectives", nonzero(table.sums("rank", "total_ns")))
        say("calls of collectives", "collectives", table.sums(("rank", "collective", "group", "dtype"), "count"))
        say("bytes of collectives", "collectives",
            nonzero(table.sums(("rank", "collective", "group", "dtype"), "bytes")))
    for table in answers.tables("sizes", "collectives"):
        say("calls of collectives", "--by size", table.sums(("rank", "collective", "group", "dtype"), "count"))
        say("bytes of collectives", "--by size",
            nonzero(table.sums(("rank", "collective", "group", "dtype"), "bytes")))
    for table in answers.tables("by_rank", "kernels"):
        chosen = table.where(lambda c: c("class") == "collective")
        say("collective kernels of a rank", "kernels", nonzero(chosen.sums("rank", "count")))
        say("collective time of a rank", "kernels", nonzero(chosen.sums("rank", "total_ns")))
    waiting(answers, say)
    divided_waiting(answers, say)


def waiting(answers, say):
    """What ranks caused is what ranks waited; by rank where no two came last together, and share it."""
    for table in answers.tables("verbs", "stragglers"):
        say("waiting", "caused", table.total("caused_wait_ns"))
        say("waiting", "waited", table.total("waited_ns"))
    for table in answers.tables("verbs", "collective_bandwidth"):
        say("waiting", "collective_bandwidth", table.total("waited_ns"))
    for late in answers.tables("verbs", "late_collectives"):
        say("waiting", "late_collectives", late.total("caused_wait_ns"))
        ranks = answers.table("verbs", "stragglers")
        last = late.where(lambda c: c("last_rank") is not None)
        if ranks.total("times_last") == len(last):
            say("collectives that came last", "stragglers", nonzero(ranks.values("rank", "times_last")))
            say("collectives that came last", "late_collectives", last.counts("last_rank"))
            say("waiting for a rank", "stragglers", nonzero(ranks.values("rank", "caused_wait_ns")))
            say("waiting for a rank", "late_collectives", nonzero(last.sums("last_rank", "caused_wait_ns")))


def divided_waiting(answers, say):
    """What collectives are divided into is the time in them; what ranks wait, somebody or nobody caused."""
    for table in answers.tables("verbs", "collective_time"):
        parts = table.values("part", "total_ns")
        say("waiting by clocks", "collective_time", parts["waiting"])
        if "contradicted" not in parts:
            for bandwidth in answers.tables("verbs", "collective_bandwidth"):
                say("time in collectives of several ranks", "collective_time", table.total("total_ns"))
                say("time in collectives of several ranks", "collective_bandwidth", bandwidth.total("total_ns"))
    for table in answers.tables("verbs", "waits_by_rank"):
        say("waiting by clocks", "caused", table.total("caused_ns"))
        say("waiting by clocks", "waited", table.total("waited_ns"))
        say("exposed waiting by clocks", "waits_by_rank", table.total("caused_exposed_ns"))
        say("waiting caused, by rank", "waits_by_rank", nonzero(table.values("rank", "caused_ns")))
    for table in answers.tables("verbs", "lateness"):
        say("waiting caused, by rank", "lateness", nonzero(table.sums("rank", "total_ns")))
    for table in answers.tables("verbs", "waits"):
        sure = table.where(lambda c: c("skew_ns") is not None)
        say("waiting by clocks", "waits", sure.total("skew_ns"))
        say("exposed waiting by clocks", "waits", sure.total("exposed_skew_ns"))
        for ranks in answers.tables("verbs", "waits_by_rank"):
            last = table.where(lambda c: c("last_rank") is not None)
            say("collectives entered last", "waits", nonzero(last.counts("last_rank")))
            say("collectives entered last", "waits_by_rank", nonzero(ranks.values("rank", "last_times")))


def critical_path(answers, say):
    for table in answers.tables("verbs", "critical_path_summary"):
        say("critical path by cause", "summary of it", nonzero(table.values(("rank", "bound_by"), "total_ns")))
    for table in answers.tables("verbs", "critical_path"):
        say("critical path by cause", "its pieces", nonzero(table.sums(("rank", "bound_by"), "duration_ns")))


def variance(answers, say):
    """The longest step is the slowest; what took longer adds up; shares are parts of one variance."""
    for spread in answers.tables("verbs", "steps_spread"):
        job = spread.where(lambda c: c("rank") is None or len(spread) == 1)
        slow, causes = (answers.table("verbs", name) for name in ("slow_steps", "variance_causes"))
        if len(slow):
            say("slowest step that counts", "steps_spread", job["max_ns"][0])
            say("slowest step that counts", "slow_steps", slow["length_ns"][0])
        for step, over, *parts in slow.rows("step", "over_ns", "first_ns", "second_ns", "third_ns", "rest_ns"):
            say(f"how much longer step {step} took", "slow_steps", over)
            say(f"how much longer step {step} took", "its causes and the rest", sum(part or 0 for part in parts))
        shares = [share for share in causes["share"] if share is not None]
        if shares:
            say("shares of the variance of steps", "by definition", 1.0)
            say("shares of the variance of steps", "sum", float(sum(shares)))


def memory(answers, say):
    for table in answers.tables("verbs", "memory_peak"):
        chosen = table.where(lambda c: c("category") == "allocated")
        say("peak of allocated memory", "memory_peak", nonzero(chosen.values(("rank", "device"), "bytes")))
    for table in answers.tables("verbs", "memory_timeline"):
        chosen = table.where(lambda c: c("category") == "allocated")
        levels = {}
        for rank, device, level in chosen.rows("rank", "device", "allocated_bytes"):
            levels[rank, device] = max(levels.get((rank, device), 0), level or 0)
        say("peak of allocated memory", "memory_timeline", nonzero(levels))
    if "memory_ops" in answers.documents["verbs"]:  # not of recordings by category
        table = answers.table("verbs", "memory_ops")
        say("peak of allocated memory", "sum of memory_ops", nonzero(table.sums(("rank", "device"), "bytes")))


CLAIMS = (events, diagnostics, annotations, api_calls, step_times, step_totals, steps, step_sums, collectives, critical_path,
          variance, memory)
