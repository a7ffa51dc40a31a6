// memory: how much memory is held over time, and what holds it when most is.
//
//   memory_timeline  the level after every allocator event (memory_levels.h), or after every change
//                    of a category in a raw memory timeline
//   memory_peak      the first moment of the largest level: of what is allocated and of what is
//                    reserved, each for itself; for categories, of their sum
//   memory_ops       what holds the allocated memory at its peak, by operator (memory_ops.h); not
//                    there where nothing is known of that
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/verbs/memory/memory_levels.h"
#include "borescope/analysis/verbs/memory/memory_ops.h"
#include "borescope/analysis/verbs/verbs.h"

namespace borescope::internal {
namespace {

constexpr size_t kPreviewRows = 20;
constexpr int32_t kCpuDevice = 0;  // c10::DeviceType::CPU

// In place of a category.
constexpr std::string_view kAllocated = "allocated";
constexpr std::string_view kReserved = "reserved";

// Where a peak comes from.
constexpr std::string_view kTotals = "allocator";
constexpr std::string_view kChanges = "changes";

constexpr size_t kOpsTable = 1;

Table NewTimeline() {
  Table table{"memory_timeline", "Memory over time", {}};
  AddRankKey(table);
  AddString(table, "device", Role::kKey, "Device the memory is on; missing if not recorded.");
  AddInt(table, "elapsed_ns", Unit::kNanoseconds, Role::kDerived,
         "When, since the begin of the recording; missing for what was there before it.");
  AddString(table, "category", Role::kKey,
            "What the memory holds; \"allocated\" where no categories are recorded.");
  AddInt(table, "allocated_bytes", Unit::kBytes, Role::kDerived,
         "What is held afterwards; missing once a sum of changes has left 64 bits.");
  AddInt(table, "reserved_bytes", Unit::kBytes, Role::kDerived,
         "What the allocator then keeps of the device, used or not; missing if not recorded.");
  AddInt(table, "ts_ns", Unit::kNanoseconds, Role::kKey,
         "The same as elapsed, on the file's clock.");
  table.preview_rows = kPreviewRows;
  return table;
}

Table NewPeak() {
  Table table{"memory_peak", "Memory at its peak", {}};
  AddRankKey(table);
  AddString(table, "device", Role::kKey, "Device the memory is on; missing if not recorded.");
  AddString(table, "category", Role::kKey,
            "What the memory holds when the sum of all categories is largest; without categories "
            "the peaks of \"allocated\" and \"reserved\", each at its own time.");
  AddInt(table, "bytes", Unit::kBytes, Role::kDerived,
         "How much; missing if all sums of changes have left 64 bits.");
  AddFloat(table, "share", Unit::kShare, Role::kDerived,
           "Of the sum of all categories, or of the memory of the device where that is recorded.");
  AddInt(table, "elapsed_ns", Unit::kNanoseconds, Role::kDerived,
         "When it is reached first, since the begin of the recording; missing: before it.");
  AddString(table, "source", Role::kDerived,
            "\"allocator\": its own total; \"changes\": the sum of the changes recorded so far.");
  AddInt(table, "ts_ns", Unit::kNanoseconds, Role::kDerived,
         "The same as elapsed, on the file's clock.");
  return table;
}

Table NewOps() {
  Table table{"memory_ops", "What holds the allocated memory at its peak", {}};
  AddRankKey(table);
  AddString(table, "device", Role::kKey, "Device the memory is on.");
  AddString(table, "op", Role::kKey,
            "Outermost operator that allocated it; \"(allocated before)\": no allocation recorded; "
            "\"(freed unseen)\": frees that were not recorded, as negative bytes.");
  AddString(table, "annotation", Role::kKey, "Innermost user annotation around the allocation.");
  AddInt(table, "allocations", Unit::kCount, Role::kDerived, "Allocations not yet freed.");
  AddInt(table, "bytes", Unit::kBytes, Role::kDerived, "Their bytes.");
  AddFloat(table, "share", Unit::kShare, Role::kDerived,
           "Of all that is allocated at the peak; above 1 where frees were not recorded.");
  return table;
}

// Writes the three tables of one rank.
class MemoryTables {
 public:
  MemoryTables(const RankView& view, const Selected& selected, const Selection& selection)
      : view_(view),
        selected_(selected),
        gpus_(selection.gpus),
        windows_(selection.has_time() ? selected.windows() : AllTime()) {}

  Tables Write() {
    const MemoryContexts contexts = FindContexts(view_);
    for (const DeviceMemory& device : DeviceLevels(view_.trace)) {
      if (gpus_.empty() || (device.type != kCpuDevice && gpus_.Contains(device.index))) {
        PushDevice(device, contexts);
      }
    }
    PushCategories(CategoryLevels(view_.trace));
    return {std::move(peak_), std::move(ops_), std::move(timeline_)};
  }

 private:
  static IntervalSet AllTime() {
    using Limits = std::numeric_limits<int64_t>;
    return {{Limits::min(), Limits::max()}};
  }

  int64_t Elapsed(int64_t ts_ns) const {
    return ts_ns == kMissing ? kMissing : ts_ns - view_.trace.begin_ns();
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
  Table timeline_ = NewTimeline();
  Table peak_ = NewPeak();
  Table ops_ = NewOps();
};

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
    Row row(timeline_);
    row.Int(view_.rank).MaybeText(name).MaybeInt(Elapsed(level.ts_ns)).Text(kAllocated);
    row.MaybeInt(level.allocated).MaybeInt(level.reserved).MaybeInt(level.ts_ns);
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
  Row row(peak_);
  row.Int(view_.rank).MaybeText(MemoryDeviceName(device.type, device.index)).Text(category);
  row.MaybeInt(bytes);
  capacity > 0 && bytes != kMissing ? row.Share(bytes, capacity) : row.Missing();
  row.MaybeInt(Elapsed(peak.at_ns));
  row.Text(category == kReserved || device.levels[peak.level].is_recorded ? kTotals : kChanges);
  row.MaybeInt(peak.at_ns);
}

void MemoryTables::PushOps(const DeviceMemory& device, size_t peak,
                           const MemoryContexts& contexts) {
  const int64_t allocated = device.levels[peak].allocated;
  if (allocated == kMissing) {
    return;
  }
  for (const HeldMemory& held : HeldAt(view_, contexts, device, peak)) {
    Row row(ops_);
    row.Int(view_.rank).MaybeText(MemoryDeviceName(device.type, device.index)).Text(held.op);
    row.MaybeText(held.annotation);
    held.allocations > 0 ? row.Int(held.allocations) : row.Missing();
    row.Int(held.bytes).Share(held.bytes, allocated);
  }
}

void MemoryTables::PushCategories(const std::vector<CategoryLevel>& levels) {
  CategoryLevel before;
  for (const CategoryLevel& level : levels) {
    for (size_t i = 0; i < kMemoryCategories && selected_.KeepsTime(level.ts_ns); ++i) {
      if (level.held[i] == before.held[i]) {
        continue;
      }
      Row row(timeline_);
      row.Int(view_.rank).Missing().MaybeInt(Elapsed(level.ts_ns));
      row.Text(MemoryCategoryName(static_cast<MemoryCategory>(i)));
      row.MaybeInt(level.held[i]).Missing().MaybeInt(level.ts_ns);
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
    Row row(peak_);
    row.Int(view_.rank).Missing().Text(MemoryCategoryName(static_cast<MemoryCategory>(i)));
    row.MaybeInt(level.held[i]);
    level.Sum() == kMissing ? row.Missing() : row.Share(level.held[i], level.Sum());
    row.MaybeInt(Elapsed(at_ns)).Text(kChanges).MaybeInt(at_ns);
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
  if (tables[kOpsTable].rows() == 0) {
    tables.erase(tables.begin() + kOpsTable);
  }
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
