// Divides an amount in the ratio of weights so that the parts add up to it. Pure.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace borescope::internal {

// Part i is amount * weight i / all weights, rounded so that no nanosecond is lost; nothing goes
// where the weight is 0 or less. All parts are 0 if all weights are. REQUIRES: amount >= 0.
template <size_t kCount>
std::array<int64_t, kCount> ExactShares(int64_t amount,
                                        const std::array<int64_t, kCount>& weights) {
  __extension__ using Wide = __int128;  // products of two times
  Wide all = 0;
  for (const int64_t weight : weights) all += std::max<int64_t>(0, weight);
  std::array<int64_t, kCount> parts{};
  Wide before = 0;
  int64_t given = 0;
  for (size_t i = 0; i < kCount && all > 0; ++i) {
    before += std::max<int64_t>(0, weights[i]);
    const auto until = static_cast<int64_t>(static_cast<Wide>(amount) * before / all);
    parts[i] = until - given;
    given = until;
  }
  return parts;
}

}  // namespace borescope::internal
