// A reader of the Arrow C data interface for tests: slow, obvious, and written from the Arrow
// specification rather than from the code that it checks.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "borescope/arrow/export.h"

namespace borescope::internal::testkit {

// A cell: nothing where it is null; floats by their bits, so that each NaN equals itself only.
struct FloatBits {
  uint64_t bits = 0;
  bool operator==(const FloatBits&) const = default;
};
using Cell = std::variant<std::monostate, int64_t, FloatBits, std::string, bool>;
using Cells = std::vector<Cell>;

// A struct of the interface that is released when it goes, unless it was before.
template <class Struct>
struct Held : Struct {
  Held() : Struct{} {}
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() { Release(); }
  void Release() {
    if (this->release != nullptr) {
      this->release(this);
    }
  }
  // What `source` holds, as the specification says to move it.
  void MoveFrom(Struct& source) {
    Release();
    static_cast<Struct&>(*this) = source;
    source.release = nullptr;
  }
};
using HeldStream = Held<ArrowArrayStream>;
using HeldSchema = Held<ArrowSchema>;
using HeldArray = Held<ArrowArray>;

inline bool BitAt(const void* bitmap, int64_t cell) {
  return (static_cast<const uint8_t*>(bitmap)[cell / 8] >> (cell % 8) & 1) != 0;
}

template <class T>
T ValueAt(const void* buffer, int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char*>(buffer) + index * int64_t{sizeof(T)}, sizeof(T));
  return value;
}

template <class Offset>
std::string TextAt(const ArrowArray& texts, int64_t index) {
  const auto begin = ValueAt<Offset>(texts.buffers[1], index);
  const auto end = ValueAt<Offset>(texts.buffers[1], index + 1);
  return {static_cast<const char*>(texts.buffers[2]) + begin, static_cast<size_t>(end - begin)};
}

inline std::string DictionaryText(const ArrowSchema& schema, const ArrowArray& array, int64_t row) {
  const auto number = ValueAt<int32_t>(array.buffers[1], row);
  EXPECT_GE(number, 0);
  EXPECT_LT(number, array.dictionary->length);
  EXPECT_EQ(array.dictionary->n_buffers, 3);
  EXPECT_EQ(array.dictionary->null_count, 0);
  return std::string_view(schema.dictionary->format) == "U"
             ? TextAt<int64_t>(*array.dictionary, number)
             : TextAt<int32_t>(*array.dictionary, number);
}

inline Cell ReadCell(const ArrowSchema& schema, const ArrowArray& array, int64_t row) {
  const std::string_view format = schema.format;
  if (array.buffers[0] != nullptr && !BitAt(array.buffers[0], row)) {
    return std::monostate();
  }
  if (format == "l") {
    return ValueAt<int64_t>(array.buffers[1], row);
  }
  if (format == "g") {
    return FloatBits{ValueAt<uint64_t>(array.buffers[1], row)};
  }
  if (format == "b") {
    return BitAt(array.buffers[1], row);
  }
  EXPECT_EQ(format, "i");
  return DictionaryText(schema, array, row);
}

inline Cells ReadColumn(const ArrowSchema& schema, const ArrowArray& array) {
  EXPECT_EQ(array.offset, 0);
  EXPECT_EQ(array.n_buffers, 2);
  EXPECT_NE(array.buffers[1], nullptr);
  EXPECT_EQ(array.dictionary != nullptr, schema.dictionary != nullptr);
  Cells cells;
  int64_t nulls = 0;
  for (int64_t row = 0; row < array.length; ++row) {
    cells.push_back(ReadCell(schema, array, row));
    nulls += cells.back().index() == 0 ? 1 : 0;
  }
  EXPECT_EQ(array.null_count, nulls);
  EXPECT_EQ(array.buffers[0] != nullptr, nulls != 0);
  return cells;
}

// What ReadColumn must give, straight from the column.
inline Cells CellsOf(const Column& column) {
  Cells cells;
  for (size_t row = 0; row < column.size(); ++row) {
    if (column.IsMissing(row)) {
      cells.emplace_back();
    } else if (const auto* ints = std::get_if<IntValues>(&column.values)) {
      cells.emplace_back((*ints)[row]);
    } else if (const auto* floats = std::get_if<FloatValues>(&column.values)) {
      cells.emplace_back(FloatBits{std::bit_cast<uint64_t>((*floats)[row])});
    } else if (const auto* texts = std::get_if<StringValues>(&column.values)) {
      cells.emplace_back((*texts)[row]);
    } else {
      cells.emplace_back(std::get<BoolValues>(column.values)[row] != 0);
    }
  }
  return cells;
}

inline std::string TakeText(const char*& bytes) {
  const auto length = ValueAt<int32_t>(bytes, 0);
  bytes += sizeof(int32_t);
  std::string text(bytes, static_cast<size_t>(length));
  bytes += length;
  return text;
}

inline std::map<std::string, std::string> ReadMetadata(const ArrowSchema& schema) {
  std::map<std::string, std::string> metadata;
  const char* bytes = schema.metadata;
  const int32_t pairs = bytes == nullptr ? 0 : ValueAt<int32_t>(bytes, 0);
  bytes += bytes == nullptr ? 0 : sizeof(int32_t);
  for (int32_t i = 0; i < pairs; ++i) {
    std::string key = TakeText(bytes);
    EXPECT_TRUE(metadata.emplace(std::move(key), TakeText(bytes)).second);
  }
  return metadata;
}

// Schema and batch of a table.
struct Batch {
  HeldSchema schema;
  HeldArray array;
};

inline void Export(std::shared_ptr<const Table> table, Batch& batch,
                   const ExportLimits& limits = {}) {
  HeldStream stream;
  ExportTable(std::move(table), &stream, limits);
  ASSERT_EQ(stream.get_schema(&stream, &batch.schema), 0);
  ASSERT_EQ(stream.get_next(&stream, &batch.array), 0);
  HeldArray end;
  ASSERT_EQ(stream.get_next(&stream, &end), 0);
  ASSERT_EQ(end.release, nullptr);
}

// Every cell, name and length of the batch against the table.
inline void ExpectEqual(const Table& table, const Batch& batch) {
  const ArrowSchema& schema = batch.schema;
  const ArrowArray& array = batch.array;
  EXPECT_STREQ(schema.format, "+s");
  EXPECT_EQ(array.length, static_cast<int64_t>(table.rows()));
  EXPECT_EQ(array.null_count, 0);
  EXPECT_EQ(array.n_buffers, 1);
  EXPECT_EQ(array.buffers[0], nullptr);
  ASSERT_EQ(schema.n_children, static_cast<int64_t>(table.columns.size()));
  ASSERT_EQ(array.n_children, schema.n_children);
  for (size_t i = 0; i < table.columns.size(); ++i) {
    EXPECT_EQ(schema.children[i]->name, table.columns[i].name);
    EXPECT_EQ(schema.children[i]->flags, ARROW_FLAG_NULLABLE);
    EXPECT_EQ(array.children[i]->length, array.length);
    EXPECT_EQ(ReadColumn(*schema.children[i], *array.children[i]), CellsOf(table.columns[i]));
  }
}

// `rows` rows, a column of each type, every third cell missing where asked for.
inline Table TableOfAllTypes(size_t rows, bool has_missing) {
  Table table{"kernels", "Device time per kernel", {}};
  AddInt(table, "dur_ns", Unit::kNanoseconds, Role::kSum, "How long.");
  AddFloat(table, "share", Unit::kShare, Role::kDerived, "How much of all.");
  AddString(table, "name", Role::kKey, "Which.");
  AddBool(table, "is_tensor", Role::kMax, "");
  for (size_t row = 0; row < rows; ++row) {
    if (has_missing && row % 3 == 1) {
      for (Column& column : table.columns) {
        PushMissing(column);
      }
      continue;
    }
    Push(table.columns[0], static_cast<int64_t>(row) * 1'000'000'007 - 5);
    Push(table.columns[1], 1.0 / static_cast<double>(row));
    Push(table.columns[2], "text " + std::to_string(row % 5));
    Push(table.columns[3], row % 2 == 0);
  }
  return table;
}

}  // namespace borescope::internal::testkit
