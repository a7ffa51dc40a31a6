#!/usr/bin/env python3
"""Tables as pyarrow, polars and DuckDB read them through the Arrow C stream interface.

    check_arrow.py FIXTURE [--environment DIR]

FIXTURE is the shared library of arrow_fixture.cc. Each of its tables is read by each library that is
installed, and compared with the JSON that the program writes: cells, nulls, types and metadata. All
that was handed out must be released in the end. DIR is a virtual environment; where it exists, its
Python runs this script. Exits with 77 where none of the libraries is installed.
"""

import argparse
import ctypes
import gc
import importlib
import json
import math
import os
import sys
from pathlib import Path

SKIPPED = 77  # ctest SKIP_RETURN_CODE
ROLES = {"dur_ns": "sum", "gbps": "derived", "kernel": "key", "is_tensor": "max", "count": "min",
         "flops": "max", "share": "derived", "Größe 漢字": "key"}


class ArrowArrayStream(ctypes.Structure):
    _fields_ = [("get_schema", ctypes.c_void_p), ("get_next", ctypes.c_void_p),
                ("get_last_error", ctypes.c_void_p), ("release", ctypes.c_void_p),
                ("private_data", ctypes.c_void_p)]


class Fixture:
    """The functions of arrow_fixture.cc."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.library.fixture_json.restype = ctypes.c_char_p
        self.library.fixture_owners.restype = ctypes.c_long
        self.library.fixture_export.argtypes = [ctypes.c_int, ctypes.POINTER(ArrowArrayStream)]
        self.count = self.library.fixture_count()

    def table(self, index):
        document = json.loads(self.library.fixture_json(index))
        return document["tables"][0] | {"version": document["borescope"]}

    def stream(self, index):
        made = ArrowArrayStream()
        self.library.fixture_export(index, ctypes.byref(made))
        return made

    def owners(self, index):
        return self.library.fixture_owners(index)


class Exported:
    """A table as an object of the Arrow PyCapsule interface, which may be read once."""

    def __init__(self, stream):
        self.stream = stream  # the capsule points into it

    def __arrow_c_stream__(self, requested_schema=None):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype = ctypes.py_object
        new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.stream), b"arrow_array_stream", None)


def expect(what, found, wanted):
    if found != wanted:
        raise AssertionError(f"{what}: found {found!r:.2000}, wanted {wanted!r:.2000}")


def expect_cells(table, name, found, wanted):
    """Cells equal those of JSON, where a float that is no number is null like a missing one."""
    if table == "not_finite":
        expect(f"{table}.{name}", [repr(cell) for cell in found], ["nan", "inf", "-inf", "None"])
        return
    expect(f"{table}.{name}", list(found), wanted)
    for cell in found:
        assert not (isinstance(cell, float) and math.isnan(cell)), f"{table}.{name}: NaN"


def wanted_field_metadata(column):
    metadata = {"borescope:title": column["name"], "borescope:unit": column["unit"],
                "borescope:role": ROLES[column["name"]], "borescope:doc": column["doc"]}
    return {key.encode(): value.encode() for key, value in metadata.items() if value}


def wanted_schema_metadata(table):
    metadata = {"borescope:table": table["name"], "borescope:title": table["title"],
                "borescope:version": table["version"]}
    return {key.encode(): value.encode() for key, value in metadata.items() if value}


def check_pyarrow(pa, fixture, index):
    table = fixture.table(index)
    stream = fixture.stream(index)
    reader = pa.RecordBatchReader._import_from_c(ctypes.addressof(stream))
    expect("schema metadata", reader.schema.metadata or {}, wanted_schema_metadata(table))
    found = reader.read_all()
    found.validate(full=True)
    text = pa.large_string() if table["name"] == "large_texts" else pa.string()
    types = {"int": pa.int64(), "float": pa.float64(), "bool": pa.bool_(),
             "string": pa.dictionary(pa.int32(), text)}
    expect("columns", found.column_names, [column["name"] for column in table["columns"]])
    for column, cells in zip(table["columns"], found.columns):
        field = found.schema.field(column["name"])
        expect(f"type of {column['name']}", field.type, types[column["type"]])
        expect(f"metadata of {column['name']}", field.metadata, wanted_field_metadata(column))
        expect_cells(table["name"], column["name"], cells.to_pylist(), column["values"])
        if table["name"] != "not_finite":
            expect("null count", cells.null_count, column["values"].count(None))
    check_addresses(pa, fixture, index)


def check_addresses(pa, fixture, index):
    """Two exports of a table have the same numbers: both lie in the table."""
    batches = []
    for _ in range(2):
        stream = fixture.stream(index)
        batches += list(pa.RecordBatchReader._import_from_c(ctypes.addressof(stream)))
    for first, second in zip(batches[0].columns, batches[1].columns):
        if not pa.types.is_boolean(first.type) and len(first) > 0:
            values = [cells.indices if pa.types.is_dictionary(cells.type) else cells
                      for cells in (first, second)]
            addresses = {cells.buffers()[1].address for cells in values}
            expect("addresses of values", len(addresses), 1)


def check_polars(pl, fixture, index):
    table = fixture.table(index)
    found = pl.DataFrame(Exported(fixture.stream(index)))
    types = {"int": pl.Int64, "float": pl.Float64, "bool": pl.Boolean, "string": pl.Categorical}
    expect("columns", found.columns, [column["name"] for column in table["columns"]])
    for column in table["columns"]:
        cells = found[column["name"]]
        expect(f"type of {column['name']}", cells.dtype.base_type(), types[column["type"]])
        expect_cells(table["name"], column["name"], cells.to_list(), column["values"])
        if table["name"] != "not_finite":
            expect("null count", cells.null_count(), column["values"].count(None))


def check_duckdb(duckdb, fixture, index):
    table = fixture.table(index)
    exported = Exported(fixture.stream(index))  # DuckDB finds it by its name
    with duckdb.connect() as connection:
        found = connection.sql("SELECT * FROM exported")
        expect("columns", found.columns, [column["name"] for column in table["columns"]])
        types = [str(type_) for type_ in found.types]
        rows = found.fetchall()
        del found
    del exported
    names = {"int": "BIGINT", "float": "DOUBLE", "bool": "BOOLEAN", "string": "VARCHAR"}
    for i, column in enumerate(table["columns"]):
        assert types[i].startswith((names[column["type"]], "ENUM")), types[i]
        expect_cells(table["name"], column["name"], [row[i] for row in rows], column["values"])


CHECKS = {"pyarrow": check_pyarrow, "polars": check_polars, "duckdb": check_duckdb}


def check_library(name, fixture):
    """Whether the library is there; what it reads wrongly ends the script."""
    try:
        library = importlib.import_module(name)
    except ImportError:
        print(f"skipped: {name} is not installed (scripts/setup --dev)")
        return False
    indexes = [index for index in range(fixture.count)
               if name != "duckdb" or fixture.table(index)["columns"]]  # DuckDB wants at least one
    for index in indexes:
        CHECKS[name](library, fixture, index)
        gc.collect()
        expect(f"owners of {fixture.table(index)['name']} after {name}", fixture.owners(index), 1)
    print(f"{name} {library.__version__}: {len(indexes)} tables are what JSON says")
    return True


def run_in(environment):
    """Starts this script again with the Python of the environment, if there is one."""
    python = environment / "bin" / "python"
    if python.exists() and Path(sys.prefix).resolve() != environment.resolve():
        os.execv(python, [str(python), *sys.argv])


def main():
    parser = argparse.ArgumentParser(description="Reads tables through Arrow.")
    parser.add_argument("fixture")
    parser.add_argument("--environment", type=Path)
    arguments = parser.parse_args()
    if arguments.environment is not None:
        run_in(arguments.environment)
    fixture = Fixture(arguments.fixture)
    found = [check_library(name, fixture) for name in CHECKS]
    if not any(found):
        print(f"skipped: none of {', '.join(CHECKS)} is installed (scripts/setup --dev)")
        return SKIPPED
    return 0


if __name__ == "__main__":
    sys.exit(main())
