#!/usr/bin/env python3
"""Installs the library of a build, and uses it as a program elsewhere would.

    check_install.py BUILD    a build without tests: build/release, build/bench

Checks that only names of include/ are visible in the shared library, that the programs of examples/
build against the installed copy with CMake, and one of them with pkg-config and with the static
library, and that they print what the command line prints.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DEMO = ROOT / "tests" / "data" / "demo_run"


def run(*command: str | Path, **options) -> str:
    """The standard output of a command that must succeed."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=False, **options)
    if done.returncode != 0:
        sys.exit(f"failed ({done.returncode}): {' '.join(str(w) for w in command)}\n"
                 f"{done.stdout}{done.stderr}")
    return done.stdout


def hidden_names(library: Path) -> list[str]:
    """Names of ours that the shared library shows although they are inside."""
    names = run("nm", "-DC", "--defined-only", library).splitlines()
    return [name for name in names if re.search(r"borescope::internal|\bsimdjson::|\bfmt::", name)
            and " W " not in name and " V " not in name and " u " not in name]


def check_symbols(prefix: Path) -> None:
    found = hidden_names(next(prefix.rglob("libborescope.so")))
    if found:
        sys.exit(f"the shared library shows {len(found)} names of the inside, such as {found[0]}")


def build_examples(prefix: Path, folder: Path) -> Path:
    run("cmake", "-S", ROOT / "examples", "-B", folder, "-G", "Ninja",
        f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_BUILD_TYPE=Debug")
    run("cmake", "--build", folder)
    return folder


def build_plainly(prefix: Path, target: Path, static: bool) -> Path:
    """One example by pkg-config and the compiler alone."""
    where = next(prefix.rglob("borescope.pc")).parent
    environment = {**os.environ, "PKG_CONFIG_PATH": str(where)}
    words = run("pkg-config", "--cflags", "--libs", *(["--static"] if static else []), "borescope",
                env=environment).split()
    if static:
        words = [str(where.parent / "libborescope.a") if w == "-lborescope" else w for w in words]
    run(os.environ.get("CXX", "c++"), "-std=c++20", ROOT / "examples" / "breakdown.cc", "-o",
        target, *words, f"-Wl,-rpath,{where.parent}")
    return target


def expect_same(name: str, printed: str, expected: str) -> None:
    if printed != expected:
        sys.exit(f"{name} printed something else than the command line:\n{printed}\n{expected}")


def main() -> int:
    build = Path(sys.argv[1]).resolve()
    command = build / "bin" / "borescope"
    expected = run(command, "breakdown", DEMO, "--color", "never", "-q")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prefix = folder / "prefix"
        run("cmake", "--install", build, "--prefix", prefix, "--component", "development")
        check_symbols(prefix)
        examples = build_examples(prefix, folder / "examples")
        expect_same("breakdown", run(examples / "breakdown", DEMO), expected)
        answers = run(examples / "five_questions", DEMO)
        if len(re.findall(r"^\w+: \d+ rows$", answers, re.MULTILINE)) != 5:
            sys.exit(f"five_questions did not answer five questions:\n{answers}")
        if shutil.which("pkg-config"):
            for static in (False, True):
                program = build_plainly(prefix, folder / f"plain{static}", static)
                expect_same("breakdown by pkg-config", run(program, DEMO), expected)
    print("the installed library works")
    return 0


if __name__ == "__main__":
    sys.exit(main())
