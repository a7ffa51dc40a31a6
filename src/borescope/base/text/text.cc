#include "borescope/base/text/text.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "borescope/base/check.h"

namespace borescope::internal {

namespace {

// The length given by a lead byte, and its own bits; zero if it is not a lead byte.
size_t SequenceLength(unsigned char byte) {
  if (byte < 0x80) return 1;
  if (byte >= 0xC2 && byte < 0xE0) return 2;
  if (byte >= 0xE0 && byte < 0xF0) return 3;
  return byte >= 0xF0 && byte < 0xF5 ? 4 : 0;
}

// Overlong forms, surrogates and numbers beyond Unicode.
bool IsAllowed(char32_t value, size_t length) {
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  return value >= kSmallest[length] && value <= 0x10FFFF && !(value >= 0xD800 && value <= 0xDFFF);
}

}  // namespace

CodePoint DecodeUtf8(std::string_view text) {
  BS_DCHECK(!text.empty());
  const auto first = static_cast<unsigned char>(text[0]);
  const size_t length = SequenceLength(first);
  constexpr CodePoint kInvalid{0xFFFD, 1, false};
  if (length == 0 || length > text.size()) {
    return kInvalid;
  }
  constexpr unsigned kOwnBits[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
  char32_t value = first & kOwnBits[length];
  for (size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0) != 0x80) {
      return kInvalid;
    }
    value = (value << 6) | (byte & 0x3F);
  }
  return IsAllowed(value, length) ? CodePoint{value, length, true} : kInvalid;
}

bool IsValidUtf8(std::string_view text) {
  while (!text.empty()) {
    // Most texts are ASCII: eight bytes at a time.
    constexpr uint64_t kHighBits = 0x8080'8080'8080'8080U;
    uint64_t word = kHighBits;
    std::memcpy(&word, text.data(), std::min(sizeof word, text.size()));
    if ((word & kHighBits) == 0) {
      text.remove_prefix(sizeof word);
      continue;
    }
    const CodePoint point = DecodeUtf8(text);
    if (!point.valid) {
      return false;
    }
    text.remove_prefix(point.bytes);
  }
  return true;
}

std::string ToValidUtf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const CodePoint point = DecodeUtf8(text);
    valid += point.valid ? text.substr(0, point.bytes) : kReplacementUtf8;
    text.remove_prefix(point.bytes);
  }
  return valid;
}

void AppendUtf8(std::string& out, char32_t value) {
  if (value < 0x80) {
    out += static_cast<char>(value);
  } else if (value < 0x800) {
    out += static_cast<char>(0xc0 | (value >> 6));
    out += static_cast<char>(0x80 | (value & 0x3f));
  } else if (value < 0x10000) {
    out += static_cast<char>(0xe0 | (value >> 12));
    out += static_cast<char>(0x80 | ((value >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (value & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | (value >> 18));
    out += static_cast<char>(0x80 | ((value >> 12) & 0x3f));
    out += static_cast<char>(0x80 | ((value >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (value & 0x3f));
  }
}

std::string Base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text((bytes.size() + 2) / 3 * 4, '=');
  char* digit = text.data();
  const auto put = [&](uint32_t bits, size_t digits) {
    for (size_t k = 0; k < digits; ++k) {
      *digit++ = kDigits[bits >> (18 - 6 * k) & 63];
    }
  };
  const auto byte = [&](size_t i) { return uint32_t{static_cast<unsigned char>(bytes[i])}; };
  size_t i = 0;
  for (; i + 3 <= bytes.size(); i += 3) {
    put(byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2), 4);
  }
  if (const size_t left = bytes.size() - i; left > 0) {
    put(byte(i) << 16 | (left > 1 ? byte(i + 1) << 8 : 0), left + 1);
  }
  return text;
}

namespace {

// Letters changed, added, left out or swapped with the next one.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before_last(b.size() + 1);
  std::vector<size_t> last(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t changed = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({changed, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    before_last.swap(last);
    last.swap(row);
  }
  return last.back();
}

}  // namespace

std::string_view Nearest(std::string_view word, std::span<const std::string_view> candidates) {
  std::string_view nearest;
  size_t best = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string_view candidate : candidates) {
    const bool begins = word.size() >= 2 && candidate.starts_with(word);
    const size_t distance = begins ? 1 : EditDistance(word, candidate);
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

}  // namespace borescope::internal
