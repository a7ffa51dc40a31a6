"""What is replayed: the steps that `whatif` starts from are those of other verbs, and `summary --price` says what
`whatif` says of the same change."""

from one_truth.claims import nonzero

ANSWER = ("step_ns", "new_ns", "low_ns", "high_ns", "saved_share")
KERNEL = "this kernel in half its time"
DATA = "data loaded in the background"


def measured(answers, say):
    """A step lasts from its begin, or the completion of the one before, until its window and its work have ended."""
    for table in answers.tables("whatif", "replay_quality"):
        numbered = table.where(lambda c: c("step") is not None)
        whole = table.where(lambda c: c("step") is None)
        say("measured time of steps", "sum of replay_quality", nonzero(numbered.sums("rank", "measured_ns")))
        ranks = set(numbered["rank"])
        say("measured time of steps", "replay_quality",
            nonzero({rank: ns for rank, ns in whole.rows("rank", "measured_ns") if rank in ranks}))
        # Real devices have clocks of their own, and replays leave out what comes before the first launch.
        expected = completions(answers) if answers.is_generated else {}
        refused = {rank for rank, verdict in whole.rows("rank", "verdict") if verdict == "refused"}
        for rank, lengths in expected.items():
            if rank in refused:
                continue  # times contradict each other
            say(f"measured steps of rank {rank}", "steps and work in SQL", nonzero(lengths))
            mine = {step: ns for other, step, ns in numbered.rows("rank", "step", "measured_ns") if other == rank}
            say(f"measured steps of rank {rank}", "replay_quality", nonzero(mine))
            for steps in answers.tables("verbs", "steps"):
                own = {step: ns for other, step, ns in steps.rows("rank", "step", "length_ns")
                       if other == rank and step is not None}
                say(f"measured steps of rank {rank}", "steps", nonzero(own))


def completions(answers):
    """{rank: {step: length}} of ranks whose clocks agree, and whose steps differ in number."""
    steps, ends, early = (answers.table("sql", name) for name in ("whole_steps", "ends_of_steps", "early"))
    skewed = {rank for rank, works in early.rows("rank", "works") if works}
    end_of = dict(zip(ends.rows("rank", "step"), ends["end_ns"]))
    lengths, done = {}, {}
    for rank, step, begin, end in sorted(steps.rows("rank", "number", "begin_ns", "end_ns"), key=lambda row: row[2]):
        of_rank = lengths.setdefault(rank, {})
        begin = max(begin, done.get(rank, begin))
        done[rank] = max(begin, end, end_of.get((rank, step), end))
        if step in of_rank:
            skewed.add(rank)
        of_rank[step] = done[rank] - begin
    return {rank: of_rank for rank, of_rank in lengths.items() if rank not in skewed}


def longest(answers, say):
    """`variance` counts all steps but the first of each recording."""
    for table in answers.tables("verbs", "steps_spread"):
        whole = answers.table("whatif", "replay_quality")
        if "refused" in whole["verdict"]:
            return  # times contradict each other
        quality = whole.where(lambda c: c("step") is not None)
        firsts = {}
        for rank, step, begin in answers.table("sql", "whole_steps").rows("rank", "number", "begin_ns"):
            firsts[rank] = min(firsts.get(rank, (begin, step)), (begin, step))
        left_out = {step for _, step in firsts.values()}
        lengths = {}
        for rank, step, ns in quality.rows("rank", "step", "measured_ns"):
            if step not in left_out and ns:
                lengths.setdefault(rank, []).append(ns)
        of_ranks = table.where(lambda c: c("rank") is not None)
        say("longest measured step that counts", "steps_spread", of_ranks.values("rank", "max_ns"))
        say("longest measured step that counts", "replay_quality", {rank: max(ns) for rank, ns in lengths.items()})
        say("steps that count", "steps_spread", of_ranks.values("rank", "steps"))
        say("steps that count", "replay_quality", {rank: len(ns) for rank, ns in lengths.items()})


def prices(answers, say):
    """Of changes that both were asked about, and of those in the ranking."""
    # There is none without device work.
    for table in filter(None, [answers.documents["prices"].get("prices")]):
        for column in ANSWER:
            mine, theirs = (by_change(one, name, column) for one, name in
                            ((table, "change"), (answers.table("plan", "whatif"), "scenario")))
            # Where the replay is refused, only whatif says how long a step is.
            if column == "step_ns":
                theirs = {key: theirs[key] for key in theirs if mine.get(key) is not None}
            planned = {change for _, change in theirs}
            quantity = f"{column} of replayed changes"
            say(quantity, "summary --price", there({key: mine[key] for key in mine if key[1] in planned}))
            say(quantity, "whatif --plan", there(theirs))
            ranked = in_ranking(answers, column)
            kernels = {(rank, kernel): value for rank, change, kernel, value
                       in table.rows("rank", "change", "kernel", column) if change == KERNEL and (rank, kernel) in ranked}
            kernels |= {key: mine[key] for key in mine if key[1] == DATA and key in ranked}
            say(f"{column} of the levers of summary", "summary --price", kernels)
            say(f"{column} of the levers of summary", "ranking", {key: ranked[key] for key in kernels})


def there(numbers):
    return {key: number for key, number in numbers.items() if number is not None}


def by_change(table, name, column):
    return {} if table is None else dict(zip(table.rows("rank", name), table[column]))


def in_ranking(answers, column):
    """By rank and the name of the kernel, or the words of the scenario."""
    table = answers.table("whatif", "ranking")
    return {} if table is None else {
        (rank, scenario.removeprefix("kernel:").removesuffix(" x 0.5") if scenario.startswith("kernel:") else scenario): value
        for rank, scenario, value in table.rows("rank", "scenario", column)}


def works(answers, say):
    """A change of a class is of all its kernels."""
    for table in answers.tables("whatif", "ranking"):
        classes = {(rank, scenario.removeprefix("class:").removesuffix(" x 0.5")): count
                   for rank, scenario, count in table.rows("rank", "scenario", "works")
                   if scenario.startswith("class:") and scenario.endswith(" x 0.5")}
        for kernels in answers.tables("by_rank", "kernels"):
            counted = kernels.sums(("rank", "class"), "count")
            say("kernels of a class that are changed", "ranking", classes)
            say("kernels of a class that are changed", "kernels --by rank", {key: counted[key] for key in classes})


CLAIMS = (measured, longest, prices, works)
