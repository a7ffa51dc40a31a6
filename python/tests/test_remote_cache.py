"""Remote objects in the cache: found by what their store says of them, without reading them."""

from __future__ import annotations

import datetime
import email.utils
import io
import os
import pickle
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from conftest import DEMO, trace_text

import borescope
from borescope._identity import _seconds_of_header
from borescope._streams import Remote

fsspec = pytest.importorskip("fsspec")


class Counted(fsspec.AbstractFileSystem):  # type: ignore[misc, name-defined]
    """Objects in memory, of which every byte that is read and every question is counted."""

    protocol = "counted"
    objects: ClassVar[dict[str, tuple[bytes, dict[str, Any]]]] = {}
    bytes_read: ClassVar[int] = 0
    infos: ClassVar[int] = 0

    @classmethod
    def put(cls, path: str, data: bytes, **said: Any) -> None:
        cls.objects[path] = (data, said)

    def info(self, path: str, **options: Any) -> dict[str, Any]:
        type(self).infos += 1
        name = self._strip_protocol(path)
        if name in self.objects:
            return self._entry(name)
        if any(each.startswith(name + "/") for each in self.objects):
            return {"name": name, "size": 0, "type": "directory"}
        raise FileNotFoundError(path)

    def ls(self, path: str, detail: bool = True, **options: Any) -> list[Any]:
        folder = self._strip_protocol(path)
        entries = [self._entry(name) for name in self.objects if os.path.dirname(name) == folder]
        return entries if detail else [each["name"] for each in entries]

    def _entry(self, name: str) -> dict[str, Any]:
        data, said = self.objects[name]
        return {"name": name, "size": len(data), "type": "file", **said}

    def _open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        system, data = type(self), self.objects[self._strip_protocol(path)][0]

        class File(io.BytesIO):
            def read(self, size: int | None = -1) -> bytes:
                piece = super().read(size)
                system.bytes_read += len(piece)
                return piece

        return File(data)


@pytest.fixture(autouse=True)
def counted() -> Iterator[type[Counted]]:
    fsspec.register_implementation("counted", Counted, clobber=True)
    Counted.objects.clear()
    Counted.bytes_read = Counted.infos = 0
    yield Counted


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The default folder of a user of this test alone."""
    monkeypatch.delenv("BORESCOPE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "of user"))
    return tmp_path / "of user" / "borescope"


def kept(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.trace"))


def asked(url: str = "counted://run/rank-0.json", **given: Any) -> tuple[bytes, str, str]:
    """An answer, how the cache was used for it, and why it was not."""
    run = borescope.open(url, **given)
    answer = run.ask("kernels", "breakdown", "info")
    assert answer.kernels.to_csv() == borescope.open(url, cache=False, **{
        key: value for key, value in given.items() if key == "storage_options"}).kernels().kernels.to_csv()
    return answer.to_json(), answer.files[0].cache, answer.files[0].cache_failure


def test_an_unchanged_object_is_not_read_again(folder: Path, counted: type[Counted]) -> None:
    data = trace_text(1000)
    counted.put("run/rank-0.json", data, ETag='"one"')
    expected = borescope.open("counted://run/rank-0.json", cache=False).kernels().to_json()
    assert not folder.exists()
    first = borescope.open("counted://run/rank-0.json").kernels()
    assert (first.files[0].cache, first.to_json()) == ("kept", expected)
    assert folder.stat().st_mode & 0o777 == 0o700 and len(kept(folder)) == 1
    counted.bytes_read = counted.infos = 0
    run = borescope.open("counted://run/rank-0.json")
    second = run.kernels()
    assert (second.files[0].cache, second.to_json()) == ("found", expected)
    assert second.kernels.to_csv() == first.kernels.to_csv()
    assert second.files[0].file_bytes == len(data)
    assert run.sql("select count(*) as n from kernels")["n"].to_list() == [1000]
    assert run.map("kernels") == borescope.open("counted://run/rank-0.json", cache=False).map("kernels") != b""
    counted.bytes_read = counted.infos = 0
    pickle.loads(pickle.dumps(run)).ask("breakdown", "idle")
    assert counted.bytes_read == 0 and 0 < counted.infos < 6
    assert len(kept(folder)) == 1


def test_a_whole_folder_is_found(folder: Path, counted: type[Counted]) -> None:
    for rank in range(3):
        counted.put(f"run/rank-{rank}.json", trace_text(rank + 1), ETag=f'"{rank}"')
    counted.put("run/rank-3.json", trace_text(9))
    assert [each.cache for each in borescope.open("counted://run/").kernels().files] == ["kept"] * 3 + ["failed"]
    counted.bytes_read = 0
    answer = borescope.open("counted://run/rank-[012]*").kernels()
    assert [each.cache for each in answer.files] == ["found"] * 3 and counted.bytes_read == 0
    assert answer.to_json() == borescope.open("counted://run/rank-[012]*", cache=False).kernels().to_json()


def test_a_changed_object_is_loaded_anew(folder: Path, counted: type[Counted]) -> None:
    counted.put("run/rank-0.json", trace_text(3), ETag='"one"')
    first, use, _ = asked()
    assert use == "kept"
    counted.put("run/rank-0.json", trace_text(3, "mul_kernel"), ETag='"two"')
    assert len(trace_text(3, "mul_kernel")) == len(trace_text(3))
    second, use, _ = asked()
    assert use == "kept" and b"mul_kernel" in second and second != first
    counted.put("run/rank-0.json", trace_text(3), ETag='"one"')
    assert asked()[:2] == (first, "found")


def test_an_object_that_changes_after_open_is_an_error(folder: Path, counted: type[Counted]) -> None:
    """As without the cache, although both versions are kept."""
    versions = [trace_text(3), trace_text(4)]
    for number, data in enumerate(versions):
        counted.put("run/rank-0.json", data, ETag=f'"{number}"')
        assert asked()[1] == "kept"
    run = borescope.open("counted://run/rank-0.json")
    counted.put("run/rank-0.json", versions[0], ETag='"0"')
    with pytest.raises(borescope.InputError, match="changed while it was read"):
        run.kernels()


def test_what_changes_while_it_is_loaded_is_not_kept(
        folder: Path, counted: type[Counted], monkeypatch: pytest.MonkeyPatch) -> None:
    counted.put("run/rank-0.json", trace_text(3), ETag='"one"')
    run = borescope.open("counted://run/rank-0.json")
    real = counted._open

    def replaced(self: Counted, path: str, *words: Any, **options: Any) -> Any:
        counted.put("run/rank-0.json", trace_text(4), ETag='"two"')
        return real(self, path, *words, **options)

    monkeypatch.setattr(counted, "_open", replaced)
    with pytest.raises(borescope.InputError, match="changed while it was read"):
        run.kernels()
    assert not kept(folder)


def test_a_store_that_fails_or_is_interrupted(
        folder: Path, counted: type[Counted], monkeypatch: pytest.MonkeyPatch) -> None:
    counted.put("run/rank-0.json", trace_text(3), ETag='"one"')
    expected = asked()[0]
    run = borescope.open("counted://run/rank-0.json")
    real, errors = counted.info, []

    def info(self: Counted, path: str, **options: Any) -> dict[str, Any]:
        if errors:
            raise errors.pop()
        return real(self, path, **options)

    monkeypatch.setattr(counted, "info", info)
    errors.append(KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        run.ask("kernels", "breakdown", "info")
    errors.append(TimeoutError("https://host/?sig=secret"))
    answer = run.ask("kernels", "breakdown", "info")
    assert answer.to_json() == expected and answer.files[0].cache == "failed"
    assert "TimeoutError" in answer.files[0].cache_failure and "secret" not in answer.files[0].cache_failure
    run.forget()
    assert run.ask("kernels").files[0].cache == "found"


@pytest.mark.parametrize("asked_before", [0, 1])
@pytest.mark.parametrize("name", ["rank-0.json", "one.rpd"])
def test_an_interrupt_while_a_store_is_asked_ends_the_question(
        folder: Path, counted: type[Counted], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str,
        asked_before: int) -> None:
    """Before the object is loaded, and after, when the answer is there already."""
    borescope.open(DEMO / "rank-0.json.gz").convert(tmp_path / name)
    counted.put(f"run/{name}", (tmp_path / name).read_bytes(), ETag='"one"')
    real_info, real_identify, asked = counted.info, Remote.identify, [0]

    def info(self: Counted, path: str, **options: Any) -> dict[str, Any]:
        if asked[0] == asked_before + 1:
            raise KeyboardInterrupt
        return real_info(self, path, **options)

    def identify(self: Remote) -> tuple[str, str]:
        asked[0] += 1
        found = real_identify(self)
        asked[0] += 9 if found[1] == "KeyboardInterrupt" else 0
        return found

    monkeypatch.setattr(counted, "info", info)
    monkeypatch.setattr(Remote, "identify", identify)
    run = borescope.open(f"counted://run/{name}")
    with pytest.raises(KeyboardInterrupt):
        run.kernels()
    assert run.kernels().kernels.to_dicts()


def test_no_header_of_a_server_is_an_exception(folder: Path, counted: type[Counted]) -> None:
    for time in ("Mon, 01 Jan 99999999999999999999 00:00:00 GMT", "Mon, 01 Jan 2024 00:00:00 +99999999999"):
        assert _seconds_of_header(time) is None
    counted.put("run/rank-0.json", trace_text(3), ETag='"one"', LastModified={1, 2})
    assert borescope.open("counted://run/rank-0.json").kernels().kernels.to_dicts()


@pytest.mark.parametrize("said, why", [
    ({}, "no ETag, version or checksum"),
    ({"ETag": 'W/"one"'}, "weak"),
    ({"ETag": ""}, "no ETag"),
    ({"ETag": None, "Digest": "adler32=03da0195"}, "no ETag"),
    ({"LastModified": datetime.datetime(2026, 1, 1)}, "no ETag"),
])
def test_what_has_no_version_is_not_kept(
        folder: Path, counted: type[Counted], said: dict[str, Any], why: str) -> None:
    counted.put("run/rank-0.json", trace_text(3), **said)
    for _ in range(2):
        _, use, failure = asked()
        assert use == "failed" and why in failure and failure.startswith("counted://run/rank-0.json: not kept")
    assert not kept(folder)


@pytest.mark.parametrize("said", [
    {"etag": "0x8DC1"}, {"generation": 17}, {"VersionId": "abc"}, {"md5Hash": "CY9rzUYh03PK3k6DJie09g=="},
    {"ETag": 'W/"one"', "Content-MD5": "CY9rzUYh03PK3k6DJie09g=="}, {"Digest": "sha-256=abc"},
])
def test_what_else_is_a_version(folder: Path, counted: type[Counted], said: dict[str, Any]) -> None:
    counted.put("run/rank-0.json", trace_text(3), **said)
    assert [asked()[1] for _ in range(2)] == ["kept", "found"]


def test_damage_is_not_used_and_made_good(folder: Path, counted: type[Counted]) -> None:
    counted.put("run/rank-0.json", trace_text(100), ETag='"one"')
    expected, _, _ = asked()
    path, = kept(folder)
    sound = path.read_bytes()
    for damaged in (b"", sound[:100], sound[:-1], bytes([*sound[:2000], sound[2000] ^ 1, *sound[2001:]])):
        path.write_bytes(damaged)
        answer, use, failure = asked()
        assert (answer, use) == (expected, "failed") and str(path) in failure
        assert path.read_bytes() == sound
    assert asked()[:2] == (expected, "found")


def test_what_is_removed_before_the_question_is_read(folder: Path, counted: type[Counted]) -> None:
    counted.put("run/rank-0.json", trace_text(3), ETag='"one"')
    expected, _, _ = asked()
    run = borescope.open("counted://run/rank-0.json")
    kept(folder)[0].unlink()
    answer = run.ask("kernels", "breakdown", "info")
    assert (answer.to_json(), answer.files[0].cache) == (expected, "kept")


def test_databases_are_not_copied_again(folder: Path, counted: type[Counted], tmp_path: Path) -> None:
    borescope.open(DEMO / "rank-0.json.gz").convert(tmp_path / "one.rpd")
    counted.put("run/one.rpd", (tmp_path / "one.rpd").read_bytes(), ETag='"one"')

    def answered() -> tuple[list[dict[str, object]], str, str]:
        run = borescope.open("counted://run/one.rpd")
        answer = run.kernels()
        assert os.path.basename(run.files[0]) == "one.rpd" and not run.files[0].startswith("counted")
        return answer.kernels.to_dicts(), answer.files[0].cache, answer.to_json().decode()

    rows, use, text = answered()
    assert use == "kept"
    counted.bytes_read = 0
    again, use, same = answered()
    assert (again, use, counted.bytes_read) == (rows, "found", 0)
    # The copy has another name each time.
    assert re.sub("/[^\"]*one.rpd", "", same) == re.sub("/[^\"]*one.rpd", "", text)
    run = borescope.open("counted://run/one.rpd")
    kept(folder)[0].write_bytes(b"damaged")
    answer = run.kernels()
    assert (answer.kernels.to_dicts(), answer.files[0].cache) == (rows, "failed")
    run.convert(tmp_path / "two.rpd")
    assert borescope.open(tmp_path / "two.rpd").kernels().kernels.to_dicts() == rows


def test_databases_of_one_name(folder: Path, counted: type[Counted], tmp_path: Path) -> None:
    for rank in (0, 1):
        borescope.open(DEMO / f"rank-{rank}.json.gz").convert(tmp_path / "one.rpd")
        counted.put(f"run/{rank}/profile.rpd", (tmp_path / "one.rpd").read_bytes(), ETag=f'"{rank}"')
        os.unlink(tmp_path / "one.rpd")
    urls = [f"counted://run/{rank}/profile.rpd" for rank in (0, 1)]
    expected = borescope.open(urls, cache=False).breakdown()
    assert len(expected.breakdown) == 2
    for use in ("kept", "found"):
        run = borescope.open(urls)
        assert len(set(run.files)) == 2
        answer = run.breakdown()
        assert [each.cache for each in answer.files] == [use] * 2
        assert answer.breakdown == expected.breakdown
        run.convert(tmp_path / f"{use}.json")
        assert len(borescope.open(tmp_path / f"{use}.json").info().traces) == 1


def test_several_at_once(folder: Path, counted: type[Counted]) -> None:
    counted.put("run/rank-0.json", trace_text(2000), ETag='"one"')
    expected = borescope.open("counted://run/rank-0.json", cache=False).kernels().to_json()
    answers: list[tuple[bytes, str]] = []

    def ask() -> None:
        for _ in range(5):
            answer = borescope.open("counted://run/rank-0.json").kernels()
            answers.append((answer.to_json(), answer.files[0].cache))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 20 and {text for text, _ in answers} == {expected}
    assert {use for _, use in answers} == {"kept", "found"}
    assert len(list(folder.iterdir())) == 2  # the key and the trace


# --- which folder

def test_where_the_cache_is(folder: Path, tmp_path: Path, counted: type[Counted],
                            monkeypatch: pytest.MonkeyPatch) -> None:
    counted.put("run/rank-0.json", trace_text(3), ETag='"one"')
    assert asked(cache=False)[1] == asked(cache="")[1] == asked(cache="off")[1] == "none"
    monkeypatch.setenv("BORESCOPE_CACHE", "off")
    assert asked()[1] == "none"
    monkeypatch.setenv("BORESCOPE_CACHE", "")
    assert asked()[1] == "none" and not folder.exists()
    monkeypatch.setenv("BORESCOPE_CACHE", str(tmp_path / "named"))
    assert asked()[1] == "kept" and kept(tmp_path / "named") and not folder.exists()
    assert asked(cache=tmp_path / "given")[1] == "kept" and kept(tmp_path / "given")
    monkeypatch.delenv("BORESCOPE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert asked()[1] == "kept" and kept(tmp_path / "home" / ".cache" / "borescope")
    for wrong in (True, 3):
        with pytest.raises(borescope.UsageError, match="`cache` takes"):
            borescope.open("counted://run/rank-0.json", cache=wrong)  # type: ignore[arg-type]
    assert not os.path.exists("off") and not os.path.exists("not")


def test_files_are_not_kept_by_default(folder: Path, tmp_path: Path, counted: type[Counted]) -> None:
    path = tmp_path / "rank-1.json"
    path.write_bytes(trace_text())
    assert [each.cache for each in borescope.open(path).kernels().files] == ["none"]
    assert not folder.exists()
    counted.put("run/rank-0.json", trace_text(3), ETag='"one"')
    mixed = borescope.open([path, "counted://run/rank-0.json", trace_text(5)]).kernels()
    assert [each.cache for each in mixed.files] == ["none", "kept", "none"]


def test_a_folder_that_cannot_be_used_is_no_error(
        folder: Path, counted: type[Counted], monkeypatch: pytest.MonkeyPatch) -> None:
    counted.put("run/rank-0.json", trace_text(3), ETag='"one"')
    folder.parent.parent.mkdir(exist_ok=True)
    folder.parent.write_text("no folder")
    _, use, failure = asked()
    assert use == "failed" and str(folder) in failure
    monkeypatch.setenv("XDG_CACHE_HOME", "/tmp/no\udcfftext")
    assert asked()[1] == "none"
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("HOME", "/proc/none")
    assert asked()[1] == "failed"


def test_what_is_larger_than_the_cache_is_not_kept(folder: Path, counted: type[Counted]) -> None:
    counted.put("run/rank-0.json", trace_text(3), ETag='"one"')
    _, use, failure = asked(cache_size=1000)
    assert use == "failed" and "larger" in failure and not kept(folder)


# --- which content

def identity(url: str, info: dict[str, Any] | None = None, system: Any = None) -> str:
    from borescope._identity import identity_of

    return identity_of(system or Counted(), info or {"ETag": '"one"', "size": 7}, url)


def test_an_identity_is_of_one_content_and_tells_no_secret() -> None:
    one = identity("counted://run/rank-0.json")
    assert re.fullmatch("[0-9a-f]{64}", one) and one == identity("counted://run/rank-0.json")
    others = [identity("counted://run/rank-1.json"), identity("counted://run/rank-0.json?version=2"),
              *(identity("counted://run/rank-0.json", info) for info in (
                  {"ETag": '"two"', "size": 7}, {"ETag": '"one"', "size": 8},
                  {"ETag": '"one"', "size": 7, "LastModified": datetime.datetime(2026, 1, 1)})),
              identity("counted://run/rank-0.json", system=Counted(endpoint_url="http://other"))]
    assert len({one, *others}) == len(others) + 1
    assert identity("counted://a", system=Counted(key="a", secret="b")) == identity(
        "counted://a", system=Counted(key="c", secret="d", token="e"))


def test_times_of_listings_have_fractions() -> None:
    from borescope._stores import is_same

    listed = {"ETag": '"one"', "size": 7, "LastModified": datetime.datetime(
        2026, 1, 1, 0, 0, 1, 250_000, tzinfo=datetime.timezone.utc)}
    asked = {**listed, "LastModified": listed["LastModified"].replace(microsecond=0)}  # type: ignore[attr-defined]
    assert is_same(listed, asked) and identity("counted://a", listed) == identity("counted://a", asked)
    assert not is_same({**listed, "ETag": '"two"'}, asked)
    for each in (listed, asked):
        del each["ETag"]
    assert not is_same(listed, asked)


def test_signatures_are_no_part_of_an_address() -> None:
    from borescope._identity import _address_of

    plain = "https://host/x.json?version=3"
    for signed in ("X-Amz-Signature=5e&X-Amz-Date=1&X-Amz-Credential=a%2Fb&X-Amz-Security-Token=c",
                   "X-Goog-Signature=5e&X-Goog-Expires=9", "AWSAccessKeyId=AK&Signature=s&Expires=1",
                   "Policy=p&Signature=s&Key-Pair-Id=k", "sv=2024&sp=r&sig=abc&se=2026"):
        assert _address_of(f"{plain}&{signed}") == plain
    # Without a signature they may choose what is sent.
    assert _address_of(f"{plain}&Expires=1&key=run&sp=r") == f"{plain}&Expires=1&key=run&sp=r"


def test_what_is_written_just_now_has_no_version_of_time_and_size() -> None:
    from borescope._identity import Unidentified

    now = int(time.time())
    for said in ({"ETag": f'"{now:x}-7"'}, {"ETag": f'"{now + 9000:x}-7"'},
                 {"ETag": '"x"', "Last-Modified": email.utils.formatdate(now - 30, usegmt=True)}):
        with pytest.raises(Unidentified, match="seconds ago"):
            identity("https://host/x.json", {"size": 7, **said})
    for said in ({"ETag": f'"{now - 100:x}-7"'}, {"ETag": f'"{now:x}-8"'}, {"ETag": '"x"', "Last-Modified": "?"},
                 {"ETag": '"x"', "Last-Modified": email.utils.formatdate(now - 100, usegmt=True)}):
        assert identity("https://host/x.json", {"size": 7, **said})


def test_objects_behind_another_file_system_have_no_identity(folder: Path, counted: type[Counted]) -> None:
    counted.put("run/rank-0.json", trace_text(3), ETag='"one"')
    for _ in range(2):
        answer = borescope.open("simplecache::counted://run/rank-0.json").kernels()
        assert answer.files[0].cache == "failed"
        assert "another file system" in answer.files[0].cache_failure
    assert not kept(folder)


def test_options_that_are_objects_have_no_identity(folder: Path, counted: type[Counted]) -> None:
    counted.put("run/rank-0.json", trace_text(3), ETag='"one"')
    _, use, failure = asked(storage_options={"session": object()})
    assert use == "failed" and "storage options" in failure


def test_nothing_of_an_address_is_in_the_cache(folder: Path, counted: type[Counted]) -> None:
    counted.put("run/of-mary/rank-0.json", trace_text(3), ETag='"e7a6tag"')
    run = borescope.open("counted://run/of-mary/rank-0.json",
                         storage_options={"key": "AKIAKEY", "secret": "verysecret", "endpoint_url": "http://host9"})
    assert run.kernels().files[0].cache == "kept"
    content = b"".join(path.name.encode() + path.read_bytes() for path in folder.iterdir())
    assert b"add_kernel" in content
    assert not re.search(b"AKIAKEY|verysecret|host9|of-mary|counted|e7a6tag", content)
