// Why a request failed: what PyTorch's own message says, whether it was the process's limit, the
// device, other processes, or memory that is free but cannot be used. docs/use/postmortem-memory.md
// has the rules.
//
// Pure functions of values: safe from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/postmortem/memory/replay.h"

namespace borescope::internal::postmortem {

// Bytes that are known to lie between two values, both possible.
struct ByteRange {
  uint64_t low = 0;
  uint64_t high = 0;
  bool is_exact() const { return low == high; }
};

// What the message of torch.OutOfMemoryError says: amounts are rounded there, so that each is a
// range of half of its last digit to both sides.
struct OomMessage {
  std::optional<ByteRange> requested;
  std::optional<ByteRange> total;  // of the device
  std::optional<ByteRange> device_free;
  std::optional<ByteRange> allowed;        // set_per_process_memory_fraction
  std::optional<ByteRange> allocated;      // by PyTorch
  std::optional<ByteRange> unallocated;    // reserved by PyTorch, but free
  std::optional<ByteRange> private_pools;  // of `allocated`: of graphs of CUDA
  // Of the other processes that are named, together. Where the message does not know its own
  // process, as in a container, that one of them is left out whose amount fits best.
  uint64_t other_processes_bytes = 0;
};
// Nothing if the text is no such message.
std::optional<OomMessage> ParseOomMessage(std::string_view text);
// "1.58 GiB", "512 bytes", "1.58GiB", "1.58G" (of 10^9): the range of values that are written so.
// Nothing for other texts. A whole number of bytes is exact.
std::optional<ByteRange> ParseByteRange(std::string_view text);

enum class OomCause : uint8_t { kProcessLimit, kOtherProcess, kFragmentation, kFull };
std::string_view Name(OomCause cause);

struct OomReport {
  OomState state;
  std::vector<OomCause> causes;  // the first is the one to name
  // What the process may reserve: given, from the message, or what follows from the trace.
  // Nothing where the device itself had no room.
  std::optional<ByteRange> allowed;
  bool is_allowed_given = false;  // by the user or the message
  // What the driver had for the process, where it refused.
  std::optional<uint64_t> capacity;
  std::optional<uint64_t> other_bytes;  // of other processes and of CUDA itself
};

// `limit`: what the user says the process may reserve.
OomReport ExplainOom(const OomState& state, const std::optional<ByteRange>& limit,
                     const std::optional<OomMessage>& message = {});

}  // namespace borescope::internal::postmortem
