#include "borescope/base/hash/input_hash.h"

#include <cstring>
#include <random>

namespace borescope::internal {
namespace {

uint64_t WordAt(const char* data) {
  uint64_t word = 0;
  std::memcpy(&word, data, sizeof word);
  return word;
}

uint64_t HalfAt(const char* data) {
  uint32_t half = 0;
  std::memcpy(&half, data, sizeof half);
  return half;
}

// Texts of at most sixteen bytes as two words; those of unequal texts of one size differ.
std::pair<uint64_t, uint64_t> WordsOfShort(const char* data, size_t size) {
  if (size >= 8) {
    return {WordAt(data), WordAt(data + size - 8)};
  }
  if (size >= 4) {
    return {HalfAt(data), HalfAt(data + size - 4)};
  }
  uint64_t word = 0;
  for (size_t i = 0; i < size; ++i) {
    word = word << 8 | static_cast<unsigned char>(data[i]);
  }
  return {word, 0};
}

}  // namespace

ProcessKey MakeProcessKey() {
  std::random_device device;
  ProcessKey key{};
  for (uint64_t& word : key) {
    word = uint64_t{device()} << 32 | device();
  }
  key[1] |= 1;  // an even factor would lose bits
  return key;
}

uint64_t HashText(std::string_view text) {
  const ProcessKey& key = KeyOfProcess();
  const char* data = text.data();
  size_t left = text.size();
  uint64_t hash = key[0];
  for (; left > 16; left -= 16, data += 16) {
    hash = FoldedProduct(WordAt(data) ^ key[1], WordAt(data + 8) ^ hash);
  }
  const auto [first, second] = WordsOfShort(data, left);
  hash = FoldedProduct(first ^ key[1], second ^ hash);
  return FoldedProduct(hash ^ key[2], text.size() ^ key[1]);
}

}  // namespace borescope::internal
