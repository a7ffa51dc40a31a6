// The ranges of each domain that are open on the calling thread: how many, which NVTX and ROCTX
// return, and which of them are in the log. A range that began while recording ends in the log also
// while it is paused; one that began in a pause has no end there.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/state.h"
#include "core/writer.h"

namespace borescope::inject {

// Those of later domains are not counted, and are 0.
inline constexpr uint32_t kCountedDomains = 1024;

struct OpenRanges {
  uint64_t recorded;  // bit i: the range at depth i is in the log
  uint64_t awaited;   // bit i: a rule waits for the end of the range at depth i
  uint32_t depth;
  uint32_t awaited_in;  // the ForkNumber of the process that `awaited` is of
};
// Ranges that are nested deeper are taken as recorded if recording is on at their end.
inline constexpr uint32_t kNotedDepth = 64;

bool MapDepths();
void FreeDepths();

// The depth of the range that begins, from 0. `is_recorded`: its begin is in the log.
inline int EnterRange(uint32_t domain, bool is_recorded) {
  if (domain >= kCountedDomains || (t_thread.open_ranges == nullptr && !MapDepths())) return 0;
  OpenRanges& open = t_thread.open_ranges[domain];
  if (open.depth < kNotedDepth) [[likely]] {
    open.recorded = (open.recorded & ~(uint64_t{1} << open.depth)) |
                    static_cast<uint64_t>(is_recorded) << open.depth;
  }
  return static_cast<int>(open.depth++);
}

// Whether the end of the range that begins next can be awaited: not of one that is nested too deep.
inline bool CanAwaitNext(uint32_t domain) {
  if (domain >= kCountedDomains || (t_thread.open_ranges == nullptr && !MapDepths())) return false;
  return t_thread.open_ranges[domain].depth < kNotedDepth;
}

// For the range that has just begun, of which CanAwaitNext was true if it is awaited.
inline void AwaitRange(uint32_t domain, bool is_awaited) {
  if (domain >= kCountedDomains || t_thread.open_ranges == nullptr) return;
  OpenRanges& open = t_thread.open_ranges[domain];
  if (open.depth == 0 || open.depth > kNotedDepth) return;
  const uint64_t bit = uint64_t{1} << (open.depth - 1);
  open.awaited &= ~bit;
  if (!is_awaited) return;
  if (open.awaited_in != ForkNumber()) open.awaited = 0;
  open.awaited_in = ForkNumber();
  open.awaited |= bit;
}

// Whether that was so of the range that has just ended, and began in this process.
inline bool TakeAwaited(uint32_t domain) {
  if (domain >= kCountedDomains || t_thread.open_ranges == nullptr) return false;
  OpenRanges& open = t_thread.open_ranges[domain];
  const uint64_t bit = open.depth < kNotedDepth ? uint64_t{1} << open.depth : 0;
  const bool is_awaited = (open.awaited & bit) != 0;
  open.awaited &= ~bit;
  return is_awaited && open.awaited_in == ForkNumber();
}

struct LeftRange {
  int depth;  // -1 where none was open
  bool is_recorded;
};

// The range that ends.
inline LeftRange LeaveRange(uint32_t domain) {
  if (domain >= kCountedDomains) return {0, IsRecording()};
  OpenRanges* ranges = t_thread.open_ranges;
  if (ranges == nullptr || ranges[domain].depth == 0) return {-1, false};
  OpenRanges& open = ranges[domain];
  --open.depth;
  return {static_cast<int>(open.depth),
          open.depth < kNotedDepth ? (open.recorded >> open.depth & 1U) != 0 : IsRecording()};
}

}  // namespace borescope::inject
