#include "tests/support/truth/scenario_truth.h"

#include <algorithm>
#include <map>
#include <utility>

namespace borescope::scenario {
namespace {

using Line = RankTruth::Line;

struct LineNames {
  std::string_view phase;
  std::string_view category;
};

// In the order of `Line`.
constexpr std::array<LineNames, static_cast<size_t>(Line::kCount)> kLines = {{
    {"X", "cpu_op"},
    {"X", "user_annotation"},
    {"X", "python_function"},
    {"X", "cuda_runtime"},
    {"X", "cuda_driver"},
    {"X", "kernel"},
    {"X", "gpu_memcpy"},
    {"X", "gpu_memset"},
    {"X", "cuda_sync"},
    {"X", "gpu_user_annotation"},
    {"X", "overhead"},
    {"X", "Trace"},
    {"i", "cpu_instant_event"},
    {"i", ""},
    {"M", ""},
    {"s", "ac2g"},
    {"f", "ac2g"},
    {"s", "fwdbwd"},
    {"f", "fwdbwd"},
}};

Line HostLine(HostKind kind) {
  switch (kind) {
    case HostKind::kOp:
      return Line::kCpuOp;
    case HostKind::kAnnotation:
      return Line::kUserAnnotation;
    case HostKind::kPython:
      break;
  }
  return Line::kPythonFunction;
}

Line DeviceLine(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::kKernel:
      return Line::kKernel;
    case DeviceKind::kMemcpy:
      return Line::kGpuMemcpy;
    case DeviceKind::kMemset:
      break;
  }
  return Line::kGpuMemset;
}

Work WorkOf(const KernelInfo& info) {
  // A kernel that only fills a buffer moves data like a memset.
  if (info.kind != DeviceKind::kKernel || info.device_class == "copy") return Work::kCopy;
  return info.device_class == "collective" ? Work::kComm : Work::kCompute;
}

// Readers take a negative duration for zero, as Kineto does since 2022.
int64_t ReadDuration(int64_t dur_ns) { return std::max<int64_t>(0, dur_ns); }

}  // namespace

std::string_view RankTruth::LinePhase(Line line) { return kLines[static_cast<size_t>(line)].phase; }

std::string_view RankTruth::LineCategory(Line line) {
  return kLines[static_cast<size_t>(line)].category;
}

RankTruth::RankTruth(const ScenarioConfig& config, const KernelCatalog& catalog,
                     const RankInfo& info)
    : config_(config), catalog_(catalog), info_(info), launch_truth_(catalog) {}

void RankTruth::Count(Line line, int64_t ts_ns, int64_t dur_ns) {
  EventCount& entry = counts_[static_cast<size_t>(line)];
  ++entry.count;
  entry.total_ns += ReadDuration(dur_ns);
  if (line == Line::kTraceSpan) return;
  begin_ns_ = std::min(begin_ns_, ts_ns);
  end_ns_ = std::max(end_ns_, ts_ns + ReadDuration(dur_ns));
}

void RankTruth::AddStep(const StepBatch& batch) {
  AddHost(batch);
  AddCalls(batch);
  AddDevice(batch);
  for (const Thread thread : {Thread::kMain, Thread::kBackward}) AddOps(batch, thread);
  AddOthers(batch);
  AddStreams(batch);
  collectives_.AddStep(batch);
  AddPath(batch);
  CloseStep(batch);
}

void RankTruth::AddHost(const StepBatch& batch) {
  for (size_t thread = 0; thread < kThreads; ++thread) {
    for (const HostEvent& event : batch.host[thread]) {
      Count(HostLine(event.kind), event.ts_ns, event.dur_ns);
      if (event.flow_id == 0) continue;
      CountOnly(thread == 0 ? Line::kForwardStart : Line::kForwardEnd);
    }
  }
}

void RankTruth::AddCalls(const StepBatch& batch) {
  for (const RuntimeCall& call : batch.calls) {
    if (call.is_dropped) continue;
    const ApiInfo& api = GetApi(config_.vendor, call.api);
    if (call.fault != Fault::kMissingField) {
      Count(api.category == "cuda_driver" ? Line::kCudaDriver : Line::kCudaRuntime, call.ts_ns,
            call.dur_ns);
    }
    CountOnly(api.starts_flow ? Line::kFlowStart : Line::kFlowEnd);
    if (!api.is_launch) continue;
    ++launches_;
    const auto first = batch.device.begin() + call.device_begin;
    const bool has_device = std::any_of(first, first + call.device_count,
                                        [](const DeviceEvent& e) { return !e.is_dropped; });
    if (!has_device) ++launches_without_device_;
  }
}

void RankTruth::AddDevice(const StepBatch& batch) {
  for (size_t thread = 0; thread < kThreads; ++thread) {
    device_ns_[thread].assign(batch.host[thread].size(), 0);
  }
  for (const DeviceEvent& event : batch.device) {
    if (event.is_dropped) continue;
    const KernelInfo& info = catalog_.Get(event.kernel);
    const int64_t dur_ns = ReadDuration(event.dur_ns);
    Count(DeviceLine(info.kind), event.ts_ns, dur_ns);
    CountOnly(Line::kFlowEnd);
    DeviceSum& sum = device_[static_cast<size_t>(event.kernel)];
    ++sum.count;
    sum.total_ns += dur_ns;
    sum.min_ns = std::min(sum.min_ns, dur_ns);
    sum.max_ns = std::max(sum.max_ns, dur_ns);
    sum.bytes += event.bytes;
    sum.unrated += dur_ns == 0 ? 1 : 0;
    has_stream_[static_cast<size_t>(event.stream)] = true;
    sweep_.Add(WorkOf(info), event.ts_ns, event.ts_ns + dur_ns);
    const RuntimeCall& call = batch.calls[static_cast<size_t>(event.call)];
    if (call.is_dropped) continue;
    ++linked_to_launch_;
    if (call.op < 0) continue;
    ++linked_to_op_;
    device_ns_[static_cast<size_t>(call.thread)][static_cast<size_t>(call.op)] += dur_ns;
  }
}

void RankTruth::AddStreams(const StepBatch& batch) {
  const std::vector<int32_t> launches = FindLaunches(batch);
  launch_truth_.AddStep(batch, launches);
  std::map<std::pair<int32_t, Stream>, int64_t> first_work_ns;  // of each launch, by stream
  for (size_t i = 0; i < batch.device.size(); ++i) {
    const DeviceEvent& event = batch.device[i];
    if (event.is_dropped) continue;
    const bool is_linked = launches[i] >= 0;
    const int64_t launch_ns =
        is_linked ? batch.calls[static_cast<size_t>(launches[i])].ts_ns : IdleTruth::kNoLaunch;
    idle_[static_cast<size_t>(event.stream)].Add(
        event.ts_ns, event.ts_ns + ReadDuration(event.dur_ns), launch_ns);
    if (!is_linked) continue;
    const auto first =
        first_work_ns.emplace(std::pair(launches[i], event.stream), event.ts_ns).first;
    first->second = std::min(first->second, event.ts_ns);
  }
  for (const auto& [key, work_ns] : first_work_ns) {
    queues_[static_cast<size_t>(key.second)].Add(batch.calls[static_cast<size_t>(key.first)].ts_ns,
                                                 work_ns);
  }
}

// Children come after their parents, so walking backwards finishes every op before its parent.
void RankTruth::AddOps(const StepBatch& batch, Thread thread) {
  const std::vector<HostEvent>& events = batch.host[static_cast<size_t>(thread)];
  std::vector<int64_t>& device_ns = device_ns_[static_cast<size_t>(thread)];
  child_host_ns_.assign(events.size(), 0);
  // From here on device_ns becomes the total of the subtree; self is added to its op before.
  for (size_t i = 0; i < events.size(); ++i) {
    ops_[static_cast<size_t>(events[i].name)].self_device_ns += device_ns[i];
  }
  for (size_t i = events.size(); i-- > 0;) {
    const HostEvent& event = events[i];
    if (event.kind != HostKind::kOp) continue;
    OpSum& sum = ops_[static_cast<size_t>(event.name)];
    const int64_t dur_ns = ReadDuration(event.dur_ns);
    ++sum.calls;
    sum.self_host_ns += dur_ns - child_host_ns_[i];
    bool in_same_name = false;
    for (int32_t up = event.parent_op; up >= 0; up = events[static_cast<size_t>(up)].parent_op) {
      in_same_name |= events[static_cast<size_t>(up)].name == event.name;
    }
    if (!in_same_name) {
      sum.total_host_ns += dur_ns;
      sum.total_device_ns += device_ns[i];
    }
    if (event.parent_op < 0) continue;
    child_host_ns_[static_cast<size_t>(event.parent_op)] += dur_ns;
    device_ns[static_cast<size_t>(event.parent_op)] += device_ns[i];
  }
}

void RankTruth::AddOthers(const StepBatch& batch) {
  if (config_.vendor == Vendor::kNvidia) {
    for (const SyncEvent& sync : batch.syncs) Count(Line::kCudaSync, sync.ts_ns, sync.dur_ns);
  }
  for (const DeviceAnnotation& note : batch.annotations) {
    Count(Line::kGpuUserAnnotation, note.ts_ns, note.dur_ns);
  }
  for (const OverheadEvent& overhead : batch.overheads) {
    Count(Line::kOverhead, overhead.ts_ns, overhead.dur_ns);
  }
  CountOnly(Line::kMemory, static_cast<int64_t>(batch.memory.size()));
}

// Pieces that follow each other and are spent on the same are one.
void RankTruth::AddPath(const StepBatch& batch) {
  const auto time_of = [](const auto& event, bool is_end) {
    return event.ts_ns + (is_end ? ReadDuration(event.dur_ns) : 0);
  };
  int64_t begin_ns = batch.host[0][static_cast<size_t>(batch.step_event)].ts_ns;
  for (const PathMark& mark : batch.path) {
    const auto index = static_cast<size_t>(mark.index);
    const int64_t end_ns =
        mark.of == PathMark::Of::kMainThread ? time_of(batch.host[0][index], mark.is_end)
        : mark.of == PathMark::Of::kCalls    ? time_of(batch.calls[index], mark.is_end)
                                             : time_of(batch.device[index], mark.is_end);
    const bool goes_on =
        !path_.empty() && path_.back().step == batch.step && path_.back().bound == mark.bound;
    if (goes_on) {
      path_.back().dur_ns += end_ns - begin_ns;
    } else if (end_ns > begin_ns) {
      path_.push_back({batch.step, mark.bound, begin_ns, end_ns - begin_ns});
    }
    begin_ns = end_ns;
  }
}

void RankTruth::CloseStep(const StepBatch& batch) {
  const HostEvent& event = batch.host[0][static_cast<size_t>(batch.step_event)];
  const auto advance = [this](int64_t horizon_ns) {
    const BusyTotals part = sweep_.Advance(horizon_ns);
    busy_ += part;
    return part.busy_ns;
  };
  // Nothing that a later step launches can run before that step begins.
  advance(event.ts_ns);
  for (QueueTruth& queue : queues_) queue.Advance(event.ts_ns);
  const int64_t busy_ns = advance(event.ts_ns + event.dur_ns);
  steps_.push_back({batch.step, event.ts_ns, event.dur_ns, busy_ns});
}

void RankTruth::Finish(const TraceTail& tail) {
  busy_ += sweep_.Finish();
  for (const HostEvent& frame : tail.root_frames) {
    Count(Line::kPythonFunction, frame.ts_ns, frame.dur_ns);
  }
  Count(Line::kTraceSpan, tail.begin_ns, tail.end_ns - tail.begin_ns);
  CountOnly(Line::kMetadata, static_cast<int64_t>(MetadataRows(config_, info_).size()));
  // "Iteration Start" and, as the file's last event, "Record Window End".
  CountOnly(Line::kMarker, tail.is_truncated ? 1 : 2);
  for (size_t stream = 0; stream < kStreams; ++stream) {
    queues_[stream].Finish();
    idle_sums_[stream] = idle_[stream].Finish(begin_ns_, end_ns_);
  }
}

int64_t RankTruth::events() const {
  int64_t total = 0;
  for (const EventCount& entry : counts_) total += entry.count;
  return total;
}

int64_t RankTruth::host_events() const {
  return count(Line::kCpuOp).count + count(Line::kUserAnnotation).count +
         count(Line::kPythonFunction).count + count(Line::kCudaRuntime).count +
         count(Line::kCudaDriver).count;
}

int64_t RankTruth::device_events() const {
  return count(Line::kKernel).count + count(Line::kGpuMemcpy).count + count(Line::kGpuMemset).count;
}

int64_t RankTruth::streams() const {
  return std::count(has_stream_.begin(), has_stream_.end(), true);
}

}  // namespace borescope::scenario
