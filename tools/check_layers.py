#!/usr/bin/env python3
"""Checks that dependencies between modules point one way, and that the library is silent.

A module is a folder of src/borescope. Every `#include "borescope/<module>/..."` must be allowed by
ALLOWED, tests included. Outside `cli` nothing prints or ends the process: a library that does
cannot be used from Python, from a thread, or by a fuzzer. Only base/check.* may abort, because a
broken invariant is our bug. The library in record/ is loaded into the programs of others: it includes
its own headers and the format of its logs, and of the C++ library only what is in headers.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SRC = ROOT / "src" / "borescope"
# The library that is loaded into the programs of others; its headers are relative to its own folder.
INJECTED = ROOT / "record" / "src"

READS = {"table", "trace", "index", "opmodel", "json", "base"}
ALLOWED = {
    "base": set(),
    "recording": set(),
    "json": {"base"},
    "table": {"base"},
    "arrow": {"table", "base"},
    "trace": {"base"},
    "rpd": {"trace", "json", "base"},
    "ingest": {"trace", "json", "recording", "rpd", "base"},
    "recorder": {"recording", "base"},
    "index": {"trace", "base"},
    "store": {"index", "trace", "base"},
    "opmodel": {"trace", "json", "base"},
    "analysis/core": READS,
    "analysis/measures": READS | {"analysis/core"},
    "analysis/verbs": READS | {"analysis/core", "analysis/measures"},
    "catalog": READS | {"analysis/core", "analysis/measures", "analysis/verbs"},
    "output": {"table", "trace", "json", "base"},
    "convert": {"index", "output", "trace", "table", "json", "rpd", "base"},
    "scrub": {"ingest", "index", "opmodel", "output", "trace", "json", "base"},
    "query": {"postmortem", "ingest", "index", "trace", "table", "base"},
    "check": {"output", "table", "json", "base"},
    "postmortem": {"ingest", "output", "trace", "table", "json", "base"},
    "serve": {"base"},
}
ENGINE = set(ALLOWED) - {"check", "convert", "query", "scrub", "serve"}
ALLOWED["engine/inputs"] = ENGINE
ALLOWED["engine/loading"] = ALLOWED["engine/targets"] = ALLOWED["engine/question"] = ENGINE | {"engine/inputs"}
ALLOWED["engine"] = ENGINE | {"engine/inputs", "engine/loading", "engine/targets", "engine/question"}
ALLOWED["engine/partial"] = ALLOWED["engine"] | {"engine"}
ALLOWED["verbs"] = set(ALLOWED) - {"arrow"}
# Imitations of other tools: on top of everything, and nothing else includes them, not even each other.
# A build may leave them out. packs/packs.h names them.
PACKS = ("packs/hta", "packs/rpd", "packs/pyprof", "packs/torch", "packs/inductor", "packs/chakra")
ALLOWED["packs"] = {"catalog"}
for pack in PACKS:
    ALLOWED[pack] = set(ALLOWED) - set(PACKS)
ALLOWED["packs/chakra"].add("packs/hta")  # as Chakra's linker uses HTA
ALLOWED["no_packs"] = {"catalog"}
# The command line is a user of the library like any other: include/ alone.
ALLOWED["cli"] = {"public"}
ALLOWED["testing"] = READS | {"analysis/core", "catalog"}
# Modules that implement what headers of include/ declare.
PUBLIC = {"arrow", "engine", "no_packs", "packs", "recorder", "serve", "verbs"}
# Headers of include/ whose types every module uses as they are.
VOCABULARY = {"diagnostic.h", "error.h", "progress.h", "try.h"}

# What record/src may include of C++: the rest of those names is of C.
HEADERS_ONLY = {"atomic", "cerrno", "climits", "cstddef", "cstdint", "cstdlib", "cstring", "ctime"}
QUOTED = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)
BRACKETS = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<([^>]+)>", re.MULTILINE)

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

INJECTED_NOISE = re.compile(NOISE.pattern + r"|(?<![.>\w])(?:malloc|calloc|realloc|signal|sigaction|socket"
                            r"|fopen|system|popen|setenv|putenv)[ \t]*\(|\bnew[ \t]+\w|\bthrow\b")


def module_of(path: str) -> str:
    """The module of a path relative to src/borescope, or of a header of include/: "public"."""
    parts = path.split("/")
    if len(parts) == 1:
        return "public"
    longest = "/".join(parts[:2])
    return longest if longest in ALLOWED else parts[0]


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

    is_test = name.endswith(("_test.cc", "_testing.h"))
    allowed = ALLOWED[module] | {module}
    allowed |= {"public"} if module.split("/")[0] in PUBLIC else set()
    allowed |= {"testing", "catalog", "public"} if is_test else set()
    for match in INCLUDE.finditer(code):
        target = module_of(match[1])
        if target not in allowed and match[1] not in VOCABULARY:
            report(code, match.start(1), f"{module} must not include {target} ({match[1]})")
    if module != "cli" and not is_test and not name.startswith("base/check."):
        plain = strip(code)
        for match in NOISE.finditer(plain):
            report(plain, match.start(), f"the library must not print or exit: {match[0]}")
    return findings


def check_injected(name: str, code: str) -> list[str]:
    """The findings in one file of record/src."""
    findings = [f"record/src/{name}: must not include {header}" for header in QUOTED.findall(code)
                if not header.startswith("borescope/recording/") and header != "borescope_record.h" and not (INJECTED / header).is_file()]
    findings += [f"record/src/{name}: needs the C++ library: {header}" for header in BRACKETS.findall(code)
                 if not header.endswith(".h") and header not in HEADERS_ONLY]
    return findings + [f"record/src/{name}: must not print, exit or allocate: {match[0]}"
                       for match in INJECTED_NOISE.finditer(strip(code))]


def main() -> int:
    files = sorted(p for p in SRC.rglob("*") if p.suffix in {".h", ".cc"})
    findings = []
    for path in files:
        findings += check(path.relative_to(SRC).as_posix(), path.read_text(encoding="utf-8"))
    injected = sorted(p for p in INJECTED.rglob("*") if p.suffix in {".h", ".cc"})
    for path in injected:
        name = path.relative_to(INJECTED).as_posix()
        findings += check_injected(name, path.read_text(encoding="utf-8"))
    files += injected
    print("\n".join([*findings, f"{len(files)} files, {len(findings)} findings"]))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
