"""Indexed traces that are kept in a folder, from one run to the next."""

from __future__ import annotations

from pathlib import Path

import pytest

import borescope

from conftest import trace_text


def kept(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.trace"))


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "rank0.json"
    path.write_bytes(trace_text())
    return path


def rows(trace: Path, **given: object) -> list[dict[str, object]]:
    return borescope.open(trace, **given).kernels().tables[0].to_dicts()  # type: ignore[arg-type]


def test_a_trace_is_kept_once_and_answers_are_the_same(tmp_path: Path, trace: Path) -> None:
    folder = tmp_path / "cache"
    expected = rows(trace)
    assert rows(trace, cache=folder) == expected
    files = kept(folder)
    assert len(files) == 1
    assert rows(trace, cache=folder) == expected
    assert kept(folder) == files


def test_the_environment_names_the_folder(
        tmp_path: Path, trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BORESCOPE_CACHE", str(tmp_path / "of environment"))
    rows(trace)
    assert len(kept(tmp_path / "of environment")) == 1


def test_a_tilde_is_the_home_directory(
        tmp_path: Path, trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    rows(trace, cache="~/kept")
    assert len(kept(tmp_path / "kept")) == 1


def test_a_folder_that_cannot_be_used_is_an_error_only_where_it_was_asked_for(
        tmp_path: Path, trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(borescope.Error):
        borescope.open(trace, cache=trace)
    monkeypatch.setenv("BORESCOPE_CACHE", str(trace))
    assert rows(trace)
