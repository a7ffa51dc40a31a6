// What a correct reader must find in the files, computed from the planned events in the plainest
// way there is. Knows nothing of the text: times must already be as they will be written.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/model/scenario_batch.h"
#include "tests/support/model/scenario_collectives.h"
#include "tests/support/model/scenario_intervals.h"
#include "tests/support/model/scenario_launches.h"
#include "tests/support/model/scenario_ranks.h"
#include "tests/support/model/scenario_streams.h"

namespace borescope::scenario {

// A planted fault: which event of which file was hit.
struct FaultHit {
  Fault fault = Fault::kNone;
  int rank = 0;
  int64_t ordinal = -1;  // position in traceEvents; -1 when no event remains
  std::string phase;
  std::string category;
  std::string name;
};

// The truth of one rank. REQUIRES: AddStep in order, then Finish once, then read.
class RankTruth {
 public:
  RankTruth(const ScenarioConfig& config, const KernelCatalog& catalog, const RankInfo& info);

  void AddStep(const StepBatch& batch);
  void Finish(const TraceTail& tail);

  struct EventCount {
    int64_t count = 0;
    int64_t total_ns = 0;
  };
  struct DeviceSum {
    int64_t count = 0;
    int64_t total_ns = 0;
    int64_t min_ns = INT64_MAX;
    int64_t max_ns = 0;
    int64_t bytes = 0;
    int64_t unrated = 0;  // without length
  };
  struct OpSum {
    int64_t calls = 0;
    int64_t self_host_ns = 0;
    int64_t total_host_ns = 0;
    int64_t self_device_ns = 0;
    int64_t total_device_ns = 0;
  };
  struct Step {
    int64_t step = 0;
    int64_t begin_ns = 0;
    int64_t span_ns = 0;
    int64_t busy_ns = 0;
  };

  // A piece of the critical path of a step.
  struct PathPiece {
    int64_t step = 0;
    PathBound bound = PathBound::kCpu;
    int64_t begin_ns = 0;
    int64_t dur_ns = 0;
  };

  // One line of `event_counts` that can occur, in the order of the table.
  enum class Line : uint8_t {
    kCpuOp,
    kUserAnnotation,
    kPythonFunction,
    kCudaRuntime,
    kCudaDriver,
    kKernel,
    kGpuMemcpy,
    kGpuMemset,
    kCudaSync,
    kGpuUserAnnotation,
    kOverhead,
    kTraceSpan,
    kMemory,
    kMarker,
    kMetadata,
    kFlowStart,
    kFlowEnd,
    kForwardStart,
    kForwardEnd,
    kCount,
  };
  static std::string_view LinePhase(Line line);
  static std::string_view LineCategory(Line line);

  const RankInfo& info() const { return info_; }
  const EventCount& count(Line line) const { return counts_[static_cast<size_t>(line)]; }
  const DeviceSum& device(Kernel kernel) const { return device_[static_cast<size_t>(kernel)]; }
  const OpSum& op(HostName name) const { return ops_[static_cast<size_t>(name)]; }
  const std::vector<Step>& steps() const { return steps_; }
  const std::vector<PathPiece>& path() const { return path_; }
  bool has_stream(Stream stream) const { return has_stream_[static_cast<size_t>(stream)]; }
  const IdleSum& idle(Stream stream) const { return idle_sums_[static_cast<size_t>(stream)]; }
  const QueueTruth& queue(Stream stream) const { return queues_[static_cast<size_t>(stream)]; }
  const LaunchTruth& launched() const { return launch_truth_; }
  const CollectiveSum& collectives() const { return collectives_; }
  const BusyTotals& busy() const { return busy_; }
  int64_t span_ns() const { return end_ns_ > begin_ns_ ? end_ns_ - begin_ns_ : 0; }
  int64_t events() const;
  int64_t host_events() const;
  int64_t device_events() const;
  int64_t streams() const;
  int64_t linked_to_launch() const { return linked_to_launch_; }
  int64_t linked_to_op() const { return linked_to_op_; }
  int64_t launches() const { return launches_; }
  int64_t launches_without_device() const { return launches_without_device_; }

 private:
  void Count(Line line, int64_t ts_ns, int64_t dur_ns);
  void CountOnly(Line line, int64_t count = 1) {
    counts_[static_cast<size_t>(line)].count += count;
  }
  void AddHost(const StepBatch& batch);
  void AddCalls(const StepBatch& batch);
  void AddDevice(const StepBatch& batch);
  void AddStreams(const StepBatch& batch);
  void AddOps(const StepBatch& batch, Thread thread);
  void AddOthers(const StepBatch& batch);
  void AddPath(const StepBatch& batch);
  void CloseStep(const StepBatch& batch);

  const ScenarioConfig& config_;
  const KernelCatalog& catalog_;
  RankInfo info_;
  std::array<EventCount, static_cast<size_t>(Line::kCount)> counts_{};
  std::array<DeviceSum, static_cast<size_t>(Kernel::kCount)> device_{};
  std::array<OpSum, static_cast<size_t>(HostName::kCount)> ops_{};
  std::array<bool, kStreams> has_stream_{};
  std::array<IdleTruth, kStreams> idle_;
  std::array<IdleSum, kStreams> idle_sums_{};
  std::array<QueueTruth, kStreams> queues_;
  LaunchTruth launch_truth_;
  CollectiveSum collectives_;
  std::vector<Step> steps_;
  std::vector<PathPiece> path_;
  BusySweep sweep_;
  BusyTotals busy_;
  int64_t begin_ns_ = INT64_MAX;
  int64_t end_ns_ = INT64_MIN;
  int64_t linked_to_launch_ = 0;
  int64_t linked_to_op_ = 0;
  int64_t launches_ = 0;
  int64_t launches_without_device_ = 0;
  // Scratch of AddOps, per event of one thread.
  std::vector<int64_t> child_host_ns_;
  std::array<std::vector<int64_t>, kThreads> device_ns_;
};

// The truth.json of a run.
std::string TruthToJson(const ScenarioConfig& config, const KernelCatalog& catalog,
                        const std::vector<RankTruth>& ranks, const WaitTruth& waits,
                        const std::vector<FaultHit>& hits);

}  // namespace borescope::scenario
