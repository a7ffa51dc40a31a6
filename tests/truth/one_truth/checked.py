"""What `check` compares is the mean over steps, without the longest, of what steps, breakdown and kernels say."""

import math

PARTS = {"busy": "busy_ns", "compute": "compute_ns", "exposed communication": "exposed_comm_ns", "exposed copies": "exposed_copy_ns",
         "idle": "idle_ns"}


def metrics(answers, say):
    for table in answers.tables("check", "gate"):
        steps = answers.table("verbs", "steps").where(lambda c: c("step") is not None)
        counted = steps_that_count(steps)
        expected = {(kind, ""): [max(ns for _, step, ns in steps.rows("rank", "step", column) if step == number)
                                 for number in counted] for kind, column in (("step", "length_ns"), ("host", "span_ns"))}
        expected |= device_parts(answers, counted) | of_kernels(answers, counted)
        for side in ("base", "test"):
            said = dict(zip(table.rows("metric", "name"), table[f"{side}_ns"]))
            keys = [key for key in said if key[0] != "budget"]
            say("usual values of steps", f"check, {side}", {key: said[key] for key in keys})
            say("usual values of steps", "other verbs", {key: rounded(usual(expected[key])) for key in keys})


def runs(answers, say):
    for table in answers.tables("check", "check_runs"):
        steps = answers.table("verbs", "steps").where(lambda c: c("step") is not None)
        say("ranks that are checked", "info", {side: len(answers.table("verbs", "traces")) for side in ("base", "test")})
        say("ranks that are checked", "check", table.values("side", "ranks"))
        say("steps that are checked", "steps", {side: len(steps_that_count(steps)) for side in ("base", "test")})
        say("steps that are checked", "check", table.values("side", "steps"))


def steps_that_count(steps):
    """All but the first of each rank, unless there is one only."""
    firsts = {}
    for rank, begin, step in steps.rows("rank", "begin_ns", "step"):
        firsts[rank] = min(firsts.get(rank, (begin, step)), (begin, step))
    numbers = set(steps["step"])
    rest = numbers - {step for _, step in firsts.values()}
    return sorted(rest or numbers)


def device_parts(answers, counted):
    """Of the mean rank and device."""
    found = {}
    breakdown = answers.table("steps", "breakdown")
    for name, column in PARTS.items():
        rows = breakdown.rows("step", column) if breakdown else []
        by_step = {number: [ns for step, ns in rows if step == number] for number in counted}
        found["device", name] = [sum(ns) / max(len(ns), 1) for ns in by_step.values()]
    return found


def of_kernels(answers, counted):
    """Of the mean rank."""
    ranks = len(answers.table("verbs", "traces"))
    sums = {}
    kernels = answers.table("kernels_by_step", "kernels")
    for step, name, kind, ns in kernels.rows("step", "name", "class", "total_ns") if kernels else []:
        for key in (("class", kind), ("kernel", name)):
            sums[(*key, step)] = sums.get((*key, step), 0) + ns
    return {key: [sums.get((*key, step), 0) / ranks for step in counted] for key in {key[:2] for key in sums}}


def usual(values):
    """The mean without the largest of three or more."""
    return sum(values) / len(values) if len(values) < 3 else (sum(values) - max(values)) / (len(values) - 1)


def rounded(value):
    return math.floor(value + 0.5)


CLAIMS = (metrics, runs)
