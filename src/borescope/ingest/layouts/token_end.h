// Where the value of a member ends, found without the index of structural characters. Each function
// accepts less than JSON allows, and what it accepts has exactly the end that the structural parser
// finds; null means that this parser has to look. Pure functions, safe from any thread.
#pragma once

#include <emmintrin.h>

#include <bit>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#endif

namespace borescope::internal {

// ByteBlock: 32 bytes of text compared at once, by vectors where every CPU of the platform has
// them. Each question has one bit for each byte, the lowest for the first.

// The slow twin, and where there are no vectors the block.
class PlainBlock {
 public:
  static constexpr uint32_t kBytes = 32;

  explicit PlainBlock(const char* text) { std::memcpy(bytes_, text, kBytes); }

  uint32_t Equals(const PlainBlock& other) const {
    uint32_t bits = 0;
    for (uint32_t i = 0; i < kBytes; ++i) {
      bits |= static_cast<uint32_t>(bytes_[i] == other.bytes_[i]) << i;
    }
    return bits;
  }
  uint32_t EndsNumber() const {
    return Bits([](unsigned char c) { return c < '-' || c > '9'; });
  }
  uint32_t EndsPlainText() const {
    return Bits([](unsigned char c) { return IsOdd(c) || c == '\\'; });
  }
  uint32_t EndsPlainList() const {
    return Bits([](unsigned char c) {
      const int as_brace = c | ('{' ^ '[');
      return IsOdd(c) || (as_brace >= '{' && as_brace <= '}');
    });
  }

 private:
  static bool IsOdd(unsigned char c) { return c < ' ' || c >= 0x80 || c == '"'; }
  template <class Is>
  uint32_t Bits(const Is& is) const {
    uint32_t bits = 0;
    for (uint32_t i = 0; i < kBytes; ++i) {
      bits |= static_cast<uint32_t>(is(static_cast<unsigned char>(bytes_[i]))) << i;
    }
    return bits;
  }

  char bytes_[kBytes];
};

#if defined(__SSE2__)

class VectorBlock {
 public:
  static constexpr uint32_t kBytes = 32;

  // REQUIRES: kBytes bytes are readable at `text`.
  explicit VectorBlock(const char* text)
      : low_(_mm_loadu_si128(reinterpret_cast<const __m128i*>(text))),
        high_(_mm_loadu_si128(reinterpret_cast<const __m128i*>(text + 16))) {}

  uint32_t Equals(const VectorBlock& other) const {
    return Bits(_mm_cmpeq_epi8(low_, other.low_), _mm_cmpeq_epi8(high_, other.high_));
  }
  // Not from '-' to '9': what no usual number contains.
  uint32_t EndsNumber() const { return ~Bits(IsOfNumber(low_), IsOfNumber(high_)); }
  // A quotation mark, a backslash, or neither printable nor ASCII.
  uint32_t EndsPlainText() const { return Bits(EndsPlain(low_), EndsPlain(high_)); }
  // The same, brackets, braces and '|', which has the code between those of the braces.
  uint32_t EndsPlainList() const { return Bits(EndsList(low_), EndsList(high_)); }

 private:
  static uint32_t Bits(__m128i low, __m128i high) {
    return static_cast<uint32_t>(_mm_movemask_epi8(low)) |
           static_cast<uint32_t>(_mm_movemask_epi8(high)) << 16;
  }
  // Whether first <= byte <= first + more, as unsigned numbers.
  static __m128i IsWithin(__m128i bytes, char first, char more) {
    const __m128i above = _mm_sub_epi8(bytes, _mm_set1_epi8(first));
    return _mm_cmpeq_epi8(_mm_min_epu8(above, _mm_set1_epi8(more)), above);
  }
  static __m128i IsOfNumber(__m128i bytes) { return IsWithin(bytes, '-', '9' - '-'); }
  // Bytes beyond ASCII are negative numbers.
  static __m128i IsOdd(__m128i bytes) {
    return _mm_or_si128(_mm_cmpgt_epi8(_mm_set1_epi8(' '), bytes),
                        _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')));
  }
  static __m128i EndsPlain(__m128i bytes) {
    return _mm_or_si128(IsOdd(bytes), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
  }
  static __m128i EndsList(__m128i bytes) {
    const __m128i as_braces = _mm_or_si128(bytes, _mm_set1_epi8('{' ^ '['));
    return _mm_or_si128(IsOdd(bytes), IsWithin(as_braces, '{', '}' - '{'));
  }

  __m128i low_;
  __m128i high_;
};

using ByteBlock = VectorBlock;

#else

using ByteBlock = PlainBlock;

#endif

// All functions look at text from `at` to `end`, after which kTextPadding bytes are readable.

// After the last byte of the number or word that starts at `at`; `at` itself if neither does.
const char* RareScalarEnd(const char* at, const char* end);

inline const char* ScalarEnd(const char* at, const char* end) {
  const uint32_t others = ByteBlock(at).EndsNumber();
  const char* stop = at + std::countr_zero(others);
  const bool is_number =
      others != 0 && stop != at && (*stop == ',' || *stop == '\n' || *stop == '}');
  return is_number ? stop : RareScalarEnd(at, end);
}

// On the closing quotation mark of a string whose text starts at `at`. `first`: where something but
// plain text was found first.
const char* RareStringEnd(const char* at, const char* first, const char* end);

inline const char* StringEnd(const char* at, const char* end) {
  for (const char* block = at; block < end; block += ByteBlock::kBytes) {
    if (const uint32_t others = ByteBlock(block).EndsPlainText(); others != 0) {
      const char* stop = block + std::countr_zero(others);
      return *stop == '"' && stop < end ? stop : RareStringEnd(at, stop, end);
    }
  }
  return nullptr;
}

// After the closing bracket or brace of the list or object that starts at `at`.
const char* ContainerEnd(const char* at, const char* end);

}  // namespace borescope::internal
