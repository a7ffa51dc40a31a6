#include "borescope/postmortem/memory/states_to_come.h"

#include <algorithm>
#include <map>

#include "borescope/postmortem/memory/allocator.h"

namespace borescope::internal::postmortem {
namespace {

struct OfSize {
  uint64_t gradients = 0;
  uint64_t states = 0;
};

}  // namespace

std::optional<StatesToCome> FindStatesToCome(const MemorySnapshot& snapshot,
                                             const DeviceMemory& device, const Replay& replay,
                                             const MemorySites& sites,
                                             const MemoryCategories& categories,
                                             const OomState& oom) {
  if (!sites.Of(device.events[oom.event]).is_state_init) return std::nullopt;
  std::map<uint64_t, OfSize> sizes;
  uint64_t state_bytes = 0;
  bool is_first = true;
  for (uint32_t i = 0; i < oom.event; ++i) {
    const MemoryEvent& event = device.events[i];
    // What contradicts other events has no bytes.
    if (event.action != MemoryAction::kAlloc || replay.BlockBytes(i) == 0) continue;
    const MemorySites::Signs& signs = sites.Of(event);
    // Backward after states were made: of an earlier step.
    is_first = is_first && !(signs.is_backward && state_bytes > 0);
    if (replay.links[i] < oom.event) continue;
    OfSize& of = sizes[RoundRequest(event.size, snapshot.settings)];
    if (signs.is_state_init) {
      ++of.states;
      state_bytes += event.size;
    } else if (categories.events[i] == MemoryCategory::kGradient) {
      ++of.gradients;
    }
  }
  // Blocks from before the recording may be states of earlier steps.
  for (const StartBlock& block : replay.start_blocks) {
    is_first = is_first && !sites.SignsOf(block.stack).is_optimizer;
  }
  if (!is_first || state_bytes == 0) return std::nullopt;
  ++sizes[oom.size].states;
  StatesToCome come;
  uint64_t alike_bytes = 0;
  uint64_t all_bytes = 0;
  for (const auto& [size, of] : sizes) {
    all_bytes += of.states * size;
    if (of.gradients == 0) continue;
    alike_bytes += of.states * size;
    come.parameters += of.gradients;
    come.per_parameter =
        std::max(come.per_parameter, (of.states + of.gradients - 1) / of.gradients);
  }
  --sizes[oom.size].states;
  if (sizes[oom.size].gradients == 0 || alike_bytes < all_bytes / 10 * 9) return std::nullopt;
  for (const auto& [size, of] : sizes) {
    come.states += of.states;
    const uint64_t in_all = of.gradients * come.per_parameter;
    const uint64_t missing = in_all - std::min(in_all, of.states);
    come.to_come += missing;
    come.to_come_bytes += missing * size;
  }
  return come;
}

}  // namespace borescope::internal::postmortem
