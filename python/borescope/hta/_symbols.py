"""Names and categories as numbers, the same for all ranks of a trace."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd

    from .common.types import GroupingPattern

# What HTA's rules say about names. A rule looks at the beginning of a name only.
COMMUNICATION = re.compile(r"nccl|hip|hccl|.*ncclKernel")
MEMORY = re.compile(r"(hip)?Mem(cpy|set)|dma")
NO_COMPUTATION = re.compile(
    r"nccl|.*Mem(cpy|set)|.*dma|.*Sync|Stream Wait Event|cuda.*LaunchKernel|runFunction|hip|job_exe"
    r"|packet|pe_exe|cpum_exe_subgraph|hccl|collective_subgraph_execution")
STEP = re.compile(r"ProfilerStep\s*#\s*(\d+)")


def kernel_type(name: str) -> str:
    """HTA's type of a kernel."""
    if COMMUNICATION.match(name):
        return "COMMUNICATION"
    if MEMORY.match(name):
        return "MEMORY"
    return "OTHER" if NO_COMPUTATION.match(name) else "COMPUTATION"


def step_number(name: str) -> int:
    """The number of a step by the name of its annotation; -1 for other names."""
    found = STEP.match(name)
    return int(found[1]) if found else -1


def short_name(name: str) -> str:
    """A name without what stands in brackets, and without what is before its last blank."""
    if MEMORY.match(name) or ("<" not in name and "(" not in name):
        return name
    kept: list[str] = []
    openings = {">": "<", ")": "("}
    for letter in name.replace("->", ""):
        if letter not in openings:
            kept.append(letter)
            continue
        while kept and kept.pop() != openings[letter]:
            pass
    return "".join(kept).rsplit(" ", 1)[-1]


class TraceSymbolTable:
    """The names of a trace: a list, and the place of each name in it."""

    def __init__(self) -> None:
        self.sym_table: list[str] = []
        self.sym_index: dict[str, int] = {}

    def add_symbols(self, symbols: Iterable[str]) -> None:
        """Appends those that are new."""
        for symbol in symbols:
            if symbol not in self.sym_index:
                self.sym_index[symbol] = len(self.sym_table)
                self.sym_table.append(symbol)

    def get_sym_table(self) -> list[str]:
        """The names by number."""
        return self.sym_table

    def get_sym_id_map(self) -> dict[str, int]:
        """The numbers by name."""
        return self.sym_index

    def get_sym_index(self) -> dict[str, int]:
        """The same."""
        return self.sym_index

    def get_sym_table_series(self) -> pd.Series:
        """The names by number, as a Series."""
        import pandas

        return pandas.Series(self.sym_table)

    def get_sym_index_series(self) -> pd.Series:
        """The numbers by name, as a Series."""
        import pandas

        return pandas.Series(self.sym_index)

    def is_empty(self) -> bool:
        """Whether it has no name."""
        return not self.sym_table

    def add_symbols_mp(self, symbols_list: list[Iterable[str]]) -> None:
        """Appends those of several lists that are new."""
        for symbols in symbols_list:
            self.add_symbols(symbols)

    def find_matches(self, patterns: list[str]) -> list[int]:
        """The numbers of the names that contain one of these texts."""
        return self.those(lambda name: any(pattern in name for pattern in patterns))

    def find_matched_symbols(self, patterns: list[str]) -> list[str]:
        """These names."""
        return [self.sym_table[number] for number in self.find_matches(patterns)]

    def get_symbol_ids(self, symbol_pattern: GroupingPattern) -> dict[str, int]:
        """The names that a pattern of ``common.types`` means, with their numbers."""
        return {name: number for name, number in self.sym_index.items() if symbol_pattern.match(name)}

    def get_symbol_names(self, symbol_ids: list[int]) -> dict[int, str]:
        """The names of these numbers."""
        return {number: self.sym_table[number] for number in sorted(symbol_ids) if 0 <= number < len(self.sym_table)}

    def encode_df(self, df: pd.DataFrame) -> None:
        """Puts numbers into the columns ``name`` and ``cat`` where they hold texts."""
        from pandas.api.types import is_string_dtype

        for column in ("name", "cat"):
            if column in df.columns and is_string_dtype(df[column]):
                df[column] = df[column].map(self.sym_index).astype("int64")

    def decode_df(self, df: pd.DataFrame, create_new_columns: bool = True) -> None:
        """Adds the texts of the columns ``name`` and ``cat`` as ``s_name`` and ``s_cat``, or in their place."""
        for column in ("name", "cat"):
            if column in df.columns and df[column].dtype.kind == "i":
                df[f"s_{column}" if create_new_columns else column] = self.decoded(df[column])

    def update_encoded_df(self, df: pd.DataFrame, old_symbol_table: TraceSymbolTable) -> None:
        """Changes the numbers of another table into those of this one."""
        for column in ("cat", "name"):
            df[column] = old_symbol_table.decoded(df[column]).map(self.sym_index).astype("int64")

    def _to_csv_file(self, file_path: str) -> None:
        self.get_sym_table_series().rename("symbol").to_csv(file_path)

    @staticmethod
    def from_csv_file(file_path: str) -> TraceSymbolTable:
        """The table of the column ``symbol`` of a file."""
        import pandas

        frame = pandas.read_csv(file_path, keep_default_na=False)
        if "symbol" not in frame.columns:
            raise ValueError(f"{file_path}: there is no column `symbol`")
        result = TraceSymbolTable()
        result.add_symbols(frame["symbol"].tolist())
        return result

    @staticmethod
    def create_from_symbol_id_map(symbol_id_map: dict[str, int]) -> TraceSymbolTable:
        """The table with these numbers; those between them are called ``Undefined-N``."""
        names = {number: name for name, number in symbol_id_map.items()}
        result = TraceSymbolTable()
        result.add_symbols(names.get(number, f"Undefined-{number}") for number in range(max(names) + 1))
        return result

    def add_symbols_to_trace_df(self, trace_df: pd.DataFrame, col: str) -> None:
        """Puts the names themselves into a column of numbers; "" for numbers that there are not."""
        known = trace_df[col].where(trace_df[col].between(0, len(self.sym_table) - 1), -1)
        trace_df[col] = self.decoded(known)

    @staticmethod
    def combine_symbol_tables(tables: list[TraceSymbolTable]) -> TraceSymbolTable:
        """One table with the names of several."""
        result = TraceSymbolTable()
        for table in tables:
            result.add_symbols(table.sym_table)
        return result

    @staticmethod
    def clone(symbol_table: TraceSymbolTable) -> TraceSymbolTable:
        """A copy."""
        return TraceSymbolTable.combine_symbol_tables([symbol_table])

    @staticmethod
    def create_from_df(df: pd.DataFrame) -> TraceSymbolTable:
        """A table of the texts in the columns ``name`` and ``cat``. ValueError where these are no texts."""
        from pandas.api.types import is_string_dtype

        if not all(name in df.columns and is_string_dtype(df[name]) for name in ("name", "cat")):
            raise ValueError("the columns `name` and `cat` must be there, and hold texts")
        result = TraceSymbolTable()
        result.add_symbols(dict.fromkeys([*df["cat"], *df["name"]]))
        return result

    # --- for this package

    def numbers_of(self, texts: list[str]) -> npt.NDArray[np.int64]:
        """The numbers of names, which are added where they are new."""
        import numpy

        self.add_symbols(texts)
        return numpy.array([self.sym_index[text] for text in texts], dtype="int64")

    def those(self, is_meant: Callable[[str], Any]) -> list[int]:
        """The numbers of the names for which a function holds."""
        return [number for number, name in enumerate(self.sym_table) if is_meant(name)]

    def decoded(self, numbers: pd.Series, change: Callable[[str], Any] = str) -> pd.Series:
        """What a function makes of the name of each number; "" for a number below 0."""
        import numpy
        import pandas

        values: Any = numpy.empty(len(self.sym_table) + 1, dtype=object)
        values[:-1] = [change(name) for name in self.sym_table]
        values[-1] = ""
        place = numpy.where(numbers.to_numpy() < 0, -1, numbers.to_numpy()).astype("int64")
        return pandas.Series(values[place], index=numbers.index, name=numbers.name)
