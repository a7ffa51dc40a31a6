#!/usr/bin/env python3
"""Checks the pictures of --format svg and png, and what text makes of a terminal.

    check_pictures.py --borescope BIN --data DIR [--samples DIR]

Every verb that draws does so for recordings of all kinds, one of them with hostile names, and for the
sample traces, where there are some. Each SVG is well-formed, holds nothing but shapes and text, keeps
inside its paper, lets no text run into another on its line, and is the same for any number of threads.

Exit status: 0 all is well, 1 something is not.
"""

import argparse
import json
import os
import pty
import re
import subprocess
import sys
import tempfile
import unicodedata
import xml.etree.ElementTree as ElementTree
from pathlib import Path

SVG = "{http://www.w3.org/2000/svg}"
ELEMENTS = {"svg", "title", "desc", "style", "rect", "circle", "line", "path", "text"}
ATTRIBUTES = {"width", "height", "viewBox", "role", "font-family", "font-size", "font-weight", "class",
              "fill", "fill-opacity", "stroke", "stroke-width", "text-anchor", "d",
              "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r"}
STYLE = re.compile(r"@media \(prefers-color-scheme: dark\)\{(\.[fs]-[a-z]+\{(fill|stroke):#[0-9a-f]{6}\})+\}")
LEAST_WIDTH = 0.3  # of a character, in parts of the size: no common font is narrower on average
HOSTILE = ["</text></svg><script>alert(1)</script>", "\x1b[31mred\x1b]0;title\x07", "a\u202eb\ufeffc\ufffe\u009bd\u2028",
           "]]><!--", "&lt;&#0;&entity;", "' onload='x", '" href="javascript:x', "\u6838" * 200,
           "void f<" + "T, " * 300 + "T>(int)", "%s%n{}{0}", " ", ""]
CONTROLS = ("Cc", "Cf", "Zl", "Zp", "Cn")  # of Unicode
TEXT = re.compile(r"\x1b\[[0-9;]*m")


def hostile_trace() -> dict:
    """A recording all of whose names are hostile."""
    events = []
    for i, name in enumerate(HOSTILE):
        at = i * 100
        link = {"correlation": i + 1, "External id": i + 1}
        events += [
            {"ph": "X", "cat": "user_annotation", "name": name, "pid": 1, "tid": 1, "ts": at, "dur": 90},
            {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": at + 1, "dur": 80,
             "args": {"External id": i + 1}},
            {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1,
             "ts": at + 2, "dur": 5, "args": link},
            {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": at + 20, "dur": 30 + i,
             "args": {"device": 0, "stream": 7, **link}},
        ]
    return {"deviceProperties": [{"id": 0, "name": HOSTILE[0]}], "traceEvents": events}


class Checker:
    """Runs the program and collects what is wrong."""

    def __init__(self, borescope: str, folder: Path) -> None:
        self.borescope = borescope
        self.folder = folder
        self.faults: list[str] = []
        self.pictures = 0
        # Tests of PNG would otherwise leave a cache of fonts in the home of whoever runs them.
        self.environment = {**os.environ, "HOME": str(folder), "COLUMNS": "80"}

    def run(self, *words: object) -> subprocess.CompletedProcess:
        return subprocess.run([self.borescope, *map(str, words)], capture_output=True, check=False,
                              env=self.environment)

    def expect(self, holds: bool, message: str) -> None:
        if not holds:
            self.faults.append(message)

    def drawn_verbs(self) -> list[str]:
        """The verbs that draw, as the error for another one names them."""
        done = self.run("list", "-f", "svg")
        match = re.search(r"pictures are made of ([\w, -]+)", done.stderr.decode())
        self.expect(done.returncode == 2 and match is not None, f"list -f svg: {done.stderr!r}")
        return match[1].split(", ") if match else []

    def draw(self, verbs: str, *inputs: object) -> None:
        """One picture, or one error that says what is missing."""
        what = f"{verbs} {inputs[-1]}"
        done = self.run(verbs, "-f", "svg", "-q", "--threads", 1, *inputs)
        if done.returncode != 0:
            lines = done.stderr.decode().splitlines()
            self.expect(done.returncode == 2 and len(lines) == 1 and done.stdout == b"",
                        f"{what}: {done.returncode} {lines}")
            return
        self.pictures += 1
        self.check_svg(what, done.stdout)
        again = self.run(verbs, "-f", "svg", "-q", "--threads", 3, *inputs)
        self.expect(again.stdout == done.stdout, f"{what}: other bytes with other threads")

    def check_svg(self, what: str, data: bytes) -> None:
        try:
            root = ElementTree.fromstring(data)
        except ElementTree.ParseError as error:
            self.faults.append(f"{what}: not well-formed: {error}")
            return
        for element in root.iter():
            self.expect(element.tag.removeprefix(SVG) in ELEMENTS, f"{what}: element {element.tag}")
            for name in element.attrib:
                self.expect(name in ATTRIBUTES, f"{what}: attribute {name}")
        self.expect(root[0].tag == SVG + "title" and bool(root[0].text), f"{what}: no title")
        self.expect(root[1].tag == SVG + "desc" and bool(root[1].text), f"{what}: no description")
        self.expect(STYLE.fullmatch(root[2].text or "") is not None, f"{what}: style {root[2].text}")
        self.check_places(what, root)

    def check_places(self, what: str, root: ElementTree.Element) -> None:
        width, height = float(root.get("width")), float(root.get("height"))
        lines: dict[float, list[tuple[float, float, str]]] = {}
        for element in root.iter(SVG + "rect"):
            x, y = float(element.get("x", 0)), float(element.get("y", 0))
            self.expect(0 <= x and x + float(element.get("width")) <= width + 0.2
                        and 0 <= y and y + float(element.get("height")) <= height + 0.2,
                        f"{what}: a rectangle off the paper: {element.attrib}")
        for element in root.iter(SVG + "text"):
            text = element.text or ""
            size = float(element.get("font-size", 12))
            wide = len(text) * size * LEAST_WIDTH
            shift = {"middle": wide / 2, "end": wide}.get(element.get("text-anchor"), 0)
            begin = float(element.get("x")) - shift
            y = float(element.get("y"))
            self.expect(-0.2 <= begin and begin + wide <= width + 0.2 and 0 <= y <= height,
                        f"{what}: text off the paper: {text!r}")
            lines.setdefault(y, []).append((begin, begin + wide, text))
        for texts in lines.values():
            texts.sort()
            for left, right in zip(texts, texts[1:]):
                self.expect(left[1] <= right[0], f"{what}: {left[2]!r} runs into {right[2]!r}")

    def check_png(self, *inputs: object) -> None:
        path = self.folder / "picture.png"
        done = self.run("breakdown", "-f", "png", "-q", "-o", path, *inputs)
        if b"librsvg" in done.stderr:
            self.expect(done.returncode == 2 and b"--format svg" in done.stderr and not path.exists(),
                        f"png without its library: {done.stderr!r}")
            print("png not checked: built without librsvg, or it is not installed")
            return
        data = path.read_bytes()
        svg = ElementTree.fromstring(self.run("breakdown", "-f", "svg", "-q", *inputs).stdout)
        self.expect(data.startswith(b"\x89PNG\r\n\x1a\n"), "png: no PNG")
        size = [int.from_bytes(data[at:at + 4], "big") for at in (16, 20)]
        self.expect(size == [2 * int(svg.get("width")), 2 * int(svg.get("height"))], f"png: {size}")
        self.expect(self.run("breakdown", "-f", "png", "-q", *inputs).stdout == data, "png: other bytes")
        status, shown = self.on_terminal("breakdown", "-f", "png", *inputs)
        self.expect(status == 2 and "-o picture.png" in shown, f"png on a terminal: {shown!r}")

    def check_card_without_library(self, *inputs: object) -> None:
        """Where no library draws pixels a card is an SVG, and a message says so, even with -q."""
        hidden = self.folder / "hidden"
        hidden.mkdir(exist_ok=True)
        (hidden / "librsvg-2.so.2").write_bytes(b"")  # found first, and no library
        card = self.folder / "card.png"
        done = subprocess.run([self.borescope, "report", "-q", "--card", card, *map(str, inputs)], capture_output=True,
                              check=False, env={**self.environment, "LD_LIBRARY_PATH": str(hidden)})
        instead = card.with_suffix(".svg")
        self.expect(done.returncode == 0 and not card.exists(), f"card without its library: {done!r}")
        self.expect(b"card.svg" in done.stderr and b"librsvg" in done.stderr, f"card: {done.stderr!r}")
        root = ElementTree.fromstring(instead.read_bytes())
        self.expect(root.tag == SVG + "svg" and len(list(root.iter(SVG + "text"))) > 3, "card: no picture")
        asked = subprocess.run([self.borescope, "report", "-q", "--card", self.folder / "asked.svg", *map(str, inputs)],
                               capture_output=True, check=False, env=self.environment)
        self.expect(asked.returncode == 0 and (self.folder / "asked.svg").read_bytes() == instead.read_bytes(),
                    "card: not the SVG that one asks for")

    def on_terminal(self, *words: object, **variables: str) -> tuple[int, str]:
        """Exit status and everything shown where standard output is a terminal of 80 columns."""
        child, descriptor = pty.fork()
        if child == 0:
            os.execve(self.borescope, [self.borescope, *map(str, words)],
                      {**self.environment, "TERM": "xterm-256color", **variables})
        shown = b""
        while True:
            try:
                data = os.read(descriptor, 65536)
            except OSError:  # Linux: nobody writes any more
                break
            if not data:
                break
            shown += data
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), shown.decode().replace("\r\n", "\n")

    def check_text(self, verb: str, *inputs: object) -> None:
        """Colours and bars on a terminal, and only there."""
        plain = self.run(verb, *inputs).stdout.decode()
        words = (verb, "--no-progress", *inputs)
        self.expect("\x1b" not in plain, f"{verb}: colours in a pipe")
        self.expect(self.on_terminal(*words, NO_COLOR="1")[1] == plain, f"{verb}: NO_COLOR is not plain")
        self.expect(self.on_terminal(*words, TERM="dumb")[1] == plain, f"{verb}: TERM=dumb is not plain")
        self.expect(self.on_terminal(*words, "--color", "never")[1] == plain, f"{verb}: --color never")
        coloured = self.on_terminal(*words)[1]
        self.expect("\u2588\x1b[0m" in coloured, f"{verb}: no bar on a terminal")
        self.expect(self.run(verb, "--color", "always", *inputs).stdout.decode() == coloured,
                    f"{verb}: --color always differs from a terminal")
        longest = max(len(line) for line in TEXT.sub("", coloured).splitlines())
        self.expect(longest <= 80, f"{verb}: {longest} columns")
        for line in plain.splitlines():
            row = line.rstrip()
            self.expect(row.startswith("\u2500") or row in TEXT.sub("", coloured),
                        f"{verb}: changed on a terminal: {row!r}")

    def check_controls(self, hostile: Path) -> None:
        """A terminal gets nothing that it would obey or hide, by whatever name it is written to."""
        workload = self.folder / "workload.txt"
        layers = "".join(f"{name.replace(' ', '')}{i} -1 100 ALLREDUCE 1024 110 ALLTOALL 2048 120 ALLREDUCE 4096 10\n"
                         for i, name in enumerate(HOSTILE[1:3]))
        workload.write_text(f"DATA\n2\n{layers}")
        done = self.run("chakra", "convert", workload, "-o", self.folder / "w", "--num-npus", 1, "--num-passes", 1)
        self.expect(done.returncode == 0, f"chakra convert: {done.stderr!r}")
        for words in (("kernels", hostile, "-f", "json"), ("kernels", hostile, "-f", "csv"),
                      ("kernels", hostile, "-f", "json", "-o", "/dev/stdout"),
                      ("ops", hostile, "-f", "csv", "-o", "/dev/tty"),
                      ("convert", hostile, "/dev/stdout", "--to", "chrome"),
                      ("convert", hostile, "/dev/tty", "--to", "csv"),
                      ("chakra", "draw", self.folder / "w.0.et"),
                      ("chakra", "dump", self.folder / "w.0.et", "/dev/stdout")):
            what = f"{' '.join(map(str, words[2:]))} on a terminal"
            status, shown = self.on_terminal(words[0], "-q", *words[1:])
            found = {each for each in shown if each not in "\n\t" and unicodedata.category(each) in CONTROLS}
            self.expect(status == 0 and len(shown) > 500, f"{what}: {status} {shown!r}")
            self.expect(not found, f"{what}: {sorted(found)}")
            if words[0] == "kernels" and words[-1] == "json":
                self.expect(json.loads(shown) == json.loads(self.run(*words).stdout), f"{what}: other texts")


def sample_traces(samples: Path | None) -> list[Path]:
    if samples is None or not (samples / "data" / "kineto").is_dir():
        return []
    return sorted((samples / "data" / "kineto").iterdir())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--borescope", required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--samples", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        hostile = folder / "'<hostile>&\x1b[31m.json"
        hostile.write_text(json.dumps(hostile_trace()))
        checker = Checker(os.path.abspath(arguments.borescope), folder)
        verbs = checker.drawn_verbs()
        run = arguments.data / "demo_run"
        for verb in verbs:
            checker.draw(verb, run)
            checker.draw(verb, hostile)
        checker.draw("memory", arguments.data / "small" / "memory.json")
        own = len(verbs) + 1  # at least: the hostile trace lacks what some verbs need
        checker.expect(checker.pictures >= own, f"only {checker.pictures} pictures")
        together = ",".join(verb for verb in verbs if verb != "summary")
        for path in sample_traces(arguments.samples):
            checker.draw(together, path)
        checker.check_png(run)
        checker.check_card_without_library(run)
        for verb in ("breakdown", "kernels"):
            checker.check_text(verb, run)
        checker.check_controls(hostile)
        for fault in checker.faults:
            print(fault)
        print(f"{checker.pictures} pictures, {len(checker.faults)} faults")
        return 1 if checker.faults else 0


if __name__ == "__main__":
    sys.exit(main())
