#!/usr/bin/env python3
"""Plants captures of graphs and asks borescope for the operator of every kernel.

Usage: check_captures.py BORESCOPE SYNTH [seed ...]

For each way in which borescope-synth changes captures, every kernel of a graph must have the planted operator,
shapes and module, or none where none is planted; the table graph_operators must say how each was matched. A folder
that holds both files must give the same answers: the captures are never a rank.
"""

import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

CHANGES = ("none", "missing", "inserted", "other", "shapes", "operators", "unnamed")
KERNELS = ("SELECT k.rank AS rank, k.correlation AS correlation, k.ts_ns AS ts_ns, o.name AS op, "
           "o.input_dims AS dims, k.op_id AS op_id FROM kernels k LEFT JOIN captured_ops o "
           "ON o.rank = k.rank AND o.id = k.op_id ORDER BY k.ts_ns, k.id")


def ask(borescope, *arguments):
    command = [borescope, *map(str, arguments), "-f", "json", "-q"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: status {result.returncode}\n{result.stderr}")
    return json.loads(result.stdout)


def table(answer, name):
    """The rows of a table, each a dictionary."""
    columns = next(one for one in answer["tables"] if one["name"] == name)["columns"]
    names = [column["name"] for column in columns]
    return [dict(zip(names, row)) for row in zip(*(column["values"] for column in columns))]


def planted(folder):
    truth = json.loads((folder / "truth.json").read_text())
    return [dict(zip(truth["columns"], row)) for row in truth["rows"]]


def check_kernels(what, borescope, inputs, truth):
    rows = table(ask(borescope, "query", KERNELS, *inputs), "query")
    if {row["rank"] for row in rows} != {0} or len(rows) != len(truth):
        sys.exit(f"{what}: {len(rows)} kernels of ranks {({row['rank'] for row in rows})}, planted {len(truth)}")
    for row, expected in zip(rows, truth):
        dims = row["dims"] or None
        if (row["op"], dims) != (expected["op"], expected["dims"]):
            sys.exit(f"{what}: correlation {expected['correlation']}, position {expected['position']}: "
                     f"{row['op']} {dims}, planted {expected['op']} {expected['dims']}")


def check_modules(what, borescope, inputs, truth):
    rows = table(ask(borescope, "kernels", *inputs, "--by", "module-instance,op"), "kernels")
    found = Counter()
    for row in rows:
        module = (row["module_instance"] or "").removeprefix("nn.Module: ") or None
        found[module, row["op"]] += row["count"]
    expected = Counter((row["module"], row["op"]) for row in truth)
    if found != expected:
        sys.exit(f"{what}: modules {found}, planted {expected}")


def check_matches(what, borescope, inputs, truth):
    rows = table(ask(borescope, "graphs", *inputs), "graph_operators")
    found, tied = Counter(), Counter()
    for row in rows:
        found[row["match"]] += row["kernels"]
        tied[row["match"]] += row["tied"]
    expected = Counter(row["match"] for row in truth)
    expected_tied = Counter(row["match"] for row in truth if row["op"] is not None)
    if found != expected or +tied != expected_tied:
        sys.exit(f"{what}: matched {found}, tied {tied}; planted {expected}, {expected_tied}")


def check_sums(what, borescope, inputs):
    """Operators add up to all device time, to the nanosecond."""
    ops = table(ask(borescope, "ops", *inputs), "ops")
    kernels = table(ask(borescope, "kernels", *inputs), "kernels")
    stacks = table(ask(borescope, "stacks", *inputs), "stacks")
    sums = (sum(row["self_device_ns"] for row in ops), sum(row["total_ns"] for row in kernels),
            sum(row["self_device_ns"] for row in stacks))
    if len(set(sums)) != 1:
        sys.exit(f"{what}: operators, kernels and stacks have {sums} ns")


def check(borescope, synth, change, seed, scratch):
    what = f"{change}, seed {seed}"
    folder = scratch / f"{change}-{seed}"
    subprocess.run([synth, "--out", folder, "--captures", change, "--seed", str(seed)], check=True)
    truth = planted(folder)
    trace, captures = folder / "rank-0.json", folder / "captures"
    for inputs in ([trace], [trace, "--captures", captures], [trace, "--captures", captures / "rank-0.json"]):
        check_kernels(what, borescope, inputs, truth)
        check_modules(what, borescope, inputs, truth)
        check_matches(what, borescope, inputs, truth)
        if any(row["op"] is not None for row in truth):  # without any operator `ops` is an error
            check_sums(what, borescope, inputs)
    check_one_folder(what, borescope, folder, scratch / f"both-{change}-{seed}", truth)


def check_one_folder(what, borescope, folder, both, truth):
    """Execution and captures in one folder, under names that say nothing."""
    both.mkdir()
    (both / "a.json").write_bytes((folder / "rank-0.json").read_bytes())
    (both / "b.json").write_bytes((folder / "captures" / "rank-0.json").read_bytes())
    if all(row["op"] is None for row in truth):
        return  # captures of other graphs are a recording like any other
    check_kernels(what + ", one folder", borescope, [both], truth)
    check_matches(what + ", one folder", borescope, [both], truth)


def main(borescope, synth, seeds):
    with tempfile.TemporaryDirectory() as scratch:
        for seed in seeds:
            for change in CHANGES:
                check(borescope, synth, change, seed, Path(scratch))
    print(f"{len(seeds)} seeds, {len(CHANGES)} changes: every kernel has the planted operator")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:] or ["1"])
