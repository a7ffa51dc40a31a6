// Half of libFuzzer's mutations are its own, half those of Mutate. Its own are made below what
// compresses and sums up an input, too, half of the time.

#include <sqlite3.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "mutator.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

// A target has one thread, but for those of ThreadSanitizer, which read no databases.
extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  return 0;
}

constexpr size_t kMoreBytes = 256;  // that one change may add

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  std::string changed;
  if (seed % 4 == 0) {
    return LLVMFuzzerMutate(data, size, max_size);
  }
  if (seed % 4 == 2) {
    fuzz::Unpacked unpacked = fuzz::Unpack(input);
    if (unpacked.packing == fuzz::Unpacked::Packing::kNone) {
      return LLVMFuzzerMutate(data, size, max_size);
    }
    const size_t was = unpacked.content.size();
    unpacked.content.resize(was + kMoreBytes);
    auto* const content = reinterpret_cast<uint8_t*>(unpacked.content.data());
    unpacked.content.resize(LLVMFuzzerMutate(content, was, was + kMoreBytes));
    changed = fuzz::Pack(unpacked);
  } else {
    changed = fuzz::Mutate(input, seed);
  }
  if (changed.empty() || changed.size() > max_size) {
    return LLVMFuzzerMutate(data, size, max_size);
  }
  changed.copy(reinterpret_cast<char*>(data), changed.size());
  return changed.size();
}
