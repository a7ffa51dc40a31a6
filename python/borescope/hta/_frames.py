"""HTA's frames of events, from the tables of ``events --compat hta``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ._engine import Answered, Columns
from ._symbols import TraceSymbolTable

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd

# The columns of the engine whose names end in a unit.
_TIMES = {"ts": "ts_us", "dur": "dur_us", "end": "end_us"}
_VALUES = {"input_dims", "input_type", "input_strides", "collective_name", "msg_dtype",
           "in_split_size", "out_split_size"}


class Layout:
    """How pandas holds each column of the frame of one rank."""

    def __init__(self, columns: Columns, rows: npt.NDArray[np.intp]) -> None:
        self.names: list[str] = columns.objects("column")[rows].tolist()
        self._types = dict(zip(self.names, columns.objects("type")[rows].tolist()))
        self._least = dict(zip(self.names, columns.objects("min")[rows].tolist()))
        self._most = dict(zip(self.names, columns.objects("max")[rows].tolist()))

    def type(self, name: str) -> str:
        """int, float, object, symbol or sum."""
        return str(self._types[name])

    def dtype(self, name: str) -> np.dtype[Any]:
        """Of a column of whole numbers the smallest type that holds all of them."""
        import numpy

        if self.type(name) != "int":
            return numpy.dtype("float64")
        if self._least[name] is None:
            return numpy.dtype("int8")
        for candidate in ("int8", "int16", "int32"):
            limits = numpy.iinfo(candidate)
            if limits.min <= self._least[name] and self._most[name] <= limits.max:
                return numpy.dtype(candidate)
        return numpy.dtype("int64")


class FrameMaker:
    """Makes the frames of an answer."""

    def __init__(self, answer: Answered, symbols: TraceSymbolTable, is_parsed_only: bool) -> None:
        self._events = answer["events"]
        self._columns = answer["event_columns"]
        self._ranks = answer["event_ranks"]
        self._answer = answer
        self._symbols = symbols
        self._is_parsed_only = is_parsed_only
        self._symbol_cells = {name: self._numbered(name) for name in ("cat", "name")}

    def frames(self) -> dict[int, pd.DataFrame]:
        """The frame of each rank that has events."""
        import numpy

        layouts = {rank: Layout(self._columns, self._columns.where("rank", rank))
                   for rank in self._ranks.numbers("rank").tolist()}
        parsed = dict(zip(self._ranks.numbers("rank").tolist(),
                          self._ranks.numbers("parsed").tolist()))
        origin = self._origin_type(layouts)
        by_rank = self._events.numbers("rank")
        return {self._answer.ranks[rank]: self._frame(layout, numpy.flatnonzero(by_rank == rank), origin)
                for rank, layout in sorted(layouts.items(), key=lambda each: self._answer.ranks[each[0]])
                if parsed[rank] > 0}

    def origin(self) -> Any:
        """What was subtracted from the times of all ranks."""
        origins = self._ranks.numbers("origin_us")
        return origins[0] if len(origins) else 0

    def device_types(self) -> dict[int, str]:
        """HTA's word for the devices of each rank."""
        return dict(zip(self._answer.ranks_of(self._ranks).tolist(),
                        self._ranks.objects("device_type").tolist()))

    def _origin_type(self, layouts: dict[int, Layout]) -> np.dtype[Any]:
        """The type that HTA's common origin of all times has: that of the rank it came from."""
        import numpy

        found = [layout.dtype("ts") for layout in layouts.values() if "ts" in layout.names]
        return max(found, default=numpy.dtype("int64"), key=lambda each: each.itemsize)

    def _numbered(self, name: str) -> npt.NDArray[np.int64]:
        codes, texts = self._events.texts(name)
        return self._symbols.numbers_of(texts)[codes] if texts else codes.astype("int64")

    def _frame(self, layout: Layout, rows: npt.NDArray[np.intp],
               origin: np.dtype[Any]) -> pd.DataFrame:
        import pandas

        cells = {name: self._cells(layout, name, rows, origin) for name in layout.names}
        self._put_other_values(cells, layout, rows)
        labels = cells["index"]
        if self._is_parsed_only:
            labels = labels.astype("int64")
        return pandas.DataFrame(cells, index=pandas.Index(labels))

    def _cells(self, layout: Layout, name: str, rows: npt.NDArray[np.intp],
               origin: np.dtype[Any]) -> Any:
        import numpy

        kind = layout.type(name)
        if kind == "symbol":
            return self._symbol_cells[name][rows]
        if kind == "sum":
            ends = self._events.numbers("end_us")[rows]
            return ends.astype(numpy.result_type(layout.dtype("ts"), layout.dtype("dur")))
        if name in _VALUES:
            return self._values(name, rows)
        numbers = self._events.numbers(_TIMES.get(name, name))[rows]
        missing = self._events.missing(_TIMES.get(name, name))
        gaps = None if missing is None else missing[rows]
        if kind == "object":
            objects = numbers.astype(object)
            if gaps is not None:
                objects[gaps] = None
            return objects
        if kind == "int":
            dtype = layout.dtype(name)
            if name == "ts" and not self._is_parsed_only:
                dtype = numpy.result_type(dtype, origin)
            return numbers.astype(dtype)
        floats = numbers.astype("float64")
        if gaps is not None:
            floats[gaps] = numpy.nan
        return floats

    def _values(self, name: str, rows: npt.NDArray[np.intp]) -> Any:
        """Lists, texts and whatever else was recorded: each distinct one is read once."""
        import numpy

        codes, texts = self._events.texts(name)
        values: Any = numpy.empty(len(texts) + 1, dtype=object)
        for number, text in enumerate(texts):
            values[number] = json.loads(text)
        return values[codes[rows]]  # -1, for none, is the last one, which is None

    def _put_other_values(self, cells: dict[str, Any], layout: Layout,
                          rows: npt.NDArray[np.intp]) -> None:
        """Values that are none of their column's type, of which there are few different ones."""
        codes, texts = self._events.texts("other_values")
        codes = codes[rows]
        for number, text in enumerate(texts):
            for name, value in json.loads(text).items():
                if name in cells:
                    cells[name][codes == number] = value
