#!/usr/bin/env python3
"""Checks `borescope open` with real clients of the program as a user starts it.

    check_open.py --borescope BIN

What is served has the bytes of the file, or those that `convert` and `report` write; nobody else's
page may read it; the program ends by itself, with the exit status of the contract, and leaves no
temporary file, whatever ends it but SIGKILL, after which the next one cleans up.

Exit status: 0 all is well, 1 something is not.
"""

import argparse
import base64
import contextlib
import gzip
import http.client
import itertools
import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path

PERFETTO = "https://ui.perfetto.dev"
PATIENCE_S = 60
EVENTS = [
    {"ph": "X", "cat": "kernel", "name": f"kernel_{number}", "pid": 0, "tid": 7, "ts": number * 10,
     "dur": 5, "args": {"device": 0, "stream": 7, "correlation": number}}
    for number in range(2000)
]


def as_from_a_terminal() -> None:
    """A script's background jobs ignore Ctrl-C; and SIGQUIT is to leave no core dump."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Server:
    """`borescope open` that waits for a client."""

    def __init__(self, checker: "Checker", *words: object, browser: str = "") -> None:
        environment = {name: value for name, value in os.environ.items()
                       if name not in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")}
        environment["TMPDIR"] = str(checker.temporary)
        if browser:
            environment["BROWSER"] = browser
        self.process = subprocess.Popen(
            [checker.borescope, "open", *map(str, words)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
            preexec_fn=as_from_a_terminal)

    def address(self) -> tuple[int, str]:
        """Where it listens and what it gives, from what it prints."""
        line = self.process.stdout.readline().decode().strip()
        seen = ""
        while "127.0.0.1:" not in seen and "ssh" not in seen:
            text = self.process.stderr.readline().decode()
            if not text:
                break
            seen = text if "ssh -L" in text else seen
        self.url = line
        port = re.search(r"127\.0\.0\.1:(\d+) HOST", seen)
        return int(port[1]), re.sub(r".*127\.0\.0\.1:\d+", "", line)

    def end(self) -> tuple[int, str]:
        """Exit status and what was still said on standard error."""
        _, err = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, err.decode()


def fetch(port: int, path: str, method: str = "GET", **headers: str):
    """Status, headers and content."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, answer.headers, content


def leb(data: bytes):
    """Unsigned numbers of seven bits a byte, the lowest first."""
    number, shift = 0, 0
    for byte in data:
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            yield number
            number, shift = 0, 0


def boxes_of(timeline: dict) -> list:
    """Track, begin, duration, depth and name of every box of a document (docs/how-it-works/timeline.md)."""
    boxes = []
    for chunk in timeline["chunks"]:
        if timeline["tracks"][chunk["track"]]["kind"] == "counter":
            continue
        count = chunk["boxes"]
        packed = "packed" in chunk
        content = base64.b64decode(chunk["packed" if packed else "data"])
        numbers = list(leb(zlib.decompress(content, -15) if packed else content))
        begins = itertools.accumulate(numbers[:count])
        for box, begin in enumerate(begins):
            duration, depth, name = (numbers[count * column + box] for column in (1, 2, 3))
            boxes.append((chunk["track"], begin, duration, depth, timeline["names"][name]))
    return sorted(boxes)


class Checker:
    """Runs the program in a folder of its own and collects what is wrong."""

    def __init__(self, borescope: str, folder: Path) -> None:
        self.borescope = borescope
        self.folder = folder
        self.temporary = folder / "tmp"
        self.temporary.mkdir()
        self.faults: list[str] = []
        text = json.dumps({"schemaVersion": 1, "traceEvents": EVENTS})
        self.trace = folder / "rank-0.json"
        self.trace.write_text(text)
        self.packed = folder / "rank-0.json.gz"
        self.packed.write_bytes(gzip.compress(text.encode()))
        self.database = folder / "trace.rpd"
        self.run("convert", self.trace, self.database, "-q")

    def run(self, *words: object) -> subprocess.CompletedProcess:
        return subprocess.run([self.borescope, *map(str, words)], capture_output=True, text=True,
                              timeout=PATIENCE_S, stdin=subprocess.DEVNULL)

    def expect(self, name: str, got: object, wanted: object) -> None:
        if got != wanted:
            show = [str(value)[:300] for value in (got, wanted)]
            self.faults.append(f"{name}: {show[0]} instead of {show[1]}")

    def expect_nothing_left(self, name: str) -> None:
        self.expect(f"{name}: temporary files", sorted(self.temporary.rglob("*")), [])

    # ---- What is served ----

    def check_served(self, name: str, words: list, content: bytes, reader: str | None) -> None:
        """Of two clients the second one, who reads all of it, ends the program."""
        server = Server(self, *words, "--port", 0, "--no-browser")
        port, path = server.address()
        self.expect_nothing_left(f"{name}, while serving")
        headers = {"Origin": reader} if reader else {}
        status, _, body = fetch(port, path, "HEAD", **headers)
        self.expect(f"{name}: HEAD", (status, body), (200, b""))
        status, heard, body = fetch(port, path, **headers)
        self.expect(f"{name}: status", status, 200)
        self.expect(f"{name}: content", body, content)
        self.expect(f"{name}: may read", heard["Access-Control-Allow-Origin"], reader)
        self.expect(f"{name}: exit", server.end(), (0, ""))
        self.expect_nothing_left(name)

    def check_traces(self) -> None:
        text = self.trace.read_bytes()
        self.check_served("JSON as JSON", [self.trace, "--as", "json"], text, PERFETTO)
        self.check_served("without an origin", [self.trace, "--as", "json"], text, None)
        self.check_served("gzip", [self.packed, "--as", "json"], self.packed.read_bytes(), PERFETTO)
        converted = self.folder / "wanted.pftrace"
        self.run("convert", self.trace, "-o", converted, "-q")
        self.check_served("JSON", [self.trace], converted.read_bytes(), PERFETTO)
        self.check_served("packed JSON", [self.packed], converted.read_bytes(), PERFETTO)
        self.check_served("Perfetto's own", [converted], converted.read_bytes(), PERFETTO)
        self.run("convert", self.database, "-o", converted, "-q")
        self.check_served("database", [self.database], converted.read_bytes(), PERFETTO)
        cut = self.folder / "cut.json"
        cut.write_bytes(self.trace.read_bytes()[:-100])
        self.run("convert", cut, "-o", converted, "-q")
        self.check_served("damaged", [cut], converted.read_bytes(), PERFETTO)
        self.run("convert", self.trace, "-o", converted, "-q", "--begin", "50%")
        self.check_served("window", [self.trace, "--begin", "50%"], converted.read_bytes(),
                          PERFETTO)

    def check_report(self) -> None:
        page = self.folder / "wanted.html"
        self.run("report", self.trace, "-o", page, "-q", "--top", 3)
        self.check_served("report", [self.trace, "--report", "--top", 3], page.read_bytes(), None)

    # ---- Finer detail of the timeline ----

    def check_timeline(self, name: str, source: Path) -> None:
        """A page whose timeline is merged gets, on demand, what the verb draws of everything."""
        server, port, path = self.serve_quietly(source)
        if source.is_dir():
            self.wait_for_news(port, path, "1 rank at")
        page = fetch(port, path)[2].decode()
        if "script-src" in page[:page.find("<title>")]:
            self.expect(f"{name}: may ask", page.count("; connect-src 'self'"), 1)
            self.expect_finer(name, port, path.replace("report.html", ""), page, source)
            server.process.send_signal(signal.SIGINT)
        elif source.is_dir():
            server.process.send_signal(signal.SIGINT)
        self.expect(f"{name}: exit", server.end(), (0, ""))
        self.expect_nothing_left(name)

    def serve_quietly(self, source: Path, *words: object) -> tuple[Server, int, str]:
        server = Server(self, source, "--report", "--port", 0, "--no-browser", "-q", *words)
        server.url = server.process.stdout.readline().decode().strip()
        port = int(re.search(r"127\.0\.0\.1:(\d+)/", server.url)[1])
        return server, port, server.url.split(f":{port}")[1]

    def expect_finer(self, name: str, port: int, folder: str, page: str, source: Path) -> None:
        drawn = json.loads(re.search(r'id="borescope-timeline">(.*?)</script>', page, re.S)[1])
        self.expect(f"{name}: more", drawn["more"], "timeline")
        self.expect(f"{name}: exact", drawn["window"]["end_ns"] < drawn["span_ns"], True)
        begin, end = drawn["span_ns"] * 7 // 8, drawn["span_ns"] * 15 // 16
        ask = f"{folder}{drawn['more']}?begin={begin}&end={end}&grain=0"
        status, heard, body = fetch(port, ask)
        self.expect(f"{name}: status", (status, heard["Content-Type"]), (200, "application/json"))
        finer = json.loads(body)
        self.expect(f"{name}: level", [(one["level"], one["begin_ns"], one["end_ns"])
                                       for one in finer["levels"]], [(0, begin, end)])
        self.expect(f"{name}: tracks", finer["tracks"], drawn["tracks"])
        self.expect(f"{name}: boxes", boxes_of(finer), self.boxes_of_verb(source, begin, end))
        for query in ("", "?begin=-1&end=5", "?begin=9&end=5", "?begin=a&end=b", "?" + "&" * 5000,
                      "?begin=1e9&end=2e9", "?begin=0&end=5&grain=-1"):
            self.expect(f"{name}: {query[:30]}", fetch(port, f"{folder}timeline{query}")[0], 400)
        nines = "9" * 1000
        for query in (f"?begin=0&end={nines}&grain={nines}", f"?begin={nines}&end={nines}",
                      "?begin=0&end=0"):
            status, _, body = fetch(port, f"{folder}timeline{query}")
            self.expect(f"{name}: {query[:30]}", status, 200)
            self.expect(f"{name}: {query[:30]}: size", len(body) < 3_000_000, True)

    def boxes_of_verb(self, source: Path, begin: int, end: int) -> list:
        done = self.run("timeline", source, "--detail", "full", "-f", "json", "-q")
        tables = {table["name"]: table["columns"] for table in json.loads(done.stdout)["tables"]}
        columns = {column["name"]: column["values"] for column in tables["boxes"]}
        rows = zip(columns["track"], columns["begin_offset_ns"], columns["duration_ns"],
                   columns["depth"], columns["name"])
        return sorted(row for level, row in zip(columns["level"], rows)
                      if level == 0 and row[1] <= end and row[1] + row[2] >= begin)

    def check_timelines(self) -> None:
        run = self.folder / "large"
        run.mkdir()
        events = [{**event, "name": f"kernel_{number % 50}", "ts": number * 10,
                   "args": {"device": 0, "stream": 7, "correlation": number}}
                  for number, event in enumerate(EVENTS * 160)]
        (run / "rank-0.json").write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
        self.check_timeline("timeline of a file", run / "rank-0.json")
        self.check_timeline("timeline of a folder", run)
        server, port, path = self.serve_quietly(run / "rank-0.json", "--timeout", 1)
        fetch(port, path)
        self.expect("timeline: ends when nobody asks", server.end(), (0, ""))

    # ---- A folder that is being written ----

    def wait_for_news(self, port: int, path: str, wanted: str) -> dict:
        """What the page hears, once `wanted` is in it."""
        end = time.monotonic() + PATIENCE_S
        news = {}
        while time.monotonic() < end:
            news = json.loads(fetch(port, path.replace("report.html", "live"))[2])
            if wanted in json.dumps(news):
                return news
            time.sleep(0.1)
        self.faults.append(f"live: {wanted!r} is not in {news}")
        return news

    def check_live(self) -> None:
        run = self.folder / "run"
        run.mkdir()
        server = Server(self, run, "--report", "--port", 0, "--no-browser", "-q", "--top", 3)
        server.url = server.process.stdout.readline().decode().strip()
        port = int(re.search(r"127\.0\.0\.1:(\d+)/", server.url)[1])
        path = server.url.split(f":{port}")[1]
        self.expect("live: waits", b"No rank is complete yet" in fetch(port, path)[2], True)
        text = self.trace.read_text()
        (run / "rank-0.json.tmp").write_text(text)
        (run / "rank-0.json").write_text(text)
        first = self.wait_for_news(port, path, "1 rank at")
        page = fetch(port, path)[2]
        self.expect("live: page", b"kernel_1" in page, True)
        head = page[:page.find(b"<title>")]
        has_scripts = b"script-src" in head
        self.expect("live: may ask its server", b"connect-src 'self'" in head, has_scripts)
        self.expect("live: no file may", b"connect-src" in (self.folder / "wanted.html").read_bytes(),
                    False)
        growing = (run / "rank-1.json").open("w")
        growing.write(text[:1000])
        growing.flush()
        self.wait_for_news(port, path, "1 file still being written")
        growing.write(text[1000:])
        growing.close()
        second = self.wait_for_news(port, path, "2 ranks at")
        self.expect("live: another page", second["version"] > first["version"], True)
        (run / "rank-2.json.gz").write_bytes(b"\x1f\x8b broken")
        long_ago = time.time() - 600  # what changed lately may still be written
        os.utime(run / "rank-2.json.gz", (long_ago, long_ago))
        self.expect("live: says what is broken",
                    "rank-2.json.gz" in str(self.wait_for_news(port, path, "rank-2")["problems"]),
                    True)
        self.expect("live: page stays", b"kernel_1" in fetch(port, path)[2], True)
        name = path.replace("report.html", "live")
        self.expect("live: nobody else", fetch(port, name, Origin="https://evil.example")[0], 403)
        self.expect("live: secret", fetch(port, "/live")[0], 404)
        server.process.send_signal(signal.SIGINT)
        self.expect("live: exit, of which one file is broken", server.end(), (2, ""))
        self.expect_nothing_left("live")

    def check_live_without_a_page(self) -> None:
        """What cannot be read is said until something can be."""
        run = self.folder / "unreadable"
        run.mkdir()
        server = Server(self, run, "--report", "--port", 0, "--no-browser", "-q")
        server.url = server.process.stdout.readline().decode().strip()
        port = int(re.search(r"127\.0\.0\.1:(\d+)/", server.url)[1])
        path = server.url.split(f":{port}")[1]
        (run / "inner").mkdir()
        self.wait_for_news(port, path, "its subfolder is not searched")
        (run / "rank-0.json").write_text("no JSON")
        self.wait_for_news(port, path, "no newer page could be made")
        time.sleep(1)
        news = self.wait_for_news(port, path, "no newer page could be made")
        self.expect("live: a file was found", "not searched" in str(news), False)
        self.expect("live: page says why", b"no newer page could be made" in fetch(port, path)[2], True)
        server.process.send_signal(signal.SIGINT)
        server.end()

    def check_input_through_a_pipe(self) -> None:
        server = Server(self, "-", "--port", 0, "--no-browser")
        server.process.stdin.write(self.packed.read_bytes())
        server.process.stdin.close()
        server.process.stdin = None
        port, path = server.address()
        self.expect("pipe: name", path.endswith("/trace.pftrace"), True)
        _, _, body = fetch(port, path)
        self.expect("pipe: content", b"kernel_1999" in body, True)
        self.expect("pipe: exit", server.end()[0], 0)

    # ---- What is refused ----

    def check_refusals(self) -> None:
        server = Server(self, self.trace, "--port", 0, "--no-browser")
        port, path = server.address()
        self.expect("address", server.url, f"{PERFETTO}/#!/?url=http://127.0.0.1:9001{path}")
        for status, wanted, method, headers in (
                (404, "/", "GET", {}), (404, "/rank-0.json", "GET", {}),
                (404, path + "/..", "GET", {}), (404, str(self.trace), "GET", {}),
                (405, path, "POST", {}), (405, "/status", "POST", {"Origin": PERFETTO}),
                (405, path, "OPTIONS", {"Origin": PERFETTO}),
                (403, path, "GET", {"Origin": "https://evil.example"}),
                (403, path, "GET", {"Host": "evil.example"}),
                (431, path, "GET", {"Cookie": "x" * 20_000})):
            got, heard, body = fetch(port, wanted, method, **headers)
            name = f"{method} {wanted} {list(headers.items())[:1]}"[:80]
            self.expect(name, got, status)
            self.expect(f"{name}: may read", heard["Access-Control-Allow-Origin"], None)
            self.expect(f"{name}: content", b"kernel" in body, False)
        self.expect("refusals", server.process.poll(), None)
        fetch(port, path)
        self.expect("after refusals: exit", server.end(), (0, ""))

    def check_silent_clients(self) -> None:
        """Connections that say nothing, or never all of it, keep nobody out."""
        server = Server(self, self.trace, "--as", "json", "--port", 0, "--no-browser")
        port, path = server.address()
        silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(200)]
        for one in silent[::2]:
            with contextlib.suppress(OSError):  # it may be closed by now
                one.send(b"GET / HTTP/1.1\r\nHost:")
        begin = time.monotonic()
        status, _, body = fetch(port, path)
        self.expect("silent clients", (status, body), (200, self.trace.read_bytes()))
        self.expect("silent clients: waited", time.monotonic() - begin < 3, True)
        self.expect("silent clients: exit", server.end(), (0, ""))
        for one in silent:
            one.close()

    # ---- How it ends ----

    def check_time_limit(self) -> None:
        for words, what in (([self.database], "trace"), ([self.trace, "--report"], "report")):
            server = Server(self, *words, "--port", 0, "--no-browser", "--timeout", 1, "-q")
            self.expect("time limit", server.end(),
                        (2, f"borescope: nobody fetched the {what} within 1 s; --timeout waits "
                            "longer\n"))
            self.expect_nothing_left("time limit")

    def check_interrupts(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT,
                       signal.SIGXCPU):
            server = Server(self, self.database, "--port", 0, "--no-browser")
            server.address()
            server.process.send_signal(number)
            self.expect(f"{number.name} while serving", server.end(), (0, ""))
            self.expect_nothing_left(f"{number.name} while serving")
            server = self.start_reading()
            server.process.send_signal(number)
            server.process.wait(PATIENCE_S)
            self.expect(f"{number.name} while reading", server.process.returncode, -number)
            self.expect_nothing_left(f"{number.name} while reading")
            server.end()

    def start_reading(self) -> Server:
        """One that waits for its input and has its temporary folder."""
        before = set(self.temporary.iterdir())
        server = Server(self, "-", "--port", 0, "--no-browser")
        end = time.monotonic() + PATIENCE_S
        while set(self.temporary.iterdir()) == before and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(0.2)
        return server

    def check_killed(self) -> None:
        """What an end without a warning leaves goes with the next one; what is in use stays."""
        used = self.start_reading()
        in_use = set(self.temporary.iterdir())
        killed = self.start_reading()
        killed.process.kill()
        killed.end()
        self.expect("killed: left", len(set(self.temporary.iterdir()) - in_use), 1)
        server = Server(self, self.database, "--port", 0, "--no-browser")
        port, path = server.address()
        self.expect("killed: after the next", set(self.temporary.iterdir()), in_use)
        fetch(port, path)
        self.expect("killed: exit", server.end(), (0, ""))
        used.process.send_signal(signal.SIGTERM)
        used.end()
        self.expect_nothing_left("killed")

    def check_errors(self) -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            done = self.run("open", self.trace, "--port", port, "--no-browser")
        self.expect("port", (done.returncode, done.stdout, done.stderr),
                    (2, "", f"borescope: 127.0.0.1:{port}: another program listens there; end it, "
                            "or name another port with --port\n"))
        bad = self.folder / "bad.json"
        bad.write_text("no trace at all")
        empty_line = self.folder / "empty_line.txt"  # the byte that packets of Perfetto begin with
        empty_line.write_text("\nhello world\n")
        for path in (bad, empty_line, self.folder / "absent.json"):
            for more in ((), ("--report",)):
                done = self.run("open", path, "--port", 0, "--no-browser", *more)
                self.expect(f"{path.name} {more}", (done.returncode, done.stdout), (2, ""))
                self.expect(f"{path.name} {more}: error", done.stderr.count("\n"), 1)
                self.expect(f"{path.name} {more}: named", str(path) in done.stderr, True)
        os.environ["TMPDIR"] = str(self.folder / "nowhere")
        done = self.run("open", self.trace, "--port", 0, "--no-browser")
        del os.environ["TMPDIR"]
        self.expect("no place", (done.returncode, "nowhere: cannot make" in done.stderr), (2, True))

    def check_browser(self) -> None:
        """The user's own browser gets the address as one word; nothing is printed."""
        told = self.folder / "told"
        browser = self.folder / "browser"
        browser.write_text(f'#!/bin/sh\nprintf "%s\\n" "$#" "$@" > "{told}.new"\n'
                           f'mv "{told}.new" "{told}"\n')
        browser.chmod(0o755)
        server = Server(self, self.trace, "--report", "--port", 0, "-q",
                        browser=f"{self.folder}/none:{browser} --new")
        end = time.monotonic() + PATIENCE_S
        while not told.exists() and time.monotonic() < end:
            time.sleep(0.01)
        count, first, url = told.read_text().splitlines()
        self.expect("browser", (count, first), ("2", "--new"))
        match = re.fullmatch(r"http://127\.0\.0\.1:(\d+)(/[0-9a-f]{32}/report\.html)", url)
        status, _, _ = fetch(int(match[1]), match[2])
        self.expect("browser: status", status, 200)
        out, err = server.process.communicate(timeout=PATIENCE_S)
        self.expect("browser: exit", (server.process.returncode, out, err), (0, b"", b""))

    def check_failing_browsers(self) -> None:
        """What fails is no browser: the next one is asked, and where none is left the address is
        printed, as without any."""
        silent = self.folder / "silent"
        silent.write_text("#!/bin/sh\nexit 3\n")
        silent.chmod(0o755)
        for words in ((), ("-q",)):
            server = Server(self, self.trace, "--report", "--port", 0, "--timeout", 1, *words,
                            browser=f"{silent}:{self.folder}/none:{silent} %s")
            out, err = server.process.communicate(timeout=PATIENCE_S)
            match = re.fullmatch(r"http://127\.0\.0\.1:\d+/[0-9a-f]{32}/report\.html\n",
                                 out.decode())
            self.expect(f"failing browsers {words}: address {out}", match is not None, True)
            self.expect(f"failing browsers {words}: ways", b"ssh -L" in err, not words)
            self.expect(f"failing browsers {words}: opened", b"opened" in err, False)
        lasting = self.folder / "lasting"
        told = self.folder / "lasting.told"
        lasting.write_text(f'#!/bin/sh\necho $$ "$@" > "{told}"\nsleep 2\nexit 3\n')
        lasting.chmod(0o755)
        server = Server(self, self.trace, "--report", "--port", 0, browser=f"{silent}:{lasting}")
        line = server.process.stderr.readline().decode()
        if "plain tables" in line:  # told first by a program without the charts of the report
            line = server.process.stderr.readline().decode()
        number, url = told.read_text().split()
        self.expect("lasting browser", line, f"borescope: opened in the browser: {url}\n")
        end = time.monotonic() + PATIENCE_S
        while Path(f"/proc/{number}").exists() and time.monotonic() < end:
            time.sleep(0.01)
        self.expect("lasting browser: zombie", Path(f"/proc/{number}").exists(), False)
        self.expect("lasting browser: still served", server.process.poll(), None)
        match = re.fullmatch(r"http://127\.0\.0\.1:(\d+)(/.*)", url)
        self.expect("lasting browser: status", fetch(int(match[1]), match[2])[0], 200)
        self.expect("lasting browser: exit", server.end(), (0, ""))


def main() -> int:
    parser = argparse.ArgumentParser(description="Checks `borescope open`.")
    parser.add_argument("--borescope", required=True)
    borescope = os.path.abspath(parser.parse_args().borescope)
    with tempfile.TemporaryDirectory() as folder:
        checker = Checker(borescope, Path(folder))
        checker.check_traces()
        checker.check_report()
        checker.check_timelines()
        checker.check_live()
        checker.check_live_without_a_page()
        checker.check_input_through_a_pipe()
        checker.check_refusals()
        checker.check_silent_clients()
        checker.check_time_limit()
        checker.check_interrupts()
        checker.check_killed()
        checker.check_errors()
        checker.check_browser()
        checker.check_failing_browsers()
    for fault in checker.faults:
        print(fault)
    print(f"{len(checker.faults)} faults")
    return 1 if checker.faults else 0


if __name__ == "__main__":
    sys.exit(main())
