#include <algorithm>
#include <string>
#include <utility>

#include "borescope/engine/partial/wire/partial_fields.h"
#include "borescope/engine/partial/wire/table_bytes.h"
#include "borescope/engine/partial/wire/wire_numbers.h"
#include "borescope/table/table_fault.h"

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

}  // namespace borescope::internal::wire
