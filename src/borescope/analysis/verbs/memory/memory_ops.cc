#include "borescope/analysis/verbs/memory/memory_ops.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "borescope/analysis/core/finish.h"
#include "borescope/analysis/measures/stacks/op_stacks.h"
#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

// Follows one thread in time and knows which of its host rows are open.
class OpenRows {
 public:
  OpenRows(const RankView& view, TrackId track)
      : host_(view.trace.host()),
        tree_(view.index.tree),
        next_(view.trace.tracks().first_row[track.value]),
        end_(view.trace.tracks().end_row[track.value]) {}

  struct Context {
    HostId op;
    HostId annotation;
  };

  // REQUIRES: `ts_ns` does not go back. A row that ends at `ts_ns` is still open.
  Context At(int64_t ts_ns) {
    for (; next_ < end_ && host_.ts_ns[next_] <= ts_ns; ++next_) {
      while (!open_.empty() && tree_.subtree_end[open_.back().row] <= next_) {
        open_.pop_back();
      }
      Open(next_);
    }
    while (!open_.empty() && host_.end_ns(HostId{open_.back().row}) < ts_ns) {
      open_.pop_back();
    }
    return open_.empty() ? Context{} : open_.back().context;
  }

 private:
  struct OpenRow {
    uint32_t row;
    Context context;
  };

  void Open(uint32_t row) {
    Context context = open_.empty() ? Context{} : open_.back().context;
    if (host_.kind[row] == HostKind::kOp && !context.op.valid()) {
      context.op = HostId{row};
    } else if (host_.kind[row] == HostKind::kAnnotation) {
      context.annotation = HostId{row};
    }
    open_.push_back({row, context});
  }

  const HostEvents& host_;
  const CallTree& tree_;
  uint32_t next_;
  uint32_t end_;
  std::vector<OpenRow> open_;  // outermost first
};

constexpr std::string_view kAllocatedBefore = "(allocated before)";
constexpr std::string_view kFreedUnseen = "(freed unseen)";

// The events of the allocations not yet freed after a level. A free ends the latest allocation of
// its address. They are in any order, which differs from run to run.
std::vector<uint32_t> LiveAllocations(const MemoryEvents& memory, const DeviceMemory& device,
                                      size_t level) {
  HashMap<uint64_t, std::vector<uint32_t>> live;
  for (size_t i = 0; i <= level; ++i) {
    const uint32_t event = device.levels[i].event;
    if (memory.bytes[event] > 0) {
      live[memory.address[event]].push_back(event);
    } else if (const auto found = live.find(memory.address[event]); found != live.end()) {
      found->second.pop_back();
      if (found->second.empty()) {
        live.erase(found);
      }
    }
  }
  std::vector<uint32_t> events;
  for (const auto& [address, of_address] : live.InAnyOrder()) {
    events.insert(events.end(), of_address.begin(), of_address.end());
  }
  return events;
}

// Of operator and annotation; kNoName where there is none.
using ContextNames = std::pair<uint32_t, uint32_t>;
constexpr uint32_t kNoName = ~uint32_t{0};

ContextNames NamesOf(const RankView& view, const MemoryContexts& contexts, uint32_t event) {
  const auto name = [&](HostId id) {
    return id.valid() ? view.trace.host().name[id.value].value : kNoName;
  };
  return {name(contexts.op[event]), name(contexts.annotation[event])};
}

std::string TextOf(const RankView& view, uint32_t name, std::string_view none) {
  return std::string(name == kNoName ? none : view.trace.Text(StringId{name}));
}

}  // namespace

MemoryContexts FindContexts(const RankView& view) {
  const MemoryEvents& memory = view.trace.memory();
  MemoryContexts contexts;
  contexts.op.resize(memory.size());
  contexts.annotation.resize(memory.size());
  std::map<uint32_t, OpenRows> threads;
  for (uint32_t i = 0; i < memory.size(); ++i) {
    CheckStopAt(i);
    const TrackId track = memory.track[i];
    OpenRows& thread = threads.try_emplace(track.value, view, track).first->second;
    const OpenRows::Context context = thread.At(memory.ts_ns[i]);
    contexts.op[i] = context.op;
    contexts.annotation[i] = context.annotation;
  }
  return contexts;
}

std::vector<HeldMemory> HeldAt(const RankView& view, const MemoryContexts& contexts,
                               const DeviceMemory& device, size_t peak) {
  const MemoryEvents& memory = view.trace.memory();
  int64_t before = device.levels[peak].allocated;
  std::map<ContextNames, HeldMemory> groups;
  for (const uint32_t event : LiveAllocations(memory, device, peak)) {  // sums of positive numbers
    HeldMemory& held = groups[NamesOf(view, contexts, event)];
    held.allocations += 1;
    held.bytes = AddSaturating(held.bytes, memory.bytes[event]);
    before = AddSaturating(before, -memory.bytes[event]);
  }
  std::vector<HeldMemory> rows;
  rows.reserve(groups.size() + 1);
  for (const auto& [names, held] : groups) {
    rows.push_back({TextOf(view, names.first, kNoOperator), TextOf(view, names.second, ""),
                    held.allocations, held.bytes});
  }
  if (before != 0) {
    rows.push_back({std::string(before > 0 ? kAllocatedBefore : kFreedUnseen), "", 0, before});
  }
  std::sort(rows.begin(), rows.end(), [](const HeldMemory& a, const HeldMemory& b) {
    return std::tie(b.bytes, a.op, a.annotation) < std::tie(a.bytes, b.op, b.annotation);
  });
  return rows;
}

}  // namespace borescope::internal
