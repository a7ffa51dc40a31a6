"""Names and categories as numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._kernels import decode
from .._symbols import TraceSymbolTable as TraceSymbolTable

if TYPE_CHECKING:
    import pandas as pd


def decode_symbol_id_to_symbol_name(df: pd.DataFrame, symbol_table: TraceSymbolTable, use_shorten_name: bool) -> None:
    """Adds the names themselves to a frame, as ``s_name`` and ``s_cat``."""
    decode(df, symbol_table, use_shorten_name)
