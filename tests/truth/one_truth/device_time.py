"""How long devices work, stand still, communicate and copy."""

from one_truth.claims import nonzero

DEVICE = ("rank", "gpu")
STREAM = ("rank", "gpu", "stream")


def recorded(numbers):
    """Of devices: a rank without device work has a row without a number of a device."""
    return {key: number for key, number in numbers.items() if key[1] is not None}


def ledgers(answers):
    """Those whose rows are of all time of a device: none before whose rows work runs that was launched before the
    recording."""
    return [table for table in answers.tables("verbs", "ledger") if "inherited" not in table["item"]]


def span(answers, say):
    for table in answers.tables("verbs", "breakdown", "busy", "gpu_time"):
        say("span of a device", table.name, recorded(table.values(DEVICE, "span_ns")))
    for table in answers.tables("verbs", "ledger"):
        say("span of a device", "sum of ledger", table.sums(DEVICE, "ns"))
    for table in answers.tables("verbs", "traces"):
        say("span of a rank", "info", table.values("rank", "span_ns"))
    for table in answers.tables("summary", "overview"):
        say("span of a rank", "summary", table.values("rank", "span_ns"))
    for table in answers.tables("verbs", "breakdown", "busy", "gpu_time", "idle"):
        for rank, number in table.rows("rank", "span_ns"):
            say(f"span of rank {rank}", table.name, number)
    for table in answers.tables("verbs", "traces"):
        for rank, number in table.rows("rank", "span_ns"):
            say(f"span of rank {rank}", "info", number)
    for table in answers.tables("verbs", "critical_path_summary"):
        for rank, number in table.sums("rank", "total_ns").items():
            say(f"span of rank {rank}", "sum of critical_path_summary", number)
    for table in answers.tables("verbs", "critical_ops"):
        for rank, number in table.sums("rank", "path_ns").items():
            say(f"span of rank {rank}", "sum of critical_ops", number)


def busy(answers, say):
    quantity = "busy time of a device"
    for table in answers.tables("verbs", "breakdown", "busy", "gpu_time"):
        say(quantity, table.name, recorded(table.values(DEVICE, "busy_ns")))
    for table in answers.tables("verbs", "breakdown"):
        parts = [table.values(DEVICE, part)
                 for part in ("compute_ns", "exposed_comm_ns", "exposed_copy_ns")]
        say(quantity, "parts of breakdown", recorded(added(*parts)))
        say(quantity, "span - idle of breakdown",
            recorded(less(table.values(DEVICE, "span_ns"), table.values(DEVICE, "idle_ns"))))
    for table in answers.tables("verbs", "utilisation"):
        spans = table.values(DEVICE, "span_ns")
        inherited = {}
        for ledger in answers.tables("verbs", "ledger"):
            inherited = ledger.where(lambda c: c("item") == "inherited").sums(DEVICE, "ns")
        say("span of rates", "utilisation and inherited work",
            {device: ns + inherited.get(device, 0) for device, ns in spans.items()})
        for breakdown in answers.tables("verbs", "breakdown"):
            say("span of rates", "breakdown", common(breakdown.values(DEVICE, "span_ns"), spans))
    for table in ledgers(answers):
        say(quantity, "ledger without idle", table.where(lambda c: c("item") != "idle").sums(DEVICE, "ns"))
    for table in answers.tables("sql", "work"):
        say(quantity, "union_ns in SQL", table.values(DEVICE, "busy_ns"))
    for table in answers.tables("verbs", "busy"):
        say("busy time of all devices", "sum of busy", table.total("busy_ns"))
        say("wall time of all devices", "sum of busy", table.total("span_ns"))
    for table in answers.tables("verbs", "inductor_time"):
        say("busy time of all devices", "inductor", table.total("busy_ns"))
        say("wall time of all devices", "inductor", table.total("wall_ns"))


def idle(answers, say):
    quantity = "idle time of a device"
    for table in answers.tables("verbs", "breakdown", "busy", "idle_causes"):
        say(quantity, table.name, recorded(table.values(DEVICE, "idle_ns")))
    for table in answers.tables("verbs", "idle_causes"):
        say(quantity, "sum of idle_causes", of_columns(
            table, "head_ns", "tail_ns", "before_recording_ns", "inherited_ns", "sync_ns", "data_ns", "host_ns",
            "launch_call_ns", "latency_ns", "device_ns", "unrecorded_ns", "unknown_ns"))
    for cause in ("host", "head"):
        late = f"time in which the host was late: {cause}"
        for table in answers.tables("verbs", "idle_causes"):
            say(late, "idle_causes", nonzero(table.values(DEVICE, f"{cause}_ns")))
        for table in answers.tables("verbs", "late_host"):
            chosen = table.where(lambda c, cause=cause: c("cause") == cause)
            say(late, "sum of late_host", nonzero(chosen.sums(DEVICE, "total_ns")))
    for table in answers.tables("verbs", "gpu_time"):
        say(quantity, "parts of gpu_time",
            recorded(of_columns(table, "gap_ns", "leading_ns", "trailing_ns")))
    for table in ledgers(answers):
        say(quantity, "ledger", table.where(lambda c: c("item") == "idle").sums(DEVICE, "ns"))
    ends(answers, say)
    gaps(answers, say)


def ends(answers, say):
    """Before the first and after the last work; `breakdown` asks when the device is busy first and last."""
    for work in answers.tables("sql", "work"):
        before, after = work_without_length(work)
        for table in answers.tables("verbs", "gpu_time"):
            say("idle time at the begin", table.name,
                added(common(table.values(DEVICE, "leading_ns"), before), before))
        for name, tail in (("gpu_time", "trailing_ns"), ("idle_causes", "tail_ns")):
            for table in answers.tables("verbs", name):
                say("idle time at the end", name, added(common(table.values(DEVICE, tail), after), after))
        for table in answers.tables("verbs", "breakdown"):
            say("idle time at the begin", "breakdown", common(table.values(DEVICE, "head_idle_ns"), before))
            say("idle time at the end", "breakdown", common(table.values(DEVICE, "tail_idle_ns"), after))


def work_without_length(work):
    """How long a device that is busy ever has only work without length, at the begin and at the end."""
    columns = ("first_ns", "busy_from_ns", "busy_to_ns", "last_ns")
    edges = {column: work.values(DEVICE, column) for column in columns}
    busy = [key for key, busy_ns in work.values(DEVICE, "busy_ns").items() if busy_ns]
    before = {key: edges["busy_from_ns"][key] - edges["first_ns"][key] for key in busy}
    after = {key: edges["last_ns"][key] - edges["busy_to_ns"][key] for key in busy}
    return before, after


def common(numbers, keys):
    return {key: number for key, number in numbers.items() if key in keys}


def gaps(answers, say):
    quantity = "time between works of a device"
    for table in answers.tables("verbs", "gpu_time"):
        say(quantity, "gpu_time", nonzero(table.values(DEVICE, "gap_ns")))
        say("all time between works", "gpu_time", table.total("gap_ns"))
    for table in answers.tables("verbs", "gaps"):
        say(quantity, "sum of gaps", nonzero(table.sums(DEVICE, "total_ns")))
        say("number of gaps", "sum of gaps", nonzero(table.sums(DEVICE, "count")))
        longest = {}
        for key, longest_ns in zip(table.keys(DEVICE), table["max_ns"]):
            longest[key] = max(longest.get(key, 0), longest_ns)
        say("longest gap of a device", "gaps", longest)
    for table in answers.tables("verbs", "longest_gaps"):
        first = table.where(lambda c: c("place") == 1)
        say("longest gap of a device", "longest_gaps", first.values(DEVICE, "duration_ns"))
    for table in answers.tables("sql", "work"):
        say(quantity, "gaps_ns in SQL", nonzero(table.values(DEVICE, "gap_ns")))
    for table in answers.tables("verbs", "idle_causes"):
        say("number of gaps", "idle_causes", nonzero(table.values(DEVICE, "gaps")))
    for table in answers.tables("verbs", "gap_neighbours"):
        say("all time between works", "sum of gap_neighbours", table.total("total_ns"))
    for table in answers.tables("all_gaps", "variability"):
        say("all time between works", "variability --all", table.total("gap_ns"))


def activities(answers, say):
    for table in answers.tables("verbs", "breakdown"):
        for part in ("comm", "copy"):
            say(f"{part} time of a device", "breakdown", nonzero(table.values(DEVICE, f"{part}_ns")))
        say("compute time of a device", "breakdown", nonzero(table.values(DEVICE, "compute_ns")))
        say("exposed comm time", "breakdown", nonzero(table.values(DEVICE, "exposed_comm_ns")))
        say("exposed copy time", "breakdown", nonzero(table.values(DEVICE, "exposed_copy_ns")))
    for table in answers.tables("sql", "activities"):
        for part in ("comm", "copy", "compute"):
            chosen = table.where(lambda c, part=part: c("activity") == part)
            say(f"{part} time of a device", "union_ns in SQL", nonzero(chosen.values(DEVICE, "busy_ns")))
    for table in answers.tables("verbs", "overlap"):
        say("comm time of a device", "overlap", nonzero(table.values(DEVICE, "comm_ns")))
        say("comm time of a device", "parts of overlap",
            nonzero(of_columns(table, "overlapped_ns", "exposed_ns")))
        say("compute time of a device", "overlap", nonzero(table.values(DEVICE, "compute_ns")))
        say("exposed comm time", "overlap", nonzero(table.values(DEVICE, "exposed_ns")))
    for table in ledgers(answers):
        for item, quantity in (("exposed communication", "exposed comm time"),
                               ("exposed copies", "exposed copy time")):
            chosen = table.where(lambda c, item=item: c("item") == item)
            say(quantity, "ledger", nonzero(chosen.sums(DEVICE, "ns")))
        others = ("exposed communication", "exposed copies", "idle")
        computing = table.where(lambda c: c("item") not in others)
        say("compute time of a device", "other rows of ledger", nonzero(computing.sums(DEVICE, "ns")))


def streams(answers, say):
    for call, names in (("streams", ("breakdown", "busy", "gpu_time")), ("verbs", ("idle",)),
                        ("sql", ("streams",))):
        for table in answers.tables(call, *names):
            place = f"{table.name} of {call}"
            say("busy time of a stream", place, recorded(table.values(STREAM, "busy_ns")))
            if call != "sql":
                say("span of a stream", place, recorded(table.values(STREAM, "span_ns")))
    for call, names in (("streams", ("breakdown", "busy")), ("verbs", ("idle",))):
        for table in answers.tables(call, *names):
            say("idle time of a stream", f"{table.name} of {call}",
                recorded(table.values(STREAM, "idle_ns")))
    causes = ("host_wait", "kernel_wait", "other", "unlinked")
    for table in answers.tables("verbs", "idle"):
        parts = [f"{cause}_ns" for cause in causes] + ["head_ns", "tail_ns"]
        say("idle time of a stream", "parts of idle", recorded(of_columns(table, *parts, keys=STREAM)))
        say("number of gaps of a stream", "idle", nonzero(table.values(STREAM, "gaps")))
        for cause in causes:
            say(f"gaps of {cause}", "idle", nonzero(table.values(STREAM, f"{cause}_ns")))
    for table in answers.tables("verbs", "idle_intervals"):
        for cause in causes:
            chosen = table.where(lambda c, cause=cause: c("cause") == cause)
            say(f"gaps of {cause}", "idle_intervals", nonzero(chosen.values(STREAM, "total_ns")))
    for table in answers.tables("streams", "gpu_time"):
        say("gaps of a stream", "gpu_time", nonzero(table.values(STREAM, "gap_ns")))
    for table in answers.tables("streams", "gaps"):
        say("gaps of a stream", "sum of gaps", nonzero(table.sums(STREAM, "total_ns")))
        say("number of gaps of a stream", "sum of gaps", nonzero(table.sums(STREAM, "count")))
    for table in answers.tables("sql", "streams"):
        say("gaps of a stream", "gaps_ns in SQL", nonzero(table.values(STREAM, "gap_ns")))


def of_columns(table, *columns, keys=DEVICE):
    return added(*(table.values(keys, column) for column in columns))


def added(*maps):
    return {key: sum(numbers[key] for numbers in maps) for key in maps[0]}


def less(a, b):
    return {key: a[key] - b[key] for key in a}


CLAIMS = (span, busy, idle, activities, streams)
