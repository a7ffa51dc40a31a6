#include "borescope/ingest/layouts/layout_reader.h"

#include <algorithm>
#include <optional>

#include "borescope/ingest/layouts/event_layout.h"

namespace borescope::internal {
namespace {

// What an event that was tried in vain and learnt costs, in events saved.
constexpr int kPriceOfMiss = 4;

}  // namespace

bool LayoutReader::Read(std::string_view text, size_t at, RawEvent& event, size_t& after) {
  if (rest_ != 0) {
    --rest_;
    return false;
  }
  const char* end_of_event = nullptr;
  if (!tree_.Match(text.data() + at, text.data() + text.size(), event, end_of_event)) {
    trust_ -= kPriceOfMiss;
    return false;
  }
  after = static_cast<size_t>(end_of_event - text.data());
  if (trust_ < kMostTrust) {
    ++trust_;
  } else {
    next_rest_ = kShortestRest;
  }
  return true;
}

void LayoutReader::Learn(std::string_view event) {
  if (rest_ != 0) {
    return;
  }
  if (trust_ <= 0) {
    rest_ = next_rest_;
    next_rest_ = std::min(next_rest_ * 2, kLongestRest);
    trust_ = kMostTrust / 2;
  }
  if (tree_.size() > kMostSteps) {
    tree_.Clear();
  }
  if (const std::optional<EventLayout> layout = LayoutOf(event)) {
    tree_.Add(*layout);
  }
}

}  // namespace borescope::internal
