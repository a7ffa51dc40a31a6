#include "borescope/scrub/text/keyed_hash.h"

#include <fmt/format.h>

#include <bit>
#include <random>

namespace borescope::internal {
namespace {

struct SipState {
  uint64_t a, b, c, d;

  void Rounds(int count) {
    for (int i = 0; i < count; ++i) {
      a += b;
      c += d;
      b = std::rotl(b, 13) ^ a;
      d = std::rotl(d, 16) ^ c;
      a = std::rotl(a, 32);
      c += b;
      a += d;
      b = std::rotl(b, 17) ^ c;
      d = std::rotl(d, 21) ^ a;
      c = std::rotl(c, 32);
    }
  }
  void Add(uint64_t word) {
    d ^= word;
    Rounds(2);
    a ^= word;
  }
};

// Up to eight bytes, the first in the lowest place, on any machine.
uint64_t WordOf(std::string_view bytes) {
  uint64_t word = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    word |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  return word;
}

}  // namespace

HashKey RandomHashKey() {
  std::random_device device;
  const auto word = [&] { return uint64_t{device()} << 32 | device(); };
  return {word(), word()};
}

HashKey HashKeyOf(std::string_view text) {
  constexpr HashKey kFirst = {0x626f726573636f70, 0x652073637275622e};
  constexpr HashKey kSecond = {0x9e3779b97f4a7c15, 0xff51afd7ed558ccd};
  return {KeyedHash(kFirst, text), KeyedHash(kSecond, text)};
}

uint64_t KeyedHash(const HashKey& key, std::string_view text) {
  SipState state{key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d,
                 key[0] ^ 0x6c7967656e657261, key[1] ^ 0x7465646279746573};
  const uint64_t last = static_cast<uint64_t>(text.size()) << 56;
  for (; text.size() >= 8; text.remove_prefix(8)) {
    state.Add(WordOf(text.substr(0, 8)));
  }
  state.Add(last | WordOf(text));
  state.c ^= 0xff;
  state.Rounds(4);
  return state.a ^ state.b ^ state.c ^ state.d;
}

std::string KeyedDigits(const HashKey& key, std::string_view text) {
  return fmt::format("{:016x}", KeyedHash(key, text));
}

}  // namespace borescope::internal
