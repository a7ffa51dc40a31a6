#!/usr/bin/env python3
"""Runs the script of `borescope launch slurm` with a stand-in for sbatch, in every shell there is.

    check_script.py --borescope BIN

The stand-in writes down what it is given and runs the job scripts with a stand-in for borescope, which
writes down its words. What arrives must be what was typed, whatever characters names have, and the
shards that are submitted those without a part, whatever parts are there.

Exit status: 0 all is well, 1 something is not.
"""

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SHELLS = [shell for shell in ("sh", "dash", "bash", "busybox", "zsh") if shutil.which(shell)]
HOSTILE = ["plain", "two  words", " lead", "it's", "'", "''", '"quoted"', "$HOME", "`id`", "$(id)", "a;b",
           "a&b", "a|b", "<a>b", "*", "?[a]", "~", "#a", "!a", "{a,b}", "a=b", "--", "-n", "100%", "%j",
           "é€", "(a)", "END", "^a"]
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

    def submit(self, script: str, shell: str) -> list[tuple[list[str], list[str]]]:
        """For each job, the words of sbatch and those of borescope."""
        self.log.unlink(missing_ok=True)
        words = ["busybox", "sh"] if shell == "busybox" else [shell]
        subprocess.run([*words, "-s"], input=script, text=True, cwd=self.folder, check=True,
                       capture_output=True, env={"PATH": f"{self.programs}:/usr/bin:/bin"})
        return [tuple(json.loads(line)) for line in self.log.read_text().splitlines()]


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
                           output], (shell, reduced)
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


def force_maps_all_again(test: Test) -> None:
    folder = test.folder / "old"
    folder.mkdir()
    (folder / "00000-of-00002.part").touch()
    script = test.script("kernels", "run", "--shards", "2", "-o", "old", "--force")
    (sbatch, mapped), _ = test.submit(script, "sh")
    assert "--array=0-1" in sbatch and "--force" in mapped


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--borescope", required=True, type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        test = Test(arguments.borescope.resolve(), Path(name))
        for step in (words_arrive, only_missing_shards_are_submitted, force_maps_all_again):
            step(test)
            print(f"{step.__name__}: yes, in {', '.join(SHELLS)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
