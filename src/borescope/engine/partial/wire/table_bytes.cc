#include "borescope/engine/partial/wire/table_bytes.h"

#include <algorithm>
#include <protozero/varint.hpp>
#include <string>
#include <utility>
#include <variant>

#include "borescope/engine/partial/wire/partial_fields.h"
#include "borescope/table/table.h"

namespace borescope::internal::wire {

namespace {

// A column as it is in the bytes, whose fields may come in any order.
struct RawColumn {
  Column column;
  uint64_t type = 0;
  IntValues ints, deltas;
  FloatValues floats;
  std::vector<std::string> texts;
  std::vector<uint32_t> places;
  std::string_view bools, missing;
};

// Sets `value` where the list has that number.
template <class Enum, size_t kSize>
void ReadEnum(const Enum (&list)[kSize], std::string_view what, WireReader& in, Enum& value) {
  const uint64_t number = in.Number();
  const std::optional<Enum> known = ValueOf(list, number);
  if (!known.has_value()) {
    in.Fail("a column has the unknown " + std::string(what) + " " + std::to_string(number));
    return;
  }
  value = *known;
}

void ReadField(WireReader& in, RawColumn& raw) {
  switch (in.field()) {
    case column::kName:
      raw.column.name = in.Text();
      return;
    case column::kUnit:
      return ReadEnum(kUnits, "unit", in, raw.column.unit);
    case column::kRole:
      return ReadEnum(kRoles, "role", in, raw.column.role);
    case column::kDoc:
      raw.column.doc = in.Text();
      return;
    case column::kType:
      raw.type = in.Number();
      return;
    case column::kInts:
      return in.Append(raw.ints);
    case column::kDeltas:
      return in.Append(raw.deltas);
    case column::kFloats:
      return in.Append(raw.floats);
    case column::kTexts:
      raw.texts.push_back(in.Text());
      return;
    case column::kPlaces:
      return in.Append(raw.places);
    case column::kBools:
      raw.bools = in.Bytes();
      return;
    case column::kMissing:
      raw.missing = in.Bytes();
      return;
    case column::kTone:
      raw.column.hints.tone = FindTone(in.Text());
      return;
    case column::kPalette:
      raw.column.hints.palette = FindPalette(in.Text());
      return;
    case column::kNames:
      raw.column.hints.names = in.Number() != 0;
      return;
    default:
      in.Skip();
  }
}

IntValues FromDeltas(IntValues deltas) {
  uint64_t sum = 0;
  for (int64_t& cell : deltas) {
    sum += static_cast<uint64_t>(cell);
    cell = static_cast<int64_t>(sum);
  }
  return deltas;
}

// Each returns what is wrong, or nothing.
std::string SetInts(RawColumn& raw) {
  if (!raw.ints.empty() && !raw.deltas.empty()) {
    return "holds its integers twice";
  }
  raw.column.values = raw.deltas.empty() ? std::move(raw.ints) : FromDeltas(std::move(raw.deltas));
  return {};
}

std::string SetTexts(RawColumn& raw) {
  std::optional<StringValues> cells = StringValues::Of(std::move(raw.texts), std::move(raw.places));
  if (!cells.has_value()) {
    return "has cells that are none of its texts, or texts that are not distinct or in no cell";
  }
  raw.column.values = std::move(*cells);
  return {};
}

std::string SetBools(RawColumn& raw) {
  BoolValues cells(raw.bools.begin(), raw.bools.end());
  if (std::any_of(cells.begin(), cells.end(), [](char cell) { return cell != 0 && cell != 1; })) {
    return "has a truth value that is neither 0 nor 1";
  }
  raw.column.values = std::move(cells);
  return {};
}

std::string SetCells(RawColumn& raw) {
  switch (static_cast<CellType>(std::min<uint64_t>(raw.type, uint64_t{255}))) {
    case CellType::kInt:
      return SetInts(raw);
    case CellType::kFloat:
      raw.column.values = std::move(raw.floats);
      return {};
    case CellType::kText:
      return SetTexts(raw);
    case CellType::kBool:
      return SetBools(raw);
    case CellType::kCount:
      break;
  }
  return "has the unknown type " + std::to_string(raw.type);
}

std::string SetMissing(RawColumn& raw) {
  const size_t rows = raw.column.size();
  if (raw.missing.empty()) {
    return {};
  }
  if (raw.missing.size() != (rows + 7) / 8) {
    return "has marks of missing cells for another number of rows";
  }
  raw.column.missing.reserve(rows);
  for (size_t row = 0; row < rows; ++row) {
    const auto bits = static_cast<unsigned char>(raw.missing[row / 8]);
    raw.column.missing.push_back(static_cast<char>((bits >> (row % 8)) & 1));
  }
  return {};
}

Column ReadColumn(WireReader in) {
  RawColumn raw;
  while (in.Next()) {
    ReadField(in, raw);
  }
  std::string wrong = SetCells(raw);
  if (wrong.empty()) {
    wrong = SetMissing(raw);
  }
  if (!wrong.empty()) {
    in.Fail("a column " + wrong);
  }
  return std::move(raw.column);
}

}  // namespace

Table ReadTable(WireReader in) {
  Table table;
  while (in.Next()) {
    switch (in.field()) {
      case table::kName:
        table.name = in.Text();
        break;
      case table::kTitle:
        table.title = in.Text();
        break;
      case table::kPreviewRows:
        table.preview_rows = static_cast<size_t>(in.Number());
        break;
      case table::kColumns:
        table.columns.push_back(ReadColumn(in.Message()));
        break;
      default:
        in.Skip();
    }
  }
  if (std::string fault = FaultOf(table); !fault.empty()) {
    in.Fail("a table has " + std::move(fault));
  }
  return table;
}

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
