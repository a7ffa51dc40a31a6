"""Runs on an object store: a server of S3 on this machine, and what happens when it goes away."""

from __future__ import annotations

import http.server
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from conftest import DEMO

import borescope

pytest.importorskip("s3fs")
pytest.importorskip("moto.server")
KEYS = {"key": "test", "secret": "test"}


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


class Cut(http.server.BaseHTTPRequestHandler):
    """Passes requests on to the server, and cuts the content of objects off in the middle."""

    upstream = ""

    def forward(self) -> None:
        request = urllib.request.Request(self.upstream + self.path, method=self.command,
                                         headers=dict(self.headers.items()))
        try:
            reply = urllib.request.urlopen(request, timeout=10)
        except urllib.error.HTTPError as error:
            reply = error
        body = reply.read()
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            if name.lower() not in ("transfer-encoding", "connection"):
                self.send_header(name, value)
        self.end_headers()
        is_object = self.command == "GET" and "rank-" in self.path and len(body) > 1000
        self.wfile.write(body[:len(body) // 2] if is_object else body)
        self.close_connection = True

    do_GET = do_HEAD = forward

    def log_message(self, format: str, *words: Any) -> None:
        pass


def test_a_connection_that_is_cut_is_an_error(bucket: str) -> None:
    Cut.upstream = bucket
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Cut) as proxy:
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{proxy.server_address[1]}"
        run = borescope.open("s3://traces/run/rank-0.json.gz", storage_options=options(
            url, config_kwargs={"retries": {"max_attempts": 1}, "read_timeout": 5}))
        begin = time.monotonic()
        with pytest.raises(borescope.InputError) as raised:
            run.breakdown()
        proxy.shutdown()
    assert time.monotonic() - begin < 60
    assert raised.value.__cause__ is not None
