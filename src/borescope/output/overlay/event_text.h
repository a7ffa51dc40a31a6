// EventText: events of the Chrome trace format as text to a Sink, in large pieces. What the writers
// of such events share: commas, exact times, strings, numbers of threads nobody has.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/output/sink/sink.h"
#include "borescope/trace/tables.h"

namespace borescope::internal {

// Decimal digits of whole numbers, written straight to where they belong: what writers of millions
// of numbers spend their time on.

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

// Failures of the sink are kept; Finish returns them. Not thread-safe.
class EventText {
 public:
  // `comma_first`: another event precedes the first one.
  EventText(Sink& sink, bool comma_first);
  EventText(const EventText&) = delete;
  EventText& operator=(const EventText&) = delete;

  // A new line, after the comma that the event before it needs.
  void StartEvent();
  // Whether the next event follows another one.
  bool has_events() const { return needs_comma_; }

  // Text as it is; must be JSON.
  void Put(std::string_view text) {
    char* at = Room(text.size());
    at_ = at + text.copy(at, text.size());
  }
  void PutInt(int64_t value) { at_ = PutSignedDigits(Room(kMostDigits), value); }
  void PutUint(uint64_t value) { at_ = PutDigits(Room(kMostDigits), value); }
  // Nanoseconds as microseconds with three decimals, as profilers write them: exact, without a
  // double.
  void PutTime(int64_t ns) {
    char* at = Room(kMostDigits + 1);
    uint64_t magnitude = static_cast<uint64_t>(ns);
    if (ns < 0) {
      *at++ = '-';
      magnitude = 0 - magnitude;
    }
    at = PutDigits(at, magnitude / 1000);
    *at++ = '.';
    at_ = PutThreeDigits(at, static_cast<uint32_t>(magnitude % 1000));
  }
  // The shortest text that reads back the same; NaN and infinities are null.
  void PutNumber(double value);
  // A JSON string: in quotation marks, escaped, valid UTF-8 whatever it was before.
  void PutString(std::string_view text);
  // The same for text that is plain JSON (IsPlainJson), which it does not look at.
  void PutPlainString(std::string_view text) {
    char* at = Room(text.size() + 2);
    *at++ = '"';
    at += text.copy(at, text.size());
    *at++ = '"';
    at_ = at;
  }

  // Hands over what is left and reports the first failure.
  Result<void> Finish();

 private:
  // Where to write up to `size` characters; whoever does moves at_ behind them.
  char* Room(size_t size) {
    if (static_cast<size_t>(buffer_.data() + buffer_.size() - at_) < size) {
      Grow(size);
    }
    return at_;
  }
  void Grow(size_t size);
  size_t used() const { return static_cast<size_t>(at_ - buffer_.data()); }
  void Flush();

  Sink& sink_;
  bool needs_comma_;
  std::vector<char> buffer_;  // written up to at_
  char* at_;
  Result<void> status_;
};

// Whether a JSON string holds `text` as it is: ASCII that needs no escape.
bool IsPlainJson(std::string_view text);

// Thread numbers that no recorded track has: above the thread ids of every system and below 2^31,
// beyond which viewers stop reading numbers.
class OwnThreads {
 public:
  explicit OwnThreads(const Tracks& tracks);

  int64_t Next();

 private:
  std::vector<int64_t> recorded_;
  int64_t next_;
};

}  // namespace borescope::internal
