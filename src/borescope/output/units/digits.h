// Decimal digits of whole numbers, written straight to where they belong: what writers of millions
// of numbers spend their time on.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace borescope::internal {

// The most characters that PutDigits and PutSignedDigits write.
inline constexpr size_t kMostDigits = 20;

namespace internal {

inline constexpr std::array<char, 200> kDigitPairs = [] {
  std::array<char, 200> pairs{};
  for (size_t i = 0; i < 100; ++i) {
    pairs[2 * i] = static_cast<char>('0' + i / 10);
    pairs[2 * i + 1] = static_cast<char>('0' + i % 10);
  }
  return pairs;
}();

// REQUIRES: number < 100
inline char* PutPair(char* at, uint32_t number) {
  std::memcpy(at, kDigitPairs.data() + size_t{2} * number, 2);
  return at + 2;
}

// REQUIRES: number < 10^8
inline char* PutEightDigits(char* at, uint32_t number) {
  const uint32_t high = number / 10'000;
  const uint32_t low = number % 10'000;
  at = PutPair(PutPair(at, high / 100), high % 100);
  return PutPair(PutPair(at, low / 100), low % 100);
}

// Without leading zeros. REQUIRES: number < 10^8
inline char* PutUpToEightDigits(char* at, uint32_t number) {
  std::array<char, 8> digits;
  size_t first = digits.size();
  while (number >= 100) {
    first -= 2;
    PutPair(digits.data() + first, number % 100);
    number /= 100;
  }
  if (number >= 10) {
    first -= 2;
    PutPair(digits.data() + first, number);
  } else {
    digits[--first] = static_cast<char>('0' + number);
  }
  std::memcpy(at, digits.data() + first, digits.size() - first);
  return at + (digits.size() - first);
}

}  // namespace internal

// Writes the number to `at`, where kMostDigits characters have room; returns the end.
inline char* PutDigits(char* at, uint64_t number) {
  constexpr uint64_t kEight = 100'000'000;
  if (number < kEight) {
    return internal::PutUpToEightDigits(at, static_cast<uint32_t>(number));
  }
  at = PutDigits(at, number / kEight);
  return internal::PutEightDigits(at, static_cast<uint32_t>(number % kEight));
}

inline char* PutSignedDigits(char* at, int64_t number) {
  if (number >= 0) {
    return PutDigits(at, static_cast<uint64_t>(number));
  }
  *at = '-';
  return PutDigits(at + 1, 0 - static_cast<uint64_t>(number));
}

// Three digits, with leading zeros. REQUIRES: number < 1000, room for 3 characters
inline char* PutThreeDigits(char* at, uint32_t number) {
  *at = static_cast<char>('0' + number / 100);
  return internal::PutPair(at + 1, number % 100);
}

}  // namespace borescope::internal
