#include "tests/support/scenario.h"

#include <algorithm>
#include <vector>

#include "tests/support/model/scenario_collectives.h"
#include "tests/support/model/scenario_model.h"
#include "tests/support/truth/scenario_truth.h"
#include "tests/support/writing/scenario_faults.h"
#include "tests/support/writing/scenario_writer.h"

namespace borescope::scenario {
namespace {

// What is made of one rank's plan.
struct RankOutput {
  std::unique_ptr<Sink> sink;
  std::unique_ptr<TraceWriter> writer;
  std::unique_ptr<RankTruth> truth;
};

// Old profilers cut begin and duration to microseconds, each for itself.
template <class Events>
void Truncate(Events* events) {
  for (auto& event : *events) {
    event.ts_ns -= event.ts_ns % 1000;
    if constexpr (requires { event.dur_ns; }) event.dur_ns -= event.dur_ns % 1000;
  }
}

// Makes the batch's times the ones that will be read back from the text.
void TruncateTimes(StepBatch* batch) {
  for (auto& events : batch->host) Truncate(&events);
  Truncate(&batch->calls);
  Truncate(&batch->device);
  Truncate(&batch->syncs);
  Truncate(&batch->annotations);
  Truncate(&batch->memory);
  Truncate(&batch->overheads);
}

HostEvent RootFrame(HostName name, int64_t id, int64_t parent, int64_t begin_ns, int64_t end_ns) {
  HostEvent frame;
  frame.name = name;
  frame.kind = HostKind::kPython;
  frame.python_id = id;
  frame.python_parent = parent;
  frame.ts_ns = begin_ns;
  frame.dur_ns = end_ns - begin_ns;
  frame.event_index = 1'000'000'000 + id;
  return frame;
}

TraceTail MakeTail(const ScenarioConfig& config, RankModel* rank, bool is_truncated) {
  constexpr int64_t kMicrosecond = 1000;
  const int64_t last_ns =
      std::max({rank->recorder().now(), rank->recorder().LastMark(Stream::kCompute).ready_ns,
                rank->recorder().LastMark(Stream::kComm).ready_ns});
  const int64_t begin_ns = rank->begin_ns();
  TraceTail tail;
  tail.begin_ns = begin_ns;
  tail.end_ns = last_ns + 90 * kMicrosecond;
  tail.is_truncated = is_truncated;
  if (config.with_stack) {
    tail.root_frames = {RootFrame(HostName::kPyModule, kModuleFrameId, 0,
                                  begin_ns + 5 * kMicrosecond, last_ns + 60 * kMicrosecond),
                        RootFrame(HostName::kPyMain, kMainFrameId, kModuleFrameId,
                                  begin_ns + 12 * kMicrosecond, last_ns + 40 * kMicrosecond)};
  }
  if (config.era != Era::kIntUs) return tail;
  Truncate(&tail.root_frames);
  const int64_t span_ns = tail.end_ns - tail.begin_ns;
  tail.begin_ns -= tail.begin_ns % kMicrosecond;
  tail.end_ns = tail.begin_ns + span_ns - span_ns % kMicrosecond;
  return tail;
}

class ScenarioRun {
 public:
  ScenarioRun(const ScenarioConfig& config, const OpenSink& open)
      : config_(config),
        catalog_(config.vendor),
        job_(config_, catalog_),
        faults_(config_, catalog_),
        batches_(static_cast<size_t>(config.ranks)) {
    for (int rank = 0; rank < config.ranks; ++rank) {
      const RankInfo info = MakeRankInfo(config_, rank, job_.rank(rank).begin_ns());
      RankOutput& output = outputs_.emplace_back();
      output.sink = open(info);
      if (output.sink == nullptr) continue;
      output.writer = std::make_unique<TraceWriter>(config_, catalog_, info, output.sink.get());
      output.truth = std::make_unique<RankTruth>(config_, catalog_, info);
      output.writer->WriteHeader();
    }
    waits_ = WaitTruth(WrittenRanks());
  }

  RunResult Execute() {
    RunResult result;
    while (result.steps < config_.steps || result.bytes < config_.size_bytes) {
      if (!MakeStep()) return result;
      ++result.steps;
      result.bytes = BytesWritten();
    }
    result.is_ok = Finish();
    result.bytes = BytesWritten();
    result.truth_json = Truth(&result.events);
    return result;
  }

 private:
  // Returns false when a sink failed, or when nothing is written at all.
  bool MakeStep() {
    for (StepBatch& batch : batches_) batch.Clear();
    job_.PlanStep(&batches_);
    std::vector<const StepBatch*> written;
    for (int rank = 0; rank < config_.ranks; ++rank) {
      RankOutput& output = outputs_[static_cast<size_t>(rank)];
      StepBatch& batch = batches_[static_cast<size_t>(rank)];
      if (output.writer == nullptr) continue;
      if (config_.era == Era::kIntUs) TruncateTimes(&batch);
      faults_.Apply(rank, &batch);
      output.truth->AddStep(batch);
      output.writer->WriteStep(batch);
      written.push_back(&batch);
      if (!output.writer->is_ok()) return false;
    }
    waits_.AddStep(written);
    return !written.empty();
  }

  std::vector<int64_t> WrittenRanks() const {
    std::vector<int64_t> ranks;
    for (size_t rank = 0; rank < outputs_.size(); ++rank) {
      if (outputs_[rank].writer != nullptr) ranks.push_back(static_cast<int64_t>(rank));
    }
    return ranks;
  }

  bool Finish() {
    bool is_ok = true;
    for (int rank = 0; rank < config_.ranks; ++rank) {
      RankOutput& output = outputs_[static_cast<size_t>(rank)];
      if (output.writer == nullptr) continue;
      const TraceTail tail = MakeTail(config_, &job_.rank(rank), faults_.Truncates(rank));
      output.truth->Finish(tail);
      output.writer->WriteTail(tail);
      is_ok = output.writer->Finish() && output.sink->Close() && is_ok;
    }
    return is_ok;
  }

  int64_t BytesWritten() const {
    int64_t total = 0;
    for (const RankOutput& output : outputs_) {
      if (output.writer != nullptr) total += output.writer->bytes_written();
    }
    return total;
  }

  std::string Truth(int64_t* events) const {
    std::vector<RankTruth> ranks;
    std::vector<FaultHit> hits;
    for (const RankOutput& output : outputs_) {
      if (output.writer == nullptr) continue;
      ranks.push_back(*output.truth);
      *events += output.truth->events();
      hits.insert(hits.end(), output.writer->hits().begin(), output.writer->hits().end());
    }
    return TruthToJson(config_, catalog_, ranks, waits_, hits);
  }

  ScenarioConfig config_;
  KernelCatalog catalog_;
  JobModel job_;
  FaultInjector faults_;
  std::vector<StepBatch> batches_;
  std::vector<RankOutput> outputs_;
  WaitTruth waits_{{}};
};

}  // namespace

RunResult RunScenario(ScenarioConfig config, const OpenSink& open) {
  config.Normalize();
  return ScenarioRun(config, open).Execute();
}

}  // namespace borescope::scenario
