// Hashes of what inputs decide, names above all. They are keyed by random numbers of this process,
// so that nobody can write a file whose names all fall into one slot of a table. The same value has
// another hash in the next process: neither hashes nor orders that follow from them may reach an
// output.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

namespace borescope::internal {

// A digest that is the same in every process and on every machine, for what is written down: FNV-1a
// of 64 bits. It finds copies, and hides nothing from those who mean to deceive: for tables whose
// keys come from inputs there is hash_tables.h.

// Not thread-safe.
class StableDigest {
 public:
  void Add(std::string_view bytes) {
    constexpr uint64_t kPrime = 0x100000001b3;
    for (const char byte : bytes) {
      value_ = (value_ ^ static_cast<unsigned char>(byte)) * kPrime;
    }
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0xcbf29ce484222325;
};

using ProcessKey = std::array<uint64_t, 3>;

// Both halves of the product of 64-bit numbers in one: each bit of the result depends on all bits
// of both.
inline uint64_t FoldedProduct(uint64_t a, uint64_t b) {
  __extension__ typedef unsigned __int128 Product;
  const Product product = static_cast<Product>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

// Random numbers; the second is odd.
ProcessKey MakeProcessKey();

// The numbers that only this process knows.
inline const ProcessKey& KeyOfProcess() {
  static const ProcessKey key = MakeProcessKey();
  return key;
}

// The construction is that of wyhash, sixteen bytes a step.
uint64_t HashText(std::string_view text);

// Twice, as multiples of one number are not scattered by some keys.
inline uint64_t HashNumber(uint64_t number) {
  const ProcessKey& key = KeyOfProcess();
  return FoldedProduct(FoldedProduct(number ^ key[0], key[1]) ^ key[2], key[1]);
}

template <std::integral T>
uint64_t HashNumbers(std::span<const T> numbers) {
  const ProcessKey& key = KeyOfProcess();
  uint64_t hash = key[0];
  for (const T number : numbers) {
    hash = FoldedProduct(static_cast<uint64_t>(number) ^ hash, key[1]) ^ key[2];
  }
  return FoldedProduct(hash, key[1]);
}

// For the tables of the standard library: texts, which are found by views too, numbers, and a few
// of these together.
struct InputHash {
  using is_transparent = void;

  size_t operator()(std::string_view text) const { return HashText(text); }
  template <typename T>
    requires std::integral<T> || std::is_enum_v<T>
  size_t operator()(T number) const noexcept {
    return HashNumber(static_cast<uint64_t>(number));
  }
  template <typename T, size_t kSize>
  size_t operator()(const std::array<T, kSize>& numbers) const noexcept {
    return HashNumbers(std::span<const T>(numbers));
  }
  // Keys of several members, which Numbers() gives as an array.
  template <typename T>
    requires requires(const T& key) { key.Numbers(); }
  size_t operator()(const T& key) const noexcept {
    return (*this)(key.Numbers());
  }
  template <std::integral A, std::integral B>
  size_t operator()(const std::pair<A, B>& both) const noexcept {
    return (*this)(
        std::array{static_cast<uint64_t>(both.first), static_cast<uint64_t>(both.second)});
  }
};

}  // namespace borescope::internal
