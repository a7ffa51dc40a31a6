"""Tables as Parquet. Needs pyarrow; imported late."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pyarrow
import pyarrow.parquet

from ._drafts import draft_of

if TYPE_CHECKING:
    from ._table import Table

# A dictionary of texts that is larger is written out row by row, which kernel names of C++ would make
# large.
_DICTIONARY_BYTES = 32 << 20


def options_for(schema: Any) -> dict[str, Any]:
    """What pyarrow writes such a schema with. Times and ids grow slowly from row to row, so that their
    differences take half or a third of what the dictionaries take that pyarrow writes by itself."""
    numbers = [field.name for field in schema if pyarrow.types.is_integer(field.type)]
    texts = [field.name for field in schema if pyarrow.types.is_dictionary(field.type)]
    return {"compression": "zstd", "compression_level": 9, "use_dictionary": texts or False,
            "column_encoding": {name: "DELTA_BINARY_PACKED" for name in numbers} or None,
            "dictionary_pagesize_limit": _DICTIONARY_BYTES}


def write_parquet(table: Table, path: str | os.PathLike[str], options: dict[str, Any]) -> None:
    """Writes the table; ``options`` come before those of :func:`options_for`."""
    arrow = table.to_arrow()
    chosen = options_for(arrow.schema)
    if options.keys() & {"use_dictionary", "column_encoding"}:
        # They depend on each other: a column has one encoding.
        del chosen["use_dictionary"], chosen["column_encoding"]
    if "compression" in options:
        del chosen["compression_level"]
    with draft_of(path) as draft:
        pyarrow.parquet.write_table(arrow, draft, **{**chosen, **options})
