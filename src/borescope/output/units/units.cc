#include "borescope/output/units/units.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <string_view>

#include "borescope/output/utf8.h"
#include "borescope/table/compare.h"
#include "borescope/table/display/view.h"

namespace borescope::internal {

namespace {

struct Scale {
  int64_t divisor;
  std::string_view unit;
};

constexpr Scale kTimeScales[] = {{1, "ns"}, {1'000, "us"}, {1'000'000, "ms"}, {1'000'000'000, "s"}};
constexpr Scale kByteScales[] = {
    {1, "B"}, {1'000, "KB"}, {1'000'000, "MB"}, {1'000'000'000, "GB"}, {1'000'000'000'000, "TB"}};
constexpr Scale kFlopScales[] = {{1, "FLOP"},
                                 {1'000, "KFLOP"},
                                 {1'000'000, "MFLOP"},
                                 {1'000'000'000, "GFLOP"},
                                 {1'000'000'000'000, "TFLOP"},
                                 {1'000'000'000'000'000, "PFLOP"}};

std::span<const Scale> ScalesOf(Unit unit) {
  switch (unit) {
    case Unit::kNanoseconds:
      return kTimeScales;
    case Unit::kBytes:
      return kByteScales;
    case Unit::kFlops:
      return kFlopScales;
    default:
      return {};
  }
}

double AsDouble(int64_t value) { return static_cast<double>(value); }
double AsDouble(double value) { return value; }
double AsDouble(char value) { return value; }
double AsDouble(const std::string&) { return 0; }

bool IsFloat(const Column& column) { return std::holds_alternative<FloatValues>(column.values); }

bool AllWhole(const Column& column) {
  const auto* cells = std::get_if<FloatValues>(&column.values);
  return cells == nullptr || std::all_of(cells->begin(), cells->end(), [](double value) {
           return !std::isfinite(value) || value == std::floor(value);
         });
}

// Decimals that leave `largest`, once scaled, with about four digits.
int CompactDecimals(double largest) { return largest < 10 ? 3 : largest < 100 ? 2 : 1; }

NumberFormat Scaled(const NumberRange& range, std::span<const Scale> scales, Precision precision) {
  const Scale* chosen = scales.data();
  for (const Scale& scale : scales) {
    chosen = range.largest >= static_cast<double>(scale.divisor) ? &scale : chosen;
  }
  const bool exact = chosen->divisor == 1 && range.whole;
  const double shown = range.largest / static_cast<double>(chosen->divisor);
  const int decimals = exact ? 0 : precision == Precision::kFull ? 3 : CompactDecimals(shown);
  return {chosen->divisor, 1, decimals, true, false, chosen->unit};
}

NumberFormat Unscaled(const NumberRange& range, Precision precision, bool grouped,
                      std::string_view unit) {
  if (range.whole) {
    return {1, 1, 0, grouped, false, unit};
  }
  const int decimals = precision == Precision::kFull ? 3 : CompactDecimals(range.largest);
  return {1, 1, decimals, true, false, unit};
}

// The values of a column of numbers, each once, in order.
std::vector<double> DistinctNumbers(const Column& column) {
  std::vector<double> numbers;
  std::visit(
      [&](const auto& cells) {
        for (size_t row = 0; row < cells.size(); ++row) {
          const double value = AsDouble(cells[row]);
          if (!column.IsMissing(row) && std::isfinite(value)) {
            numbers.push_back(value);
          }
        }
      },
      column.values);
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

// Whether numbers rounded as `format` does differ where they did, and each is still what it was.
bool KeepsApart(std::span<const double> numbers, const NumberFormat& format) {
  constexpr double kMostRounded = 0.01;
  const double step = AsDouble(format.divisor) / std::pow(10, format.decimals);
  const auto told = [&](double number) { return std::round(number / step) * step; };
  return std::all_of(numbers.begin(), numbers.end(),
                     [&](double number) {
                       return std::abs(told(number) - number) <= std::abs(number) * kMostRounded;
                     }) &&
         std::adjacent_find(numbers.begin(), numbers.end(), [&](double a, double b) {
           return told(a) == told(b);
         }) == numbers.end();
}

// In the largest unit, but none above that of `format`, in which all numbers are whole; no unit
// where there is none.
NumberFormat WholeFormat(std::span<const double> numbers, std::span<const Scale> scales,
                         const NumberFormat& format) {
  NumberFormat whole;
  for (const Scale& scale : scales) {
    const bool all_whole = std::all_of(numbers.begin(), numbers.end(), [&](double number) {
      return std::fmod(number, AsDouble(scale.divisor)) == 0;
    });
    if (scale.divisor <= format.divisor && all_whole) {
      whole = {scale.divisor, 1, 0, true, false, scale.unit};
    }
  }
  return whole;
}

// Keys name their rows, so that none may look like another or like zero. Whole numbers of a smaller
// unit read best; of those that are too long for it, more decimals, at most down to the base unit.
NumberFormat KeyFormat(const Column& column, std::span<const Scale> scales, NumberFormat format) {
  constexpr double kLongest = 1e12;  // "999,999,999,999"
  const std::vector<double> numbers = DistinctNumbers(column);
  if (KeepsApart(numbers, format)) {
    return format;
  }
  const NumberFormat whole = WholeFormat(numbers, scales, format);
  if (!whole.unit.empty() && LargestMagnitude(column) / AsDouble(whole.divisor) < kLongest) {
    return whole;
  }
  while (std::pow(10, format.decimals) < AsDouble(format.divisor) && !KeepsApart(numbers, format)) {
    ++format.decimals;
  }
  return format;
}

// To the nanosecond in short recordings, to the microsecond in longer ones.
NumberFormat OffsetFormat(double largest) {
  constexpr double kShort = 10'000'000;
  const bool is_short = largest < kShort;
  NumberFormat format{is_short ? 1'000 : 1'000'000, 1, 3, true, false, is_short ? "us" : "ms"};
  format.plus = true;
  return format;
}

// Puts a comma before every third digit of the whole part.
std::string Grouped(std::string number) {
  const size_t begin = number.starts_with('-') ? 1 : 0;
  size_t at = std::min(number.find('.'), number.size());
  while (at > begin + 3) {
    at -= 3;
    number.insert(at, 1, ',');
  }
  return number;
}

// Integer arithmetic throughout: a double cannot hold nanoseconds since 1970. In the format of a
// column of fractions, an integer has no decimals below its own unit.
std::string ScaledInteger(int64_t value, const NumberFormat& format) {
  int64_t steps = 1;  // of the last decimal, per shown unit
  int decimals = 0;
  for (; decimals < format.decimals && steps < format.divisor; ++decimals) {
    steps *= 10;
  }
  const auto magnitude =
      value < 0 ? ~static_cast<uint64_t>(value) + 1 : static_cast<uint64_t>(value);
  const auto divisor = static_cast<uint64_t>(format.divisor / steps);
  const uint64_t rounded = magnitude / divisor + (magnitude % divisor * 2 >= divisor ? 1 : 0);
  const std::string sign = value < 0 && rounded != 0 ? "-" : "";
  if (decimals == 0) {
    return fmt::format("{}{}", sign, rounded);
  }
  const auto unit = static_cast<uint64_t>(steps);
  return fmt::format("{}{}.{:0{}}", sign, rounded / unit, rounded % unit, decimals);
}

std::string UnixTime(int64_t ns) {
  constexpr int64_t kSecond = 1'000'000'000;
  const int64_t seconds = ns / kSecond - (ns % kSecond < 0 ? 1 : 0);
  const int64_t millis = (ns % kSecond + kSecond) % kSecond / 1'000'000;
  return fmt::format("{:%Y-%m-%d %H:%M:%S}.{:03} UTC",
                     fmt::gmtime(static_cast<std::time_t>(seconds)), millis);
}

// What is not zero is not shown as zero: "<0.01" of what is too small for its column's unit. Empty
// where `number`, as written, says something, or the value is zero.
std::string TooSmall(double value, std::string_view number, const NumberFormat& format) {
  const bool says_zero = number.find_first_of("123456789") == std::string_view::npos;
  if (value == 0 || !says_zero || format.decimals == 0) {
    return {};
  }
  return fmt::format("{}0.{:0>{}}", value < 0 ? ">-" : "<", 1, format.decimals);
}

std::string FormatNumber(int64_t value, const NumberFormat& format) {
  if (format.unix_time) {
    return UnixTime(value);
  }
  std::string number =
      format.factor == 1
          ? ScaledInteger(value, format)
          : fmt::format("{:.{}f}", AsDouble(value) * AsDouble(format.factor), format.decimals);
  if (std::string small = TooSmall(AsDouble(value), number, format); !small.empty()) {
    return small;
  }
  number = format.grouped ? Grouped(std::move(number)) : number;
  return format.plus && !number.starts_with('-') ? "+" + number : number;
}

std::string FormatNumber(double value, const NumberFormat& format) {
  if (!std::isfinite(value)) {
    return "-";
  }
  constexpr double kMostWritten = 1e18;  // beyond, hundreds of digits would bury the table
  const double shown = value / AsDouble(format.divisor) * AsDouble(format.factor);
  if (std::abs(shown) > kMostWritten) {
    return fmt::format("{:.3e}", shown);
  }
  std::string number = fmt::format("{:.{}f}", shown, format.decimals);
  if (std::string small = TooSmall(value, number, format); !small.empty()) {
    return small;
  }
  if (number.starts_with('-') && number.find_first_not_of("-0.") == std::string::npos) {
    number.erase(0, 1);  // no negative zero
  }
  return format.grouped ? Grouped(std::move(number)) : number;
}

}  // namespace

double LargestMagnitude(const Column& column) {
  double largest = 0;
  std::visit(
      [&](const auto& cells) {
        for (size_t row = 0; row < cells.size(); ++row) {
          const double value = column.IsMissing(row) ? 0 : std::abs(AsDouble(cells[row]));
          largest = std::isfinite(value) ? std::max(largest, value) : largest;
        }
      },
      column.values);
  return largest;
}

NumberFormat ChooseFormat(const Column& column, Precision precision) {
  if (column.name.ends_with("unix_ns")) {
    return {1, 1, 0, false, true, ""};
  }
  if (column.name == "ts_ns" && column.unit == Unit::kNanoseconds) {  // as the file writes it
    return {1000, 1, 3, false, false, "us"};
  }
  if (column.name.ends_with(kOffsetSuffix)) {
    return OffsetFormat(LargestMagnitude(column));
  }
  if (column.unit == Unit::kPercent) {
    return {1, 1, IsFloat(column) ? 2 : 0, true, false, "%"};
  }
  const NumberFormat format =
      ChooseFormat(column.unit, {LargestMagnitude(column), AllWhole(column)}, precision);
  const std::span<const Scale> scales = ScalesOf(column.unit);
  return column.role == Role::kKey && !scales.empty() ? KeyFormat(column, scales, format) : format;
}

NumberFormat ChooseFormat(Unit unit, const NumberRange& range, Precision precision) {
  switch (unit) {
    case Unit::kNanoseconds:
    case Unit::kBytes:
    case Unit::kFlops:
      return Scaled(range, ScalesOf(unit), precision);
    case Unit::kShare:
      return {1, 100, 1, true, false, "%"};
    case Unit::kPercent:
      return {1, 1, range.whole ? 0 : 2, true, false, "%"};
    case Unit::kGigabytesPerSecond:
      return Unscaled(range, precision, true, "GB/s");
    case Unit::kMicroseconds:
      return Unscaled(range, precision, true, "us");
    case Unit::kCount:
      return Unscaled(range, precision, true, "");
    case Unit::kNone:
    case Unit::kOfRow:
      break;
  }
  // Numbers without a unit are mostly names (a rank, a stream, a correlation): no separators.
  return Unscaled(range, precision, false, "");
}

std::string FormatCell(const Column& column, const NumberFormat& format, size_t row) {
  if (column.IsMissing(row)) {
    return "-";
  }
  if (const auto* ints = std::get_if<IntValues>(&column.values)) {
    return FormatNumber((*ints)[row], format);
  }
  if (const auto* floats = std::get_if<FloatValues>(&column.values)) {
    return FormatNumber((*floats)[row], format);
  }
  if (const auto* flags = std::get_if<BoolValues>(&column.values)) {
    return (*flags)[row] != 0 ? "yes" : "no";
  }
  return ToPrintable(std::get<StringValues>(column.values)[row]);
}

std::string FormatValue(double value, const NumberFormat& format) {
  return FormatNumber(value, format);
}

std::string GroupDigits(int64_t value) { return Grouped(std::to_string(value)); }

std::string FormatBytes(uint64_t bytes) {
  const Scale* chosen = kByteScales;
  for (const Scale& scale : kByteScales) {
    chosen = bytes >= static_cast<uint64_t>(scale.divisor) ? &scale : chosen;
  }
  const double shown = static_cast<double>(bytes) / static_cast<double>(chosen->divisor);
  return fmt::format("{:.{}f} {}", shown, chosen->divisor == 1 ? 0 : 1, chosen->unit);
}

namespace {

Unit UnitOfName(std::string_view name) {
  constexpr Unit kNamed[] = {Unit::kShare, Unit::kCount, Unit::kNanoseconds, Unit::kBytes};
  const auto* const found = std::find_if(std::begin(kNamed), std::end(kNamed),
                                         [&](Unit unit) { return UnitName(unit) == name; });
  return found == std::end(kNamed) ? Unit::kNone : *found;
}

std::string InUnit(double value, std::string_view name) {
  const Unit unit = UnitOfName(name);
  const NumberRange range{std::abs(value), unit == Unit::kCount && value == std::trunc(value)};
  const NumberFormat format = ChooseFormat(unit, range, Precision::kCompact);
  const std::string_view shown = unit != Unit::kNone ? format.unit : name == "ratio" ? "x" : name;
  return FormatValue(value, format) + (shown.empty() ? "" : fmt::format(" {}", shown));
}

bool IsOfRow(const Column& column) {
  return column.unit == Unit::kOfRow && std::holds_alternative<FloatValues>(column.values);
}

// Units of the other run would be those of other rows.
bool ComparesRuns(const Table& table) {
  return std::any_of(table.columns.begin(), table.columns.end(),
                     [](const Column& column) { return column.name.starts_with(kAgainstPrefix); });
}

Column InWords(const Column& column, const StringValues& units) {
  const FloatValues& values = std::get<FloatValues>(column.values);
  Column texts{column.name, Unit::kNone, column.role, column.doc, StringValues(), {}};
  for (size_t row = 0; row < values.size(); ++row) {
    if (column.IsMissing(row) || !std::isfinite(values[row])) {
      PushMissing(texts);
    } else {
      Push(texts, std::string_view(InUnit(values[row], units[row])));
    }
  }
  return texts;
}

}  // namespace

Table WithRowUnits(Table table) {
  const Column* const unit = table.Find("unit");
  const auto* const units = unit == nullptr ? nullptr : std::get_if<StringValues>(&unit->values);
  if (units == nullptr || ComparesRuns(table) ||
      std::none_of(table.columns.begin(), table.columns.end(), IsOfRow)) {
    return table;
  }
  for (Column& column : table.columns) {
    if (IsOfRow(column)) {
      column = InWords(column, *units);
    }
  }
  table.columns.erase(table.columns.begin() + (unit - table.columns.data()));
  return table;
}

}  // namespace borescope::internal
