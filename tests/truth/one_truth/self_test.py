"""Whether the check would notice: every column a claim reads is changed, and the claim must miss it."""

ROWS = 300  # of a column are tried at most
# What decides whether there is anything to compare.
CONDITIONS = ("events: verbs traces format", "idle: sql work busy_ns", "by_operator: sql elsewhere works",
              "collectives: verbs stragglers times_last",
              # A rank that was late for one cause alone has a share of 1, whatever its time.
              "add_up: verbs lateness rank", "add_up: verbs lateness total_ns",
              # Replays that are refused; clocks that differ; devices that are done before the host, in one step.
              "measured: whatif replay_quality verdict", "measured: sql early rank", "measured: sql early works",
              "measured: sql ends_of_steps rank", "measured: sql ends_of_steps step",
              # Changes in the ranking are those that save most.
              "prices: whatif ranking rank", "prices: whatif ranking scenario", "prices: prices prices kernel",
              "works: whatif ranking scenario",
              # Of the first step there is nothing to leave out where it is the only one.
              "metrics: verbs steps begin_ns", "metrics: verbs steps rank", "runs: verbs steps begin_ns",
              "runs: verbs steps rank",
              # Means of times of diff are compared where all times are whole microseconds.
              "whole: verbs kernels total_ns",
              # Tells the steps of several processes of one rank apart.
              "steps: verbs steps name",
              "untied: verbs quality severity", "untied: summary quality severity")


def unnoticed(answers, claims, problems_of):
    """What can change without being noticed, as "claim: call table column".

    claims are the functions that compare; problems_of(answers, claim) runs one of them.
    """
    found = []
    for claim in claims:
        forget(answers)
        problems_of(answers, claim)
        for call, table, column in read(answers):
            if not notices(table.columns[column], lambda: problems_of(answers, claim)):
                found.append(f"{claim.__name__}: {call} {table.name} {column}")
    return [name for name in found if name not in CONDITIONS]


def tables(answers):
    return [(call, table) for call, by_name in answers.documents.items() for table in by_name.values()]


def forget(answers):
    for _, table in tables(answers):
        table.read.clear()


def read(answers):
    return [(call, table, column) for call, table in tables(answers) if len(table)
            for column in sorted(table.read)]


def notices(values, problems):
    """Whether a change of the column is noticed, in some of a few rows spread over it."""
    for row in range(0, len(values), len(values) // ROWS + 1):
        kept = values[row]
        values[row] = changed(kept)
        try:
            if problems():
                return True
        finally:
            values[row] = kept
    return False


def changed(value):
    """Another value of the same type, not far away."""
    if value is None:
        return 1
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return value + max(1e-6, abs(value) * 1e-6)
    return value + "?"
