// What the texts of counter reports mean: units of metrics by their names, the function in the name
// of a kernel, numbers as locales write them. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace borescope::internal {

// The unit in which Nsight Compute stores a metric, which its reports do not say: "byte", "ns",
// "byte/second", "%"; empty: none.
std::string_view UnitOfMetric(std::string_view metric);

// The function in the name of a kernel: without its return type, template arguments, parameters and
// namespaces, as Nsight Compute has it: "vectorized_elementwise_kernel" of "void
// at::native::vectorized_elementwise_kernel<4, ...>(int, ...)".
std::string FunctionInName(std::string_view kernel);

// A unit as text outputs write it ("Kbyte/block", "usecond"): the one that the metric has without a
// prefix, and the power of ten by which values are multiplied.
struct PrefixedUnit {
  std::string unit;  // "byte/block", "ns"
  int power = 0;     // 3
};
PrefixedUnit ParseUnit(std::string_view text);

// A number as printed.
struct PrintedNumber {
  double value = 0;
  double rounded_by = 0;  // half a unit of its last digit; 0 for an integer without power
};

// Whether the text of a number shows that the comma is the decimal sign where it was written:
// "1.234,5", "0,25". "1,234" shows nothing.
bool ProvesDecimalComma(std::string_view text);

// "1,234.5", or "1.234,5" if the comma is the decimal sign, times 10^power. Nothing for any other
// text, and for what no double holds.
std::optional<PrintedNumber> ParsePrinted(std::string_view text, bool decimal_comma, int power = 0);

}  // namespace borescope::internal
