#!/usr/bin/env python3
"""Runs the script of `borescope launch slurm` with a stand-in for sbatch, in every shell there is.

    check_script.py --borescope BIN

The stand-in writes down what it is given and runs the job scripts with a stand-in for borescope, which
writes down its words. What arrives must be what was typed, whatever characters names have, and the
shards that are submitted those without a part, whatever parts are there and however many.

Exit status: 0 all is well, 1 something is not.
"""

import argparse
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SHELLS = [shell for shell in ("sh", "dash", "bash", "busybox", "zsh") if shutil.which(shell)]
HOSTILE = ["plain", "two  words", " lead", "it's", "'", "''", '"quoted"', "$HOME", "`id`", "$(id)", "a;b",
           "a&b", "a|b", "<a>b", "*", "?[a]", "~", "#a", "!a", "{a,b}", "a=b", "--", "-n", "100%", "%j",
           "é€", "(a)", "END", "^a"]
ARGUMENT = 128 << 10  # the longest that Linux takes
STAND_IN = """\
#!{python}
import json, os, subprocess, sys
with open({log!r}, "a") as log:
    script = sys.stdin.read()
    said = subprocess.run(["sh", "-s"], input=script, text=True, stdout=subprocess.PIPE, check=False,
                          stderr=subprocess.DEVNULL,
                          env=dict(os.environ, SLURM_ARRAY_TASK_ID="7")).stdout
    log.write(json.dumps([sys.argv[1:], json.loads(said)]) + "\\n")
print("4711;cluster")
"""
WORDS = """\
#!{python}
import json, sys
print(json.dumps(sys.argv[1:]))
"""


class Test:
    def __init__(self, borescope: Path, folder: Path) -> None:
        self.borescope, self.folder, self.log = borescope, folder, folder / "log"
        self.programs = folder / "programs"
        self.programs.mkdir()
        for name, text in (("sbatch", STAND_IN), ("borescope", WORDS)):
            path = self.programs / name
            path.write_text(text.format(python=sys.executable, log=str(self.log)))
            path.chmod(0o755)

    def script(self, *words: str) -> str:
        return subprocess.run([self.borescope, "launch", "slurm", *words], check=True, text=True,
                              capture_output=True).stdout

    def start(self, script: str, shell: str) -> subprocess.CompletedProcess:
        self.log.unlink(missing_ok=True)
        words = ["busybox", "sh"] if shell == "busybox" else [shell]
        return subprocess.run([*words, "-s"], input=script, text=True, cwd=self.folder, check=False,
                              capture_output=True, env={"PATH": f"{self.programs}:/usr/bin:/bin"})

    def submit(self, script: str, shell: str) -> list[tuple[list[str], list[str]]]:
        """For each job, the words of sbatch and those of borescope."""
        self.start(script, shell).check_returncode()
        return [tuple(json.loads(line)) for line in self.log.read_text().splitlines()]


def pattern_of(folder: str, count: int) -> str:
    """The glob that reduce is given."""
    return re.sub(r"([*?\[\]\\])", r"\\\1", folder) + f"/*-of-{count:05}.part"


def words_arrive(test: Test) -> None:
    for i, name in enumerate(HOSTILE):
        shell = SHELLS[i % len(SHELLS)]
        output, run = f"out/{name}", f"in {name}"
        script = test.script("kernels", f"--captures={name}", "--shards", "8", "--cpus", "3", "--mem",
                             "1G", "--top", "4", f"--account={name}", f"-o{output}/", "--", run, name)
        (_, mapped), (_, reduced) = submitted = test.submit(script, shell)
        assert mapped == ["map", "kernels", f"--captures={name}", "--threads=3", "--shard=7/8",
                          f"--output={output}/", "--", run, name], (shell, mapped)
        assert reduced == ["reduce", "--top=4", f"--output={output}/answer.txt", "--",
                           pattern_of(output, 8)], (shell, reduced)
        log = output.replace("%", "%%") + "/log/"
        common = ["--parsable", "--cpus-per-task=3", "--mem=954M", f"--account={name}"]
        assert submitted[0][0] == [*common, "--job-name=borescope-map", "--array=0-7",
                                   f"--output={log}map-%A_%a.txt"], submitted[0][0]
        assert submitted[1][0] == [*common, "--job-name=borescope-reduce", "--dependency=afterany:4711",
                                   f"--output={log}reduce-%j.txt"], submitted[1][0]


def shards_of(array: str) -> list[int]:
    ranges = [tuple(map(int, each.split("-"))) for each in array.split(",")]
    return [shard for first, last in ranges for shard in range(first, last + 1)]


def only_missing_shards_are_submitted(test: Test) -> None:
    rng = random.Random(1)
    for i in range(24):
        count = rng.choice([1, 2, 3, 9, 10, 11, 101, 1000])
        there = {shard for shard in range(count) if rng.random() < rng.choice([0, 0.1, 0.5, 0.9, 1])}
        folder = test.folder / f"parts{i}"
        folder.mkdir()
        for shard in there:
            (folder / f"{shard:05}-of-{count:05}.part").touch()
        (folder / f"{count - 1:05}-of-{count + 1:05}.part").touch()  # of another division
        script = test.script("kernels", "run", "--shards", str(count), "-o", folder.name)
        jobs = test.submit(script, SHELLS[i % len(SHELLS)])
        arrays = [word[len("--array="):] for word in jobs[0][0] if word.startswith("--array=")]
        missing = [shard for shard in range(count) if shard not in there]
        assert (shards_of(arrays[0]) if arrays else []) == missing, (count, there, arrays)
        waits = any(word.startswith("--dependency=") for word in jobs[-1][0])
        assert len(jobs) == (2 if missing else 1) and waits == bool(missing)


def many_gaps_are_several_arrays(test: Test) -> None:
    count = 9_999
    folder = test.folder / "gaps"
    folder.mkdir()
    for shard in range(0, count, 2):
        (folder / f"{shard:05}-of-{count:05}.part").touch()
    *maps, (reduce, _) = test.submit(
        test.script("kernels", "run", "--shards", str(count), "-o", "gaps"), "sh")
    arrays = [word for sbatch, _ in maps for word in sbatch if word.startswith("--array=")]
    assert len(arrays) == len(maps) > 1 and max(map(len, arrays)) < ARGUMENT
    shards = [shard for array in arrays for shard in shards_of(array[len("--array="):])]
    assert shards == list(range(1, count, 2))
    assert f"--dependency=afterany{':4711' * len(maps)}" in reduce, reduce


def force_maps_all_again(test: Test) -> None:
    """And no earlier part stays, which would pass for that of a task that fails."""
    for i, name in enumerate(["old", "-n", "*", "a b", str(test.folder / "absolute")] * len(SHELLS)):
        folder = test.folder / name
        folder.mkdir(exist_ok=True)
        for part in ("00000-of-00002.part", "00001-of-00003.part"):
            (folder / part).touch()
        (folder / "notes.part").touch()
        (folder / "log").mkdir(exist_ok=True)
        (folder / "log" / "00000-of-00002.part").touch()
        script = test.script("kernels", "run", "--shards", "2", f"--output={name}", "--force")
        (sbatch, mapped), _ = test.submit(script, SHELLS[i % len(SHELLS)])
        assert "--array=0-1" in sbatch and "--force" in mapped
        left = sorted(path.name for path in folder.rglob("*.part"))
        assert left == ["00000-of-00002.part", "notes.part"], (name, left)


def a_folder_has_one_question(test: Test) -> None:
    """In one number of shards. How tasks run is no part of it."""
    first = ("kernels", "run", "-o", "asked", "--step", "3")
    for words in (("--shards", "8"), ("--shards", "8", "--verbose", "--memory-limit", "1G", "--quiet"),
                  ("--shards", "8", "--cpus", "4", "--top", "3", "--nodes", "2")):
        test.submit(test.script(*first, *words), "sh")
    for words in (("--shards", "9"), ("--shards", "8", "--rank", "1")):
        done = test.start(test.script(*first, *words), "sh")
        assert done.returncode == 2 and not test.log.exists(), done
        assert done.stderr.endswith("kernels --shards=8 --step=3 run\n"), done.stderr
    test.submit(test.script(*first, "--shards", "9", "--force"), "sh")
    assert test.start(test.script(*first, "--shards", "8"), "sh").returncode == 2


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--borescope", required=True, type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        test = Test(arguments.borescope.resolve(), Path(name))
        for step in (words_arrive, only_missing_shards_are_submitted, many_gaps_are_several_arrays,
                     force_maps_all_again, a_folder_has_one_question):
            step(test)
            print(f"{step.__name__}: yes, in {', '.join(SHELLS)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
