#include "core/ranges.h"

#include <atomic>

#include "core/endings.h"

namespace borescope::inject {

namespace {
std::atomic<uint64_t> next_id = 1;
// Of a range whose begin is not in the log, but whose end a rule waits for.
constexpr uint64_t kNotInLog = uint64_t{1} << 62U;
}  // namespace

uint64_t NextRangeId() { return next_id.fetch_add(1, std::memory_order_relaxed); }

int PushWatched(uint32_t domain, const Message& message) {
  const bool is_awaited = IsEnabled() && RangeBegins(message, CanAwaitNext(domain));
  const bool is_recorded = IsRecording();
  if (is_recorded) WriteMoment(recording::RecordType::kPush, domain, message);
  const int depth = EnterRange(domain, is_recorded);
  AwaitRange(domain, is_awaited);
  return depth;
}

void MarkWatched(uint32_t domain, const Message& message) {
  const bool stops = IsEnabled() && MarkComes(message);
  if (IsRecording()) WriteMoment(recording::RecordType::kMark, domain, message);
  if (stops) MarkCame();
}

uint64_t StartWatched(uint32_t domain, const Message& message) {
  const bool is_awaited = IsEnabled() && RangeBegins(message, true);
  const bool is_recorded = IsRecording();
  if (!is_recorded && !is_awaited) return 0;
  const uint64_t id = NextRangeId() | (is_recorded ? 0 : kNotInLog);
  if (is_recorded) WriteRangeStart(domain, id, message);
  if (is_awaited && !AwaitEnd(id)) RangeIsNotAwaited();
  return id;
}

void EndWatched(uint32_t domain, uint64_t id) {
  if ((id & kNotInLog) == 0) WriteRangeEnd(domain, id);
  if (TakeEnd(id)) RangeEnds();
}

void StartForeignRange(uint32_t domain, uint64_t id, const Message& message) {
  const bool is_awaited = g_watches_ranges && RangeBegins(message, true);
  if (IsRecording()) WriteRangeStart(domain, id, message);
  if (is_awaited && !AwaitEnd(id)) RangeIsNotAwaited();
}

void EndForeignRange(uint32_t domain, uint64_t id) {
  if (IsRecording()) WriteRangeEnd(domain, id);
  if (g_watches_ranges && TakeEnd(id)) RangeEnds();
}

}  // namespace borescope::inject
