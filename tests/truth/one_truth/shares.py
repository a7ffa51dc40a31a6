"""Shares: each the part it says, and all of one whole together 1."""

# call, table, column, keys of the rows that add up to 1, column that is the part
WHOLES = (
    ("verbs", "top", "share", (), "total_ns"),
    ("verbs", "kernels", "share", (), "total_ns"),
    ("verbs", "kernel_classes", "share", (), "total_ns"),
    ("verbs", "inductor_categories", "share_of_device", (), "total_ns"),
    ("verbs", "ops", "share", (), "self_device_ns"),
    ("verbs", "ledger", "share", ("rank", "gpu"), "ns"),
    ("verbs", "modelled", "share", (), "total_ns"),
    ("verbs", "sequence_coverage", "share", (), "device_ns"),
    ("verbs", "graph_launches", "share", ("rank",), "device_ns"),
    ("verbs", "critical_path_summary", "share", ("rank",), "total_ns"),
    ("verbs", "critical_ops", "share", ("rank",), "path_ns"),
    ("verbs", "variability", "excess_share", (), "excess_ns"),
    ("verbs", "gap_neighbours", "share", (), "total_ns"),
    ("verbs", "stragglers", "score", (), "caused_wait_ns"),
    ("verbs", "collective_time", "share", (), "total_ns"),
    ("verbs", "lateness", "share", ("rank",), "total_ns"),
    ("all_gaps", "kernels", "share", (), "total_ns"),
    ("by_rank", "top", "share", (), "total_ns"),
    ("by_stream", "kernels", "share", (), "total_ns"),
)
# Their rows of the time before the recording have no share, and are no part of the whole.
WITH_REST = ("critical_path_summary", "critical_ops")
# call, table, share, part, whole
PARTS = (
    ("verbs", "breakdown", "busy_share", "busy_ns", "span_ns"),
    ("verbs", "busy", "share", "busy_ns", "span_ns"),
    ("verbs", "idle", "idle_share", "idle_ns", "span_ns"),
    ("verbs", "overlap", "overlap_share", "overlapped_ns", "comm_ns"),
    ("verbs", "inductor_time", "busy_share", "busy_ns", "wall_ns"),
)


def add_up(answers, say):
    for call, name, share, keys, part in WHOLES:
        for table in map(of_the_whole, answers.tables(call, name)):
            wholes, shares = (sums(table, keys, column) for column in (part, share))
            full = {key for key, whole in wholes.items() if whole}
            place = f"{share} of {name} of {call}"
            say(f"all of {place}", "by definition", {key: 1.0 for key in full})
            say(f"all of {place}", "sum", {key: float(shares[key]) for key in full})
            rows = [(key, told, amount) for key, told, amount
                    in zip(keys_of(table, keys), table[share], table[part])
                    # A rank without anything in common with others has no score.
                    if key in full and (told is not None or share != "score")]
            say(place, "as told", dict(enumerate(told for _, told, _ in rows)))
            say(place, f"{part} / all", dict(enumerate(amount / wholes[key] for key, _, amount in rows)))


def of_the_whole(table):
    return table.where(lambda c: c("share") is not None) if table.name in WITH_REST else table


def keys_of(table, keys):
    return table.keys(keys) if keys else [()] * len(table)


def sums(table, keys, column):
    return table.sums(keys, column) if keys else {(): table.total(column)}


def parts(answers, say):
    for call, name, share, part, whole in PARTS:
        for table in answers.tables(call, name):
            rows = [row for row in table.rows(share, part, whole) if row[2]]
            say(f"{share} of {name}", "as told", dict(enumerate(row[0] for row in rows)))
            say(f"{share} of {name}", f"{part} / {whole}", dict(enumerate(row[1] / row[2] for row in rows)))


CLAIMS = (add_up, parts)
