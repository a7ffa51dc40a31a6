#!/usr/bin/env python3
"""Checks that no file tells anybody to install the package by its name.

The name `borescope` of the Python Package Index belongs to another project, and nothing of this one is published: who
follows `pip install NAME` would run a stranger's program. Pages, hints, templates and tests name a checkout, a wheel or
a URL. EXAMPLES are tried first, so that the check is known to find what it looks for.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
THIS = Path(__file__).name
NAME = r"(?:gpu[-_])?borescope(?:[-_]compat)?"
# Quotes, brackets and blanks between the words of a command, also where it is a list in a program.
GAP = r"[\s'\"`,\[(]+"
INSTALLERS = rf"(?:pip3?{GAP}install|pipx{GAP}(?:install|run)|uv{GAP}(?:pip{GAP}install|add|tool{GAP}install)|uvx" \
             rf"|poetry{GAP}add|(?:conda|mamba){GAP}install)"
# Other packages and options may come before the name; after it a version, an extra or the end of the word, but no URL.
PATTERNS = [
    re.compile(rf"\b{INSTALLERS}(?:{GAP}[^\s'\"`,;#|&)]+){{0,4}}?{GAP}{NAME}(?![\w/-])(?!\.\w)"
               r"(?!\[[\w,]*\]\s*@|\s*@)"),
    re.compile(rf"^\s*dependencies\s*=.*['\"]borescope(?![\w-])", re.MULTILINE),
]
EXAMPLES = {
    "pip install borescope": True, "pip install 'borescope[mcp]'": True, "pip install\n'borescope[mcp]'.": True,
    'pip install --quiet "borescope==1.1"': True, "pip3 install pandas borescope": True, "pipx run borescope": True,
    "uvx borescope mcp": True, "conda install borescope": True, "python -m pip install -U gpu-borescope": True,
    '"pip", "install", "borescope"': True, "pip install borescope-compat": True, 'dependencies = ["borescope"]': True,
    "~/borescope/bin/pip install .   # the command borescope comes along": False, "pip install '.[mcp]'": False,
    "pip install ./gpu_borescope-0.1.0-cp312-abi3-linux_x86_64.whl": False, "pip uninstall borescope": False,
    "pip install 'gpu-borescope[mcp] @ https://HOST/WHEEL'": False, "pip install python/compat": False,
    "pip install . in a checkout of borescope/": False, 'dependencies = ["gpu-borescope"]': False,
}


def findings_of(text: str) -> list[re.Match[str]]:
    return [match for pattern in PATTERNS for match in pattern.finditer(text)]


def repository_files() -> list[Path]:
    """Tracked and new files; without git (a source archive), all files but build folders."""
    try:
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout
        return [ROOT / name for name in listed.decode().split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        return [path for path in ROOT.rglob("*") if path.relative_to(ROOT).parts[0] not in (".git", "build")]


def main() -> int:
    wrong = [text for text, is_found in EXAMPLES.items() if bool(findings_of(text)) != is_found]
    findings = [f"example {text!r}: {'not found' if EXAMPLES[text] else 'found'}" for text in wrong]
    files = [path for path in repository_files() if path.is_file() and path.name != THIS]
    for path in files:
        data = path.read_bytes()
        if b"borescope" not in data or b"\0" in data[:8192]:
            continue
        text = data.decode(errors="replace")
        for match in findings_of(text):
            line = text.count("\n", 0, match.start()) + 1
            findings.append(f"{path.relative_to(ROOT)}:{line}: {' '.join(match[0].split())}: the package is not "
                            "published by this name; name a checkout, a wheel or a URL")
    print("\n".join([*findings, f"{len(files)} files, {len(findings)} findings"]))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
