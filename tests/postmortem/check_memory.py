#!/usr/bin/env python3
"""What `borescope postmortem` makes of memory snapshots of programs whose fault is known (memory_programs.py).

    check_memory.py BORESCOPE
"""

import json
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path

import memory_programs as programs
from check_faults import rows

GROWS = "Out of memory: memory grows from step to step"
PEAKS = "Out of memory: each step needs more than the one before"
STATES = "Out of memory: the states of the optimizer do not fit"
FULL = "Out of memory: the device is full"
NOTHING = "No request for memory failed in this recording"


class Answer:
    def __init__(self, borescope, snapshot):
        with tempfile.TemporaryDirectory(prefix="postmortem-memory-") as name:
            path = Path(name) / "snapshot.pickle"
            path.write_bytes(pickle.dumps(snapshot, 4))
            done = subprocess.run([borescope, "postmortem", str(path), "-f", "json", "--threads", "1"], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"status {done.returncode}: {done.stderr}")
        self.tables = {table["name"]: table for table in json.loads(done.stdout)["tables"]}
        self.findings = rows(self.tables, "postmortem")
        self.first = self.findings[0]

    def growth(self):
        return [(row["line"], row["growth"], row["certainty"]) for row in rows(self.tables, "memory_growth")]

    def fix(self, begin):
        return next((row for row in rows(self.tables, "oom_fixes") if row["change"].startswith(begin)), None)

    def batch(self):
        """By how many percent a batch is to be smaller."""
        fix = self.fix("a batch smaller by ")
        return None if fix is None else int(fix["change"].split()[-2])


def number_after(text, words):
    """-1 where these words are not there."""
    after = text.partition(words)[2].split()
    return int(after[0]) if after else -1


def main():
    borescope = sys.argv[1]
    wrong = []
    checks = 0

    def check(name, is_right, answer):
        nonlocal checks
        checks += 1
        if not is_right:
            wrong.append(name)
            print(f"wrong: {name}: " + "; ".join(f"{one['finding']} | {one['certainty']} | {one['evidence']} | {one['help']}" for one in answer.findings))

    def ask(snapshot):
        return Answer(borescope, snapshot)

    # A leak leads, and what settings bring is a later failure: as much later as the same program fails under the setting.
    snapshot, failed = programs.leak()
    answer = ask(snapshot)
    check("pieces follow", "The pieces follow from that growth." in answer.first["evidence"], answer)
    check("a leak leads", (answer.first["finding"], answer.first["certainty"], answer.first["where"]) == (GROWS, "certain", "/app/train.py:55 main"), answer)
    check("the leak is said once", len(answer.findings) == 1, answer)
    check("without the leaked line", "Without the blocks of /app/train.py:55 main" in answer.first["help"] and "this request would have succeeded" in answer.first["help"], answer)
    spare = answer.fix("set PYTORCH_CUDA_ALLOC_CONF")["spare_bytes"]
    later = number_after(answer.first["help"], "expandable_segments:True by about ")
    check("by so many steps", later == spare // (30 * programs.MIB) and later > 0 and failed > 20, answer)

    answer = ask(programs.leak(last_events=200)[0])
    check("a leak in a ring", answer.first["finding"] == GROWS and answer.first["where"] == "/app/train.py:55 main", answer)

    answer = ask(programs.small_leak())
    check("a small leak does not lead", answer.first["finding"] == FULL and answer.findings[1]["finding"] == "Memory grows from step to step", answer)

    answer = ask(programs.evaluation())
    check("evaluation", answer.first["finding"] == GROWS and "torch.no_grad()" in answer.first["help"] and "9 other lines grow as well" in answer.first["evidence"], answer)
    check("all of its lines", "and 9 other lines that grow" in answer.first["help"], answer)

    answer = ask(programs.cache())
    check("a cache that grows", (answer.first["finding"], answer.first["certainty"], answer.first["where"]) == (GROWS, "likely", "/app/serve.py:33 generate"), answer)
    check("by larger blocks", answer.growth() == [("/app/serve.py:33 generate", "replaced", "likely")] and "torch.cat" in answer.first["help"], answer)

    answer = ask(programs.longer_sequences())
    check("longer sequences", (answer.first["finding"], answer.first["certainty"]) == (PEAKS, "likely") and "/app/model.py:3" in answer.first["where"], answer)
    check("of three lines", {row[1] for row in answer.growth()} == {"peak"} and len(answer.growth()) == 3, answer)

    # The first step of the optimizer: 24 states for 12 parameters are to come, whichever fails.
    for fits in (13, 20):
        answer = ask(programs.first_optimizer_step(fits))
        check(f"states {fits}", (answer.first["finding"], answer.first["certainty"]) == (STATES, "likely"), answer)
        made = number_after(answer.first["evidence"], "the optimizer had made ")
        more = number_after(answer.first["evidence"], "or more for each: ")
        check(f"how many states {fits}", made + more == 24 and made <= fits + 6, answer)
        check(f"no settings {fits}", "expandable_segments" not in answer.first["help"], answer)

    # A smaller batch makes all that the forward pass holds smaller. What fits is known: 12 parameters, and the rest for so many and one.
    for fits in (5, 9):
        answer = ask(programs.first_forward(fits))
        truth = next(percent for percent in range(1, 100)
                     if (fits + 1) * -(-(512 * programs.MIB * (100 - percent) // 100) // (2 * programs.MIB)) * 2 <= fits * 512 + 300)
        check(f"forward {fits}", answer.first["finding"] == FULL and answer.batch() == truth, answer)
        check(f"checkpointing {fits}", "activation checkpointing" in answer.first["help"] and "may need more" in answer.first["help"], answer)

    answer = ask(programs.cleared_list())
    check("a list that is cleared", answer.growth() == [] and len(answer.findings) == 1, answer)
    check("a request of unknown kind", answer.batch() is None, answer)
    for steps in range(40, 50):
        check(f"cleared after {steps}", all(row[2] != "certain" for row in ask(programs.cleared_list(steps)).growth()), answer)

    answer = ask(programs.loading())
    check("a model that is loaded", answer.first["finding"] == FULL, answer)

    answer = ask(programs.queue())
    check("a queue", answer.growth() == [] and answer.first["finding"] == NOTHING, answer)
    check("what is there", "optimizer state" in answer.first["evidence"] and answer.first["severity"] == "info", answer)

    found = 0
    for seed in range(40):
        answer = ask(programs.lengths_of_chance(seed))
        found += len(answer.growth())
        check(f"chance {seed}", answer.first["finding"] == NOTHING, answer)
    check("growth by chance", found == 0, answer)

    print(f"{checks - len(wrong)} of {checks} are right")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
