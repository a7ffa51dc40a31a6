#include "borescope/output/overlay/event_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "borescope/output/json_writer.h"

namespace borescope::internal {
namespace {

constexpr size_t kPieceBytes = size_t{1} << 20;
constexpr int64_t kFirstOwnThread = 1'000'000'000;

}  // namespace

EventText::EventText(Sink& sink, bool comma_first)
    : sink_(sink),
      needs_comma_(comma_first),
      buffer_(kPieceBytes + kPieceBytes / 8),
      at_(buffer_.data()) {}

void EventText::StartEvent() {
  if (used() >= kPieceBytes) {
    Flush();
  }
  Put(std::exchange(needs_comma_, true) ? ",\n" : "\n");
}

// An event may be longer than what is left of a piece, by any size.
void EventText::Grow(size_t size) {
  const size_t kept = used();
  buffer_.resize(std::max(2 * buffer_.size(), kept + size));
  at_ = buffer_.data() + kept;
}

void EventText::PutNumber(double value) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (!std::isfinite(value)) {
    Put("null");
  } else if (std::abs(value) < kExact && value == std::trunc(value)) {
    PutInt(static_cast<int64_t>(value));
  } else {
    Put(fmt::format("{}", value));
  }
}

void EventText::PutString(std::string_view text) {
  if (IsPlainJson(text)) {
    PutPlainString(text);
    return;
  }
  std::string json;
  AppendJsonString(json, text);
  Put(json);
}

Result<void> EventText::Finish() {
  Flush();
  return status_;
}

void EventText::Flush() {
  if (status_.ok()) {
    status_ = sink_.Write({buffer_.data(), used()});
  }
  at_ = buffer_.data();
}

bool IsPlainJson(std::string_view text) {
  bool plain = true;
  for (const char c : text) {  // without a way out, so that it vectorises
    const auto byte = static_cast<unsigned char>(c);
    plain &= byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\';
  }
  return plain;
}

OwnThreads::OwnThreads(const Tracks& tracks)
    : recorded_(tracks.tid.begin(), tracks.tid.end()), next_(kFirstOwnThread) {
  std::sort(recorded_.begin(), recorded_.end());
}

int64_t OwnThreads::Next() {
  while (std::binary_search(recorded_.begin(), recorded_.end(), next_)) {
    ++next_;
  }
  return next_++;
}

}  // namespace borescope::internal
