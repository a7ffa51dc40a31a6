// Records of the calling thread: reserve words in its chunk, fill them, publish the head.
//
// The common case is a comparison, two stores for the place, the record, and one store with release
// order. No lock, no allocation, no system call but at the end of a chunk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "borescope/recording/log_format.h"
#include "core/state.h"

namespace borescope::inject {

inline constexpr size_t kMostTextBytes = 4096;

struct OpenRanges;

// Small, and of the initial-exec model: a library that is loaded late has little room for it.
struct Thread {
  uint64_t* cursor;  // where the next record goes
  uint64_t* end;
  uint64_t* begin;  // of the chunk, after its header
  // The chunk before stays mapped: a signal handler that records may have taken its place while a
  // record was being written into it.
  uint64_t* previous;
  uint64_t* previous_end;
  // Of records that others refer to, which a ring keeps.
  uint64_t* kept_cursor;
  uint64_t* kept_end;
  uint64_t* kept_begin;
  OpenRanges* open_ranges;  // by domain (depths.h); a null pointer until one is needed
  uint32_t generation;      // of the log that the chunk belongs to
  uint32_t chunk_bytes;     // 0 before the first
  uint32_t tid;
  uint32_t chunk_kind;  // 0: of a thread of the program
  uint32_t is_busy;     // within the slow path, in which a signal handler must not record
};

extern __thread Thread t_thread __attribute__((tls_model("initial-exec"), visibility("hidden")));

uint32_t CurrentTid();

// Once, when the library begins.
void PrepareThreads();

uint64_t* ReserveSlowly(size_t words);

// Words for a record in the chunk of this thread; a null pointer where nothing can be recorded.
inline uint64_t* Reserve(size_t words) {
  Thread& thread = t_thread;
  uint64_t* record = thread.cursor;
  const bool is_mine = thread.generation == g_log->generation.load(std::memory_order_relaxed);
  if (is_mine && static_cast<size_t>(thread.end - record) >= words) [[likely]] {
    thread.cursor = record + words;
    return record;
  }
  return ReserveSlowly(words);
}

// Words for a record that others refer to: a ring keeps it.
uint64_t* ReserveKept(size_t words);

// Makes the record complete for those who read the log.
inline void Publish(uint64_t* record, recording::RecordType type, uint32_t words, uint8_t flags,
                    uint32_t a) {
  const uint64_t head = uint64_t{static_cast<uint8_t>(type)} | uint64_t{words} << 8U |
                        uint64_t{flags} << 24U | uint64_t{a} << 32U;
  __atomic_store_n(record, head, __ATOMIC_RELEASE);
}

struct TextPlan {
  uint32_t bytes;
  uint32_t words;
  uint8_t flags;
};

// Has the end of the calling thread give back what it holds.
void WatchThreadEnd();

// How much of a text that is longer than a record takes is kept.
size_t CutTextLength(const char* text);
TextPlan PlanCutText(const char* text, size_t most);

inline TextPlan PlanText(const char* text, size_t length, size_t most = kMostTextBytes) {
  if (length > most) [[unlikely]] {
    return PlanCutText(text, most);
  }
  const auto bytes = static_cast<uint32_t>(length);
  return {bytes, (bytes + 7) / 8, static_cast<uint8_t>((8 - bytes % 8) % 8)};
}

inline void CopyText(uint64_t* words, const char* text, const TextPlan& plan) {
  if (plan.words == 0) return;
  words[plan.words - 1] = 0;
  memcpy(words, text, plan.bytes);
}

template <size_t N>
inline void FillAndPublish(uint64_t* record, recording::RecordType type, uint32_t a,
                           const uint64_t (&body)[N], const char* text, const TextPlan& plan,
                           uint8_t flags) {
  for (size_t i = 0; i < N; ++i) record[1 + i] = body[i];
  CopyText(record + 1 + N, text, plan);
  Publish(record, type, static_cast<uint32_t>(1 + N + plan.words),
          static_cast<uint8_t>(flags | plan.flags), a);
}

// Writes a whole record: its words, then its text.
template <size_t N>
inline bool Write(recording::RecordType type, uint32_t a, const uint64_t (&body)[N],
                  const char* text, size_t length, uint8_t flags = 0) {
  const TextPlan plan = PlanText(text, length);
  uint64_t* record = Reserve(1 + N + plan.words);
  if (record == nullptr) [[unlikely]] {
    return false;
  }
  FillAndPublish(record, type, a, body, text, plan, flags);
  return true;
}

// One that others refer to.
template <size_t N>
inline void WriteKept(recording::RecordType type, uint32_t a, const uint64_t (&body)[N],
                      const char* text, size_t length) {
  const TextPlan plan = PlanText(text, length);
  uint64_t* record = ReserveKept(1 + N + plan.words);
  if (record != nullptr) FillAndPublish(record, type, a, body, text, plan, 0);
}

template <size_t N>
inline bool Write(recording::RecordType type, uint32_t a, const uint64_t (&body)[N]) {
  return Write(type, a, body, "", 0);
}

// The length of a text, of which no more is looked at than a record takes.
inline size_t TextLength(const char* text) { return strnlen(text, kMostTextBytes + 1); }

}  // namespace borescope::inject
