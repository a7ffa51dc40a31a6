#!/usr/bin/env python3
"""Checks that dependencies between modules point one way, and that the library is silent.

A module is a folder of src/borescope. Every `#include "borescope/<module>/..."` must be allowed by
ALLOWED, tests included. Outside `cli` nothing prints or ends the process: a library that does
cannot be used from Python, from a thread, or by a fuzzer. Only base/check.* may abort, because a
broken invariant is our bug.
"""

import re
import sys
from pathlib import Path

SRC = Path(__file__).resolve().parent.parent / "src" / "borescope"

ALLOWED = {
    "base": set(),
    "table": {"base"},
    "arrow": {"table", "base"},
    "trace": {"base"},
    "ingest": {"trace", "base"},
    "index": {"trace", "base"},
    "opmodel": {"trace", "base"},
    "analysis": {"index", "opmodel", "trace", "table", "base"},
    "chakra": {"analysis", "index", "output", "trace", "table", "base"},
    "output": {"table", "trace", "base"},
    "convert": {"index", "output", "trace", "table", "base"},
    "serve": {"base"},
    "query": {"index", "trace", "table", "base"},
    "cli": {"session", "table", "base"},
}
ALLOWED["session"] = set(ALLOWED) - {"cli"}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"borescope/([^"]+)"', re.MULTILINE)
# Comments and literals, whose text is not code. Raw strings first: they may hold quotes.
NOT_CODE = re.compile(
    r'R"(\w*)\(.*?\)\1"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.DOTALL
)
NOISE = re.compile(
    r"#[ \t]*include[ \t]*<(?:iostream|print)>"
    r"|\bstd::(?:cout|cerr|clog)\b"
    r"|\b(?:vf|v|f)?printf[ \t]*\("
    r"|\b(?:puts|fputs|putchar|perror)[ \t]*\("
    r"|\bfmt::print(?:ln)?[ \t]*\("
    r"|(?<![.>\w])(?:exit|_exit|_Exit|quick_exit|abort|terminate)[ \t]*\("
)


def module_of(path: str) -> str:
    """The module of a path relative to src/borescope."""
    return path.split("/")[0]


def strip(code: str) -> str:
    """The code without comments and literals, with the same line numbers."""
    return NOT_CODE.sub(lambda match: "\n" * match[0].count("\n"), code)


def check(name: str, code: str) -> list[str]:
    """The findings in one file; name is relative to src/borescope."""
    module = module_of(name)
    if module not in ALLOWED:
        return [f"{name}: module '{module}' has no row in ALLOWED (tools/check_layers.py)"]
    findings = []

    def report(text: str, offset: int, message: str) -> None:
        findings.append(f"{name}:{text.count(chr(10), 0, offset) + 1}: {message}")

    for match in INCLUDE.finditer(code):
        if "/" not in match[1]:
            continue  # a public header: include/borescope/arrow.h
        target = module_of(match[1])
        if target not in ALLOWED[module] | {module}:
            report(code, match.start(1), f"{module} must not include {target} ({match[1]})")
    is_test = name.endswith("_test.cc")
    if module != "cli" and not is_test and not name.startswith("base/check."):
        plain = strip(code)
        for match in NOISE.finditer(plain):
            report(plain, match.start(), f"the library must not print or exit: {match[0]}")
    return findings


def main() -> int:
    files = sorted(p for p in SRC.rglob("*") if p.suffix in {".h", ".cc"})
    findings = []
    for path in files:
        findings += check(path.relative_to(SRC).as_posix(), path.read_text(encoding="utf-8"))
    print("\n".join([*findings, f"{len(files)} files, {len(findings)} findings"]))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
