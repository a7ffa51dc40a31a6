#include "borescope/recorder/log_words.h"

#include <cstring>

namespace borescope::internal {
namespace {

constexpr size_t kMostTextBytes = 4096;

// The beginning of a text that does not end within a code point.
std::string_view CutText(std::string_view text) {
  if (text.size() <= kMostTextBytes) return text;
  constexpr unsigned char kContinuationMask = 0xc0;
  constexpr unsigned char kContinuation = 0x80;
  const auto continues = [&](size_t at) {
    return (static_cast<unsigned char>(text[at]) & kContinuationMask) == kContinuation;
  };
  size_t length = kMostTextBytes;
  while (length + 3 > kMostTextBytes && continues(length)) --length;
  return text.substr(0, length);
}

}  // namespace

void LogWords::Add(recording::RecordType type, uint32_t a, std::initializer_list<uint64_t> body,
                   std::string_view text) {
  const std::string_view kept = CutText(text);
  const size_t text_words = (kept.size() + sizeof(uint64_t) - 1) / sizeof(uint64_t);
  const size_t padding = text_words * sizeof(uint64_t) - kept.size();
  const uint8_t cut = kept.size() < text.size() ? recording::kIsCut : 0;
  words_.push_back(recording::PackHead({static_cast<uint8_t>(type),
                                        static_cast<uint16_t>(1 + body.size() + text_words),
                                        static_cast<uint8_t>(padding | cut), a}));
  words_.insert(words_.end(), body.begin(), body.end());
  const size_t begin = words_.size();
  words_.resize(begin + text_words);
  if (!kept.empty()) std::memcpy(words_.data() + begin, kept.data(), kept.size());
}

}  // namespace borescope::internal
