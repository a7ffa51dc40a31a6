#include "borescope/base/text/base64.h"

#include <cstdint>

namespace borescope::internal {

std::string Base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text((bytes.size() + 2) / 3 * 4, '=');
  char* digit = text.data();
  const auto put = [&](uint32_t bits, size_t digits) {
    for (size_t k = 0; k < digits; ++k) {
      *digit++ = kDigits[bits >> (18 - 6 * k) & 63];
    }
  };
  const auto byte = [&](size_t i) { return uint32_t{static_cast<unsigned char>(bytes[i])}; };
  size_t i = 0;
  for (; i + 3 <= bytes.size(); i += 3) {
    put(byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2), 4);
  }
  if (const size_t left = bytes.size() - i; left > 0) {
    put(byte(i) << 16 | (left > 1 ? byte(i + 1) << 8 : 0), left + 1);
  }
  return text;
}

}  // namespace borescope::internal
