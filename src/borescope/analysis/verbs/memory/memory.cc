// memory: how much memory is held over time, and what holds it when most is.
//
//   memory_timeline  the level after every allocator event (memory_levels.h), or after every change
//                    of a category in a raw memory timeline
//   memory_peak      the first moment of the largest level: of what is allocated and of what is
//                    reserved, each for itself; for categories, of their sum
//   memory_ops       what holds the allocated memory at its peak, by operator; left out where
//                    nothing is known about that
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/keyed_rows.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/stacks/op_stacks.h"
#include "borescope/analysis/verbs/memory/memory_levels.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/base/each_row.h"
#include "borescope/base/hash/hash_tables.h"
#include "borescope/table/typed_rows.h"

namespace borescope::internal {

namespace {

// What held the memory of a device at its peak: the allocations that were made in the recording and
// not yet freed, by the operator and annotation around them.

// The host rows around each allocator event on its thread; invalid where there is none.
struct MemoryContexts {
  std::vector<HostId> op;          // the outermost operator
  std::vector<HostId> annotation;  // the innermost user annotation
};

// One row of the answer.
struct HeldMemory {
  std::string op;  // or why there is none
  std::string annotation;
  int64_t allocations = 0;
  int64_t bytes = 0;
};

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

// The names of operator and annotation; kNoName where there is none.
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

MemoryContexts FindContexts(const RankView& view) {
  const MemoryEvents& memory = view.trace.memory();
  MemoryContexts contexts;
  contexts.op.resize(memory.size());
  contexts.annotation.resize(memory.size());
  std::map<uint32_t, OpenRows> threads;
  for (const uint32_t i : EachRow(memory.size())) {
    const TrackId track = memory.track[i];
    OpenRows& thread = threads.try_emplace(track.value, view, track).first->second;
    const OpenRows::Context context = thread.At(memory.ts_ns[i]);
    contexts.op[i] = context.op;
    contexts.annotation[i] = context.annotation;
  }
  return contexts;
}

// What is held after `device.levels[peak]`, largest first, ties by name. The bytes add up to the
// level: what was allocated before the recording has a row of its own, without a count; so has,
// below 0, what was freed without an event. An address allocated twice without a free in between
// counts twice.
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

constexpr size_t kPreviewRows = 20;
constexpr int32_t kCpuDevice = 0;  // c10::DeviceType::CPU

// In place of a category.
constexpr std::string_view kAllocated = "allocated";
constexpr std::string_view kReserved = "reserved";

// Where a peak comes from.
constexpr std::string_view kTotals = "allocator";
constexpr std::string_view kChanges = "changes";

struct TimelineRow {
  int64_t rank = 0;
  std::optional<std::string_view> device = {};
  std::optional<int64_t> elapsed_ns = {};
  std::string_view category = {};
  std::optional<int64_t> allocated_bytes = {};
  std::optional<int64_t> reserved_bytes = {};
  std::optional<int64_t> ts_ns = {};

  static constexpr TableNames kTable{"memory_timeline", "Memory over time", kPreviewRows};
  static constexpr ColumnOf<TimelineRow> kColumns[] = {
      {"rank", &TimelineRow::rank, Role::kKey, kRankDoc},
      {"device", &TimelineRow::device, Role::kKey,
       "Device the memory is on; missing if not recorded."},
      {"elapsed_ns", &TimelineRow::elapsed_ns, Unit::kNanoseconds, Role::kDerived,
       "When, since the begin of the recording; missing for what was there before it."},
      {"category", &TimelineRow::category, Role::kKey,
       "What the memory holds; \"allocated\" where no categories are recorded."},
      {"allocated_bytes", &TimelineRow::allocated_bytes, Unit::kBytes, Role::kDerived,
       "What is held afterwards; missing once a sum of changes has left 64 bits."},
      {"reserved_bytes", &TimelineRow::reserved_bytes, Unit::kBytes, Role::kDerived,
       "What the allocator then keeps of the device, used or not; missing if not recorded."},
      {"ts_ns", &TimelineRow::ts_ns, Unit::kNanoseconds, Role::kKey,
       "The same as elapsed, on the file's clock."}};
};

struct PeakRow {
  int64_t rank = 0;
  std::optional<std::string> device = {};
  std::string_view category = {};
  std::optional<int64_t> bytes = {};
  std::optional<double> share = {};
  std::optional<int64_t> elapsed_ns = {};
  std::string_view source = {};
  std::optional<int64_t> ts_ns = {};

  static constexpr TableNames kTable{"memory_peak", "Memory at its peak"};
  static constexpr ColumnOf<PeakRow> kColumns[] = {
      {"rank", &PeakRow::rank, Role::kKey, kRankDoc},
      {"device", &PeakRow::device, Role::kKey, "Device the memory is on; missing if not recorded."},
      {"category", &PeakRow::category, Role::kKey,
       "What the memory holds when the sum of all categories is largest; without categories "
       "the peaks of \"allocated\" and \"reserved\", each at its own time."},
      {"bytes", &PeakRow::bytes, Unit::kBytes, Role::kDerived,
       "How much; missing if all sums of changes have left 64 bits."},
      {"share", &PeakRow::share, Unit::kShare, Role::kDerived,
       "Of the sum of all categories, or of the memory of the device where that is recorded."},
      {"elapsed_ns", &PeakRow::elapsed_ns, Unit::kNanoseconds, Role::kDerived,
       "When it is reached first, since the begin of the recording; missing: before it."},
      {"source", &PeakRow::source, Role::kDerived,
       "\"allocator\": its own total; \"changes\": the sum of the changes recorded so far; "
       "\"replay\": of a memory snapshot, by the model of the allocator."},
      {"ts_ns", &PeakRow::ts_ns, Unit::kNanoseconds, Role::kDerived,
       "The same as elapsed, on the file's clock."}};
};

struct MemoryOpRow {
  int64_t rank = 0;
  std::optional<std::string> device = {};
  std::string op = {};
  std::optional<std::string> annotation = {};
  std::optional<int64_t> allocations = {};
  int64_t bytes = 0;
  double share = 0;

  static constexpr TableNames kTable{"memory_ops", "What holds the allocated memory at its peak"};
  static constexpr ColumnOf<MemoryOpRow> kColumns[] = {
      {"rank", &MemoryOpRow::rank, Role::kKey, kRankDoc},
      {"device", &MemoryOpRow::device, Role::kKey, "Device the memory is on."},
      {"op", &MemoryOpRow::op, Role::kKey,
       "Outermost operator that allocated it; \"(allocated before)\": no allocation recorded; "
       "\"(freed unseen)\": frees that were not recorded, as negative bytes."},
      {"annotation", &MemoryOpRow::annotation, Role::kKey,
       "Innermost user annotation around the allocation."},
      {"allocations", &MemoryOpRow::allocations, Unit::kCount, Role::kDerived,
       "Allocations not yet freed."},
      {"bytes", &MemoryOpRow::bytes, Unit::kBytes, Role::kDerived, "Their bytes."},
      {"share", &MemoryOpRow::share, Unit::kShare, Role::kDerived,
       "Of all that is allocated at the peak; above 1 where frees were not recorded."}};
};

// Writes the three tables of one rank.
class MemoryTables {
 public:
  MemoryTables(const RankView& view, const Selected& selected, const Selection& selection)
      : view_(view),
        selected_(selected),
        gpus_(selection.gpus),
        windows_(selection.has_time() ? selected.windows() : AllTime()),
        timeline_rows_(timeline_) {}

  Tables Write() {
    const MemoryContexts contexts = FindContexts(view_);
    for (const DeviceMemory& device : DeviceLevels(view_.trace)) {
      if (gpus_.empty() || (device.type != kCpuDevice && gpus_.Contains(device.index))) {
        PushDevice(device, contexts);
      }
    }
    PushCategories(CategoryLevels(view_.trace));
    return {MakeTable(peak_), MakeTable(ops_), std::move(timeline_)};
  }

 private:
  static IntervalSet AllTime() {
    using Limits = std::numeric_limits<int64_t>;
    return {{Limits::min(), Limits::max()}};
  }

  std::optional<int64_t> Elapsed(int64_t ts_ns) const {
    return ts_ns == kMissing ? std::nullopt : std::optional(ts_ns - view_.trace.begin_ns());
  }

  void PushDevice(const DeviceMemory& device, const MemoryContexts& contexts);
  void PushDevicePeak(const DeviceMemory& device, HighestLevel peak, std::string_view category,
                      int64_t bytes);
  void PushOps(const DeviceMemory& device, size_t peak, const MemoryContexts& contexts);
  void PushCategories(const std::vector<CategoryLevel>& levels);
  void PushCategoryPeak(const CategoryLevel& level, int64_t at_ns);
  int64_t Capacity(const DeviceMemory& device) const;

  const RankView& view_;
  const Selected& selected_;
  const NumberRanges& gpus_;
  const IntervalSet windows_;
  Table timeline_ = NewTable<TimelineRow>();  // a row for every event
  RowWriter<TimelineRow> timeline_rows_;
  std::vector<PeakRow> peak_;
  std::vector<MemoryOpRow> ops_;
};

// Missing where it is not recorded.
std::optional<std::string> NameOf(const DeviceMemory& device) {
  const std::string name = MemoryDeviceName(device.type, device.index);
  return name.empty() ? std::nullopt : std::optional(name);
}

int64_t MemoryTables::Capacity(const DeviceMemory& device) const {
  const std::vector<DeviceInfo>& devices = view_.trace.meta().devices;
  const auto found = std::find_if(devices.begin(), devices.end(), [&](const DeviceInfo& info) {
    return device.type != kCpuDevice && device.index >= 0 && info.id == device.index;
  });
  return found == devices.end() ? kMissing : found->total_bytes;
}

void MemoryTables::PushDevice(const DeviceMemory& device, const MemoryContexts& contexts) {
  const std::string name = MemoryDeviceName(device.type, device.index);
  for (const MemoryLevel& level : device.levels) {
    if (!selected_.KeepsTime(level.ts_ns)) {
      continue;
    }
    timeline_rows_.Push({.rank = view_.rank,
                         .device = Recorded(std::string_view(name)),
                         .elapsed_ns = Elapsed(level.ts_ns),
                         .category = kAllocated,
                         .allocated_bytes = Recorded(level.allocated),
                         .reserved_bytes = Recorded(level.reserved),
                         .ts_ns = Recorded(level.ts_ns)});
  }
  const HighestLevel allocated =
      FindPeak(device.levels, windows_, [](const MemoryLevel& level) { return level.allocated; });
  if (!allocated.found) {
    return;
  }
  PushDevicePeak(device, allocated, kAllocated, device.levels[allocated.level].allocated);
  const HighestLevel reserved =
      FindPeak(device.levels, windows_, [](const MemoryLevel& level) { return level.reserved; });
  if (device.levels[reserved.level].reserved > 0) {  // allocators of the host reserve nothing
    PushDevicePeak(device, reserved, kReserved, device.levels[reserved.level].reserved);
  }
  PushOps(device, allocated.level, contexts);
}

void MemoryTables::PushDevicePeak(const DeviceMemory& device, HighestLevel peak,
                                  std::string_view category, int64_t bytes) {
  const int64_t capacity = Capacity(device);
  const bool is_total = category == kReserved || device.levels[peak.level].is_recorded;
  PeakRow& row = peak_.emplace_back(PeakRow{.rank = view_.rank,
                                            .device = NameOf(device),
                                            .category = category,
                                            .bytes = Recorded(bytes),
                                            .elapsed_ns = Elapsed(peak.at_ns),
                                            .source = is_total ? kTotals : kChanges,
                                            .ts_ns = Recorded(peak.at_ns)});
  if (capacity > 0 && bytes != kMissing) row.share = ShareOf(bytes, capacity);
}

void MemoryTables::PushOps(const DeviceMemory& device, size_t peak,
                           const MemoryContexts& contexts) {
  const int64_t allocated = device.levels[peak].allocated;
  if (allocated == kMissing) {
    return;
  }
  for (const HeldMemory& held : HeldAt(view_, contexts, device, peak)) {
    MemoryOpRow& row = ops_.emplace_back(MemoryOpRow{.rank = view_.rank,
                                                     .device = NameOf(device),
                                                     .op = held.op,
                                                     .bytes = held.bytes,
                                                     .share = ShareOf(held.bytes, allocated)});
    if (!held.annotation.empty()) row.annotation = held.annotation;
    if (held.allocations > 0) row.allocations = held.allocations;
  }
}

void MemoryTables::PushCategories(const std::vector<CategoryLevel>& levels) {
  CategoryLevel before;
  for (const CategoryLevel& level : levels) {
    for (size_t i = 0; i < kMemoryCategories && selected_.KeepsTime(level.ts_ns); ++i) {
      if (level.held[i] == before.held[i]) {
        continue;
      }
      timeline_rows_.Push({.rank = view_.rank,
                           .elapsed_ns = Elapsed(level.ts_ns),
                           .category = MemoryCategoryName(static_cast<MemoryCategory>(i)),
                           .allocated_bytes = Recorded(level.held[i]),
                           .ts_ns = Recorded(level.ts_ns)});
    }
    before = level;
  }
  const HighestLevel peak =
      FindPeak(levels, windows_, [](const CategoryLevel& l) { return l.Sum(); });
  if (peak.found) {
    PushCategoryPeak(levels[peak.level], peak.at_ns);
  }
}

void MemoryTables::PushCategoryPeak(const CategoryLevel& level, int64_t at_ns) {
  std::array<size_t, kMemoryCategories> order{};
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return level.held[a] > level.held[b]; });
  for (const size_t i : order) {
    PeakRow& row =
        peak_.emplace_back(PeakRow{.rank = view_.rank,
                                   .category = MemoryCategoryName(static_cast<MemoryCategory>(i)),
                                   .bytes = Recorded(level.held[i]),
                                   .elapsed_ns = Elapsed(at_ns),
                                   .source = kChanges,
                                   .ts_ns = Recorded(at_ns)});
    if (level.Sum() != kMissing) row.share = ShareOf(level.held[i], level.Sum());
  }
}

// What is not recorded cannot be selected by.
Result<void> CheckSelection(const Trace& trace, const Selection& selection) {
  if (!selection.streams.empty()) {
    return Error{ErrorCode::kMissingData, "allocator events name no stream", "leave out `stream`",
                 trace.meta().file};
  }
  const MemoryEvents& memory = trace.memory();
  bool found = selection.gpus.empty();
  for (uint32_t i = 0; i < memory.size() && !found; ++i) {
    found = memory.device_type[i] != kCpuDevice && selection.gpus.Contains(memory.device[i]);
  }
  if (!found) {
    return Error{ErrorCode::kMissingData, "no memory of the selected device", "leave out `gpu`",
                 trace.meta().file};
  }
  return {};
}

Result<Tables> MapMemory(const RankView& view, const Params& params) {
  BS_TRY(CheckSelection(view.trace, params.selection));
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  return MemoryTables(view, selected, params.selection).Write();
}

// Raw memory timelines name no operators.
Result<Tables> FinishMemory(Tables tables, const Params&) {
  std::erase_if(tables, [](const Table& table) {
    return table.name == MemoryOpRow::kTable.name && table.rows() == 0;
  });
  return tables;
}

constexpr std::string_view kPool[] = {"rank", "device", "category"};
constexpr std::string_view kMemoryLines[] = {"allocated_bytes", "reserved_bytes"};
constexpr std::string_view kBytes[] = {"bytes"};
constexpr ViewSpec kViews[] = {
    {"memory_timeline", ViewKind::kSeries, "Memory over time", kPool, kMemoryLines, "elapsed_ns"},
    {"memory_peak", ViewKind::kBars, "At the peak", kPool, kBytes}};

}  // namespace

const AnalysisSpec kMemoryVerb{
    .name = "memory",
    .summary = "allocated and reserved memory over time, and what fills it at the peak",
    .example = "borescope memory trace.json.gz",
    .needs = Needs::kMemory,
    .answer = {.map = MapMemory, .reduce = ConcatTables, .finish = FinishMemory},
    .views = kViews};

}  // namespace borescope::internal
