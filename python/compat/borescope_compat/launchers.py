"""borescope-compat: commands under the names of the tools, where these names are free.

A wheel could only install them over whatever is there, without a question; so they are written on request, into a
folder that the user names, and never where a tool of that name is installed.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

MODULES = {
    "chakra_trace_link": "chakra_trace_link",
    "chakra_converter": "chakra_converter",
    "chakra_jsonizer": "chakra_jsonizer",
    "chakra_visualizer": "chakra_visualizer",
    "chakra_timeline_visualizer": "chakra_timeline_visualizer",
    "chakra_generator": "chakra_generator",
    "rpd2tracing.py": "rpd2tracing",
}
MARK = "# Written by borescope-compat."
LONGEST_SHEBANG = 127  # of old kernels


def is_ours(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return MARK.encode() in file.read(1024)
    except OSError:
        return False


def shebang(interpreter: str) -> str:
    """A line that starts this interpreter, also where its path has blanks or is long."""
    if " " not in interpreter and len(interpreter) <= LONGEST_SHEBANG - 2:
        return f"#!{interpreter}\n"
    return f"#!/bin/sh\n'''exec' \"{interpreter}\" \"$0\" \"$@\"\n' '''\n"


def launcher(module: str) -> str:
    return (f"{shebang(sys.executable)}{MARK}\nimport sys\n\n"
            f"from borescope_compat.{module} import main\n\nsys.exit(main())\n")


def holder_of(name: str) -> str | None:
    """What has the name already: a program that is found, or a package of this environment."""
    for folder in os.get_exec_path():
        found = shutil.which(name, path=folder)
        if found is not None and not is_ours(Path(found)):
            return found
    for script in importlib.metadata.entry_points(group="console_scripts"):
        if script.name == name and script.dist is not None:
            return f"package {script.dist.metadata['Name']}"
    return None


def install_one(name: str, folder: Path) -> str | None:
    """Why it was not installed."""
    target = folder / name
    holder = str(target) if os.path.lexists(target) and not is_ours(target) else holder_of(name)
    if holder is not None:
        return f"{name}: left alone, as {holder} has this name; call python -m borescope_compat.{MODULES[name]}"
    draft = folder / f".{name}.{os.getpid()}"
    draft.write_text(launcher(MODULES[name]), encoding="utf-8")
    draft.chmod(0o755)
    draft.replace(target)
    return None


def install(folder: Path, names: Sequence[str]) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    problems = []
    for name in names:
        problem = install_one(name, folder)
        if problem is None:
            print(f"wrote {folder / name}")
        else:
            problems.append(problem)
    for problem in problems:
        print(f"borescope-compat: {problem}", file=sys.stderr)
    return 1 if problems else 0


def remove(folder: Path, names: Sequence[str]) -> int:
    """Takes away what install wrote, and nothing else."""
    for name in names:
        if is_ours(folder / name):
            (folder / name).unlink()
            print(f"removed {folder / name}")
    return 0


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="borescope-compat",
        description="Commands under the names of other tools: " + ", ".join(MODULES) + ".")
    tasks = parser.add_subparsers(dest="task", required=True)
    for task, what in (("install", "write commands into a folder, where no tool has their names"),
                       ("remove", "remove the commands that install wrote")):
        parts = tasks.add_parser(task, help=what, description=what)
        parts.add_argument("folder", type=Path)
        parts.add_argument("name", nargs="*", help="only these commands; by default all")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    parser = make_parser()
    options = parser.parse_args(arguments)
    unknown = [name for name in options.name if name not in MODULES]
    if unknown:
        parser.error(f"no command {unknown[0]!r}; there are {', '.join(MODULES)}")
    names = options.name or list(MODULES)
    try:
        return (install if options.task == "install" else remove)(options.folder, names)
    except OSError as error:
        print(f"borescope-compat: {error.filename}: {error.strerror}; name another folder", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
