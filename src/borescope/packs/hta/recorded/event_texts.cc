#include "borescope/packs/hta/recorded/event_texts.h"

#include <algorithm>

#include "borescope/base/stop.h"
#include "borescope/json/json_string.h"

namespace borescope::internal {
namespace {

constexpr size_t kPiece = size_t{1} << 20;

}  // namespace

// Appends a piece of the list to the buffer; false at its end.
Result<bool> EventTexts::Fill() {
  CheckStop();
  buffer_.erase(0, at_);
  at_ = 0;
  while (read_ < end_) {
    const size_t before = buffer_.size();
    buffer_.resize(before + kPiece);
    BS_ASSIGN(const size_t got, source_.Read(buffer_.data() + before, kPiece));
    const uint64_t first = std::min<uint64_t>(std::max(begin_, read_) - read_, got);
    const uint64_t last = std::min<uint64_t>(end_ - read_, got);
    read_ += got;
    buffer_.resize(before + last);
    buffer_.erase(before, first);
    if (got == 0) {
      read_ = end_;
    } else if (buffer_.size() > before) {
      return true;
    }
  }
  return false;
}

bool EventTexts::SkipToObject() {
  at_ = std::min(buffer_.find('{', at_), buffer_.size());
  return at_ < buffer_.size();
}

// Behind the object that begins at at_; npos where the buffer ends first.
size_t EventTexts::FindEnd() const {
  size_t depth = 0;
  for (size_t i = at_; i < buffer_.size(); ++i) {
    const char c = buffer_[i];
    if (c == '"') {
      i = FindClosingQuote(buffer_, i + 1);
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      return i + 1;
    }
  }
  return std::string::npos;
}

Result<std::string_view> EventTexts::Next() {
  while (!SkipToObject()) {
    BS_ASSIGN(const bool has_more, Fill());
    if (!has_more) {
      return std::string_view();
    }
  }
  for (;;) {
    const size_t end = FindEnd();
    if (end != std::string::npos) {
      const std::string_view text = std::string_view(buffer_).substr(at_, end - at_);
      at_ = end;
      return text;
    }
    BS_ASSIGN(const bool has_more, Fill());
    if (!has_more) {
      return std::string_view();
    }
  }
}

}  // namespace borescope::internal
