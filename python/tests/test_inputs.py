"""What a run is opened from, and what goes wrong there."""

from __future__ import annotations

import gzip
import io
import os
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest
from conftest import DEMO, trace_text

import borescope
from borescope import _streams


def busy(source: Any, **options: Any) -> list[int]:
    cells: list[int] = borescope.open(source, **options).breakdown().breakdown["busy_ns"].to_list()
    return cells


def test_names(trace: Path) -> None:
    for source in (trace, str(trace), os.fsencode(str(trace.parent)) and trace.parent,
                   str(trace.parent / "*.json"), [trace], (str(trace),)):
        run = borescope.open(source)
        assert run.files == (str(trace),)
        assert busy(source) == [9000]


def test_bytes_and_file_objects(trace: Path) -> None:
    data = trace.read_bytes()
    assert busy(data) == busy(bytearray(data)) == busy(memoryview(data)) == [9000]
    assert busy(gzip.compress(data)) == [9000]
    assert busy(io.BytesIO(data)) == [9000]
    with open(trace, "rb") as file:
        run = borescope.open(file)
        assert run.files == ("rank-0.json",)
        assert run.breakdown().breakdown["busy_ns"].to_list() == [9000]
    assert borescope.open([data, data]).files == ("recording", "recording-2")


class Pipe(io.RawIOBase):
    """An object that cannot seek."""

    def __init__(self, data: bytes, name: str = "rank-3.json") -> None:
        self.inner = io.BytesIO(data)
        self.name = name

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        return self.inner.read(min(size, 100) if size > 0 else size)


def test_streams_are_kept_as_they_cannot_be_read_again(trace: Path) -> None:
    run = borescope.open(Pipe(trace.read_bytes()), keep="never")
    assert run.ranks == (3,)
    assert run.breakdown().breakdown["busy_ns"].to_list() == [9000]
    run.forget()
    with pytest.raises(borescope.InputError, match="cannot seek"):
        run.breakdown()


def test_databases_become_files(tmp_path: Path) -> None:
    target = tmp_path / "one.rpd"
    borescope.open(DEMO / "rank-0.json.gz").convert(target)
    expected = busy(target)
    with open(target, "rb") as file:
        run = borescope.open(file)
        assert os.path.isfile(run.files[0]) and run.files[0] != str(target)
        assert run.breakdown().breakdown["busy_ns"].to_list() == expected
    assert busy(target.read_bytes()) == busy(Pipe(target.read_bytes(), "x.rpd")) == expected
    spooled = run.files[0]
    del run
    assert not os.path.exists(spooled)


def test_an_object_that_returns_str(trace: Path) -> None:
    with open(trace) as file, pytest.raises(TypeError, match='binary mode \\("rb"\\)'):
        borescope.open(file)  # type: ignore[arg-type]


class Broken(io.BytesIO):
    def __init__(self, data: bytes, error: Any) -> None:
        super().__init__(data)
        self.reads = 0
        self.error = error

    def read(self, size: int | None = -1) -> Any:
        self.reads += 1
        if self.reads == 1:
            return super().read(size)  # what opening looks at
        if isinstance(self.error, BaseException):
            raise self.error
        return self.error


def test_an_object_that_raises() -> None:
    data = trace_text()
    with pytest.raises(borescope.InputError, match="RuntimeError: the cable is out") as raised:
        borescope.open(Broken(data, RuntimeError("the cable is out"))).breakdown()
    assert isinstance(raised.value.__cause__, RuntimeError)
    with pytest.raises(borescope.InputError, match="binary mode"):
        borescope.open(Broken(data, "text")).breakdown()
    with pytest.raises(borescope.InputError, match="returned"):
        borescope.open(Broken(data, data + b" " * (32 << 20))).breakdown()
    with pytest.raises(KeyboardInterrupt):
        borescope.open(Broken(data, KeyboardInterrupt())).breakdown()


def test_an_object_that_changes_its_size() -> None:
    class Growing(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            piece = super().read(size)
            at = self.tell()
            self.seek(0, os.SEEK_END)
            self.write(b" ")
            self.seek(at)
            return piece

    growing = Growing(trace_text(40_000))
    run = borescope.open(growing)
    with pytest.raises(borescope.InputError, match="changed while it was read"):
        run.breakdown()


def test_what_is_no_source() -> None:
    with pytest.raises(borescope.UsageError, match="float"):
        borescope.open(3.5)  # type: ignore[arg-type]
    with pytest.raises(borescope.UsageError, match="no input"):
        borescope.open([])
    with pytest.raises(borescope.InputError, match="nothing-here.json") as raised:
        borescope.open("nothing-here.json")
    assert raised.value.code == "io" and raised.value.path == "nothing-here.json"
    assert isinstance(raised.value, OSError)
    with pytest.raises(borescope.FormatError) as unread:
        borescope.open(b"hello").breakdown()
    assert isinstance(unread.value, ValueError) and unread.value.remedy


def test_names_of_files_that_are_no_text(trace: Path, tmp_path: Path) -> None:
    odd = os.path.join(os.fsencode(tmp_path), b"odd\xff.json")
    try:
        shutil.copy(os.fsencode(trace), odd)
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    run = borescope.open(os.fsdecode(odd))
    assert os.fsencode(run.files[0]) == odd
    assert run.breakdown().files[0].path == os.fsdecode(odd)


def test_fsspec(trace: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    files = fsspec.filesystem("memory")
    for rank in range(2):
        files.pipe(f"/runs/step7/rank-{rank}.json", trace_text(rank + 1))
    expected = [3000, 6000]
    run = borescope.open("memory://runs/step7/")
    assert run.files == ("memory:///runs/step7/rank-0.json", "memory:///runs/step7/rank-1.json")
    assert run.breakdown().breakdown["busy_ns"].to_list() == expected
    run.forget()
    assert run.breakdown().breakdown["busy_ns"].to_list() == expected  # it can be read again
    assert busy("memory://runs/step7/rank-*.json") == expected
    assert busy(f"file://{trace}") == [9000]
    with pytest.raises((borescope.InputError, FileNotFoundError)):
        borescope.open("memory://runs/nothing.json")


def test_objects_are_in_the_order_of_files(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    names = ["rank-10.json", "rank-2.json", "rank-02.json", "rank-002.json", "a1b10.json", "a1b9.json", "a.json", "a1.json",
             "rank-.json", "rank-0.json", "rank-00.json", "Z.json", "rank-1x2.json", "rank-1x10.json", "ä2.json", "rank.json"]
    for name in names:
        (tmp_path / name).write_bytes(trace_text())
        fsspec.filesystem("memory").pipe(f"/order/{name}", trace_text())
    there = [os.path.basename(file) for file in borescope.open("memory://order/").files]
    assert there == [os.path.basename(file) for file in borescope.open(tmp_path).files]


def test_remote_objects_that_change_or_end_early(monkeypatch: pytest.MonkeyPatch) -> None:
    fsspec = pytest.importorskip("fsspec")
    files = fsspec.filesystem("memory")
    files.pipe("/changing.json", trace_text(2))
    run = borescope.open("memory://changing.json")
    files.pipe("/changing.json", trace_text(5))
    with pytest.raises(borescope.InputError, match="changed while it was read"):
        run.breakdown()

    files.pipe("/short.json", trace_text(3))
    run = borescope.open("memory://short.json")
    real = type(files).open

    def cut(self: Any, path: str, *words: Any, **options: Any) -> Any:
        return io.BytesIO(real(self, path, "rb").read()[:100])

    monkeypatch.setattr(type(files), "open", cut)
    with pytest.raises(borescope.InputError, match="ended early"):
        run.breakdown()


def test_an_object_that_changes_between_two_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system that does not look after that itself: the store is asked after every block."""
    fsspec = pytest.importorskip("fsspec")
    files = fsspec.filesystem("memory")
    files.pipe("/blocks.json", trace_text(9))
    monkeypatch.setattr("borescope._streams.BLOCK", 1000)
    run = borescope.open("memory://blocks.json")
    assert run.breakdown().breakdown["busy_ns"].to_list() == [27_000]
    run.forget()
    real = type(files).open
    read: list[int] = []

    class Changing(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            piece = super().read(size)
            if self.tell() == 2000:
                files.pipe("/blocks.json", trace_text(10))
            read.append(self.tell())
            return piece

    def changing(self: Any, path: str, mode: str = "rb", **options: Any) -> Any:
        return Changing(real(self, path, "rb").read()) if mode == "rb" else real(self, path, mode, **options)

    monkeypatch.setattr(type(files), "open", changing)
    with pytest.raises(borescope.InputError, match="the object changed while it was read"):
        run.breakdown()
    assert max(read) == 2000


def test_a_part_replaces_no_recording(trace: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(trace)
    before = trace.read_bytes()
    for output in (trace, str(tmp_path / "link"), tmp_path / "." / trace.name):
        with pytest.raises(borescope.UsageError, match="would replace a recording"):
            borescope.open(trace).map("kernels", output=output)
    assert trace.read_bytes() == before
    with pytest.raises(borescope.InputError, match="cannot write"):
        borescope.open(trace).map("kernels", output=tmp_path / "none" / "0.part")
    part = borescope.open(trace).map("kernels", output=tmp_path / "0.part")
    assert (tmp_path / "0.part").read_bytes() == part and len(list(tmp_path.iterdir())) == 3


def test_a_part_that_changes_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    fsspec = pytest.importorskip("fsspec")
    files = fsspec.filesystem("memory")
    part = borescope.open(trace_text()).map("kernels")
    files.pipe({"/parts/0.part": part, "/parts/1.part": part})
    assert borescope.reduce("memory://parts/").to_json() == borescope.open(trace_text()).kernels().to_json()
    real = type(files).cat

    def cat(self: Any, *words: Any, **more: Any) -> Any:
        found = real(self, *words, **more)
        files.pipe("/parts/1.part", part + b" ")
        return found

    monkeypatch.setattr(type(files), "cat", cat)
    with pytest.raises(borescope.InputError, match="parts/1.part: the object changed while it was read"):
        borescope.reduce("memory://parts/")


def test_the_next_block_is_read_ahead() -> None:
    from borescope._streams import BLOCK, _ReadAhead

    arrived = threading.Semaphore(0)

    class Blocks:
        def __init__(self) -> None:
            self.left = 3

        def read(self, size: int) -> bytes:
            self.left -= 1
            arrived.release()
            return bytes(size) if self.left >= 0 else b""

        def close(self) -> None:
            pass

    ahead = _ReadAhead(Blocks, lambda: None)
    assert arrived.acquire(timeout=10)
    assert ahead.read(1) == b"\0"
    assert arrived.acquire(timeout=10)  # nobody has asked for it
    assert len(ahead.read(2 * BLOCK)) == BLOCK - 1


def test_convert_of_what_is_no_file(tmp_path: Path) -> None:
    done = borescope.open(io.BytesIO(trace_text())).convert(tmp_path / "out.json")
    assert done.written == 9
    assert busy(tmp_path / "out.json") == [9000]


def test_what_hides_a_recording_is_said(tmp_path: Path) -> None:
    """Permissions and loops of links hide what may be there; that is not the same as nothing."""
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(borescope.InputError, match="Too many levels"):
        borescope.open(tmp_path / "loop" / "rank-0.json")
    with pytest.raises(borescope.InputError, match="No such file"):
        borescope.open(tmp_path / "rank-0.json")


def test_an_object_that_may_not_be_read_is_an_input_error(monkeypatch: pytest.MonkeyPatch) -> None:
    fsspec = pytest.importorskip("fsspec")
    files = fsspec.filesystem("memory")
    files.pipe("/secret.json", trace_text())

    def refused(self: Any, path: str, *words: Any, **options: Any) -> Any:
        raise PermissionError(f"Forbidden: {path}")

    for refusing in ("cat_file", "cat_ranges"):  # in the place of bytes, and at once
        with monkeypatch.context() as patch:
            patch.setattr(type(files), refusing, refused)
            with pytest.raises(borescope.InputError, match="cannot be read: Forbidden"):
                borescope.open("memory://secret.json")


def test_an_object_that_was_refused_among_others_is_named() -> None:
    """File systems such as s3fs give exceptions in the place of bytes, whatever they are asked for."""
    asyn = pytest.importorskip("fsspec.asyn")

    class Store(asyn.AsyncFileSystem):  # type: ignore[misc, name-defined]
        async def _cat_file(self, path: str, start: Any = None, end: Any = None, **more: Any) -> bytes:
            if path == "secret":
                raise PermissionError(f"Forbidden: {path}")
            return b'{"traceEvents":['

    store = Store(skip_instance_cache=True)
    objects = [_streams.Remote(store, {"name": name, "size": 16}, True) for name in ("plain", "secret")]
    with pytest.raises(borescope.InputError, match="secret: cannot be read: Forbidden"):
        _streams.look_at(store, objects)
    _streams.look_at(store, objects[:1])
    assert objects[0].kind == "stream"


def test_parts_that_cannot_be_reached_are_not_left_out(trace: Path, tmp_path: Path) -> None:
    parts = tmp_path / "parts"
    parts.mkdir()
    borescope.open(trace).map("breakdown", output=parts / "a.part")
    assert borescope.reduce(parts).breakdown["busy_ns"].to_list() == [9000]
    (parts / "readme.txt").write_text("no part")
    (parts / "old.part").mkdir()
    assert borescope.reduce(str(parts / "*.part")).breakdown["busy_ns"].to_list() == [9000]
    for link, target in (("b.part", "gone"), ("c.part", "c.part"), ("other", "gone")):
        (parts / link).symlink_to(target)
        with pytest.raises(borescope.InputError, match=link):
            borescope.reduce(parts)
        with pytest.raises(borescope.InputError, match=link):
            borescope.reduce(str(parts / f"{link[0]}*"))
        (parts / link).unlink()
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(borescope.InputError, match="Too many levels"):
        borescope.reduce(str(tmp_path / "loop" / "*.part"))
    with pytest.raises(borescope.InputError, match="loop.*Too many levels"):
        borescope.reduce(str(tmp_path / "*" / "a.part"))
