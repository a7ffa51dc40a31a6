// How people read a column of numbers: one unit for the whole column, chosen by its largest value.
// Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "borescope/table/table.h"

namespace borescope::internal {

// Values that have a unit of their own in each row, as people read them: "19.0 %" in place of 0.19
// beside "share".

// The table with the fractions of its columns of Unit::kOfRow as texts, each in the unit that its
// column `unit` names (share, ratio, count, ns, bytes; others follow the number as they are), and
// without that column. Other tables stay as they are, and so do those that compare two runs.
// Pure.
Table WithRowUnits(Table table);

// Ends the names of columns of timestamps, in nanoseconds since the recording began (timestamps.h).
inline constexpr std::string_view kOffsetSuffix = "_offset_ns";

// The largest of the numbers of a column, by magnitude; 0 where there is none.
double LargestMagnitude(const Column& column);

// How much of a number to show.
enum class Precision : uint8_t {
  kFull,     // three decimals
  kCompact,  // as many as leave the largest value about four digits
};

struct NumberFormat {
  int64_t divisor = 1;  // shown = value / divisor ...
  int64_t factor = 1;   // ... x factor
  int decimals = 0;
  bool grouped = false;    // 1,234,567
  bool unix_time = false;  // nanoseconds since 1970, shown as date and time (UTC)
  std::string_view unit;   // shown in the heading: "ms"; may be empty
  bool plus = false;       // before what is not negative
};

// The format that suits all present cells of `column`.
NumberFormat ChooseFormat(const Column& column, Precision precision);

// What is to be known of numbers to choose their format.
struct NumberRange {
  double largest = 0;  // by magnitude
  bool whole = false;  // none has a fraction
};
NumberFormat ChooseFormat(Unit unit, const NumberRange& range, Precision precision);

// One cell as printable text; "-" when it is missing or not finite. Fractions beyond 1e18, as
// shown, have an exponent. Text is made printable.
std::string FormatCell(const Column& column, const NumberFormat& format, size_t row);

// A number that is no cell, as one of a column of fractions.
std::string FormatValue(double value, const NumberFormat& format);

// 1234567 as "1,234,567".
std::string GroupDigits(int64_t value);

// Bytes in one suitable unit: "12.3 MB".
std::string FormatBytes(uint64_t bytes);

}  // namespace borescope::internal
