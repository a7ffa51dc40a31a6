"""Runs, parts and Parquet on an object store: a server of S3 on this machine, and what happens when it is
busy, goes away, or has another object."""

from __future__ import annotations

import http.server
import logging
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from conftest import DEMO, ROOT, trace_text

import borescope

pytest.importorskip("s3fs")
pytest.importorskip("moto.server")
KEYS = {"key": "AKIATESTTESTTEST", "secret": "verysecretword"}


def free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return int(bound.getsockname()[1])


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    port = free_port()
    process = subprocess.Popen([sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    for _ in range(300):
        try:
            urllib.request.urlopen(url + "/moto-api/", timeout=1)
            break
        except OSError:
            time.sleep(0.1)
    yield url
    process.terminate()
    process.wait()


def options(url: str, **more: Any) -> dict[str, Any]:
    return {**KEYS, "client_kwargs": {"endpoint_url": url}, **more}


@pytest.fixture(scope="module")
def bucket(server: str) -> str:
    import s3fs

    files = s3fs.S3FileSystem(**options(server))
    files.mkdir("traces")
    for path in DEMO.iterdir():
        files.put(str(path), f"traces/run/{path.name}")
    return server


def test_a_run_on_s3_gives_the_local_answer(bucket: str) -> None:
    local = borescope.open(DEMO)
    run = borescope.open("s3://traces/run/", storage_options=options(bucket))
    assert run.files == ("s3://traces/run/rank-0.json.gz", "s3://traces/run/rank-1.json.gz")
    assert run.kernels() == local.kernels() and run.breakdown() == local.breakdown()
    some = borescope.open("s3://traces/run/rank-1*", storage_options=options(bucket))
    assert some.ranks == (1,)


def test_what_is_not_there(bucket: str) -> None:
    with pytest.raises((borescope.InputError, FileNotFoundError)):
        borescope.open("s3://traces/run/rank-7.json", storage_options=options(bucket))


class Proxy(http.server.BaseHTTPRequestHandler):
    """Passes requests on to the server; what tests derive from it does harm to those for content."""

    upstream = ""

    def forward(self) -> None:
        request = urllib.request.Request(self.upstream + self.path, method=self.command,
                                         headers=dict(self.headers.items()))
        try:
            reply = urllib.request.urlopen(request, timeout=10)
        except urllib.error.HTTPError as error:
            reply = error
        body = reply.read()
        self.close_connection = True
        if self.command == "GET" and "rank-" in self.path and len(body) > 1000:
            body = self.harmed(body)
        if body is None:
            self.send_error(503)
            return
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            if name.lower() not in ("transfer-encoding", "connection"):
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def harmed(self, body: bytes) -> bytes | None:
        """What is passed on in place of a piece of an object; None refuses."""
        raise NotImplementedError

    do_GET = do_HEAD = forward

    def log_message(self, format: str, *words: Any) -> None:
        pass


@contextmanager
def through(handler: type[Proxy], upstream: str) -> Iterator[str]:
    handler.upstream = upstream
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as proxy:
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{proxy.server_address[1]}"
        proxy.shutdown()


class Cut(Proxy):
    def harmed(self, body: bytes) -> bytes:
        return body[:len(body) // 2]


def test_a_connection_that_is_cut_is_an_error(bucket: str) -> None:
    with through(Cut, bucket) as url:
        run = borescope.open("s3://traces/run/rank-0.json.gz", storage_options=options(
            url, config_kwargs={"retries": {"max_attempts": 1}, "read_timeout": 5}))
        begin = time.monotonic()
        with pytest.raises(borescope.InputError) as raised:
            run.breakdown()
    assert time.monotonic() - begin < 60
    assert raised.value.__cause__ is not None


class Busy(Proxy):
    """Refuses every object twice."""

    refused: dict[str, int] = {}

    def harmed(self, body: bytes) -> bytes | None:
        self.refused[self.path] = self.refused.get(self.path, 0) + 1
        return body if self.refused[self.path] > 2 else None


def test_a_busy_server_is_asked_again(bucket: str) -> None:
    with through(Busy, bucket) as url:
        run = borescope.open("s3://traces/run/", storage_options=options(url))
        assert run.kernels() == borescope.open(DEMO).kernels()
    assert len(Busy.refused) == 2 and all(count == 3 for count in Busy.refused.values())


class Replacing(Proxy):
    """Puts another object in the place of the one of which it has passed on a piece."""

    todo: list[Callable[[], object]] = []

    def harmed(self, body: bytes) -> bytes:
        if len(body) > 1 << 20 and self.todo:
            self.todo.pop()()
        return body


def test_an_object_that_changes_is_an_error(bucket: str) -> None:
    import s3fs

    files = s3fs.S3FileSystem(**options(bucket))
    files.pipe_file("traces/large/rank-0.json", trace_text(50_000))
    assert files.size("traces/large/rank-0.json") > 2 * (8 << 20)
    another = trace_text(50_001, "mul_kernel")
    Replacing.todo.append(lambda: files.pipe_file("traces/large/rank-0.json", another))
    with through(Replacing, bucket) as url:
        run = borescope.open("s3://traces/large/rank-0.json", storage_options=options(url))
        with pytest.raises(borescope.InputError, match="rank-0.json: the object changed while it was read"):
            run.kernels()
        with pytest.raises(borescope.InputError, match="changed"):
            run.kernels()
        again = borescope.open("s3://traces/large/", storage_options=options(url))
        assert again.kernels()["kernels"]["name"].to_list() == ["mul_kernel"]


# --- parts and Parquet

def test_parts_are_written_and_read_there(bucket: str, tmp_path: Path) -> None:
    for rank in (0, 1):
        run = borescope.open(f"s3://traces/run/rank-{rank}.json.gz", storage_options=options(bucket))
        part = run.map("kernels", "breakdown", output=f"s3://traces/parts/{rank}.part")
        assert run.map("kernels", "breakdown", output=tmp_path / f"{rank}.part") == part
        assert (tmp_path / f"{rank}.part").read_bytes() == part
    expected = borescope.open("s3://traces/run/", storage_options=options(bucket)).ask("kernels", "breakdown")
    first, second = (f"s3://traces/parts/{rank}.part" for rank in (0, 1))
    for parts in ("s3://traces/parts/", "s3://traces/parts/*.part", [second, first], [first, tmp_path / "1.part"],
                  tmp_path, str(tmp_path / "*.part")):
        assert borescope.reduce(parts, storage_options=options(bucket)).to_json() == expected.to_json()
    merged = borescope.merge("s3://traces/parts/", storage_options=options(bucket))
    assert borescope.reduce(merged).to_json() == expected.to_json()
    with pytest.raises(borescope.UsageError, match="would replace a recording"):
        run.map("kernels", output="s3://traces/run/rank-1.json.gz")
    with pytest.raises(borescope.InputError, match="s3://traces/none"):
        borescope.reduce("s3://traces/none/", storage_options=options(bucket))
    with pytest.raises(borescope.InputError, match="No part"):
        borescope.reduce(tmp_path / "*.none")


def test_parquet_is_written_there(bucket: str, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    import s3fs

    run = borescope.open("s3://traces/run/", storage_options=options(bucket))
    there = borescope.events_to_parquet(run, "s3://traces/parquet/")
    here = borescope.events_to_parquet(borescope.open(DEMO), tmp_path, name="run")
    assert there == [name.replace(str(tmp_path), "s3://traces/parquet") for name in here]
    files = s3fs.S3FileSystem(**options(bucket))
    assert all(files.cat_file(name) == Path(local).read_bytes() for name, local in zip(there, here))


def test_workers_read_the_store(bucket: str) -> None:
    distributed = pytest.importorskip("distributed", reason="needs the extra dask")
    import borescope.dask

    run = borescope.open("s3://traces/run/", storage_options=options(bucket))
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1",
                                  dashboard_address="127.0.0.1:0") as cluster, distributed.Client(cluster) as client:
        answer = borescope.dask.map_reduce(run, ["kernels", "breakdown"], client)
    assert answer.to_json() == run.ask("kernels", "breakdown").to_json()


# --- the cache

class Listening(Proxy):
    """Notes what is asked."""

    asked: list[tuple[str, str]] = []

    def forward(self) -> None:
        self.asked.append((self.command, self.path))
        super().forward()

    do_GET = do_HEAD = forward

    def harmed(self, body: bytes) -> bytes:
        return body

    @classmethod
    def bodies(cls) -> int:
        """How many requests for content there were since the last call."""
        count = sum(command == "GET" and "rank-" in path and "list-type" not in path for command, path in cls.asked)
        cls.asked.clear()
        return count


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The default folder of a user of this test alone."""
    monkeypatch.delenv("BORESCOPE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    return tmp_path / "caches" / "borescope"


def test_unchanged_objects_are_not_read_again(bucket: str, cache: Path) -> None:
    expected = borescope.open(DEMO).kernels()
    with through(Listening, bucket) as url:
        for url_of_run, use in {"s3://traces/run/": "kept", "s3://traces/run/rank-*": "found",
                                "s3://traces/run/rank-1.json.gz": "found"}.items():
            answer = borescope.open(url_of_run, storage_options=options(url)).kernels()
            assert {each.cache for each in answer.files} == {use}, answer.files
            assert (Listening.bodies() > 0) == (use == "kept")
            if len(answer.files) == 2:
                assert answer == expected and answer.kernels.to_csv() == expected.kernels.to_csv()
        other_keys = options(url, key="AKIAOTHER", secret="another")
        assert borescope.open("s3://traces/run/", storage_options=other_keys).kernels() == expected
        assert Listening.bodies() == 0
    content = b"".join(path.name.encode() + path.read_bytes() for path in cache.iterdir())
    assert not re.search(b"AKIA|verysecret|127.0.0.1|s3://", content)


def test_another_object_or_server_is_not_found(bucket: str, cache: Path) -> None:
    import s3fs

    files = s3fs.S3FileSystem(**options(bucket))
    for name, count in (("add_kernel", 3), ("mul_kernel", 3), ("add_kernel", 4)):
        files.pipe_file("traces/changing/rank-0.json", trace_text(count, name))
        for use in ("kept", "found"):
            answer = borescope.open("s3://traces/changing/", storage_options=options(bucket)).kernels()
            assert [each.cache for each in answer.files] == [use]
            assert answer.kernels["name"].to_list() == [name] and answer.kernels["count"].to_list() == [count]
    with through(Listening, bucket) as url:
        answer = borescope.open("s3://traces/changing/", storage_options=options(url)).kernels()
        assert answer.files[0].cache == "kept" and Listening.bodies() > 0


ASKING = """
import sys, borescope
answer = borescope.open("s3://traces/at-once/", storage_options={options}).kernels()
sys.stdout.buffer.write(answer.files[0].cache.encode() + b" " + answer.to_json())
"""


def test_processes_at_once(bucket: str, cache: Path) -> None:
    import s3fs

    s3fs.S3FileSystem(**options(bucket)).pipe_file("traces/at-once/rank-0.json", trace_text(20_000))
    expected = borescope.open("s3://traces/at-once/", storage_options=options(bucket), cache=False).kernels()
    program = ASKING.format(options=repr(options(bucket)))
    for uses in ({"kept", "found"}, {"found"}):
        processes = [subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) for _ in range(3)]
        replies = [process.communicate(timeout=120)[0].split(b" ", 1) for process in processes]
        assert {text for _, text in replies} == {expected.to_json()}
        assert {use.decode() for use, _ in replies} <= uses
    assert len(list(cache.iterdir())) == 2


# --- keys

def test_keys_are_in_no_message(bucket: str, caplog: pytest.LogCaptureFixture) -> None:
    texts = []
    with caplog.at_level(logging.INFO):
        run = borescope.open("s3://traces/run/", storage_options=options(bucket))
        texts += [repr(run), run.kernels().to_json().decode(), run.map("kernels").decode("latin-1")]
        for wrong in ("s3://traces/none", "s3://no-such-bucket/run/"):
            with pytest.raises((borescope.InputError, OSError)) as raised:
                borescope.open(wrong, storage_options=options(bucket))
            texts.append(str(raised.value))
        with pytest.raises(borescope.InputError) as refused:
            run.map("kernels", output="s3://no-such-bucket/0.part")
    texts += [str(refused.value), caplog.text]
    for text in texts:
        assert KEYS["key"] not in text and KEYS["secret"] not in text


class Served(http.server.BaseHTTPRequestHandler):
    """One recording under any name."""

    said: dict[str, str] = {}
    asked: list[str] = []

    def reply(self) -> None:
        self.asked.append(self.command)
        data = trace_text(2)
        self.send_response(200)
        for name, value in self.said.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data)

    do_GET = do_HEAD = reply

    def log_message(self, format: str, *words: Any) -> None:
        pass


def test_signed_urls_keep_their_secrets() -> None:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Served) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        place = f"127.0.0.1:{server.server_address[1]}/rank-4.json"
        run = borescope.open(f"http://mary:pass1@{place}?version=3&X-Amz-Signature=5ec7e7&sig=6e6e6e")
        assert run.files == (f"http://{place}?version=3&X-Amz-Signature=...&sig=...",)
        assert run.ranks == (4,)
        texts = [run.info().to_json(), run.map("info"), repr(run).encode()]
        server.shutdown()
    assert not any(re.search(rb"mary|pass1|5ec7e7|6e6e6e", text) for text in texts)


def test_signed_urls_are_found_whatever_signs_them(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Served, "said", {"ETag": '"one"', "Last-Modified": "Thu, 01 Jan 2026 00:00:00 GMT"})
    uses: list[str] = []
    Served.asked.clear()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Served) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        place = f"http://127.0.0.1:{server.server_address[1]}/rank-4.json?version=3"
        for signature in ("5ec7e7", "7e5ec7"):
            answer = borescope.open(f"{place}&X-Amz-Signature={signature}&X-Amz-Date=1").kernels()
            uses.append(answer.files[0].cache)
            assert ("GET" in Served.asked) == (uses == ["kept"])
            Served.asked.clear()
        monkeypatch.setattr(Served, "said", {"ETag": 'W/"one"'})
        weak = borescope.open(place).kernels().files[0]
        server.shutdown()
    assert uses == ["kept", "found"] and weak.cache == "failed" and "weak" in weak.cache_failure
    content = b"".join(path.name.encode() + path.read_bytes() for path in cache.iterdir())
    assert not re.search(b"5ec7e7|7e5ec7|127.0.0.1|version=3", content)


def test_what_of_a_url_is_shown() -> None:
    from borescope._stores import public_name

    for url, shown in {
            "s3://bucket/a@b:c/rank-0.json": "s3://bucket/a@b:c/rank-0.json",
            "abfs://container@account.dfs/x": "abfs://container@account.dfs/x",
            "https://mary:pass@host:8080/x?y=1": "https://host:8080/x?y=1",
            "zip://r.json::https://mary:pass@host/x.zip": "zip://r.json::https://host/x.zip",
            "https://host/x?X-Amz-Credential=a%2Fb&X-Amz-Security-Token=c&n=1":
                "https://host/x?X-Amz-Credential=...&X-Amz-Security-Token=...&n=1"}.items():
        assert public_name(url) == shown


# --- what is installed, and the page

def test_s3fs_is_not_an_old_one() -> None:
    """Beside boto3, pip may choose s3fs 0.4.2 of 2020: the extra `s3` names s3fs alone."""
    import s3fs

    assert int(s3fs.__version__.split(".")[0]) >= 2023


def test_the_page_of_object_stores(bucket: str) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs" / "use" / "object-stores.md").read_text(),
                        re.DOTALL | re.MULTILINE)
    pytest.importorskip("pyarrow")
    import s3fs

    files = s3fs.S3FileSystem(**options(bucket))
    files.copy("traces/run/rank-0.json.gz", "traces/step7/rank-0.json.gz")
    if files.exists("traces/parts"):
        files.rm("traces/parts", recursive=True)
    names: dict[str, Any] = {"KEY": KEYS["key"], "SECRET": KEYS["secret"], "URL": bucket}
    for block in blocks:
        exec(compile(block, "docs/use/object-stores.md", "exec"), names)
    expected = names["run"].ask("breakdown", "kernels").to_json()
    assert names["answer"].to_json() == names["whole"].to_json() == expected
    assert names["files"][0] == "s3://traces/parquet/run=step7/rank=0/events.parquet"
