// Names of calls and records related to waiting for the device: CUDA, HIP, Level Zero, and similar
// names of others.
#pragma once

#include <cstdint>
#include <string_view>

namespace borescope::internal {

enum class BlockingCall : uint8_t { kNone, kEvent, kStream, kDevice, kCopy, kAsyncCopy };

// What a runtime call of this name waits for. Copies: its own work; an asynchronous one does so
// only if the host memory is pageable.
BlockingCall ClassifyBlockingCall(std::string_view name);

// Whether the host waits in such a call, whatever the memory.
constexpr bool AlwaysBlocks(BlockingCall call) {
  return call != BlockingCall::kNone && call != BlockingCall::kAsyncCopy;
}

bool IsEventRecordName(std::string_view name);
bool IsQueryName(std::string_view name);

}  // namespace borescope::internal
