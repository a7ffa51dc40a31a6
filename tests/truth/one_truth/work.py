"""How much device work there is: pieces and the sum of their durations, whole and by what they are."""

from one_truth.claims import nonzero
from one_truth.trees import works_of

# call, table, column of the number of pieces, column of the time: each holds all device work once.
WHOLES = (
    ("verbs", "busy", "count", "sum_ns"),
    ("verbs", "top", "count", "total_ns"),
    ("verbs", "modelled", "kernels", "total_ns"),
    ("verbs", "inductor_categories", "calls", "total_ns"),
    ("verbs", "inductor_kernels", "calls", "total_ns"),
    ("verbs", "sequence_coverage", "count", "device_ns"),
    ("verbs", "annotated_kernels", "count", "total_ns"),
    ("verbs", "traces", "device_events", None),
    ("verbs", "launch_links", "works", None),
    ("verbs", "delays", "works", None),
    ("verbs", "ops", None, "self_device_ns"),
    ("verbs", "stacks", None, "self_device_ns"),
    ("verbs", "stack_frames", None, "self_device_ns"),
    ("verbs", "inductor_time", None, "work_ns"),
    ("summary", "overview", "device_events", None),
    ("all_gaps", "kernels", "count", "total_ns"),
    ("all_gaps", "kernel_classes", "count", "total_ns"),
    ("all_gaps", "variability", "count", "total_ns"),
    ("by_rank", "top", "count", "total_ns"),
    ("by_rank", "ops", None, "self_device_ns"),
    ("by_rank", "stacks", None, "self_device_ns"),
    ("top_by_stream", "top", "count", "total_ns"),
    ("by_stream", "kernels", "count", "total_ns"),
    ("top_by_op", "top", "count", "total_ns"),
    ("by_op", "kernels", "count", "total_ns"),
    ("by_phase", "kernels", "count", "total_ns"),
    ("top_by_step", "top", "count", "total_ns"),
    ("by_step", "kernels", "count", "total_ns"),
    ("op_phases", "ops", None, "self_device_ns"),
    ("op_phases", "stacks", None, "self_device_ns"),
    ("by_shape", "ops", None, "self_device_ns"),
    ("by_module", "kernels", "count", "total_ns"),
    ("by_module", "kernel_classes", "count", "total_ns"),
    ("by_instance", "kernels", "count", "total_ns"),
    ("op_modules", "ops", None, "self_device_ns"),
    ("sql", "work", "works", "total_ns"),
    ("sql", "streams", "works", "total_ns"),
    ("sql", "activities", "works", "total_ns"),
    ("sql", "names", "works", "total_ns"),
    ("sql", "work_of_ops", "works", "total_ns"),
    ("sql", "rules", "works", None),
    ("sql", "view_op", "works", "total_ns"),
    ("sql", "view_busy", None, "GpuTime"),
    ("sql", "step_work", "works", "total_ns"),
    ("sql", "untied", None, "total_ns"),
)


def whole(answers, say):
    for call, name, count, time in WHOLES:
        for table in answers.tables(call, name):
            place = f"{name} of {call}"
            if count:
                say("pieces of device work", place, table.total(count))
            if time:
                say("time of device work", place, table.total(time))
    of_diff(answers, say)
    for table in answers.tables("stats", "cuda_gpu_trace"):
        say("pieces of device work", "rows of cuda_gpu_trace", len(table))
        say("time of device work", "cuda_gpu_trace", table.total("Duration (ns)"))
    for table in answers.tables("prof", "prof"):
        say("pieces of device work", "rows of prof --all", len(table))
        say("time of device work", "prof --all", table.total("sil_ns"))
    for call in ("verbs", "by_rank", "op_phases"):
        for table in answers.tables(call, "flame"):
            roots = table.where(lambda c: c("depth") == 0)
            say("pieces of device work", f"roots of flame of {call}", roots.total("works"))
            say("time of device work", f"roots of flame of {call}", roots.total("device_ns"))
            say("time of device work", f"leaves of flame of {call}", works_of(table).total("device_ns"))
        for table in answers.tables(call, "stacks"):
            roots = table.where(lambda c: c("depth") == 0)
            say("time of device work", f"roots of stacks of {call}", roots.total("total_device_ns"))


def of_diff(answers, say):
    """The tables of `diff` have means of so many steps: times their number they are the whole, without work in no step.
    Means of times are rounded, unless the times are whole microseconds and the number divides them."""
    for runs in answers.tables("diff", "diff_runs"):
        kernels = answers.table("verbs", "kernels")
        for run in ("base", "test"):
            row = runs.where(lambda c, run=run: c("run") == run)
            units, outside, outside_ns = (row.total(name) for name in ("units", "outside_events", "outside_ns"))
            say("pieces of device work", f"diff_runs, {run}",
                row.total("device_events") + outside + row.total("inherited_events"))
            is_exact = (kernels is not None and units > 0 and 1000 % units == 0 and
                        all(ns % 1000 == 0 for ns in kernels["total_ns"]))
            for key in ("classes", "phases", "annotations", "modules", "operators"):
                for table in answers.tables("diff", f"diff_{key}"):
                    place = f"diff_{key} of diff, {run}"
                    say("pieces of device work", place, float(table.total(f"{run}_count") * units + outside))
                    if is_exact:
                        say("time of device work", place, table.total(f"{run}_ns") * units + outside_ns)


def inherited(answers, say):
    """Work from before the recording, and what is inferred of it."""
    for table in answers.tables("verbs", "inherited", "inherited_work"):
        say("pieces of inherited work", table.name, table.sums(("rank", "gpu"), "works"))
        say("time of inherited work", table.name, table.sums(("rank", "gpu"), "device_ns"))
    for table in answers.tables("summary", "inherited"):
        say("time of inherited work", "summary", table.sums(("rank", "gpu"), "device_ns"))
    kinds = ("by_phase", "by_op", "by_module", "by_step")
    for call in kinds:
        for table in answers.tables(call, "kernels"):
            say("aligned time", f"kernels {call}", table.total("aligned_ns"))
        for table in answers.tables(call, "kernel_classes"):
            say("aligned time", f"kernel_classes {call}", table.total("aligned_ns"))
    for call in ("verbs", "op_phases"):
        for table in answers.tables(call, "flame"):
            if table.total("aligned_ns") == 0:
                continue
            roots = table.where(lambda c: c("depth") == 0)
            say("aligned time of frames", f"roots of flame of {call}", roots.total("aligned_ns"))
            say("aligned time of frames", f"leaves of flame of {call}", works_of(table).total("aligned_ns"))
        for table in answers.tables(call, "stacks"):
            if table.total("self_aligned_ns") + table.total("total_aligned_ns") == 0:
                continue
            roots = table.where(lambda c: c("depth") == 0)
            say("aligned time of frames", f"roots of stacks of {call}", roots.total("total_aligned_ns"))
            say("aligned time of frames", f"stacks of {call}", table.total("self_aligned_ns"))
    for call in ("verbs", "by_rank", "op_phases", "by_shape", "op_modules"):
        for table in answers.tables(call, "ops"):
            say("aligned time of operators", f"ops of {call}", table.total("aligned_ns"))


def kernels(answers, say):
    places = (("verbs", "kernels", "count", "total_ns"), ("verbs", "kernel_classes", "count", "total_ns"),
              ("verbs", "variability", "count", "total_ns"), ("summary", "overview", "kernels", "kernel_time_ns"),
              ("by_rank", "kernels", "count", "total_ns"),
              ("stats", "cuda_gpu_kern_sum", "Instances", "Total Time (ns)"),
              ("sql", "classes", "works", "total_ns"), ("sql", "step_kernels", "works", None))
    for call, name, count, time in places:
        for table in answers.tables(call, name):
            say("kernels", f"{name} of {call}", table.total(count))
            if time:
                say("time of kernels", f"{name} of {call}", table.total(time))
    for call, name, kind in (("verbs", "top", "kind"), ("sql", "names", "kind")):
        for table in answers.tables(call, name):
            chosen = table.where(lambda c, kind=kind: c(kind) == "kernel")
            say("kernels", f"{name} of {call}", chosen.total("count" if call == "verbs" else "works"))
            say("time of kernels", f"{name} of {call}", chosen.total("total_ns"))
    for table in answers.tables("verbs", "variability_summary"):
        for part in (table.where(lambda c: c("kernels") == "all"),
                     table.where(lambda c: c("kernels") != "all")):
            say("kernels", "variability_summary", part.total("count"))
            say("time of kernels", "variability_summary", part.total("total_ns"))


def classes(answers, say):
    for call, name, count in (("verbs", "kernel_classes", "count"), ("verbs", "kernels", "count"),
                              ("verbs", "variability", "count"), ("sql", "classes", "works")):
        for table in answers.tables(call, name):
            say("kernels of a class", f"{name} of {call}", table.sums("class", count))
            say("time of a class", f"{name} of {call}", table.sums("class", "total_ns"))


def names(answers, say):
    """By name: pieces, time, shortest and longest."""
    for call, name, count in (("verbs", "top", "count"), ("sql", "names", "works")):
        for table in answers.tables(call, name):
            for column in (count, "total_ns", "min_ns", "max_ns"):
                say(f"{'count' if column == count else column} of work by kind and name",
                    f"{name} of {call}", table.values(("kind", "name"), column))
    for call, name, key, columns in (
            ("verbs", "kernels", "name", ("count", "total_ns", "min_ns", "max_ns", "mean_ns", "stddev_ns")),
            ("stats", "cuda_gpu_kern_sum", "Name", ("Instances", "Total Time (ns)", "Min (ns)", "Max (ns)",
                                                    "Avg (ns)", "StdDev (ns)"))):
        for table in answers.tables(call, name):
            for quantity, column in zip(("count", "time", "minimum", "maximum", "mean", "deviation"), columns):
                say(f"{quantity} of kernels by name", f"{name} of {call}", table.values(key, column))
    for table in answers.tables("verbs", "top"):
        chosen = table.where(lambda c: c("kind") == "kernel")
        for quantity, column in (("count", "count"), ("time", "total_ns"), ("minimum", "min_ns"),
                                 ("maximum", "max_ns"), ("mean", "mean_ns"), ("deviation", "stddev_ns")):
            say(f"{quantity} of kernels by name", "top", chosen.values("name", column))
    names_of_all(answers, say)


def names_of_all(answers, say):
    places = (("verbs", "top", "name", "count", "total_ns"),
              ("sql", "names", "name", "works", "total_ns"),
              ("verbs", "inductor_kernels", "kernel", "calls", "total_ns"),
              ("verbs", "annotated_kernels", "name", "count", "total_ns"),
              ("all_gaps", "kernels", "name", "count", "total_ns"),
              ("by_op", "kernels", "name", "count", "total_ns"),
              ("top_by_stream", "top", "name", "count", "total_ns"),
              ("top_by_step", "top", "name", "count", "total_ns"))
    for call, name, key, count, time in places:
        for table in answers.tables(call, name):
            say("pieces of work by name", f"{name} of {call}", table.sums(key, count))
            say("time of work by name", f"{name} of {call}", table.sums(key, time))
    for call in ("verbs", "by_rank"):
        for table in answers.tables(call, "flame"):
            works = works_of(table)
            say("pieces of work by name", f"leaves of flame of {call}", works.sums("name", "works"))
            say("time of work by name", f"leaves of flame of {call}", works.sums("name", "device_ns"))
    for table in answers.tables("prof", "prof"):
        say("pieces of work by name", "prof --all", table.counts("kernel"))
        say("time of work by name", "prof --all", table.sums("kernel", "sil_ns"))


def devices(answers, say):
    """By rank, by device, by stream."""
    for keys, sql in ((("rank", "gpu"), "work"), (("rank", "gpu", "stream"), "streams")):
        for call, name in (("by_stream", "kernels"), ("top_by_stream", "top")):
            for table in answers.tables(call, name):
                say(f"pieces by {keys}", f"{table.name} of {call}", table.sums(keys, "count"))
                say(f"time by {keys}", f"{table.name} of {call}", table.sums(keys, "total_ns"))
        for table in answers.tables("sql", sql):
            say(f"pieces by {keys}", "SQL", table.values(keys, "works"))
            say(f"time by {keys}", "SQL", table.values(keys, "total_ns"))
    for call, name, count, time in (
            ("verbs", "traces", "device_events", None), ("summary", "overview", "device_events", None),
            ("verbs", "busy", "count", "sum_ns"), ("verbs", "launch_links", "works", None),
            ("verbs", "annotated_kernels", "count", "total_ns"),
            ("by_rank", "top", "count", "total_ns"), ("by_rank", "ops", None, "self_device_ns"),
            ("by_rank", "stacks", None, "self_device_ns"), ("sql", "work", "works", "total_ns"),
            ("sql", "view_op", "works", "total_ns"), ("sql", "view_busy", None, "GpuTime")):
        for table in answers.tables(call, name):
            if count:
                say("pieces by rank", f"{name} of {call}", nonzero(table.sums("rank", count)))
            if time:
                say("time by rank", f"{name} of {call}", nonzero(table.sums("rank", time)))


def graphs(answers, say):
    """Ranks without graphs are left out of `graphs`."""
    for table in answers.tables("verbs", "graph_launches"):
        ranks = set(table["rank"])
        say("pieces of ranks with graphs", "graph_launches", table.sums("rank", "works"))
        say("time of ranks with graphs", "graph_launches", table.sums("rank", "device_ns"))
        chosen = answers.table("verbs", "busy").where(lambda c: c("rank") in ranks)
        say("pieces of ranks with graphs", "busy", chosen.sums("rank", "count"))
        say("time of ranks with graphs", "busy", chosen.sums("rank", "sum_ns"))


def copies(answers, say):
    for table in answers.tables("verbs", "bandwidth"):
        say("copies of a device", "bandwidth", table.sums(("rank", "gpu"), "count"))
        say("time of copies of a device", "bandwidth", table.sums(("rank", "gpu"), "total_ns"))
        say("bytes of copies of a device", "bandwidth", nonzero(table.sums(("rank", "gpu"), "bytes")))
        say("copies", "bandwidth", table.total("count"))
        say("time of copies", "bandwidth", table.total("total_ns"))
    for table in answers.tables("sql", "copies"):
        say("copies of a device", "SQL", table.values(("rank", "gpu"), "works"))
        say("time of copies of a device", "SQL", table.values(("rank", "gpu"), "total_ns"))
        say("bytes of copies of a device", "SQL", nonzero(table.values(("rank", "gpu"), "bytes")))
        say("copies", "SQL", table.total("works"))
        say("time of copies", "SQL", table.total("total_ns"))
    for table in answers.tables("stats", "cuda_gpu_mem_time_sum"):
        say("copies", "cuda_gpu_mem_time_sum", table.total("Count"))
        say("time of copies", "cuda_gpu_mem_time_sum", table.total("Total Time (ns)"))
    for table in answers.tables("verbs", "top"):
        chosen = table.where(lambda c: c("kind") != "kernel")
        say("copies", "top", chosen.total("count"))
        say("time of copies", "top", chosen.total("total_ns"))
    for table in answers.tables("summary", "copies"):
        say("copies, those of kernels too", "summary", table.total("count"))
        say("time of copies, those of kernels too", "summary", table.total("total_ns"))
    for table in answers.tables("sql", "activities"):
        chosen = table.where(lambda c: c("activity") == "copy")
        say("copies, those of kernels too", "SQL", chosen.total("works"))
        say("time of copies, those of kernels too", "SQL", chosen.total("total_ns"))


CLAIMS = (whole, inherited, kernels, classes, names, devices, graphs, copies)
