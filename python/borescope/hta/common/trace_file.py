"""Which file is of which rank; traces as JSON, read and written."""

from __future__ import annotations

import gzip
import json
import os
import re
from collections.abc import Iterable
from typing import Any

_RANK = re.compile(r'"rank":\s+(\d+)')
_ENDINGS = (".gz", ".json")


def _open_text(path: str) -> Any:
    return gzip.open(path, "rt", errors="replace") if path.endswith("gz") else open(path, errors="replace")


def _rank_in(path: str) -> int | None:
    """The rank that a file names, as HTA looks for it: a blank must precede the number."""
    with _open_text(path) as lines:
        for line in lines:
            found = _RANK.search(line)
            if found:
                return int(found[1])
    return None


def create_rank_to_trace_dict(file_list: Iterable[str]) -> tuple[bool, dict[int, str]]:
    """The files by rank. A file that names none is rank 0; of two with one rank the later counts."""
    files: dict[int, str] = {}
    for path in file_list:
        rank = _rank_in(path)
        files[0 if rank is None else rank] = path
    return True, files


def create_rank_to_trace_dict_from_dir(trace_dir: str) -> tuple[bool, dict[int, str]]:
    """The traces of a folder by rank; not ok where the folder holds none or cannot be read."""
    if not (os.path.exists(trace_dir) and os.access(trace_dir, os.R_OK)):
        return False, {}
    names = [name for name in os.listdir(trace_dir) if name.endswith(_ENDINGS)]
    if not names:
        return False, {}
    return create_rank_to_trace_dict(os.path.join(trace_dir, name) for name in names)


def get_trace_files(trace_path: str) -> dict[int, str]:
    """The traces of a folder by rank; none where it holds none."""
    return create_rank_to_trace_dict_from_dir(trace_path)[1]


def read_trace(file_path: str) -> dict[str, Any]:
    """The content of a trace, whose name must end in .gz or .json."""
    if not file_path.endswith(_ENDINGS):
        raise ValueError(f"trace_file ({file_path}) must end with '.gz' or 'json'")
    opened: Any = gzip.open(file_path, "rb") if file_path.endswith(".gz") else open(file_path, "rb")
    with opened as file:
        content: dict[str, Any] = json.loads(file.read())
    return content


def write_trace(trace_data: dict[str, Any], file_path: str) -> None:
    """Writes a trace, compressed where the name ends in .gz; makes the folder if there is none."""
    os.makedirs(os.path.dirname(file_path) or ".", exist_ok=True)
    if file_path.endswith(".gz"):
        with gzip.open(file_path, "wb") as packed:
            packed.write(json.dumps(trace_data).encode())
        return
    with open(file_path, "w") as file:
        file.write(json.dumps(trace_data, indent=2))


def update_trace_rank(file_path: str, rank: int) -> None:
    """Writes the rank into a trace."""
    content = read_trace(file_path)
    content.setdefault("distributedInfo", {})["rank"] = rank
    write_trace(content, file_path)
