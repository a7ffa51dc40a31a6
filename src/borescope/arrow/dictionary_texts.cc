#include "borescope/arrow/dictionary_texts.h"

#include "borescope/base/text/utf8.h"

namespace borescope::internal {
namespace {

// A byte that is not UTF-8 becomes as many.
constexpr uint64_t kLargestGrowth = kReplacementUtf8.size();

uint64_t BytesInTable(const StringValues& values) {
  uint64_t bytes = 0;
  for (const std::string& text : values.texts()) {
    bytes += text.size();
  }
  return bytes;
}

uint64_t BytesAsUtf8(const StringValues& values) {
  uint64_t bytes = 0;
  for (const std::string& text : values.texts()) {
    bytes += IsValidUtf8(text) ? text.size() : ToValidUtf8(text).size();
  }
  return bytes;
}

void AppendAsUtf8(std::string& bytes, const std::string& text) {
  IsValidUtf8(text) ? bytes.append(text) : bytes.append(ToValidUtf8(text));
}

}  // namespace

bool NeedsLargeOffsets(const StringValues& values, uint64_t utf8_bytes) {
  const uint64_t bytes = BytesInTable(values);
  if (bytes <= utf8_bytes / kLargestGrowth) {
    return false;  // nearly always, which spares looking at the texts
  }
  return bytes > utf8_bytes || BytesAsUtf8(values) > utf8_bytes;
}

DictionaryTexts::DictionaryTexts(const StringValues& values, bool large_offsets)
    : size_(static_cast<int64_t>(values.texts().size())) {
  if (large_offsets) {
    offsets_.emplace<std::vector<int64_t>>();
  }
  bytes_.reserve(BytesInTable(values));
  std::visit(
      [&](auto& offsets) {
        using Offset = typename std::decay_t<decltype(offsets)>::value_type;
        offsets.reserve(values.texts().size() + 1);
        offsets.push_back(0);
        for (const std::string& text : values.texts()) {
          AppendAsUtf8(bytes_, text);
          offsets.push_back(static_cast<Offset>(bytes_.size()));
        }
      },
      offsets_);
}

const void* DictionaryTexts::offsets() const {
  return std::visit([](const auto& offsets) -> const void* { return offsets.data(); }, offsets_);
}

}  // namespace borescope::internal
