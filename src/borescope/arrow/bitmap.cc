#include "borescope/arrow/bitmap.h"

#include <cstddef>

namespace borescope::internal {

std::vector<uint8_t> PackBits(std::span<const char> flags, bool inverted) {
  std::vector<uint8_t> bits((flags.size() + 63) / 64 * 8);
  for (size_t cell = 0; cell < flags.size(); ++cell) {
    const bool is_set = (flags[cell] != 0) != inverted;
    bits[cell / 8] = static_cast<uint8_t>(bits[cell / 8] | (unsigned{is_set} << (cell % 8)));
  }
  return bits;
}

}  // namespace borescope::internal
