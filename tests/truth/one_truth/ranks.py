"""A run of several ranks against the same files one by one."""

# Tables with a row or more for each rank that no other rank changes.
BY_RANK = ("traces", "event_counts", "breakdown", "busy", "idle", "idle_intervals", "idle_causes", "late_host",
           "gpu_time",
           "gaps", "overlap", "utilisation", "ledger", "steps", "launches", "launch_links", "graph_launches",
           "graph_kernels", "graph_captures", "queue", "bandwidth", "annotations", "annotated_kernels",
           "collectives", "critical_path_summary", "critical_ops", "what_if", "critical_path", "sync_edges",
           "slack", "sync_quality", "memory_peak", "memory_ops", "memory_timeline", "counter_lineup",
           "counter_flops", "counters")
# Tables of all ranks together: keys, and what adds up.
MERGED = {
    "top": (("name", "kind"), ("count", "total_ns")),
    "kernels": (("name", "class"), ("count", "total_ns")),
    "kernel_classes": (("class",), ("count", "total_ns")),
    "gap_neighbours": (("before", "after"), ("count", "total_ns")),
    "inductor_categories": (("category",), ("calls", "total_ns")),
    "inductor_kernels": (("category", "kernel", "origins", "hash", "source"), ("calls", "total_ns")),
    "inductor_time": ((), ("wall_ns", "busy_ns", "work_ns")),
    "ops": (("name",), ("calls", "self_host_ns", "total_host_ns", "self_device_ns", "total_device_ns", "flops")),
    "roofline": (("op", "shapes"), ("count", "total_ns", "flops", "bytes", "vector_flops", "kernels", "lost_ns")),
    "modelled": (("status",), ("kernels", "total_ns")),
    "stack_frames": (("name", "kind"), ("calls", "self_host_ns", "total_host_ns", "self_device_ns",
                                        "total_device_ns")),
    "launch_summary": (("kernel",), ("count", "calls", "short_kernels", "long_kernels", "long_calls",
                                     "long_delays", "host_ns", "device_ns", "delay_ns")),
    "delays": (("op", "kernels"), ("count", "works", "launch_delay_ns", "runtime_ns")),
    "sequences": (("operator", "pattern"), ("count", "device_ns", "host_ns")),
    "sequence_coverage": (("place",), ("count", "device_ns")),
}
# Whether these have an answer depends on what is found, not on what was recorded: a rank that has none alone
# may have a part in that of the run.
OF_THE_RUN = ("sequences", "sequence_coverage")
EXTREMES = {"min_ns": min, "max_ns": max}


def apart(answers, say):
    for name in BY_RANK:
        tables = [t for alone in answers.ranks_alone for t in alone.tables("verbs", name)]
        for table in answers.tables("verbs", name):
            assert tables, f"{name} of no rank alone"
            columns = list(table.columns)
            say(f"rows of {name}", "the run", dict(enumerate(table.rows(*columns))))
            say(f"rows of {name}", "its files one by one",
                dict(enumerate(row for part in tables for row in part.rows(*columns))))


def together(answers, say):
    for name, (keys, columns) in MERGED.items():
        for table in answers.tables("verbs", name):
            tables = [t for alone in answers.ranks_alone for t in alone.tables("verbs", name)]
            if name in OF_THE_RUN and len(tables) < len(answers.ranks_alone):
                continue
            for column in columns:
                say(f"{column} of {name}", "the run", sums(table, keys, column))
                say(f"{column} of {name}", "its files one by one", merged(tables, keys, column))
            for column in EXTREMES:
                if table.has(column):
                    extremes(say, name, table, tables, keys, column)


def sums(table, keys, column):
    return table.sums(keys, column) if keys else {(): table.total(column)}


def merged(tables, keys, column):
    found = {}
    for table in tables:
        for key, number in sums(table, keys, column).items():
            found[key] = found.get(key, 0) + number
    return found


def extremes(say, name, table, tables, keys, column):
    say(f"{column} of {name}", "the run", table.values(keys, column))
    found = {}
    for part in tables:
        for key, number in part.values(keys, column).items():
            found[key] = EXTREMES[column](found.get(key, number), number)
    say(f"{column} of {name}", "its files one by one", found)


CLAIMS = (apart, together)
