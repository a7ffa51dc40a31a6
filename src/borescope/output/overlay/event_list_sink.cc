#include "borescope/output/overlay/event_list_sink.h"

#include <algorithm>
#include <optional>

#include "borescope/output/overlay/event_members.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kSeparators = ", \n\t\r";

bool IsQuoted(std::string_view token, std::string_view text) {
  return token.size() == text.size() + 2 && token.front() == '"' &&
         token.substr(1, text.size()) == text && token.back() == '"';
}

}  // namespace

Result<void> EventListSink::Write(std::string_view text) {
  while (!text.empty() && status_.ok()) {
    text.remove_prefix(depth_ == 0 ? CopyGap(text) : CopyEvent(text));
  }
  return status_;
}

// Keeps the text up to the next event; says how much it was.
size_t EventListSink::CopyGap(std::string_view text) {
  const size_t brace = std::min(text.find('{'), text.size());
  gap_.append(text.substr(0, brace));
  if (brace == text.size()) {
    return brace;
  }
  StartEvent();
  event_ += '{';
  depth_ = 1;
  return brace + 1;
}

void EventListSink::StartEvent() {
  is_marked_ = next_mark_ < marks_.critical.size() && marks_.critical[next_mark_] == position_;
  next_mark_ += is_marked_ ? 1 : 0;
  ++position_;
}

// Keeps the text up to the end of the event; says how much it was.
size_t EventListSink::CopyEvent(std::string_view text) {
  size_t at = 0;
  while (at < text.size() && depth_ != 0) {
    const char c = text[at++];
    if (in_string_) {
      in_string_ = after_backslash_ || c != '"';
      after_backslash_ = !after_backslash_ && c == '\\';
    } else {
      in_string_ = c == '"';
      depth_ += c == '{' || c == '[' ? 1 : 0;
      depth_ -= c == '}' || c == ']' ? 1 : 0;
    }
  }
  event_.append(text.substr(0, at));
  if (depth_ == 0) {
    status_ = EndEvent();
  }
  return at;
}

Result<void> EventListSink::EndEvent() {
  if (!IsLeftOut()) {
    BS_TRY(PutGap());
    BS_TRY(target_.Write(is_marked_ ? MarkedCritical(event_) : event_));
    has_events_ = true;
  }
  gap_.clear();
  event_.clear();
  return {};
}

bool EventListSink::IsLeftOut() const {
  if (is_marked_ || !marks_.only_critical) {
    return false;
  }
  const std::optional<std::string_view> phase = FindMember(event_, "ph");
  if (!phase.has_value() || !IsQuoted(*phase, "X")) {
    return false;
  }
  const std::optional<std::string_view> category = FindMember(event_, "cat");
  return !category.has_value() ||
         std::none_of(marks_.kept_categories.begin(), marks_.kept_categories.end(),
                      [&](const std::string& kept) { return IsQuoted(*category, kept); });
}

// The first event that stays may not have been the first one: no comma belongs before it.
Result<void> EventListSink::PutGap() {
  if (!has_events_ && gap_.find_first_not_of(kSeparators) == std::string::npos) {
    std::erase(gap_, ',');
  }
  return target_.Write(gap_);
}

}  // namespace borescope::internal
