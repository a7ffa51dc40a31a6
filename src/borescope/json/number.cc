#include "borescope/json/number.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>

#include "borescope/base/text/text.h"

namespace borescope::internal {
namespace {

bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return (x | 0x20) == (y | 0x20); });
}

bool IsNonFinite(std::string_view text) {
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    text.remove_prefix(1);
  }
  return EqualsIgnoringCase(text, "nan") || EqualsIgnoringCase(text, "inf") ||
         EqualsIgnoringCase(text, "infinity");
}

// A decimal as sign, digits and the position of its point: value = 0.DIGITS x 10^point.
struct Decimal {
  bool negative = false;
  std::string digits;
  int64_t point = 0;
  bool valid = false;
};

// Reads a signed exponent; huge ones are held at a bound beyond which every value over- or
// underflows.
bool ReadExponent(std::string_view text, int64_t& exponent) {
  const bool negative = !text.empty() && text[0] == '-';
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    text.remove_prefix(1);
  }
  if (text.empty() || !std::all_of(text.begin(), text.end(), IsDigit)) {
    return false;
  }
  for (const char c : text) {
    exponent = std::min<int64_t>(exponent * 10 + (c - '0'), 1'000'000);
  }
  exponent = negative ? -exponent : exponent;
  return true;
}

Decimal ReadDecimal(std::string_view text) {
  Decimal decimal;
  size_t i = 0;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    decimal.negative = text[0] == '-';
    ++i;
  }
  bool any = false;
  for (; i < text.size() && IsDigit(text[i]); ++i, any = true) {
    if (!decimal.digits.empty() || text[i] != '0') {
      decimal.digits += text[i];
    }
  }
  decimal.point = static_cast<int64_t>(decimal.digits.size());
  if (i < text.size() && text[i] == '.') {
    for (++i; i < text.size() && IsDigit(text[i]); ++i, any = true) {
      if (decimal.digits.empty() && text[i] == '0') {
        --decimal.point;
      } else {
        decimal.digits += text[i];
      }
    }
  }
  int64_t exponent = 0;
  decimal.valid = any;
  if (i < text.size() && (text[i] | 0x20) == 'e') {
    decimal.valid = any && ReadExponent(text.substr(i + 1), exponent);
    i = text.size();
  }
  decimal.valid = decimal.valid && i == text.size();
  decimal.point += exponent;
  return decimal;
}

// The digits left of the point as an unsigned number.
uint64_t WholePart(const Decimal& decimal, bool& overflow) {
  uint64_t value = 0;
  overflow = decimal.point > 20 && !decimal.digits.empty();
  if (decimal.digits.empty()) {  // zero, whatever its exponent
    return 0;
  }
  for (int64_t i = 0; i < decimal.point && !overflow; ++i) {
    const auto place = static_cast<size_t>(i);
    const unsigned digit =
        place < decimal.digits.size() ? static_cast<unsigned>(decimal.digits[place] - '0') : 0;
    overflow = __builtin_mul_overflow(value, uint64_t{10}, &value) ||
               __builtin_add_overflow(value, uint64_t{digit}, &value);
  }
  return value;
}

bool HasFraction(const Decimal& decimal) {
  const auto from = static_cast<size_t>(
      std::clamp<int64_t>(decimal.point, 0, static_cast<int64_t>(decimal.digits.size())));
  return decimal.digits.find_first_not_of('0', from) != std::string::npos;
}

ParsedNumber ApplySign(bool negative, uint64_t magnitude, bool overflow) {
  constexpr auto kMax = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  if (negative) {
    overflow = overflow || magnitude > kMax;
    return {overflow ? -std::numeric_limits<int64_t>::max() : -static_cast<int64_t>(magnitude),
            overflow ? NumberStatus::kOverflow : NumberStatus::kOk};
  }
  overflow = overflow || magnitude > kMax;
  return {overflow ? std::numeric_limits<int64_t>::max() : static_cast<int64_t>(magnitude),
          overflow ? NumberStatus::kOverflow : NumberStatus::kOk};
}

ParsedNumber NotANumber(std::string_view text) {
  return {0, IsNonFinite(text) ? NumberStatus::kNotFinite : NumberStatus::kNotNumber};
}

}  // namespace

ParsedNumber ParseScaled(std::string_view text, int scale) {
  Decimal decimal = ReadDecimal(text);
  if (!decimal.valid) {
    return NotANumber(text);
  }
  decimal.point += scale;
  bool overflow = false;
  uint64_t magnitude = WholePart(decimal, overflow);
  const auto next = static_cast<size_t>(decimal.point);
  if (decimal.point >= 0 && next < decimal.digits.size() && decimal.digits[next] >= '5') {
    overflow = overflow || __builtin_add_overflow(magnitude, uint64_t{1}, &magnitude);
  }
  return ApplySign(decimal.negative, magnitude, overflow);
}

ParsedNumber ParseRareInteger(std::string_view text) {
  size_t i = text.starts_with('-') ? 1 : 0;
  uint64_t value = 0;
  for (; i < text.size() && IsDigit(text[i]); ++i) {
    value = value * 10 + static_cast<unsigned>(text[i] - '0');
  }
  const bool plain = i == text.size() && i > 0 && IsDigit(text[i - 1]) && i <= 18;
  if (plain) {
    return {text[0] == '-' ? -static_cast<int64_t>(value) : static_cast<int64_t>(value),
            NumberStatus::kOk};
  }
  const Decimal decimal = ReadDecimal(text);
  if (!decimal.valid || HasFraction(decimal)) {
    return NotANumber(text);
  }
  bool overflow = false;
  const uint64_t magnitude = WholePart(decimal, overflow);
  return ApplySign(decimal.negative, magnitude, overflow);
}

ParsedNumber ParseUnsigned(std::string_view text) {
  const Decimal decimal = ReadDecimal(text);
  if (!decimal.valid || decimal.negative || HasFraction(decimal)) {
    return ParseInteger(text);
  }
  bool overflow = false;
  const uint64_t magnitude = WholePart(decimal, overflow);
  return {overflow ? int64_t{-1} : static_cast<int64_t>(magnitude),
          overflow ? NumberStatus::kOverflow : NumberStatus::kOk};
}

ParsedDouble ParseDouble(std::string_view text) {
  const Decimal decimal = ReadDecimal(text);
  if (!decimal.valid) {
    return {0, NotANumber(text).status};
  }
  text.remove_prefix(text.starts_with('+') ? 1 : 0);
  double value = 0;
  const std::from_chars_result read =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec == std::errc::result_out_of_range) {
    const bool is_tiny = decimal.point < 0;
    return {0, is_tiny ? NumberStatus::kOk : NumberStatus::kNotFinite};
  }
  return {value, read.ec == std::errc() ? NumberStatus::kOk : NumberStatus::kNotNumber};
}

}  // namespace borescope::internal
