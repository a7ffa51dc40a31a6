"""Tables that stand in several places: in the summary, in the page of `report`, of one rank alone."""

import re

# Drawn in the page as lines, of which it keeps the outline alone where they are long.
OUTLINED = ("memory_timeline",)
# Moments: in the page, and elsewhere.
SINCE = "_offset_ns"
ON_CLOCK = re.compile(r"(^ts|(^|_)(begin|end))_ns$")
# Of a table in the page; a number counts as the one size, a text as its own and that of its marks.
MOST_ROWS = 2000
MOST_BYTES = 300_000
NUMBER_BYTES = 10
MARKS = len('"",')
TREES = {"flame": ("works", "device_ns"), "stacks": ("total_host_ns", "total_device_ns")}
# Tables of the summary that are those of a verb; "top 5" is their begin.
SUMMARY = ("breakdown", "breakdown_spread", "stragglers", "idle_causes", "kernels", "ops")
TOP = ("stragglers", "kernels", "ops")


def summary(answers, say):
    for call in ("summary", "verbs"):
        # The verb ops refuses where all work is without operator, and the summary says just that; of ranks
        # with no collective in common the summary says nothing.
        named = {name: True for name in SUMMARY
                 if name in answers.documents[call] and name not in ("ops", "stragglers")}
        say("tables of the summary", call, named)
    for name in SUMMARY:
        table, whole = (answers.documents[call].get(name) for call in ("summary", "verbs"))
        if table is None or whole is None:
            continue
        if name == "stragglers":  # the verb leaves out ranks that recorded no collective
            table = table.where(lambda c: c("collectives") + c("unmatched") + c("unused") > 0)
        begin(say, f"rows of {name}", "summary", table, whole, name in TOP)


def begin(say, quantity, place, table, whole, may_be_cut):
    """The rows of a table, or the first of them."""
    columns = [column for column in table.columns if whole.has(column)]
    rows = list(table.rows(*columns))
    say(quantity, place, dict(enumerate(rows)))
    expected = list(whole.rows(*columns))
    say(quantity, "the verb", dict(enumerate(expected[:len(rows)] if may_be_cut else expected)))
    since = [column for column in table.columns if column.endswith(SINCE)]
    moments(say, quantity, since, table, whole)
    elapsed = whole.has("elapsed_ns") and not any(ON_CLOCK.search(c) for c in table.columns)
    shown = [c.removesuffix(SINCE) + "_ns" if c in since else c for c in table.columns]
    told = [c for c in whole.columns if not (elapsed and ON_CLOCK.search(c))]
    say(f"columns of {quantity}", place, {c: True for c in shown})
    say(f"columns of {quantity}", "the verb", {c: True for c in told})


def moments(say, quantity, since, table, whole):
    """The page counts moments from the begin of each rank's recording, which is one, whatever the table."""
    for column in since:
        on_clock = whole[column.removesuffix(SINCE) + "_ns"]
        for row, (rank, moment) in enumerate(table.rows("rank", column)):
            if moment is not None:
                say(f"begin of rank {rank}", f"row {row} of {column} in {quantity}", on_clock[row] - moment)


def page(answers, say):
    """Every table of the page that a verb gives, too."""
    for name, table in answers.documents["page"].items():
        section, _, title = name.rpartition(" ")
        whole = answers.documents[section or "verbs"].get(title)
        if whole is None:
            continue
        if name in TREES:
            roots(say, name, table, whole)
            continue
        say(f"number of rows of {name} before the page cut it", "page", table.all_rows)
        say(f"number of rows of {name} before the page cut it", "the verb", len(whole))
        if not (name in OUTLINED and len(table) < len(whole)):
            begin(say, f"rows of {name} in the page", "page", table, whole, may_end_at(len(table), whole))


def roots(say, name, table, whole):
    """Of a tree the page leaves out what is narrow, and keeps the sums."""
    for place, tree in (("page", table), ("the verb", whole)):
        top = tree.where(lambda c: c("depth") == 0)
        for column in TREES[name]:
            say(f"{column} of {name} in the page", place, top.total(column))


def may_end_at(rows, whole):
    """Whether the page may show so many rows of a table: all, its limit, or what leaves no room for one more."""
    if rows in (len(whole), MOST_ROWS):
        return True
    shown = (value for values in whole.columns.values() for value in values[:rows + 1])
    return sum(map(bytes_of, shown)) > MOST_BYTES


def bytes_of(value):
    return len(value.encode()) + MARKS if isinstance(value, str) else NUMBER_BYTES


CLAIMS = (summary, page)
