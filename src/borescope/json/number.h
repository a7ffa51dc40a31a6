// Numbers from their JSON text, exactly: times as integer nanoseconds, ids as 64-bit integers.
// Nothing passes through a double, whose step at Unix-epoch microseconds is a quarter of a
// microsecond.
#pragma once

#include <cstdint>
#include <string_view>

namespace borescope::internal {

enum class NumberStatus : uint8_t {
  kOk,
  kNotFinite,  // NaN, Infinity and their spellings
  kOverflow,   // clamped to the nearest value that fits
  kNotNumber,
};

struct ParsedNumber {
  int64_t value = 0;
  NumberStatus status = NumberStatus::kNotNumber;
};

// `text` times 10^`scale`, rounded half away from zero. Accepts JSON numbers, and a leading plus or
// zeros. ParseScaled("12.3456", 3) is 12346.
ParsedNumber ParseScaled(std::string_view text, int scale);

// Microseconds, as in "ts" and "dur", to nanoseconds.
inline ParsedNumber ParseMicroseconds(std::string_view text) {
  // The common shape, digits with up to three decimals, without the general routine's bookkeeping.
  uint64_t value = 0;
  size_t i = 0;
  for (; i < text.size() && static_cast<unsigned>(text[i] - '0') < 10; ++i) {
    value = value * 10 + static_cast<unsigned>(text[i] - '0');
  }
  size_t decimals = 0;
  const size_t whole = i;
  if (i < text.size() && text[i] == '.') {
    for (++i; i < text.size() && static_cast<unsigned>(text[i] - '0') < 10; ++i, ++decimals) {
      value = value * 10 + static_cast<unsigned>(text[i] - '0');
    }
  }
  constexpr uint64_t kPower[] = {1000, 100, 10, 1};
  if (i != text.size() || whole == 0 || whole > 15 || decimals > 3 || text[i - 1] == '.') {
    return ParseScaled(text, 3);
  }
  return {static_cast<int64_t>(value * kPower[decimals]), NumberStatus::kOk};
}

// A whole number; "7.0" counts as 7, 7.5 is kNotNumber. ParseUnsigned keeps all 64 bits of
// addresses and similar values in the bit pattern of the result.
ParsedNumber ParseRareInteger(std::string_view text);  // any text
inline ParsedNumber ParseInteger(std::string_view text) {
  // The common shape, digits that certainly fit, without the general routine's bookkeeping.
  uint64_t value = 0;
  size_t i = 0;
  for (; i < text.size() && static_cast<unsigned>(text[i] - '0') < 10; ++i) {
    value = value * 10 + static_cast<unsigned>(text[i] - '0');
  }
  if (i != text.size() || i == 0 || i > 18) {
    return ParseRareInteger(text);
  }
  return {static_cast<int64_t>(value), NumberStatus::kOk};
}
ParsedNumber ParseUnsigned(std::string_view text);

// Any number, to the nearest double. kNotFinite also for values too large for one.
struct ParsedDouble {
  double value = 0;
  NumberStatus status = NumberStatus::kNotNumber;
};
ParsedDouble ParseDouble(std::string_view text);

}  // namespace borescope::internal
