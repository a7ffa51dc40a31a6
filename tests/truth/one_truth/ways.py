"""Ways to the same answer: more threads, a verb by itself, a step or a rank by option."""

from one_truth import answers as asking
from one_truth.claims import Claims


def threads(program, inputs):
    """The bytes of every call with one thread and with four."""
    one, four = (asking.texts(program, inputs, count) for count in (1, 4))
    return different_texts("bytes with 1 thread", one, "with 4 threads", four)


def different_texts(place_a, a, place_b, b):
    return [f"{call}: {place_a} differ from those {place_b}" for call in a if a[call] != b[call]]


def alone(program, inputs, answers):
    """Each verb by itself, with two threads; verbs that were left out fail by themselves."""
    claims = Claims()
    for verb in asking.TOGETHER.split(","):
        result = asking.run(program, [verb, *inputs, "-f", "json", "--threads", "2"])
        claims.say(f"whether {verb} has an answer", "alone", result.returncode == 0)
        claims.say(f"whether {verb} has an answer", "together", verb not in answers.left_out["verbs"])
        if result.returncode == 0:
            same_tables(claims, f"{verb} alone", asking.tables_of(result.stdout),
                        answers.documents["verbs"], verb)
    return claims.problems()


def same_tables(claims, place, tables, others, verb):
    for name, table in tables.items():
        claims.say(f"rows of {name} of {verb}", place, dict(enumerate(table.rows(*table.columns))))
        other = others.get(name)
        claims.say(f"rows of {name} of {verb}", "together",
                   dict(enumerate(other.rows(*other.columns))) if other is not None else {})


# Tables that have the same columns by step and of one step.
BY_STEP = {
    "breakdown": ("rank", "gpu", "span_ns", "busy_ns", "compute_ns", "idle_ns", "comm_ns", "copy_ns",
                  "exposed_comm_ns", "exposed_copy_ns"),
    "gpu_time": ("rank", "gpu", "span_ns", "busy_ns", "gap_ns", "leading_ns", "trailing_ns"),
    "idle": ("rank", "gpu", "stream", "span_ns", "busy_ns", "idle_ns", "host_wait_ns", "kernel_wait_ns",
             "other_ns", "unlinked_ns", "head_ns", "tail_ns", "gaps"),
}


def steps(program, inputs, answers):
    """--step N against the rows of --by step."""
    claims = Claims()
    table = answers.table("verbs", "steps")
    for step in sorted(set(table["step"]) - {None})[:2] if table else ():
        one = asking.tables_of(asking.output_of(
            program, ["breakdown,idle,gaps,top", "--step", step, *inputs, "-f", "json"]))
        of_step = lambda c, step=step: c("step") == step
        for name, columns in BY_STEP.items():
            rows = answers.table("steps", name).where(of_step)
            claims.say(f"{name} of step {step}", "--step", dict(enumerate(one[name].rows(*columns))))
            claims.say(f"{name} of step {step}", "--by step", dict(enumerate(rows.rows(*columns))))
        rows = answers.table("top_by_step", "top").where(of_step)
        for column in ("count", "total_ns"):
            quantity = f"{column} of top of step {step}"
            claims.say(quantity, "--step", one["top"].values(("name", "kind"), column))
            claims.say(quantity, "--by step", rows.sums(("name", "kind"), column))
    return claims.problems()


def one_rank(program, inputs, answers):
    """--rank N against the file of the rank."""
    claims = Claims()
    for file_alone in answers.ranks_alone:
        rank = file_alone.table("verbs", "traces")["rank"][0]
        result = asking.run(program, [asking.TOGETHER, "--rank", rank, *inputs, "-f", "json"])
        if result.returncode == 0:
            same_tables(claims, f"--rank {rank}", asking.tables_of(result.stdout),
                        file_alone.documents["verbs"], f"rank {rank}")
    return claims.problems()


def unnoticed(program, inputs, answers):
    """The comparisons of this file that do not notice a changed answer."""
    found = [] if different_texts("bytes", {"verbs": "1"}, "others", {"verbs": "2"}) else ["threads"]
    for comparison, table in ((alone, answers.table("verbs", "breakdown")),
                              (steps, answers.table("steps", "breakdown")),
                              (one_rank, answers.ranks_alone[0].table("verbs", "breakdown"))):
        column = table.columns["busy_ns"]
        column[:] = [value + 1 for value in column]
        if not comparison(program, inputs, answers):
            found.append(comparison.__name__)
        column[:] = [value - 1 for value in column]
    return found
