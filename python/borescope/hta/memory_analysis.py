"""Memory over time, from the raw file of PyTorch's memory timeline."""

from __future__ import annotations

import gzip
import json
import os
from typing import Any

from . import figures


class MemoryAnalysis:
    """The memory timeline in a file that ``export_memory_timeline`` wrote as ``.raw.json.gz``.

    ``borescope.open(path).memory()`` reads the same file, and traces with allocator events.
    """

    def __init__(self, path: str) -> None:
        self.path = path

    def _process_raw_events(self) -> tuple[list[int], list[list[int]]]:
        """The moments at which memory changes, and from each on the bytes of each category."""
        import numpy
        import pandas

        with gzip.open(self.path, "rb") as file:
            records = pandas.DataFrame(json.loads(file.read()),
                                       columns=["when", "action", "size", "category"])
        when, size, category = (records[name].to_numpy(dtype="int64")
                                for name in ("when", "size", "category"))
        held: Any = numpy.zeros((len(when), len(figures.MEMORY_COLORS)), dtype="int64")
        held[numpy.arange(len(when)), category] = size
        last = numpy.flatnonzero(numpy.append(when[1:] != when[:-1], True)) if len(when) else when
        moments = when[last]
        before = moments < 0
        if before.any() and not before.all():
            moments[before] = moments[moments > 0].min()
        sizes: Any = held.cumsum(axis=0)[last].tolist()
        return moments.tolist(), sizes

    def plot_memory_timeline(self, save_graph: bool = False) -> None:
        """Shows the memory of each category, or writes images/memory_plot.png."""
        figure = figures.memory_timeline(*self._process_raw_events())
        if not save_graph:
            figures.show(figure)
            return
        os.makedirs("images", exist_ok=True)
        figure.write_image("images/memory_plot.png")
