"""Reading one file, as HTA's parsers do: what it says beside its events, its frame, and the names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._symbols import TraceSymbolTable
from ..configs.parser_config import ParserBackend, ParserConfig
from .trace import Trace
from .trace_file import read_trace

if TYPE_CHECKING:
    import pandas as pd

_backend = ParserBackend.JSON


def set_default_trace_parsing_backend(parser_backend: ParserBackend) -> None:
    """Notes which of HTA's parsers is wanted. The engine reads files in its own way, whichever it is."""
    global _backend
    _backend = parser_backend


def get_default_trace_parsing_backend() -> ParserBackend:
    """The one that was wanted last."""
    return _backend


def parse_trace_dict(trace_file_path: str) -> dict[str, Any]:
    """The content of a file."""
    return read_trace(trace_file_path)


def parse_trace_dataframe(trace_file_path: str, cfg: ParserConfig | None = None
                          ) -> tuple[dict[str, Any], pd.DataFrame, TraceSymbolTable]:
    """What the file says beside its events, its frame, and the names in it."""
    trace = Trace(trace_files={0: trace_file_path}, parser_config=cfg)
    trace.parse_traces()
    return trace.meta_data[0], trace.get_trace(0), trace.symbol_table
