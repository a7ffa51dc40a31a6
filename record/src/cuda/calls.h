// Which calls of CUDA are recorded, by CUPTI's numbers for them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/options.h"

namespace borescope::inject::cuda {

// Numbers of calls.
class CallSet {
 public:
  static constexpr uint32_t kMostNumbers = SkippedCalls::kMostNumbers;

  constexpr CallSet() = default;
  template <size_t N>
  explicit constexpr CallSet(const uint32_t (&numbers)[N]) {
    Add(numbers);
  }
  template <size_t N>
  constexpr void Add(const uint32_t (&numbers)[N]) {
    for (const uint32_t number : numbers) bits_[number / 64] |= uint64_t{1} << number % 64;
  }
  constexpr bool Has(uint32_t number) const {
    return number < kMostNumbers && (bits_[number / 64] >> number % 64 & 1U) != 0;
  }

 private:
  uint64_t bits_[kMostNumbers / 64] = {};
};

bool IsWantedRuntimeCall(uint32_t callback, const Options& options);
// Of the driver's, those that launch device work or order it in a stream, whoever calls them. What
// the runtime calls of the driver besides is left out.
bool IsWantedDriverCall(uint32_t callback, const Options& options);

}  // namespace borescope::inject::cuda
