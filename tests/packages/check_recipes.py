#!/usr/bin/env python3
"""The recipes of the container and of conda say nothing that is not so.

    check_recipes.py SOURCES [BUILD]

Without a container engine and conda: the Containerfile is read as its linters do, and what it copies into the last
stage is unpacked from the .deb of BUILD and started as its ENTRYPOINT says. The recipe of conda is YAML, of this
version, and names every library that the build looks for.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from pack import packed

SKIPPED = 77
# What cmake/dependencies.cmake finds, by the names of conda-forge; "run": needed by who uses the package, too.
LIBRARIES = {"simdjson": "run", "fmt": "run", "CLI11": "cli11", "ZLIB": "zlib", "SQLite3": "libsqlite",
             "zstd": "run", "isal": "isa-l", "re2": "run", "protozero": "protozero"}
HEADERS_ONLY = {"cli11", "protozero", "zlib"}  # zlib: only tests


# --- the container

def instructions(text: str) -> list[tuple[str, str]]:
    """[(instruction, rest)], with lines that end in a backslash joined."""
    joined = re.sub(r"\\\n(?:\s*#.*\n)*", " ", re.sub(r"(?m)^\s*#.*\n", "", text))
    return [(word.upper(), rest.strip()) for word, _, rest in
            (line.strip().partition(" ") for line in joined.splitlines() if line.strip())]


def last_stage(lines: list[tuple[str, str]]) -> list[tuple[str, str]]:
    begin = max(i for i, (word, _) in enumerate(lines) if word == "FROM")
    return lines[begin:]


def check_run(rest: str) -> list[str]:
    problems = []
    if "apt-get install" in rest:
        for needed in ("apt-get update", "--yes", "--no-install-recommends", "rm -rf /var/lib/apt/lists/*"):
            if needed not in rest:
                problems.append(f"RUN with apt-get install lacks {needed!r}")
    if re.search(r"\b(sudo|apt|cd)\s", rest.replace("apt-get ", "")):
        problems.append(f"RUN uses sudo, apt or cd: {rest}")
    if "|" in re.sub(r"\|\|", "", rest):
        problems.append("RUN has a pipe, whose failures are not noticed")
    return problems


def check_container(text: str) -> list[str]:
    lines = instructions(text)
    problems = []
    for word, rest in lines:
        if word == "FROM" and not re.match(r"\S+:(?!latest)\S+", rest):
            problems.append(f"FROM without a version: {rest}")
        if word in ("ADD", "MAINTAINER"):
            problems.append(f"{word} is not used; take COPY or LABEL")
        if word == "RUN":
            problems += check_run(rest)
        if word == "WORKDIR" and not rest.startswith("/"):
            problems.append(f"WORKDIR is not absolute: {rest}")
    final = dict(last_stage(lines))
    if final.get("FROM") != "debian:12-slim":
        problems.append(f"the last stage is made from {final.get('FROM')}")
    if not re.fullmatch(r"[1-9]\d*", final.get("USER", "")):
        problems.append("the last stage must end as a user with a number that is not 0")
    if final.get("ENTRYPOINT") != '["borescope"]':
        problems.append(f"ENTRYPOINT is {final.get('ENTRYPOINT')}")
    return problems


def check_what_is_copied(text: str, package: Path, version: str) -> list[str]:
    """The last stage copies one package, whose program is the entry point."""
    copies = [rest.split() for word, rest in last_stage(instructions(text)) if word == "COPY"]
    if len(copies) != 1:
        return [f"the last stage copies {copies}"]
    # Where the first stage builds, and where this build did: both as the presets say.
    source = Path(copies[0][1])
    if source.parent != Path("/src/build/release/packages") or not package.match(source.name):
        return [f"COPY {source} would not copy {package.name}"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run(["dpkg", "-x", package, folder / "root"], check=True)
        entry = json.loads(dict(last_stage(instructions(text)))["ENTRYPOINT"])
        said = subprocess.run([folder / "root/usr/bin" / entry[0], *entry[1:], "--version"], check=True,
                              capture_output=True, text=True).stdout.split()
        return [] if said == ["borescope", version] else [f"the entry point says {said}"]


# --- conda

def check_conda(text: str, sources: Path, version: str) -> list[str]:
    import yaml

    recipe = yaml.safe_load(text)
    problems = []
    if recipe["package"] != {"name": "gpu-borescope", "version": version}:
        problems.append(f"the recipe is of {recipe['package']}, not of {version}")
    cmake = (sources / "cmake/dependencies.cmake").read_text()
    found = set(re.findall(r"(?m)^find_package\((\w+) REQUIRED", cmake)) - {"Threads"}
    found |= set(re.findall(r"(?m)^borescope_find_c_library\((\w+)", cmake)) | {"protozero"}
    if found != set(LIBRARIES):
        problems.append(f"the build looks for {sorted(found)}, this test knows {sorted(LIBRARIES)}")
    names = {part: {entry.split()[0] for entry in recipe["requirements"][part]} for part in ("host", "run")}
    for library, name in LIBRARIES.items():
        package = library if name == "run" else name
        if package not in names["host"]:
            problems.append(f"requirements/host lacks {package}")
        if package not in HEADERS_ONLY and package not in names["run"]:
            problems.append(f"requirements/run lacks {package}")
    for part in (recipe["build"]["script"], *recipe["test"]["commands"]):
        if not isinstance(part, str):
            problems.append(f"not a command: {part!r}")
    return problems


def check_same_objects(sources: Path) -> list[str]:
    """pip compiles as the preset of scripts/try, or ccache would recognise nothing of it."""
    presets = json.loads((sources / "CMakePresets.json").read_text())["configurePresets"]
    preset = next(each for each in presets if each["name"] == "release")["cacheVariables"]
    text = (sources / "pyproject.toml").read_text()
    section = text.partition("[tool.scikit-build.cmake.define]\n")[2].partition("\n[")[0]
    defined = dict(re.findall(r'(?m)^(\w+) = "(.*)"$', section))
    defined["CMAKE_BUILD_TYPE"] = re.search(r'(?m)^cmake\.build-type = "(\w+)"', text)[1]
    names = ("CMAKE_BUILD_TYPE", "CMAKE_CXX_FLAGS_RELWITHDEBINFO", "BORESCOPE_PCH", "BORESCOPE_UNITY", "BORESCOPE_TESTS")
    problems = [f"{name} is {preset[name]} in the preset release, and {defined.get(name)} in pyproject.toml"
                for name in names if preset[name] != defined.get(name)]
    folder = re.search(r'(?m)^build-dir = "([^"]*)"', text)
    if folder is None or folder[1].count("/") != "build/release".count("/"):
        problems.append("pip does not build as deep in the tree as the presets: ccache compares relative paths")
    return problems


def check_version_of_compat(sources: Path, version: str) -> list[str]:
    text = (sources / "python/compat/borescope_compat/__init__.py").read_text()
    return [] if f'__version__ = "{version}"' in text else [f"borescope-compat is not of version {version}"]


def main() -> int:
    sources = Path(sys.argv[1])
    version = re.search(r"(?m)^  VERSION ([\d.]+)", (sources / "CMakeLists.txt").read_text())[1]
    container = (sources / "Containerfile").read_text()
    problems = check_container(container) + check_version_of_compat(sources, version) + check_same_objects(sources)
    skipped = []
    package = packed(Path(sys.argv[2])) if len(sys.argv) > 2 else None
    if problems:
        pass  # what is copied depends on what is wrong above
    elif package is not None:
        problems += check_what_is_copied(container, package, version)
    else:
        skipped.append("what the container copies (the build is not packed)")
    try:
        problems += check_conda((sources / "ci/conda/meta.yaml").read_text(), sources, version)
    except ImportError:
        skipped.append("the recipe of conda (no PyYAML)")
    for problem in problems:
        print(problem)
    if not problems and skipped:
        print(f"skipped: {' and '.join(skipped)}")
        return SKIPPED
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
