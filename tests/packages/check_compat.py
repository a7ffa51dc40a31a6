#!/usr/bin/env python3
"""Commands under the names of other tools have their options, their output, and leave their place to them.

    check_compat.py --borescope BIN --compat FOLDER --data FOLDER [--package FOLDER]

For every command: --help lists exactly the options of the tool, wrong arguments end with status 2, and an example has
the recorded output (BORESCOPE_UPDATE=1 records it again). PyProf's two stages together give what `prof` gives of the
database itself. With --package the commands run on the Python package in that folder, else on BIN behind the same
function, as the package may not be built.
"""

import argparse
import os
import re
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

# The command line of the package, by way of the program.
STAND_IN = """
import subprocess
def main(arguments):
    return subprocess.run([{borescope!r}, *arguments], check=False).returncode
"""
HELP = {"-h", "--help"}
OPTIONS = {
    "chakra_trace_link": {"--rank", "--chakra-host-trace", "--chakra-device-trace", "--output-file", "--log-level"},
    "chakra_converter": {"--log-filename"},
    "chakra_converter PyTorch": {"--input", "--output", "--simulate"},
    "chakra_converter Text": {"--input", "--output", "--num-npus", "--num-passes"},
    "chakra_jsonizer": {"--input_filename", "--output_filename"},
    "chakra_visualizer": {"--input_filename", "--output_filename"},
    "chakra_timeline_visualizer": {"--input_filename", "--output_filename", "--num_npus", "--npu_frequency",
                                   "--log_filename"},
    "chakra_generator": {"--num_npus", "--default_runtime", "--default_tensor_size", "--default_comm_size"},
    "pyprof.parse": set(),
    "pyprof.prof": {"--csv", "-w", "-c"},
    "rpd2tracing": {"--start", "--end", "--format"},
}
# What each refuses with status 2.
WRONG = [
    "chakra_trace_link", "chakra_trace_link --rank x --chakra-host-trace a --chakra-device-trace b --output-file c",
    "chakra_converter Nonsense", "chakra_converter PyTorch --input linked.json",
    "chakra_converter PyTorch --input linked.json --output x.et --simulate",
    "chakra_converter Text --input workload.txt --output x --num-npus two --num-passes 1",
    "chakra_jsonizer --input_filename rank.0.et", "chakra_jsonizer --nonsense",
    "chakra_visualizer --output_filename g.dot",
    "chakra_timeline_visualizer --input_filename sim.log --output_filename t.json --num_npus 2 --npu_frequency 1.5GHz",
    "chakra_generator --num_npus x", "chakra_generator more",
    "pyprof.parse", "pyprof.parse absent.sql", "pyprof.parse net.sqlite more",
    "pyprof.prof --csv -w 130 net.dict", "pyprof.prof -c idx,nonsense net.dict", "pyprof.prof -w wide net.dict",
    "rpd2tracing", "rpd2tracing run.rpd out.json --start 0.5%", "rpd2tracing run.rpd out.json --format list",
    "rpd2tracing run.rpd absent/out.json --format array",
]
# Commands, the file each writes (None: standard output), and what it is recorded as. Later ones read what
# earlier ones wrote.
EXAMPLES: list[tuple[str, str | None, str]] = [
    ("chakra_trace_link --rank 0 --chakra-host-trace et.json --chakra-device-trace kineto.json "
     "--output-file linked.json --log-level DEBUG", "linked.json", "linked.json"),
    ("chakra_converter --log-filename x.log PyTorch --input linked.json --output rank.0.et", "rank.0.et", "rank.0.et"),
    ("chakra_converter Text --input workload.txt --output text --num-npus 2 --num-passes 1", "text.1.et", "text.1.et"),
    ("chakra_jsonizer --input rank.0.et --output rank.0.json", "rank.0.json", "rank.0.json"),
    ("chakra_visualizer --input_filename rank.0.et --output_filename graph.dot", "graph.dot", "graph.dot"),
    ("chakra_visualizer --input_filename rank.0.et --output_filename graph.graphml", "graph.graphml", "graph.graphml"),
    ("chakra_timeline_visualizer --input_filename sim.log --output_filename timeline.json --num_npus 2 "
     "--npu_frequency 1500", "timeline.json", "timeline.json"),
    ("chakra_generator --num_npus 1 --default_runtime 7", "one_comp_node.0.et", "one_comp_node.0.et"),
    ("pyprof.parse net.sqlite", None, "net.dict"),
    ("pyprof.prof net.dict", None, "net.spaced.txt"),
    ("pyprof.prof --csv -c idx,op,sil net.dict", None, "net.quoted.txt"),
    ("pyprof.prof -w 130 net.dict", None, "net.fixed.txt"),
    ("rpd2tracing run.rpd", "run.json", "run.json"),
    ("rpd2tracing run.rpd part.json --start 120 --end 149 --format array", "part.json", "part.json"),
]
EVERY_COLUMN = ("idx,seq,altseq,tid,layer,trace,dir,sub,mod,op,kernel,params,sil,tc,device,stream,grid,block,flops,"
                "bytes")


class Commands:
    """A folder with the input of the examples, in which commands run."""

    def __init__(self, given: argparse.Namespace, folder: Path) -> None:
        self.borescope, self.data, self.compat, self.folder = given.borescope, given.data, given.compat, folder
        shutil.copytree(given.data, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("expected"))
        with sqlite3.connect(folder / "net.sqlite") as database:
            database.executescript((folder / "net.sql").read_text())
        self.run_engine("convert", "kineto.json", "run.rpd", "-q")
        package = given.package or self.make_stand_in()
        self.environment = {**os.environ, "PYTHONPATH": f"{given.compat}{os.pathsep}{package}",
                            "PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"}

    def make_stand_in(self) -> Path:
        package = self.folder / "stand-in"
        (package / "borescope").mkdir(parents=True)
        (package / "borescope/__init__.py").touch()
        (package / "borescope/cli.py").write_text(STAND_IN.format(borescope=str(self.borescope)))
        return package

    def run_engine(self, *words: str) -> bytes:
        return subprocess.run([self.borescope, *words], cwd=self.folder, check=True, capture_output=True).stdout

    def run(self, command: str, **options) -> subprocess.CompletedProcess[bytes]:
        module, *words = command.split()
        return self.python("-m", f"borescope_compat.{module}", *words, **options)

    def python(self, *words: str | Path, **options) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run([sys.executable, *words], cwd=self.folder, env=self.environment, check=False,
                              capture_output=True, **options)


def check_help(commands: Commands) -> list[str]:
    problems = []
    for command, expected in OPTIONS.items():
        text = commands.run(f"{command} --help").stdout.decode()
        # In the list of options; a usage line has them in brackets.
        listed = set(re.findall(r"(?m)^  (-{1,2}[\w-]+)", text)) | set(re.findall(r"(?m)^  -\w, (--[\w-]+)", text))
        if listed != expected | HELP:
            problems.append(f"{command} --help lists {sorted(listed)}")
    return problems


def check_wrong(commands: Commands) -> list[str]:
    problems = []
    for command in WRONG:
        done = commands.run(command)
        if done.returncode != 2 or not done.stderr or b"Traceback" in done.stderr:
            problems.append(f"{command}: status {done.returncode}: {done.stderr.decode()}")
    return problems


def check_examples(commands: Commands) -> list[str]:
    problems = []
    for command, file, recorded in EXAMPLES:
        done = commands.run(command)
        if done.returncode != 0:
            problems.append(f"{command}: status {done.returncode}: {done.stderr.decode()}")
            continue
        written = done.stdout if file is None else (commands.folder / file).read_bytes()
        (commands.folder / recorded).write_bytes(written)
        expected = commands.data / "expected" / recorded
        if os.environ.get("BORESCOPE_UPDATE"):
            expected.parent.mkdir(exist_ok=True)
            expected.write_bytes(written)
        elif written != expected.read_bytes():
            problems.append(f"{command}: {recorded} is not as recorded")
    return problems


def check_details(commands: Commands) -> list[str]:
    """What tools say beside their output, and how they end."""
    problems = []

    def expect(command: str, status: int, said: bytes, **options) -> None:
        done = commands.run(command, **options)
        if done.returncode != status or said not in done.stdout + done.stderr:
            problems.append(f"{command}: status {done.returncode}: {(done.stdout + done.stderr).decode()}")

    expect("chakra_converter", 0, b"usage: chakra_converter")
    expect("chakra_visualizer --input_filename rank.0.et --output_filename g.txt", 0, b"Unknown output file extension")
    expect("pyprof.parse net.sqlite", 0, b"Found 9 kernels. Getting info for each kernel.")
    expect("pyprof.prof absent.dict", 1, b"Error opening file absent.dict. Exiting.")
    expect("pyprof.prof", 0, b"Idx Direction Sub", input=(commands.folder / "net.dict").read_bytes())
    # Literals are read; nothing is evaluated.
    hostile = b"{'kShortName': __import__('os').system('touch evaluated'), 'kLongName': 'k', 'kDuration': 1}\n"
    expect("pyprof.prof", 1, b"line 1: not a literal of Python", input=hostile)
    if (commands.folder / "evaluated").exists():
        problems.append("a record was evaluated")
    if shutil.which("dot", path="/usr/bin:/bin"):
        expect("chakra_visualizer --input_filename rank.0.et --output_filename g.pdf", 0, b"")
        if not (commands.folder / "g.pdf").read_bytes().startswith(b"%PDF"):
            problems.append("chakra_visualizer wrote no PDF")
    return problems


def check_both_stages(commands: Commands) -> list[str]:
    """The second stage makes of the records what the engine makes of the database."""
    directly = commands.run_engine("prof", "net.sqlite", "--compat", "pyprof", "--csv", "-q", "-c", EVERY_COLUMN)
    staged = commands.run(f"pyprof.prof --csv -c {EVERY_COLUMN} net.dict").stdout
    return [] if staged == directly else [f"both stages give\n{staged.decode()}\nthe database\n{directly.decode()}"]


def check_launchers(commands: Commands) -> list[str]:
    """Commands are written where their name is free, and nowhere else."""
    problems = []
    bin_folder, other = commands.folder / "our bin", commands.folder / "other"
    other.mkdir()
    tool = other / "chakra_jsonizer"
    tool.write_text("#!/bin/sh\necho the tool\n")
    tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    commands.environment["PATH"] = f"{other}:/usr/bin:/bin"
    bin_folder.mkdir()
    (bin_folder / "chakra_converter").write_text("somebody's\n")
    launchers = ("-m", "borescope_compat.launchers")
    done = commands.python(*launchers, "install", bin_folder)
    said = done.stderr.decode()
    if done.returncode != 1 or str(tool) not in said or "chakra_converter" not in said:
        problems.append(f"install: status {done.returncode}: {said}")
    names = {path.name for path in bin_folder.iterdir()}
    if "chakra_jsonizer" in names or (bin_folder / "chakra_converter").read_text() != "somebody's\n":
        problems.append(f"install took the place of a tool: {sorted(names)}")
    ran = subprocess.run([bin_folder / "chakra_trace_link", "--help"], env=commands.environment, check=False,
                         capture_output=True)
    if b"--chakra-host-trace" not in ran.stdout:
        problems.append(f"chakra_trace_link: {ran.stderr.decode()}")
    again = commands.python(*launchers, "install", bin_folder, "rpd2tracing.py")
    if again.returncode != 0:
        problems.append(f"install again: {again.stderr.decode()}")
    commands.python(*launchers, "remove", bin_folder)
    left = [path.name for path in bin_folder.iterdir()]
    return problems if left == ["chakra_converter"] else [*problems, f"remove left {left}"]


CHECKS: list[Callable[[Commands], list[str]]] = [check_help, check_examples, check_details, check_both_stages,
                                                 check_wrong, check_launchers]


def main() -> int:
    parser = argparse.ArgumentParser()
    for name in ("--borescope", "--compat", "--data"):
        parser.add_argument(name, type=lambda text: Path(text).resolve(), required=True)
    parser.add_argument("--package", type=lambda text: Path(text).resolve())
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        commands = Commands(given, Path(name).resolve())
        problems = [problem for check in CHECKS for problem in check(commands)]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
