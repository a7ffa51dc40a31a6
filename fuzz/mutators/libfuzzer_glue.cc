// Half of libFuzzer's mutations are its own, half are those of the target's mutator.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "mutator.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
  if (seed % 2 == 0) {
    return LLVMFuzzerMutate(data, size, max_size);
  }
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string changed = fuzz::Mutate(input, seed);
  if (changed.empty() || changed.size() > max_size) {
    return LLVMFuzzerMutate(data, size, max_size);
  }
  std::memcpy(data, changed.data(), changed.size());
  return changed.size();
}
