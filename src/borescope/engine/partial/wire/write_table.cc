#include <algorithm>
#include <protozero/varint.hpp>
#include <variant>

#include "borescope/engine/partial/wire/partial_fields.h"
#include "borescope/engine/partial/wire/table_bytes.h"
#include "borescope/engine/partial/wire/wire_numbers.h"

namespace borescope::internal::wire {
namespace {

using protozero::pbf_writer;

// Each cell less the one before, wrapping round.
IntValues DeltasOf(const IntValues& cells) {
  IntValues deltas;
  deltas.reserve(cells.size());
  uint64_t before = 0;
  for (const int64_t cell : cells) {
    deltas.push_back(static_cast<int64_t>(static_cast<uint64_t>(cell) - before));
    before = static_cast<uint64_t>(cell);
  }
  return deltas;
}

size_t PackedBytes(const IntValues& cells) {
  size_t bytes = 0;
  for (const int64_t cell : cells) {
    bytes += static_cast<size_t>(protozero::length_of_varint(protozero::encode_zigzag64(cell)));
  }
  return bytes;
}

void WriteCells(const IntValues& cells, pbf_writer& out) {
  const IntValues deltas = DeltasOf(cells);
  const bool by_deltas = PackedBytes(deltas) < PackedBytes(cells);
  const IntValues& shorter = by_deltas ? deltas : cells;
  out.add_packed_sint64(by_deltas ? column::kDeltas : column::kInts, shorter.begin(),
                        shorter.end());
}

void WriteCells(const FloatValues& cells, pbf_writer& out) {
  out.add_packed_double(column::kFloats, cells.begin(), cells.end());
}

void WriteCells(const StringValues& cells, pbf_writer& out) {
  for (const std::string& text : cells.texts()) {
    out.add_bytes(column::kTexts, text);
  }
  out.add_packed_uint32(column::kPlaces, cells.numbers().begin(), cells.numbers().end());
}

void WriteCells(const BoolValues& cells, pbf_writer& out) {
  out.add_bytes(column::kBools, cells.data(), cells.size());
}

void WriteMissing(const std::vector<char>& missing, pbf_writer& out) {
  std::string bits((missing.size() + 7) / 8, '\0');
  for (size_t row = 0; row < missing.size(); ++row) {
    bits[row / 8] = static_cast<char>(bits[row / 8] | ((missing[row] != 0 ? 1 : 0) << (row % 8)));
  }
  out.add_bytes(column::kMissing, bits);
}

void WriteHints(const ColumnHints& hints, pbf_writer& out) {
  if (hints.tone.has_value()) {
    const std::string_view name = ToneName(*hints.tone);
    out.add_string(column::kTone, name.data(), name.size());
  }
  if (hints.palette != Palette::kNone) {
    const std::string_view name = PaletteName(hints.palette);
    out.add_string(column::kPalette, name.data(), name.size());
  }
  if (hints.names) {
    out.add_bool(column::kNames, true);
  }
}

void WriteColumn(const Column& column, pbf_writer out) {
  out.add_bytes(column::kName, column.name);
  out.add_enum(column::kUnit, static_cast<int32_t>(NumberOf(kUnits, column.unit)));
  out.add_enum(column::kRole, static_cast<int32_t>(NumberOf(kRoles, column.role)));
  out.add_bytes(column::kDoc, column.doc);
  out.add_enum(column::kType, static_cast<int32_t>(column.values.index()));
  if (column.size() != 0) {
    std::visit([&](const auto& cells) { WriteCells(cells, out); }, column.values);
  }
  if (std::find(column.missing.begin(), column.missing.end(), 1) != column.missing.end()) {
    WriteMissing(column.missing, out);
  }
  WriteHints(column.hints, out);
}

}  // namespace

void WriteTable(const Table& table, pbf_writer out) {
  out.add_string(table::kName, table.name);
  out.add_bytes(table::kTitle, table.title);
  out.add_uint64(table::kPreviewRows, table.preview_rows);
  for (const Column& column : table.columns) {
    WriteColumn(column, pbf_writer(out, table::kColumns));
  }
}

}  // namespace borescope::internal::wire
