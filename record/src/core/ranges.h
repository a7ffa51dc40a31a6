// Ranges and marks of a domain, as all interfaces record them.
#pragma once

#include <cstdint>

#include "borescope/recording/log_format.h"
#include "core/clock.h"
#include "core/depths.h"
#include "core/rules.h"
#include "core/writer.h"

namespace borescope::inject {

struct Entry;

// A text of the caller, and what may come with it.
struct Message {
  const char* text = "";
  size_t length = 0;
  const recording::Attributes* attributes = nullptr;
  const Entry* registered = nullptr;  // the text, where the attributes have its number
};

inline Message PlainMessage(const char* text) {
  if (text == nullptr) return {};
  return {text, TextLength(text), nullptr};
}

uint64_t NextRangeId();

// Whether the text of what begins now is looked at: it is recorded, or rules wait for it.
inline bool IsTextWanted() { return IsRecording() || g_watches_ranges; }

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

// The same while rules wait for ranges.
int PushWatched(uint32_t domain, const Message& message);
void MarkWatched(uint32_t domain, const Message& message);
uint64_t StartWatched(uint32_t domain, const Message& message);

// `is_wanted`: IsTextWanted, asked once, as the message is only read then.
inline int Push(uint32_t domain, bool is_wanted, const Message& message) {
  if (g_watches_ranges) [[unlikely]] {
    return PushWatched(domain, message);
  }
  if (is_wanted) WriteMoment(recording::RecordType::kPush, domain, message);
  return EnterRange(domain, is_wanted);
}

inline int Pop(uint32_t domain) {
  const LeftRange left = LeaveRange(domain);
  if (left.is_recorded) {
    const uint64_t body[] = {Now()};
    Write(recording::RecordType::kPop, domain, body);
  }
  if (g_watches_ranges) [[unlikely]] {
    if (TakeAwaited(domain)) RangeEnds();
  }
  return left.depth;
}

inline void Mark(uint32_t domain, const Message& message) {
  if (g_watches_ranges) [[unlikely]] {
    return MarkWatched(domain, message);
  }
  if (IsRecording()) WriteMoment(recording::RecordType::kMark, domain, message);
}

// 0 while nothing is recorded, and no rule waits for the range's end.
inline uint64_t StartRange(uint32_t domain, const Message& message) {
  if (g_watches_ranges) [[unlikely]] {
    return StartWatched(domain, message);
  }
  if (!IsRecording()) return 0;
  const uint64_t id = NextRangeId();
  WriteRangeStart(domain, id, message);
  return id;
}

// Also while recording is paused: only what began while it was not has a number.
inline void WriteRangeEnd(uint32_t domain, uint64_t id) {
  const uint64_t body[] = {Now(), id};
  Write(recording::RecordType::kRangeEnd, domain, body);
}

void EndWatched(uint32_t domain, uint64_t id);

inline void EndRange(uint32_t domain, uint64_t id) {
  if (id == 0 || !IsEnabled()) return;
  if (g_watches_ranges) [[unlikely]] {
    return EndWatched(domain, id);
  }
  WriteRangeEnd(domain, id);
}

// Of a range whose number the program's own library gave: of its end it is not known whether its
// begin was recorded.
void StartForeignRange(uint32_t domain, uint64_t id, const Message& message);
void EndForeignRange(uint32_t domain, uint64_t id);

}  // namespace borescope::inject
