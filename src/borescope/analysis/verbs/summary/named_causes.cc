#include "borescope/analysis/verbs/summary/named_causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/event_graph/event_graph.h"
#include "borescope/analysis/measures/flops/roofs.h"
#include "borescope/analysis/measures/idle/device_use.h"
#include "borescope/analysis/measures/idle/host_time.h"
#include "borescope/analysis/measures/idle/idle_causes.h"
#include "borescope/analysis/measures/recorded.h"
#include "borescope/base/each_row.h"
#include "borescope/base/saturating.h"
#include "borescope/base/text/text.h"
#include "borescope/index/syncs/sync_edges.h"

namespace borescope::internal {
namespace {

// Calls of CUDA and HIP, runtime and driver, that take memory from the device or the system, or
// give it back. Allocation in the order of a stream (…Async) reuses memory and is none of these.
constexpr std::array<std::string_view, 28> kAllocationCalls = {
    "cudaMalloc",         "cudaMalloc3D",      "cudaMallocArray", "cudaMallocHost",
    "cudaMallocManaged",  "cudaMallocPitch",   "cudaHostAlloc",   "cudaHostRegister",
    "cudaHostUnregister", "cudaFree",          "cudaFreeHost",    "cuMemAlloc_v2",
    "cuMemAllocHost_v2",  "cuMemAllocManaged", "cuMemCreate",     "cuMemFree_v2",
    "cuMemFreeHost",      "cuMemHostAlloc",    "cuMemMap",        "cuMemRelease",
    "cuMemSetAccess",     "cuMemUnmap",        "hipFree",         "hipHostFree",
    "hipHostMalloc",      "hipMalloc",         "hipMemCreate",    "hipMemRelease"};

using IdleByCause = std::array<int64_t, static_cast<size_t>(IdleCause::kCount)>;

int64_t SumOf(const IdleByCause& idle) {
  int64_t sum = 0;
  for (const int64_t ns : idle) {
    AddSaturatingTo(sum, ns);
  }
  return sum;
}

// Idle time that something of the host can be the reason of.
constexpr uint32_t Bit(IdleCause cause) { return uint32_t{1} << static_cast<uint32_t>(cause); }
constexpr uint32_t kLateCauses = Bit(IdleCause::kHost) | Bit(IdleCause::kSync) |
                                 Bit(IdleCause::kUnknown) | Bit(IdleCause::kTail);
constexpr uint32_t kAllocationCauses = kLateCauses | Bit(IdleCause::kData);
constexpr uint32_t kLaunchCauses =
    kLateCauses | Bit(IdleCause::kLatency) | Bit(IdleCause::kLaunchCall);

// What was found of one name. Times of several threads or streams may overlap, and count once.
struct Cost {
  int64_t count = 0;
  std::vector<Interval> times;
  int64_t ns = 0;  // of all times, each for itself: to compare names
  Interval longest;
  int64_t longest_ns = 0;

  void Add(Interval time, int64_t cost_ns) {
    ++count;
    times.push_back(time);
    AddSaturatingTo(ns, cost_ns);
    if (cost_ns > longest_ns) {
      longest = time;
      longest_ns = cost_ns;
    }
  }
};
using Costs = std::map<std::string, Cost, std::less<>>;

// The one that costs most; of equal ones the first by name. REQUIRES: not empty.
Costs::const_iterator Dearest(const Costs& costs) {
  return std::max_element(costs.begin(), costs.end(),
                          [](const auto& a, const auto& b) { return a.second.ns < b.second.ns; });
}

Cost SumOf(const Costs& costs) {
  Cost sum;
  for (const auto& [name, cost] : costs) {
    sum.count += cost.count;
    sum.times.insert(sum.times.end(), cost.times.begin(), cost.times.end());
    AddSaturatingTo(sum.ns, cost.ns);
    if (cost.longest_ns > sum.longest_ns) {
      sum.longest = cost.longest;
      sum.longest_ns = cost.longest_ns;
    }
  }
  return sum;
}

// How long several devices idle in a time, without looking at each of them.
class IdleUpTo {
 public:
  void Add(Interval time) {
    changes_.emplace_back(time.begin, 1);
    changes_.emplace_back(time.end, -1);
  }

  void Finish() {
    std::sort(changes_.begin(), changes_.end());
    sums_.reserve(changes_.size());
    uint64_t sum = 0;
    uint64_t devices = 0;
    for (size_t i = 0; i < changes_.size(); ++i) {
      sum += i == 0 ? 0 : devices * Between(changes_[i - 1].first, changes_[i].first);
      devices += static_cast<uint64_t>(changes_[i].second);
      sums_.push_back({sum, devices});
    }
  }

  // O(log times).
  int64_t In(Interval time) const {
    return static_cast<int64_t>(UpTo(time.end) - UpTo(time.begin));
  }

 private:
  // Sums of corrupt times wrap around, and their differences are right where they fit.
  struct Sum {
    uint64_t ns;
    uint64_t devices;  // that idle from here on
  };

  static uint64_t Between(int64_t from_ns, int64_t to_ns) {
    return static_cast<uint64_t>(to_ns) - static_cast<uint64_t>(from_ns);
  }
  uint64_t UpTo(int64_t ns) const {
    const auto next = std::partition_point(changes_.begin(), changes_.end(),
                                           [ns](const auto& change) { return change.first <= ns; });
    if (next == changes_.begin()) {
      return 0;
    }
    const auto last = static_cast<size_t>(next - changes_.begin()) - 1;
    return sums_[last].ns + sums_[last].devices * Between(changes_[last].first, ns);
  }

  std::vector<std::pair<int64_t, int>> changes_;  // when a device begins or ends to idle
  std::vector<Sum> sums_;                         // at each of these
};

class CauseFinder {
 public:
  CauseFinder(const RankView& view, const Selected& selected, const IdleTimes& idle)
      : view_(view),
        trace_(view.trace),
        host_(view.trace.host()),
        selected_(selected),
        idle_(idle),
        hardly_used_(FindHardlyUsed(idle)),
        is_whole_process_(IsOfWholeProcess(view.trace)),
        table_(NewTable()) {
    SumIdleTime();
  }

  Table Find() {
    FindProducts();
    FindAllocations();
    FindNothing();
    FindSilence();
    FindOptimizers();
    FindWaits();
    return std::move(table_);
  }

 private:
  static Table NewTable() {
    Table table{"named_causes", "Costs by what causes them", {}};
    AddRankKey(table);
    AddGpuKeyOrNone(table);
    AddString(table, "cause", Role::kKey, "What kind of cause it is.");
    AddString(table, "name", Role::kKey,
              "The call, kernel, optimizer or operator that costs most.");
    AddInt(table, "count", Unit::kCount, Role::kSum, "How often it occurs.");
    AddInt(table, "ns", Unit::kNanoseconds, Role::kSum, "What it costs.");
    AddInt(table, "idle_ns", Unit::kNanoseconds, Role::kSum, "How long devices idle meanwhile.");
    for (size_t cause = 0; cause < static_cast<size_t>(IdleCause::kCount); ++cause) {
      AddInt(table, fmt::format("{}_ns", IdleCauseName(static_cast<IdleCause>(cause))),
             Unit::kNanoseconds, Role::kSum, "Of that, the time of this cause in idle_causes.");
    }
    AddInt(table, "of_ns", Unit::kNanoseconds, Role::kSum, "What that is a part of.");
    AddInt(table, "others", Unit::kCount, Role::kSum, "All of its kind.");
    AddInt(table, "steps", Unit::kCount, Role::kSum, "Steps it was counted in; 0 without steps.");
    AddInt(table, "one_step_ns", Unit::kNanoseconds, Role::kSum,
           "Of what it costs, the part in the step where it costs most; 0 where that is not "
           "counted.");
    AddInt(table, "begin_ns", Unit::kNanoseconds, Role::kDerived, "When it cost most.");
    AddInt(table, "end_ns", Unit::kNanoseconds, Role::kDerived, "Until when.");
    return table;
  }

  // A cost: for how long it was, and how long devices idle meanwhile.
  struct Found {
    int64_t ns = 0;
    IdleByCause idle{};
  };
  Found TimeOf(const Cost& cost, uint32_t idle_causes) const {
    Found found;
    for (const Interval& time : Union(cost.times)) {
      AddSaturatingTo(found.ns, time.length());
      const IdleByCause idle = IdleIn(time, idle_causes);
      for (size_t cause = 0; cause < idle.size(); ++cause) {
        AddSaturatingTo(found.idle[cause], idle[cause]);
      }
    }
    return found;
  }
  Found IdleTimeOf(const Cost& cost, uint32_t idle_causes) const {
    Found found = TimeOf(cost, idle_causes);
    found.ns = SumOf(found.idle);
    return found;
  }

  void Push(int64_t gpu, std::string_view cause, std::string_view name, const Cost& cost,
            const Found& found, int64_t of_ns, int64_t others, int64_t one_step_ns = 0) {
    Row row(table_);
    row.Int(view_.rank).MaybeInt(gpu).Text(cause).Text(name).Int(cost.count).Int(found.ns);
    row.Int(SumOf(found.idle));
    for (const int64_t ns : found.idle) {
      row.Int(ns);
    }
    row.Int(of_ns)
        .Int(others)
        .Count(selected_.steps().size())
        .Int(one_step_ns)
        .Int(cost.longest.begin)
        .Int(cost.longest.end);
  }

  // The idle time of all devices in a time of the host, of some causes.
  IdleByCause IdleIn(Interval time, uint32_t causes) const {
    IdleByCause idle{};
    for (size_t cause = 0; cause < idle.size(); ++cause) {
      if ((causes & Bit(static_cast<IdleCause>(cause))) != 0) {
        idle[cause] = idle_up_to_[cause].In(time);
      }
    }
    return idle;
  }

  void SumIdleTime() {
    for (size_t i = 0; i < idle_.devices.size(); ++i) {
      const DeviceIdle& device = idle_.devices[i];
      for (const IdlePiece& piece : device.pieces) {
        if (hardly_used_[i] == 0 && !IsLeftOut(piece.cause)) {
          idle_up_to_[static_cast<size_t>(piece.cause)].Add(
              {AddSaturating(piece.time.begin, device.skew_ns),
               AddSaturating(piece.time.end, device.skew_ns)});
        }
      }
    }
    std::for_each(idle_up_to_.begin(), idle_up_to_.end(), [](IdleUpTo& sum) { sum.Finish(); });
  }

  // Before the first launch nothing says what the host is late for; of whole processes the verdict
  // leaves out the end, too (evidence.h).
  bool IsLeftOut(IdleCause cause) const {
    return cause == IdleCause::kHead || cause == IdleCause::kBeforeRecording ||
           (cause == IdleCause::kTail && is_whole_process_);
  }

  int64_t SelectedTime() const {
    int64_t ns = 0;
    for (size_t i = 0; i < idle_.devices.size(); ++i) {
      AddSaturatingTo(ns, hardly_used_[i] != 0 ? 0 : Coverage(idle_.devices[i].windows));
    }
    return ns;
  }

  // ---- Matrix products without matrix units ----

  void FindProducts() {
    const DeviceEvents& device = trace_.device();
    const std::vector<char> is_product = ProductsOnVectorUnits(view_);
    std::map<int64_t, Costs> products;
    std::map<int64_t, std::pair<int64_t, int64_t>> kernels;  // how many, and their time
    for (const uint32_t row : EachRow(device.size())) {
      const DeviceId id{row};
      if (device.kind[row] != DeviceKind::kKernel || !selected_.Keeps(id)) {
        continue;
      }
      const int64_t gpu = trace_.DeviceOf(id);
      const Interval time{device.ts_ns[row], device.end_ns(id)};
      ++kernels[gpu].first;
      AddSaturatingTo(kernels[gpu].second, device.dur_ns[row]);
      if (is_product[row] != 0) {
        products[gpu][std::string(trace_.Name(id))].Add(time, device.dur_ns[row]);
      }
    }
    for (const auto& [gpu, costs] : products) {
      const Cost sum = SumOf(costs);
      Push(gpu, kFp32Products, Dearest(costs)->first, sum, TimeOf(sum, 0), kernels[gpu].second,
           kernels[gpu].first);
    }
  }

  // ---- Memory ----

  // In the steps, where there are any: what happens once before them costs no step.
  bool IsInSteps(HostId id) const {
    return selected_.Keeps(id) &&
           (selected_.steps().empty() ||
            view_.steps().At(host_.track[id.value], host_.ts_ns[id.value]) != kNoStep);
  }

  // From the begin of each until the next begins; until the work of the last is done.
  int64_t TimeOfSteps() const {
    if (selected_.steps().empty()) {
      return Coverage(selected_.windows());
    }
    const std::vector<Step>& steps = view_.steps().steps;
    int64_t work_end_ns = 0;
    for (uint32_t row = 0; row < trace_.device().size(); ++row) {
      work_end_ns = std::max(work_end_ns, trace_.device().end_ns(DeviceId{row}));
    }
    std::vector<int64_t> next_ns(steps.size(), work_end_ns);
    std::map<uint32_t, int64_t> begins;  // by process, of the step looked at last
    for (size_t step = steps.size(); step-- > 0;) {
      const auto found = begins.find(steps[step].process);
      next_ns[step] = found == begins.end() ? work_end_ns : found->second;
      begins[steps[step].process] = steps[step].begin_ns;
    }
    IntervalSet times;
    for (const uint32_t step : selected_.steps()) {
      times.push_back({steps[step].begin_ns, std::max(steps[step].end_ns, next_ns[step])});
    }
    return Coverage(Union(std::move(times)));
  }

  void FindAllocations() {
    std::vector<char> is_allocation(trace_.strings().size(), 2);
    Costs costs;
    std::map<uint32_t, Cost> of_step;
    for (const uint32_t row : EachRow(host_.size())) {
      const HostId id{row};
      if (host_.kind[row] != HostKind::kRuntime) {
        continue;
      }
      char& known = is_allocation[host_.name[row].value];
      known = known == 2 ? (IsAllocationCall(trace_.Name(id)) ? 1 : 0) : known;
      const HostId around = view_.index.tree.parent[row];
      const bool is_inside = around.valid() && host_.kind[around.value] == HostKind::kRuntime;
      if (known == 1 && !is_inside && IsInSteps(id)) {
        const Interval time{host_.ts_ns[row], host_.end_ns(id)};
        costs[std::string(trace_.Name(id))].Add(time, host_.dur_ns[row]);
        of_step[view_.steps().At(host_.track[row], host_.ts_ns[row])].Add(time, host_.dur_ns[row]);
      }
    }
    if (!costs.empty()) {
      const Cost sum = SumOf(costs);
      int64_t one_step_ns = 0;
      for (const auto& [step, cost] : of_step) {
        one_step_ns = std::max(one_step_ns, step == kNoStep ? 0 : TimeOf(cost, 0).ns);
      }
      Push(kMissing, kAllocation, Dearest(costs)->first, sum, TimeOf(sum, kAllocationCauses),
           TimeOfSteps(), static_cast<int64_t>(costs.size()), one_step_ns);
    }
  }

  // ---- Times of which nothing was recorded ----

  // The outermost events of all threads, by begin.
  std::vector<HostId> OutermostEvents() const {
    std::vector<HostId> events;
    for (const uint32_t row : EachRow(host_.size())) {
      if (!view_.index.tree.parent[row].valid()) {
        events.push_back(HostId{row});
      }
    }
    std::sort(events.begin(), events.end(), [this](HostId a, HostId b) {
      return std::pair(host_.ts_ns[a.value], a.value) < std::pair(host_.ts_ns[b.value], b.value);
    });
    return events;
  }

  void FindNothing() {
    Costs costs;
    int64_t until_ns = kMissing;
    for (const HostId event : OutermostEvents()) {
      const int64_t begin_ns = host_.ts_ns[event.value];
      if (until_ns != kMissing && SubtractSaturating(begin_ns, until_ns) >= kNothingNs &&
          selected_.KeepsTime(until_ns)) {
        const Interval time{until_ns, begin_ns};
        nothing_.push_back(time);
        if (const int64_t idle_ns = SumOf(IdleIn(time, kLateCauses)); idle_ns >= kNothingNs) {
          costs[std::string(trace_.Name(event))].Add(time, idle_ns);
        }
      }
      until_ns = std::max(until_ns, host_.end_ns(event));
    }
    if (!costs.empty()) {
      const Cost sum = SumOf(costs);
      Push(kMissing, kNothingRecorded, Dearest(costs)->first, sum, IdleTimeOf(sum, kLateCauses),
           SelectedTime(), static_cast<int64_t>(costs.size()));
    }
  }

  // ---- Silence of the host ----

  void FindSilence() {
    HostFacts facts;
    facts.marks.assign(host_.all_size(), 0);
    facts.is_loading = FindDataLoading(trace_);
    Costs costs;
    Costs outside;
    for (const ThreadFacts& thread : FindThreads(view_)) {
      if (thread.is_main) {
        SweepThread(
            trace_, facts, thread,
            [&](const ThreadPiece& piece) { AddSilence(piece, costs, outside); },
            [](HostId, bool, int64_t) {});
      }
    }
    PushSilence(kSilentHost, costs);
    PushSilence(kSilentOutside, outside);
  }

  void PushSilence(std::string_view cause, const Costs& costs) {
    if (!costs.empty()) {
      const Cost sum = SumOf(costs);
      Push(kMissing, cause, Dearest(costs)->first, sum, IdleTimeOf(sum, kLateCauses),
           SelectedTime(), static_cast<int64_t>(costs.size()));
    }
  }

  void AddSilence(const ThreadPiece& piece, Costs& costs, Costs& outside) const {
    const HostId in = piece.innermost;
    if (piece.end_ns - piece.begin_ns < kSilentNs || piece.is_loading || !SaysNothing(in) ||
        !selected_.KeepsTime(piece.begin_ns)) {
      return;
    }
    const Interval time{piece.begin_ns, piece.end_ns};
    if (const int64_t idle_ns = SumOf(IdleIn(time, kLateCauses)); idle_ns >= kSilentNs) {
      const bool is_outside = !in.valid() && Coverage(Clip(nothing_, time)) > 0;
      (is_outside ? outside : costs)[in.valid() ? std::string(trace_.Name(in)) : std::string()].Add(
          time, idle_ns);
    }
  }

  // Whether the innermost event leaves open what the host does: a step, or a frame or annotation
  // around others. One without others inside says it by its name.
  bool SaysNothing(HostId innermost) const {
    if (!innermost.valid()) {
      return true;
    }
    const HostKind kind = host_.kind[innermost.value];
    const bool has_others = view_.index.tree.subtree_end[innermost.value] > innermost.value + 1;
    return (kind == HostKind::kAnnotation || kind == HostKind::kPython) &&
           (has_others || IsStep(innermost));
  }

  bool IsStep(HostId annotation) const {
    const std::vector<Step>& steps = view_.steps().steps;
    return std::any_of(steps.begin(), steps.end(),
                       [&](const Step& step) { return step.annotation == annotation; });
  }

  // ---- Optimizers ----

  // Launches in the rows (first, end), and whether one of them treats many parameters at once.
  struct OptimizerWork {
    int64_t launches = 0;
    bool is_grouped = false;
  };

  OptimizerWork WorkIn(uint32_t first, uint32_t end) const {
    OptimizerWork work;
    for (uint32_t row = first; row < end; ++row) {
      const std::string_view name = trace_.Name(HostId{row});
      if (host_.kind[row] == HostKind::kOp) {
        work.is_grouped |= Contains(name, "_foreach_") || Contains(name, "_fused_");
      } else if (host_.kind[row] == HostKind::kRuntime && host_.detail[row] != kNoDetail) {
        work.launches += view_.index.correlation.DevicesOf(host_.detail[row]).empty() ? 0 : 1;
      }
    }
    return work;
  }

  void FindOptimizers() {
    Costs costs;
    for (const uint32_t row : EachRow(host_.size())) {
      const HostId id{row};
      const bool is_optimizer =
          host_.kind[row] == HostKind::kAnnotation && trace_.Name(id).starts_with(kOptimizerMark);
      if (!is_optimizer || !selected_.Keeps(id)) {
        continue;
      }
      const OptimizerWork work = WorkIn(row + 1, view_.index.tree.subtree_end[row]);
      if (!work.is_grouped && work.launches > 0) {
        const Interval time{host_.ts_ns[row], host_.end_ns(id)};
        Cost& cost = costs[std::string(trace_.Name(id).substr(kOptimizerMark.size()))];
        cost.Add(time, SumOf(IdleIn(time, kLaunchCauses)));
        cost.count += work.launches - 1;
      }
    }
    for (const auto& [name, cost] : costs) {
      Push(kMissing, kOptimizerLaunches, name, cost, IdleTimeOf(cost, kLaunchCauses),
           SelectedTime(), CountLaunches());
    }
  }

  int64_t CountLaunches() const {
    int64_t launches = 0;
    for (uint32_t row = 0; row < host_.size(); ++row) {
      const bool is_launch = host_.kind[row] == HostKind::kRuntime &&
                             host_.detail[row] != kNoDetail &&
                             !view_.index.correlation.DevicesOf(host_.detail[row]).empty();
      launches += is_launch && selected_.Keeps(HostId{row}) ? 1 : 0;
    }
    return launches;
  }

  // ---- Waits ----

  // The calls of each thread that wait, by time.
  std::map<uint32_t, std::vector<HostId>> WaitsOfThreads() const {
    std::vector<char> waits(trace_.strings().size(), 2);
    std::map<uint32_t, std::vector<HostId>> calls;
    for (const uint32_t row : EachRow(host_.size())) {
      if (host_.kind[row] != HostKind::kRuntime) {
        continue;
      }
      char& known = waits[host_.name[row].value];
      if (known == 2) {
        known = AlwaysBlocks(ClassifyBlockingCall(trace_.Name(HostId{row}))) ? 1 : 0;
      }
      if (known == 1) {
        calls[host_.track[row].value].push_back(HostId{row});
      }
    }
    return calls;
  }

  // Idle time of cause sync is that of the last wait on the thread before the launch. A wait after
  // which nothing idles costs nothing.
  void FindWaits() {
    const std::map<uint32_t, std::vector<HostId>> calls = WaitsOfThreads();
    Costs costs;
    for (size_t i = 0; i < idle_.devices.size(); ++i) {
      if (hardly_used_[i] != 0) {
        continue;
      }
      for (const IdlePiece& piece : idle_.devices[i].pieces) {
        const HostId wait = piece.cause == IdleCause::kSync ? WaitBefore(calls, piece) : HostId{};
        if (wait.valid()) {
          costs[NameOfWait(wait)].Add(piece.time, piece.time.length());
        }
      }
    }
    if (costs.empty()) {
      return;
    }
    const auto& [name, dearest] = *Dearest(costs);
    Cost there = dearest;
    there.count = 0;
    int64_t waits = 0;
    for (const auto& [track, of_thread] : calls) {
      for (const HostId call : of_thread) {
        const bool counts = IsInSteps(call);
        waits += counts ? 1 : 0;
        there.count += counts && NameOfWait(call) == name ? 1 : 0;
      }
    }
    Push(kMissing, kNamedWait, name, there, {there.ns, {}}, SumOf(costs).ns, waits);
  }

  HostId WaitBefore(const std::map<uint32_t, std::vector<HostId>>& calls,
                    const IdlePiece& piece) const {
    const auto thread =
        piece.launch.valid() ? calls.find(host_.track[piece.launch.value].value) : calls.end();
    if (thread == calls.end()) {
      return {};
    }
    const auto after =
        std::lower_bound(thread->second.begin(), thread->second.end(), piece.launch,
                         [](HostId call, HostId launch) { return call.value < launch.value; });
    return after == thread->second.begin() ? HostId{} : *(after - 1);
  }

  // "aten::item (cudaStreamSynchronize) in train.py(12): step": the outermost operator around the
  // call, and the innermost frame of Python around that; of its own files rather than of PyTorch's.
  std::string NameOfWait(HostId call) const {
    HostId outermost;
    HostId frame;
    for (HostId at = view_.index.tree.parent[call.value]; at.valid();
         at = view_.index.tree.parent[at.value]) {
      if (host_.kind[at.value] == HostKind::kOp) {
        outermost = at;
        frame = {};
      } else if (host_.kind[at.value] == HostKind::kPython && IsOfOwnFile(at)) {
        frame = frame.valid() ? frame : at;
      }
    }
    std::string name(trace_.Name(call));
    if (outermost.valid()) {
      name = fmt::format("{} ({})", trace_.Name(outermost), name);
    }
    return frame.valid() ? fmt::format("{} in {}", name, trace_.Name(frame)) : name;
  }

  // "train.py(12): step"; not "torch/_tensor.py(1000): item" or "<built-in method item>".
  bool IsOfOwnFile(HostId frame) const {
    const std::string_view name = trace_.Name(frame);
    return Contains(name, ".py(") && !name.starts_with("torch/") && !Contains(name, "/torch/");
  }

  const RankView& view_;
  const Trace& trace_;
  const HostEvents& host_;
  const Selected& selected_;
  const IdleTimes& idle_;
  const std::vector<char> hardly_used_;  // by device: what the verdict leaves out
  const bool is_whole_process_;
  // By cause, of all devices, on the clock of the host.
  std::array<IdleUpTo, static_cast<size_t>(IdleCause::kCount)> idle_up_to_;
  IntervalSet nothing_;  // when no thread recorded anything
  Table table_;
};

}  // namespace

bool IsAllocationCall(std::string_view name) {
  return std::find(kAllocationCalls.begin(), kAllocationCalls.end(), name) !=
         kAllocationCalls.end();
}

Result<Table> NamedCausesTable(const RankView& view, const Selection& selection) {
  BS_ASSIGN(const Selected selected, Selected::Make(view, selection));
  const auto idle = SharedIdleTimes(view, selection);
  if (!idle->ok()) {
    return idle->error();
  }
  return CauseFinder(view, selected, **idle).Find();
}

}  // namespace borescope::internal
