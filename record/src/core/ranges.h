// Ranges and marks of a domain, as all interfaces record them.
#pragma once

#include <cstdint>

#include "borescope/recording/log_format.h"
#include "core/clock.h"
#include "core/depths.h"
#include "core/writer.h"

namespace borescope::inject {

// A text of the caller, and what may come with it.
struct Message {
  const char* text = "";
  size_t length = 0;
  const recording::Attributes* attributes = nullptr;
};

inline Message PlainMessage(const char* text) {
  if (text == nullptr) return {};
  return {text, TextLength(text), nullptr};
}

uint64_t NextRangeId();

// Push and mark: the time, the attributes if there are any, the text.
inline void WriteMoment(recording::RecordType type, uint32_t domain, const Message& message) {
  if (message.attributes == nullptr) [[likely]] {
    const uint64_t body[] = {Now()};
    Write(type, domain, body, message.text, message.length);
    return;
  }
  uint64_t body[4] = {Now()};
  memcpy(body + 1, message.attributes, sizeof(*message.attributes));
  Write(type, domain, body, message.text, message.length, recording::kHasAttributes);
}

inline void WriteRangeStart(uint32_t domain, uint64_t id, const Message& message) {
  if (message.attributes == nullptr) {
    const uint64_t body[] = {Now(), id};
    Write(recording::RecordType::kRangeStart, domain, body, message.text, message.length);
    return;
  }
  uint64_t body[5] = {Now(), id};
  memcpy(body + 2, message.attributes, sizeof(*message.attributes));
  Write(recording::RecordType::kRangeStart, domain, body, message.text, message.length,
        recording::kHasAttributes);
}

inline int Push(uint32_t domain, const Message& message) {
  if (IsRecording()) WriteMoment(recording::RecordType::kPush, domain, message);
  return EnterRange(domain);
}

inline int Pop(uint32_t domain) {
  const int depth = LeaveRange(domain);
  if (depth >= 0 && IsRecording()) {
    const uint64_t body[] = {Now()};
    Write(recording::RecordType::kPop, domain, body);
  }
  return depth;
}

inline void Mark(uint32_t domain, const Message& message) {
  if (IsRecording()) WriteMoment(recording::RecordType::kMark, domain, message);
}

// 0 while nothing is recorded.
inline uint64_t StartRange(uint32_t domain, const Message& message) {
  if (!IsRecording()) return 0;
  const uint64_t id = NextRangeId();
  WriteRangeStart(domain, id, message);
  return id;
}

inline void EndRange(uint32_t domain, uint64_t id) {
  if (id == 0 || !IsRecording()) return;
  const uint64_t body[] = {Now(), id};
  Write(recording::RecordType::kRangeEnd, domain, body);
}

}  // namespace borescope::inject
