"""What borescope answers about one run: every call it takes, and the tables of each."""

import json
import re
import subprocess
import tempfile
from pathlib import Path

from one_truth import statements

# Verbs that one load of the files answers together; their tables have different names.
TOGETHER = ("info,doctor,breakdown,busy,idle,gaps,overlap,top,kernels,variability,inductor,ops,roofline,"
            "stacks,flame,steps,launches,delays,graphs,queue,bandwidth,sequences,annotations,collectives,"
            "stragglers,waits,critical-path,variance,memory,counters")
# name of the call: arguments in front of the input
CALLS = {
    "verbs": [TOGETHER],
    "summary": ["summary"],
    "stats": ["stats", "all"],
    "all_gaps": ["variability,kernels", "--all"],
    "by_rank": ["top,kernels,ops,stacks,flame", "--by", "rank"],
    "by_stream": ["kernels", "--by", "rank,gpu,stream", "--all"],
    "top_by_stream": ["top", "--by", "rank,gpu,stream"],
    "streams": ["breakdown,busy,gaps", "--by", "stream"],
    "by_op": ["kernels", "--by", "op", "--all"],
    "top_by_op": ["top", "--by", "op"],
    "by_phase": ["kernels", "--by", "phase", "--all"],
    "op_phases": ["ops,flame,stacks", "--by", "phase"],
    "by_shape": ["ops", "--by", "shape"],
    "by_module": ["kernels", "--by", "module", "--all"],
    "by_instance": ["kernels", "--by", "module,module-instance", "--all"],
    "op_modules": ["ops", "--by", "module"],
    "by_step": ["kernels", "--by", "rank,step", "--all"],
    "top_by_step": ["top", "--by", "rank,step"],
    "steps": ["breakdown,idle,gaps", "--by", "step"],
    "by_time": ["breakdown,idle,gaps", "--by", "step", "--step-rule", "time"],
    "steps_by_time": ["steps", "--step-rule", "time"],
    "sizes": ["collectives", "--by", "size"],
    "prof": ["prof", "--all"],
    "diff": ["diff"],
    "whatif": ["whatif"],
    "plan": ["whatif", "--plan", Path(__file__).parent / "plan.json"],
    "prices": ["summary", "--price"],
    "kernels_by_step": ["kernels", "--by", "step"],
    "check": ["check"],
}
# Verbs that take two runs: here one and the same.
OF_TWO_RUNS = ("diff",)
# Tables that are there if work was launched before the recording.
OF_INHERITED_WORK = ("inherited", "inherited_work")
# Tables that are not called like their verb.
VERB_OF = {
    "traces": "info", "event_counts": "info", "quality": "doctor", "inherited": "doctor", "inherited_work": "doctor",
    "breakdown_spread": "breakdown",
    "idle_intervals": "idle", "idle_causes": "idle", "left_out": "idle", "late_host": "idle",
    "longest_gaps": "idle", "gpu_time": "gaps", "gap_neighbours": "gaps",
    "kernel_classes": "kernels", "variability_summary": "variability",
    "inductor_categories": "inductor", "inductor_kernels": "inductor", "inductor_time": "inductor",
    "utilisation": "roofline", "ledger": "roofline", "modelled": "roofline", "roofs": "roofline",
    "stack_frames": "stacks", "launch_summary": "launches", "launch_links": "launches",
    "graph_launches": "graphs", "graph_kernels": "graphs", "graph_captures": "graphs",
    "sequence_coverage": "sequences", "annotated_kernels": "annotations",
    "late_collectives": "stragglers", "collective_bandwidth": "stragglers", "critical_path": "critical-path",
    "clocks": "waits", "collective_time": "waits", "waits_by_rank": "waits", "lateness": "waits",
    "comm_model": "waits", "comm_slow": "waits",
    "replay_quality": "whatif", "ranking": "whatif", "replay_constants": "whatif",
    "gate": "check", "check_runs": "check", "checks": "check",
    "steps_spread": "variance", "variance_causes": "variance", "slow_steps": "variance",
    "critical_path_summary": "critical-path", "critical_ops": "critical-path",
    "memory_peak": "memory", "memory_ops": "memory", "memory_timeline": "memory",
    "diff_classes": "diff", "diff_phases": "diff", "diff_annotations": "diff", "diff_modules": "diff",
    "diff_operators": "diff", "diff_waiting": "diff", "diff_runs": "diff", "step_spread": "steps", "copies": "bandwidth", "counter_lineup": "counters", "counter_flops": "counters",
}


class Inconsistent(Exception):
    """A table is not what it must be by itself."""


class Table:
    """Columns by name. Remembers which were read: those are what the self test changes."""

    def __init__(self, name, columns, all_rows=None):
        self.name = name
        self.columns = columns
        self.all_rows = all_rows  # before the page cut it; None elsewhere
        self.read = set()

    def __len__(self):
        return len(next(iter(self.columns.values()), []))

    def __getitem__(self, column):
        self.read.add(column)
        return self.columns[column]

    def has(self, column):
        return column in self.columns

    def rows(self, *columns):
        return list(zip(*(self[column] for column in columns)))

    def sums(self, keys, value):
        """{key: sum of the values of its rows}; of several keys a tuple."""
        found = {}
        for key, number in zip(self.keys(keys), self[value]):
            found[key] = found.get(key, 0) + (number or 0)
        return found

    def counts(self, keys):
        """{key: number of rows}."""
        found = {}
        for key in self.keys(keys):
            found[key] = found.get(key, 0) + 1
        return found

    def values(self, keys, value):
        """{key: value}; a key must be unique."""
        found = dict(zip(self.keys(keys), self[value]))
        if len(found) != len(self):
            raise Inconsistent(f"{self.name}: {keys} do not tell its rows apart")
        return found

    def keys(self, keys):
        return self.rows(*keys) if isinstance(keys, (list, tuple)) else self[keys]

    def total(self, value):
        return sum(number or 0 for number in self[value])

    def where(self, keep):
        """The rows for which keep(row) is true; reads of columns count for this table."""
        part = Part(self, [i for i in range(len(self)) if keep(lambda c, i=i: self[c][i])])
        return part


class Part(Table):
    """Some rows of a table."""

    def __init__(self, whole, order):
        super().__init__(whole.name, whole.columns)
        self.read = whole.read
        self.order = order

    def __len__(self):
        return len(self.order)

    def __getitem__(self, column):
        self.read.add(column)
        values = self.columns[column]
        return [values[i] for i in self.order]


class Answers:
    """The answers about one run, by call."""

    def __init__(self):
        self.documents = {}  # call: {table: Table}
        self.diagnostics = {}  # call: rows
        self.left_out = {}  # call: verbs that have no answer for this run
        self.is_generated = True  # by a program of ours, with one clock
        self.has_inherited = False  # work that was launched before the recording
        self.ranks_alone = []  # Answers about each file of the run by itself

    def tables(self, call, *names):
        """These tables of a call, without those whose verb has no answer for this run, and those of work of `diff`
        where work was launched before the recording, which is in none of them."""
        for name in names:
            if call == "diff" and name != "diff_runs" and self.has_inherited:
                continue
            table = self.documents[call].get(name)
            if table is not None:
                yield table
            elif name in OF_INHERITED_WORK and self.count("inherited-work") == 0:
                continue
            elif verb_of(call, name) not in self.left_out["verbs" if call == "summary" else call]:
                raise Inconsistent(f"{call}: no table {name}, and no word why")

    def table(self, call, name):
        return next(self.tables(call, name), None)

    def add(self, call, text):
        document = json.loads(text)
        self.has_inherited |= any(any(column["values"]) for table in document["tables"] for column in table["columns"]
                                  if column["name"] == "inherited_events")
        self.diagnostics[call] = document["diagnostics"]
        self.left_out[call] = left_out(document["diagnostics"])
        self.documents[call] = tables_of(text)

    def add_nothing(self, call, verbs):
        self.documents[call] = {}
        self.diagnostics[call] = []
        self.left_out[call] = verbs

    def count(self, code, call="verbs"):
        """How often a diagnostic was counted, over all files."""
        return sum(row["count"] for row in self.diagnostics[call] if row["code"] == code)


def verb_of(call, name):
    return "stats" if call == "stats" else VERB_OF.get(name, name)


def tables_of(text):
    return {t["name"]: Table(t["name"], {c["name"]: c["values"] for c in t["columns"]}, t.get("all_rows"))
            for t in json.loads(text)["tables"]}


def left_out(diagnostics):
    verbs = set()
    for row in diagnostics:
        match = re.search(r"verbs left out: ([^(]*)", row["first"] or "")
        if row["code"] == "missing-data" and match:
            verbs |= {verb.strip() for verb in match[1].split(",")}
    return verbs


def run(program, arguments, statement=None):
    return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=False,
                          input=statement)


def output_of(program, arguments, statement=None):
    """Standard output; a failure ends the test."""
    result = run(program, arguments, statement)
    if result.returncode != 0:
        raise AssertionError(f"borescope {' '.join(map(str, arguments))}: status {result.returncode}\n"
                             f"{result.stderr}")
    return result.stdout


def page_tables(program, inputs, *options):
    """The tables that the page of `report` holds, as text, each with the number of rows that the page says it
    had; the names of those of the summary begin with `summary`."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        output_of(program, ["report", *inputs, "-o", page, *options])
        tables, layout = (json.loads(re.search(rf'id="borescope-{name}">(.*?)</script>', page.read_text(),
                                               re.DOTALL)[1]) for name in ("tables", "layout"))
    for table, all_rows in zip(tables["tables"], layout["all_rows"], strict=True):
        table["all_rows"] = all_rows
        for column in table["columns"]:
            if "texts" in column:  # those that recur, once each (docs/use/report.md)
                texts_of, cells = column.pop("texts"), column.pop("cells")
                column["values"] = [None if cell is None else texts_of[cell] for cell in cells]
    section = next(section for section in layout["sections"] if section["name"] == "summary")
    for table in tables["tables"][section["first_table"]:section["first_table"] + section["tables"]]:
        table["name"] = f"summary {table['name']}"
    return json.dumps(tables)


def texts(program, inputs, threads):
    """The bytes of the calls that together hold every verb."""
    extra = ["--threads", threads]
    found = {call: run(program, [*CALLS[call], *inputs, "-f", "json", *extra]).stdout
             for call in ("verbs", "summary", "stats", "prof")}
    found["sql"] = run(program, ["query", *inputs, "-f", "json", *extra], statements.SCRIPT).stdout
    found["page"] = page_tables(program, inputs, *extra)
    return found


def ask(program, inputs, calls=None):
    """Runs all calls about the files, or those named."""
    answers = Answers()
    for call, arguments in CALLS.items():
        if calls is None or call in calls:
            runs = [*inputs, *inputs] if call in OF_TWO_RUNS else inputs
            if call == "check":
                ask_check(answers, program, inputs)
                continue
            ask_one(answers, program, call, [*arguments, *runs, "-f", "json"])
    if calls is None:
        text = output_of(program, ["query", *inputs, "-f", "json"], statements.SCRIPT)
        answers.add("sql", statements.named(text))
        answers.add("page", page_tables(program, inputs))
    return answers


def ask_check(answers, program, inputs):
    """A run that is its own baseline. There is nothing to compare without steps."""
    result = run(program, ["check", *inputs, "--baseline", *inputs, "-f", "json"])
    if result.returncode == 2 and "steps" in answers.left_out["verbs"]:
        answers.add_nothing("check", {"check"})
    elif result.stdout:
        answers.add("check", result.stdout)
    else:
        raise AssertionError(f"borescope check {inputs}: status {result.returncode}\n{result.stderr}")


def ask_one(answers, program, call, arguments):
    verbs = set(arguments[0].split(","))
    needs = dict.fromkeys(("prof", "stats", *OF_TWO_RUNS), "top") | {"whatif": "critical-path"}  # work; events
    needed = {needs.get(verb, verb) for verb in verbs}
    if call != "verbs" and needed <= answers.left_out["verbs"] and run(program, arguments).returncode != 0:
        answers.add_nothing(call, verbs)
    else:
        answers.add(call, output_of(program, arguments))
