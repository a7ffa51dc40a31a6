#!/usr/bin/env python3
"""The .deb is one that Debian would take, and what is in it works.

    check_deb.py BUILD DEMO_RUN

Unpacks the package of the build (pack.py) and checks: the packages it depends on are those of the libraries that the
program is linked with; the program, its manual pages and completion are in place and work; dpkg installs and removes
it without a trace (only as root); lintian finds no error (that part is skipped without lintian).
"""

import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from pack import packed

SKIPPED = 77
COMPLETION = {
    "bash": "usr/share/bash-completion/completions/borescope",
    "zsh": "usr/share/zsh/vendor-completions/_borescope",
    "fish": "usr/share/fish/vendor_completions.d/borescope.fish",
}
COMPLETE = """
source "$1"
complete() { shift; }
COMP_WORDS=(borescope kernels --forma); COMP_CWORD=2; _borescope; echo "${COMPREPLY[@]}"
COMP_WORDS=(borescope breakd); COMP_CWORD=1; _borescope; echo "${COMPREPLY[@]}"
"""


def output(*command: str | Path, **options) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def field(package: Path, name: str) -> str:
    return output("dpkg-deb", "--field", package, name).strip()


def packages_of_libraries(program: Path) -> set[str]:
    """By the slow way: the file of each library that the program names, and whose package that is."""
    names = re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-d", program))
    found = dict(re.findall(r"(\S+) => (\S+)", output("ldd", program)))
    packages = set()
    for name in names:
        path = Path(found.get(name, name))
        # Debian merged /lib into /usr/lib, but packages still name either.
        for candidate in (path, path.resolve(), Path("/usr", *path.parts[1:]), Path("/", *path.parts[2:])):
            done = subprocess.run(["dpkg", "--search", candidate], capture_output=True, text=True, check=False)
            if done.returncode == 0:
                packages.add(done.stdout.split(":")[0])
                break
        else:
            sys.exit(f"{name}: no package has {path}")
    return packages


def check_depends(package: Path, program: Path) -> list[str]:
    named = {entry.split()[0] for entry in field(package, "Depends").split(",")}
    # What the program uses only by way of others does not count; libc is named once for all its parts.
    expected = packages_of_libraries(program)
    return [] if named == expected else [f"depends on {sorted(named)}, is linked with {sorted(expected)}"]


def check_recorder(root: Path, folder: Path) -> list[str]:
    """The program finds what it loads into others, of Python, too."""
    program, package = root / "usr/bin/borescope", root / "usr/lib/borescope/record/python/borescope_record"
    script = "import borescope_record as record; record.mark('x'); print(record.__file__)"
    printed = output(program, "record", "-q", "-o", folder / "run", "--python", "--", sys.executable, "-c", script,
                     env={name: value for name, value in os.environ.items() if "BORESCOPE" not in name}
                     | {"PYTHONDONTWRITEBYTECODE": "1"})
    found = "record" in output(program, "info", folder / "run.bsr", "-q")
    return [] if found and printed.strip() == str(package.resolve() / "__init__.py") else [f"records {printed!r}"]


def check_program(root: Path, demo: Path) -> list[str]:
    program = root / "usr/bin/borescope"
    answer = output(program, "breakdown", demo, "-f", "csv", "-q")
    problems = [] if answer.count("\n") > 2 else [f"the unpacked program answers {answer!r}"]
    if ".debug_info" in output("readelf", "-S", program):
        problems.append("the program is not stripped")
    return problems


def check_pages(root: Path, version: str) -> list[str]:
    folder = root / "usr/share/man/man1"
    verbs = re.findall(r"^verb,([\w-]+),", output(root / "usr/bin/borescope", "list", "-f", "csv"), re.MULTILINE)
    problems = []
    for name in ("borescope", *(f"borescope-{verb}" for verb in verbs)):
        page = folder / f"{name}.1.gz"
        text = gzip.decompress(page.read_bytes()).decode() if page.exists() else ""
        if f'"borescope {version}"' not in text:
            problems.append(f"{page.name}: not there, or not of version {version}")
    return problems


def check_completion(root: Path) -> list[str]:
    problems = [f"no completion for {shell}" for shell, path in COMPLETION.items() if not (root / path).is_file()]
    for shell in ("zsh", "fish"):
        if shutil.which(shell):
            output(shell, "-n", root / COMPLETION[shell])
    completed = output("bash", "-c", COMPLETE, "bash", root / COMPLETION["bash"]).split()
    return problems if completed == ["--format", "breakdown"] else [*problems, f"bash completes {completed}"]


def files_below(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())


def check_with_dpkg(package: Path, root: Path, unpacked: list[str]) -> list[str]:
    """Installs into an empty system, and removes again: only for root."""
    database = root / "var/lib/dpkg"
    for folder in ("info", "updates"):
        (database / folder).mkdir(parents=True)
    (database / "status").touch()
    # The libraries are those of this system.
    dpkg = ["dpkg", f"--root={root}", "--force-depends", "--log=/dev/null"]
    output(*dpkg, "--install", package)
    installed = files_below(root / "usr")
    output(*dpkg, "--purge", "borescope")
    left = files_below(root / "usr") if (root / "usr").exists() else []
    problems = [] if installed == unpacked else [f"dpkg installed {installed}"]
    return problems + [f"dpkg left {path}" for path in left]


def check_with_lintian(package: Path) -> list[str]:
    options = ["--allow-root"] if os.geteuid() == 0 else []
    done = subprocess.run(["lintian", *options, "--fail-on", "none", package], capture_output=True, text=True,
                          check=True)
    print(done.stdout, end="")
    return [line for line in done.stdout.splitlines() if line.startswith("E:")]


def main() -> int:
    build, demo = map(Path, sys.argv[1:3])
    package = packed(build)
    if package is None:
        print("skipped: the build is not packed")
        return SKIPPED
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        root = folder / "root"
        output("dpkg", "-x", package, root)
        version = field(package, "Version").rpartition("-")[0]
        problems = check_depends(package, root / "usr/bin/borescope")
        problems += check_recorder(root, folder)
        problems += check_program(root, demo) + check_pages(root, version) + check_completion(root)
        if os.geteuid() == 0:
            problems += check_with_dpkg(package, folder / "system", files_below(root / "usr"))
        has_lintian = shutil.which("lintian") is not None
        problems += check_with_lintian(package) if has_lintian else []
    for problem in problems:
        print(problem)
    if not problems and not has_lintian:
        print("skipped: lintian is not installed; everything else is right")
        return SKIPPED
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
