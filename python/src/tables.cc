#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bindings.h"
#include "borescope/table.h"
#include "values.h"

namespace nb = nanobind;

namespace borescope::python {
namespace {

std::string_view TypeName(ColumnType type) {
  switch (type) {
    case ColumnType::kInt:
      return "int";
    case ColumnType::kFloat:
      return "float";
    case ColumnType::kText:
      return "string";
    case ColumnType::kBool:
      return "bool";
  }
  return "string";
}

// Cells that show the same text in the engine share one object of Python.
class TextCells {
 public:
  nb::object operator()(std::string_view text) {
    nb::object& object = objects_[text.data()];
    if (!object.is_valid()) {
      object = TextOf(text);
    }
    return object;
  }

 private:
  std::unordered_map<const char*, nb::object> objects_;
};

nb::object CellOf(const Column& column, size_t row, TextCells& texts) {
  if (column.IsMissing(row)) {
    return nb::none();
  }
  switch (column.type()) {
    case ColumnType::kInt:
      return nb::int_(column.Int(row));
    case ColumnType::kFloat:
      return nb::float_(column.Float(row));
    case ColumnType::kBool:
      return nb::bool_(column.Bool(row));
    case ColumnType::kText:
      return texts(column.Text(row));
  }
  return nb::none();
}

nb::list Values(const Column& column) {
  TextCells texts;
  nb::list list;
  for (size_t row = 0; row < column.size(); ++row) {
    list.append(CellOf(column, row, texts));
  }
  return list;
}

nb::object CellAt(const Column& column, Py_ssize_t row) {
  const auto size = static_cast<Py_ssize_t>(column.size());
  const Py_ssize_t index = row < 0 ? row + size : row;
  if (index < 0 || index >= size) {
    throw nb::index_error("no such row");
  }
  TextCells texts;
  return CellOf(column, static_cast<size_t>(index), texts);
}

nb::list CellsOf(const Column& column, const nb::slice& rows) {
  const auto [begin, end, step, count] = rows.compute(column.size());
  static_cast<void>(end);
  TextCells texts;
  nb::list list;
  for (size_t i = 0; i < count; ++i) {
    const Py_ssize_t row = begin + static_cast<Py_ssize_t>(i) * step;
    list.append(CellOf(column, static_cast<size_t>(row), texts));
  }
  return list;
}

nb::object UnitOf(const Column& column) {
  return column.unit().empty() ? nb::none() : TextOf(column.unit());
}

nb::object ReprOf(const Column& column) {
  const std::string unit = column.unit().empty() ? "" : ", " + std::string(column.unit());
  return TextOf("<Column '" + std::string(column.name()) + "': " + std::to_string(column.size()) +
                " x " + std::string(TypeName(column.type())) + unit + ">");
}

// A byte a row, 1 where the cell is missing; None where none is.
nb::typed<nb::object, std::optional<nb::bytes>> Missing(const Column& column) {
  std::string mask(column.size(), '\0');
  bool is_full = true;
  for (size_t row = 0; row < column.size(); ++row) {
    const bool is_missing = column.IsMissing(row);
    mask[row] = is_missing ? '\1' : '\0';
    is_full = is_full && !is_missing;
  }
  return is_full ? nb::object(nb::none()) : nb::object(BytesOf(mask));
}

bool SameCell(const Column& a, const Column& b, size_t row) {
  if (a.IsMissing(row) || b.IsMissing(row)) {
    return a.IsMissing(row) && b.IsMissing(row);
  }
  switch (a.type()) {
    case ColumnType::kInt:
      return a.Int(row) == b.Int(row);
    case ColumnType::kFloat:
      return a.Float(row) == b.Float(row) ||
             (a.Float(row) != a.Float(row) && b.Float(row) != b.Float(row));
    case ColumnType::kText:
      return a.Text(row) == b.Text(row);
    case ColumnType::kBool:
      return a.Bool(row) == b.Bool(row);
  }
  return false;
}

bool SameColumn(const Column& a, const Column& b) {
  if (a.name() != b.name() || a.unit() != b.unit() || a.type() != b.type() ||
      a.size() != b.size()) {
    return false;
  }
  for (size_t row = 0; row < a.size(); ++row) {
    if (!SameCell(a, b, row)) {
      return false;
    }
  }
  return true;
}

bool SameTable(const Table& a, const Table& b) {
  if (a.name() != b.name() || a.num_columns() != b.num_columns()) {
    return false;
  }
  for (size_t i = 0; i < a.num_columns(); ++i) {
    if (!SameColumn(a.column(i), b.column(i))) {
      return false;
    }
  }
  return true;
}

std::vector<Column> ColumnsOf(const Table& table) {
  std::vector<Column> columns;
  columns.reserve(table.num_columns());
  for (size_t i = 0; i < table.num_columns(); ++i) {
    columns.push_back(table.column(i));
  }
  return columns;
}

// A struct of the Arrow C interface in the capsule that its protocol of Python wants. Who takes the
// struct over sets its release to null.
template <class Struct>
nb::object CapsuleOf(std::unique_ptr<Struct> filled, const char* name) {
  PyObject* const capsule = PyCapsule_New(filled.get(), name, [](PyObject* object) {
    const std::unique_ptr<Struct> held(
        static_cast<Struct*>(PyCapsule_GetPointer(object, PyCapsule_GetName(object))));
    if (held != nullptr && held->release != nullptr) {
      held->release(held.get());
    }
  });
  if (capsule == nullptr) {
    filled->release(filled.get());
    throw nb::python_error();
  }
  static_cast<void>(filled.release());
  return nb::steal(capsule);
}

nb::object ArrowStream(const Table& table) {
  auto stream = std::make_unique<ArrowArrayStream>();
  table.ExportArrow(stream.get());
  return CapsuleOf(std::move(stream), "arrow_array_stream");
}

nb::object ArrowSchemaOf(const Table& table) {
  auto schema = std::make_unique<ArrowSchema>();
  table.ExportSchema(schema.get());
  return CapsuleOf(std::move(schema), "arrow_schema");
}

struct Shape {
  Py_ssize_t rows;
  Py_ssize_t stride;
};

// Where the numbers of a column are; null for other columns.
const void* NumbersOf(const Column& column) {
  switch (column.type()) {
    case ColumnType::kInt:
      return column.Ints().data();
    case ColumnType::kFloat:
      return column.Floats().data();
    default:
      return nullptr;
  }
}

// bf_getbuffer: the numbers where they are, read only.
int GetBuffer(PyObject* self, Py_buffer* view, int flags) {
  const Column& column = *nb::inst_ptr<Column>(nb::handle(self));
  const bool is_int = column.type() == ColumnType::kInt;
  if (!is_int && column.type() != ColumnType::kFloat) {
    PyErr_SetString(PyExc_BufferError, "only columns of numbers are buffers; use to_list()");
    return -1;
  }
  if ((flags & PyBUF_WRITABLE) != 0) {
    PyErr_SetString(PyExc_BufferError, "columns are read only");
    return -1;
  }
  static const int64_t nothing = 0;  // a buffer must point somewhere, also one without cells
  const void* const numbers = NumbersOf(column);
  auto* const shape = new Shape{static_cast<Py_ssize_t>(column.size()), sizeof(int64_t)};
  view->buf = const_cast<void*>(numbers == nullptr ? &nothing : numbers);
  view->obj = self;
  Py_INCREF(self);
  view->len = shape->rows * shape->stride;
  view->itemsize = sizeof(int64_t);
  view->readonly = 1;
  view->ndim = 1;
  view->format = (flags & PyBUF_FORMAT) != 0 ? const_cast<char*>(is_int ? "q" : "d") : nullptr;
  view->shape = (flags & PyBUF_ND) != 0 ? &shape->rows : nullptr;
  view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? &shape->stride : nullptr;
  view->suboffsets = nullptr;
  view->internal = shape;
  return 0;
}

void ReleaseBuffer(PyObject* /*self*/, Py_buffer* view) {
  delete static_cast<Shape*>(view->internal);
}

PyType_Slot kBufferSlots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(GetBuffer)},
                              {Py_bf_releasebuffer, reinterpret_cast<void*>(ReleaseBuffer)},
                              {0, nullptr}};

}  // namespace

void BindTables(nb::module_& module) {
  nb::class_<Column>(
      module, "Column", nb::is_final(), nb::type_slots(kBufferSlots),
      "One column of a table: read only, and alive as long as anything uses its cells.\n\n"
      "Columns of numbers have the buffer protocol, so that ``numpy.asarray(column)`` and\n"
      "``memoryview(column)`` see the engine's numbers without a copy. A missing cell is 0 there;\n"
      "``missing`` has the mask.")
      .def_prop_ro("name", &Column::name,
                   "Ends in the unit: ``dur_ns``, ``size_bytes``, ``share``.")
      .def_prop_ro(
          "type", [](const Column& column) { return TypeName(column.type()); },
          "The type of the cells: ``int``, ``float``, ``string`` or ``bool``.")
      .def_prop_ro(
          "unit", UnitOf,
          "The base unit: ``ns``, ``bytes``, ``share`` (0 to 1) and so on; ``row`` where the "
          "column ``unit`` has it for each row; None for plain numbers and texts.")
      .def_prop_ro("role", &Column::role,
                   "How rows combine when tables merge: key, sum, min, max or derived.")
      .def_prop_ro("doc", &Column::doc, "What the column means, in one sentence.")
      .def_prop_ro("missing", Missing,
                   "A byte a row, 1 where the cell has no value; None where every cell has one.")
      .def("to_list", Values, "The cells as objects of Python; None for a missing one.")
      .def("__len__", &Column::size)
      .def("__iter__", [](const Column& column) { return nb::iter(Values(column)); })
      .def("__getitem__", CellAt, nb::arg("row"))
      .def("__getitem__", CellsOf, nb::arg("row"))
      .def("__repr__", ReprOf);
  nb::class_<Table>(module, "Table", nb::is_final())
      .def_prop_ro("name", &Table::name)
      .def_prop_ro("title", &Table::title)
      .def_prop_ro("num_rows", &Table::num_rows)
      .def_prop_ro("columns", ColumnsOf)
      .def("arrow_stream", ArrowStream)
      .def("arrow_schema", ArrowSchemaOf)
      .def("equals", SameTable, nb::arg("other"));
}

}  // namespace borescope::python
