"""Device work by the operator behind it, and the work that has no launch or no operator."""

from one_truth.claims import nonzero
from one_truth.trees import leaves, own_time_by_op

NONE = "(no operator)"
NO_MODULE = "(no module)"


def by_operator(answers, say):
    quantity = "device time of an operator itself"
    for call in ("verbs", "by_rank", "op_phases", "by_shape"):
        for table in answers.tables(call, "ops"):
            say(quantity, f"ops of {call}", nonzero(table.sums("name", "self_device_ns")))
    for call, name in (("by_op", "kernels"), ("top_by_op", "top")):
        for table in answers.tables(call, name):
            say(quantity, f"{name} --by op", nonzero(named(table.sums("op", "total_ns"))))
            say("pieces of work of an operator", f"{name} --by op", named(table.sums("op", "count")))
    for table in answers.tables("sql", "work_of_ops"):
        say(quantity, "SQL", nonzero(named(table.values("op", "total_ns"))))
        say("pieces of work of an operator", "SQL", named(table.values("op", "works")))
    by_frames(answers, say)


def by_module(answers, say):
    quantity = "device time of a class of modules"
    for call, name, time in (("by_module", "kernels", "total_ns"), ("by_module", "kernel_classes", "total_ns"),
                             ("by_instance", "kernels", "total_ns")):
        for table in answers.tables(call, name):
            sums = nonzero(table.sums("module", time))
            say(quantity, f"{name} of {call}", {NO_MODULE if key is None else key: ns for key, ns in sums.items()})


def range_names(answers):
    """In programs without operators, the names of the ranges that stand for them."""
    kinds = {kind for table in answers.tables("verbs", "stacks") for kind in table["kind"]}
    if "op" in kinds:
        return set()
    return {name for table in answers.tables("sql", "ops") for name in table["name"]}


def by_frames(answers, say):
    """Of frames around launches; where an operator is not told by its launch, they may tell another."""
    quantity = "device time of an operator itself"
    if any(table.total("works") for table in answers.tables("sql", "elsewhere")):
        return
    ranges = range_names(answers)
    for table in answers.tables("verbs", "flame"):
        time, pieces = {}, {}
        for op, works, device_ns in leaves(table, ranges):
            time[op] = time.get(op, 0) + device_ns
            pieces[op] = pieces.get(op, 0) + works
        say(quantity, "leaves of flame", nonzero(named(time)))
        say("pieces of work of an operator", "leaves of flame", named(pieces))
    for table in answers.tables("verbs", "stacks"):
        say(quantity, "stacks", nonzero(named(own_time_by_op(table, ranges))))


def named(numbers):
    """The work without an operator under the name it has in `ops`."""
    return {NONE if key is None else key: number for key, number in numbers.items()}


def calls(answers, say):
    for call in ("verbs", "by_rank", "op_phases", "by_shape"):
        for table in answers.tables(call, "ops"):
            chosen = table.where(lambda c: c("name") != NONE)
            say("calls of an operator", f"ops of {call}", nonzero(chosen.sums("name", "calls")))
    for table in () if range_names(answers) else answers.tables("verbs", "stacks", "stack_frames"):
        chosen = table.where(lambda c: c("kind") == "op")
        say("calls of an operator", table.name, nonzero(chosen.sums("name", "calls")))
    for table in answers.tables("sql", "ops"):
        say("calls of an operator", "SQL", table.values("name", "calls"))


def untied(answers, say):
    for table in answers.tables("sql", "untied"):
        say("work without a launch", "SQL", nonzero(table.values("rank", "no_launch")))
        say("all work without a launch", "SQL", table.total("no_launch"))
        say("work without launch or operator", "SQL", table.total("untied"))
        say("launched work without operator", "SQL", nonzero(table.values("rank", "launch_only")))
        say("launched work without operator in all", "SQL", table.total("launch_only"))
        say("time of work without operator", "SQL", nonzero(table.values("rank", "no_op_ns")))
        say("all time of work without operator", "SQL", table.total("no_op_ns"))
    for table in answers.tables("verbs", "launch_links"):
        say("work without a launch", "launch_links", nonzero(table.values("rank", "works_without_launch")))
        say("work without a launch", "works - linked_works", nonzero(
            {rank: works - linked for rank, works, linked in table.rows("rank", "works", "linked_works")}))
    for table in answers.tables("verbs", "queue"):
        say("work without a launch", "queue", nonzero(table.sums("rank", "unlinked")))
    for table in answers.tables("verbs", "delays"):
        chosen = table.where(lambda c: c("op") == "(launch not recorded)")
        say("all work without a launch", "delays", chosen.total("works"))
    for table in answers.tables("by_rank", "ops"):
        chosen = table.where(lambda c: c("name") == NONE)
        say("time of work without operator", "ops --by rank", nonzero(chosen.sums("rank", "self_device_ns")))
    if any(len(table) for table in answers.tables("sql", "ops")):  # where there are none, nothing lacks one
        say("launched work without operator in all", "diagnostics", answers.count("no-operator"))
    say("all work without a launch", "diagnostics",
        sum(answers.count(code) for code in UNLAUNCHED))
    for table in answers.tables("sql", "rules"):
        for rule, quantity in (("none", "work without launch or operator"),
                               ("launch only", "launched work without operator in all")):
            rules = (rule, "ambiguous") if rule == "none" else (rule,)
            say(quantity, "links in SQL", table.where(lambda c, rules=rules: c("rule") in rules).total("works"))
    doctor(answers, say)


# Launched before the recording; its launch lost; of several calls nobody knows which.
UNLAUNCHED = ("inherited-work", "unlinked-device-event", "ambiguous-launch")


def doctor(answers, say):
    """Its checks count per rank, and give the part of the device time."""
    for table in answers.tables("verbs", "quality"):
        chosen = table.where(lambda c: c("check") in UNLAUNCHED)
        say("work without a launch", "quality of verbs", nonzero(chosen.sums("rank", "count")))
        say("share of work without a launch", "quality of verbs", nonzero(chosen.sums("rank", "share")))
    for call, name in (("verbs", "quality"), ("summary", "quality")):
        for table in answers.tables(call, name):
            for check, quantity in (("unlinked-device-event", "work that lost its launch"),
                                    ("no-operator", "launched work without operator")):
                chosen = table.where(lambda c, check=check: c("check") == check)
                # The summary lists warnings alone: a check it leaves out says nothing. Nor does one that
                # does not apply: programs without PyTorch have no operators.
                if len(chosen.where(lambda c: c("severity") != "n/a")) or (call == "verbs" and not len(chosen)):
                    say(quantity, f"quality of {call}", nonzero(chosen.values("rank", "count")))
                    say(f"share of {quantity}", f"quality of {call}", nonzero(chosen.values("rank", "share")))
    for table in answers.tables("sql", "untied"):
        for column, quantity in (("no_launch_ns", "work without a launch"),
                                 ("launch_only_ns", "launched work without operator")):
            say(f"share of {quantity}", "SQL", nonzero(
                {rank: part / whole if whole else 0
                 for rank, part, whole in table.rows("rank", column, "total_ns")}))


def launches(answers, say):
    for table in answers.tables("verbs", "launches"):
        say("launched work", "rows of launches", nonzero(table.counts("rank")))
        say("all launched work", "rows of launches", len(table))
        say("time of launched work", "launches", table.total("device_ns"))
        say("launched work by name", "launches", table.counts("kernel"))
    for table in answers.tables("verbs", "launch_links"):
        say("launched work", "launch_links", nonzero(table.values("rank", "linked_works")))
    for table in answers.tables("verbs", "launch_summary"):
        say("all launched work", "launch_summary", table.total("count"))
        say("time of launched work", "launch_summary", table.total("device_ns"))
        say("launched work by name", "launch_summary", table.values("kernel", "count"))
    for table in answers.tables("sql", "untied"):
        say("time of launched work", "SQL", table.total("total_ns") - table.total("no_launch_ns"))


def flops(answers, say):
    for call in ("verbs", "by_shape", "by_rank", "op_phases"):
        for table in answers.tables(call, "ops"):
            say("FLOPs", f"ops of {call}", table.total("flops"))
    for table in answers.tables("verbs", "roofline"):
        say("FLOPs", "roofline", table.total("flops"))
        say("FLOPs of an operator", "roofline", nonzero(table.sums("op", "flops")))
        say("bytes of operators", "roofline", table.total("bytes"))
        for ops in answers.tables("verbs", "ops"):
            say("FLOPs of an operator", "ops", nonzero(ops.sums("name", "flops")))
        for prof in answers.tables("prof", "prof"):
            say("FLOPs", "prof --all", prof.total("flops"))
            say("bytes of operators", "prof --all", prof.total("bytes"))


def modelled(answers, say):
    counted = ("modelled", "captured")
    for table in answers.tables("verbs", "modelled"):
        chosen = table.where(lambda c: c("status") in counted)
        say("work with a model", "modelled", chosen.total("kernels"))
        say("time of work with a model", "modelled", chosen.total("total_ns"))
    for table in answers.tables("verbs", "roofline"):
        say("work with a model", "roofline", table.total("kernels"))
        say("time of work with a model", "roofline", table.total("total_ns"))


CLAIMS = (by_operator, by_module, calls, untied, launches, flops, modelled)
