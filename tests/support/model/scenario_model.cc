// The job and the outer shape of a step. Forward and backward:
// scenario_model_{forward,backward}.cc; steps with a known critical path: scenario_model_path.cc
#include "tests/support/model/scenario_model.h"

#include <algorithm>

namespace borescope::scenario {
namespace {

constexpr int64_t kBeginUnixNs = 1'760'000'123'456'789'012;
constexpr int64_t kInputBytes = 8 * 1024 * 1024;

int64_t BeginNs(const ScenarioConfig& config) {
  return config.absolute ? kBeginUnixNs : kBeginUnixNs - kBaseUnixNs;
}

}  // namespace

RankModel::RankModel(const ScenarioConfig& config, const KernelCatalog& catalog, int rank,
                     int64_t begin_ns)
    : config_(config), recorder_(config, catalog, rank, begin_ns), begin_ns_(begin_ns) {
  recorder_.Idle(50'000 + recorder_.random().Below(400'000));
}

void RankModel::PlanUntilCollectives(int64_t step, StepBatch* batch) {
  batch_ = batch;
  step_ = step;
  batch->step = step;
  recorder_.StartStep(batch);
  recorder_.SwitchThread(Thread::kMain, 0);
  recorder_.Begin(HostName::kProfilerStep).number = step;
  if (config_.known_path) return BeginKnownPath();
  LoadData();
  CopyInputs();
  ZeroGrad();
  if (config_.cuda_graph) ReplayGraph();
  Forward();
  Backward();
}

void RankModel::PlanRest(StepBatch* batch) {
  if (config_.HasCollectives()) {
    recorder_.WaitOnDevice(Stream::kCompute, recorder_.LastMark(Stream::kComm));
  }
  config_.known_path ? EndKnownPath() : EndTraining();
  recorder_.FreeAll();
  recorder_.End();  // ProfilerStep
  if (step_ % 3 == 0) batch->overheads.push_back({.ts_ns = recorder_.now(), .dur_ns = 41'250});
  recorder_.Idle(2'000 + recorder_.random().Below(9'000));
  for (const Thread thread : {Thread::kMain, Thread::kBackward}) AnnotateDevice(thread, batch);
  NumberEvents(batch);
}

void RankModel::EndTraining() {
  OptimizerStep();
  // Only some steps wait for the device, so that work of one step also runs in the next.
  if (step_ % 2 == 0) {
    ReadLoss();
    LogMetrics();
  }
  if (step_ % 4 == 3) recorder_.SynchronizeDevice();
}

void RankModel::LoadData() {
  Scope note(r_, HostName::kDataLoaderNext);
  PyScope frame(r_, config_.with_stack, HostName::kPyNext);
  recorder_.Idle(600'000 + recorder_.random().Below(1'500'000));
  recorder_.Allocate(kInputBytes, /*on_device=*/false);
  recorder_.Free();
}

void RankModel::CopyInput(int64_t bytes) {
  Scope to(r_, HostName::kTo);
  Scope to_copy(r_, HostName::kToCopy);
  {
    Scope empty(r_, HostName::kEmptyStrided);
    recorder_.Call(Api::kStreamIsCapturing, 400 + recorder_.random().Below(700));
    recorder_.Allocate(bytes);
  }
  Scope copy(r_, HostName::kCopy);
  recorder_.Copy(Kernel::kMemcpyHtoD, Stream::kCopy, bytes);
}

void RankModel::CopyInputs() {
  PyScope frame(r_, config_.with_stack, HostName::kPyTrainStep);
  if (input_copied_.correlation != 0 && step_ % 2 == 1) recorder_.WaitOnHost(input_copied_);
  CopyInput(kInputBytes);
  CopyInput(kInputBytes / 256);
  input_copied_ = recorder_.Record(Stream::kCopy);
  recorder_.WaitOnDevice(Stream::kCompute, input_copied_);
}

void RankModel::ZeroGrad() {
  Scope note(r_, HostName::kZeroGrad);
  for (int i = 0; i < 2; ++i) {
    Scope zero(r_, HostName::kZero);
    recorder_.Copy(Kernel::kMemset, Stream::kCompute, 16 * 1024 * 1024 + i * 4096);
  }
}

// A captured forward pass of a second model: one call, many kernels, no ops.
void RankModel::ReplayGraph() {
  Scope note(r_, HostName::kGraphReplay);
  std::vector<Kernel> kernels;
  for (int layer = 0; layer < config_.layers; ++layer) {
    kernels.insert(kernels.end(),
                   {Kernel::kLayerNorm, Kernel::kGemmForward, Kernel::kFlashForward,
                    Kernel::kGemmForward, Kernel::kAdd, Kernel::kLayerNorm, Kernel::kGemmWide,
                    Kernel::kGelu, Kernel::kGemmWide, Kernel::kAdd});
  }
  recorder_.LaunchGraph(kernels);
}

void RankModel::OptimizerStep() {
  Scope note(r_, HostName::kOptimizerStep);
  PyScope frame(r_, config_.with_stack, HostName::kPyOptimizer);
  {
    Scope norm(r_, HostName::kForeachNorm);
    Scope vector_norm(r_, HostName::kLinalgVectorNorm);
    recorder_.Launch(Kernel::kNorm);
  }
  {
    Scope adamw(r_, HostName::kFusedAdamw);
    for (int i = 0; i <= config_.layers / 2; ++i) recorder_.Launch(Kernel::kAdam);
  }
  Scope copy(r_, HostName::kCopy);
  recorder_.Copy(Kernel::kMemcpyDtoD, Stream::kCompute, 25'165'824);
}

void RankModel::ReadLoss() {
  PyScope frame(r_, config_.with_stack, HostName::kPyItem);
  Scope item(r_, HostName::kItem);
  Scope dense(r_, HostName::kLocalScalarDense);
  recorder_.Copy(Kernel::kMemcpyDtoH, Stream::kCompute, 4);
  recorder_.SynchronizeStream(Stream::kCompute);
}

// Tiny kernels after a wait: here the device waits for the host, everywhere else it is behind.
void RankModel::LogMetrics() {
  for (int i = 0; i < 4; ++i) {
    Scope outer(r_, HostName::kDiv);
    Scope inner(r_, HostName::kDiv);
    recorder_.Idle(6'000 + recorder_.random().Below(5'000));
    recorder_.Launch(Kernel::kDiv);
  }
}

// Kineto draws each annotation again on every stream its thread launched to, one nanosecond wider
// than the work it covers (a whole microsecond in old files).
void RankModel::AnnotateDevice(Thread thread, StepBatch* batch) {
  const int64_t margin_ns = config_.era == Era::kIntUs ? 1000 : 1;
  for (const HostEvent& note : batch->host[static_cast<size_t>(thread)]) {
    if (note.kind != HostKind::kAnnotation) continue;
    std::array<int64_t, kStreams> begin_ns;
    std::array<int64_t, kStreams> end_ns{};
    begin_ns.fill(INT64_MAX);
    for (const DeviceEvent& event : batch->device) {
      const RuntimeCall& call = batch->calls[static_cast<size_t>(event.call)];
      const bool inside =
          call.ts_ns >= note.ts_ns && call.ts_ns + call.dur_ns <= note.ts_ns + note.dur_ns;
      if (call.thread != thread || !inside) continue;
      const size_t stream = static_cast<size_t>(event.stream);
      begin_ns[stream] = std::min(begin_ns[stream], event.ts_ns);
      end_ns[stream] = std::max(end_ns[stream], event.ts_ns + event.dur_ns);
    }
    for (size_t stream = 0; stream < kStreams; ++stream) {
      if (end_ns[stream] == 0) continue;
      batch->annotations.push_back({.ts_ns = begin_ns[stream] - margin_ns,
                                    .dur_ns = end_ns[stream] - begin_ns[stream] + 2 * margin_ns,
                                    .external_id = note.external_id,
                                    .number = note.number,
                                    .name = note.name,
                                    .stream = static_cast<Stream>(stream)});
    }
  }
}

// "Ev Idx" counts in the order of writing: the backward thread comes first.
void RankModel::NumberEvents(StepBatch* batch) {
  for (const Thread thread : {Thread::kBackward, Thread::kMain}) {
    for (HostEvent& event : batch->host[static_cast<size_t>(thread)]) {
      event.event_index = event_index_++;
    }
  }
  for (MemoryEvent& event : batch->memory) event.event_index = event_index_++;
}

JobModel::JobModel(const ScenarioConfig& config, const KernelCatalog& catalog)
    : config_(config), random_(MixSeed(config.seed ^ 0xC011EC71)) {
  for (int rank = 0; rank < config.ranks; ++rank) {
    const int64_t begin_ns = BeginNs(config) + random_.Below(1'500'000);
    ranks_.push_back(std::make_unique<RankModel>(config, catalog, rank, begin_ns));
  }
}

void JobModel::PlanStep(std::vector<StepBatch>* batches) {
  for (size_t i = 0; i < ranks_.size(); ++i) {
    ranks_[i]->PlanUntilCollectives(step_, &(*batches)[i]);
  }
  ResolveCollectives(*batches);
  for (size_t i = 0; i < ranks_.size(); ++i) ranks_[i]->PlanRest(&(*batches)[i]);
  ++step_;
}

// An all-reduce starts on each rank when that rank is ready and ends on all of them together.
void JobModel::ResolveCollectives(const std::vector<StepBatch>& batches) {
  const size_t count = batches[0].collectives.size();
  std::vector<int64_t> start_ns(ranks_.size());
  for (size_t i = 0; i < count; ++i) {
    int64_t last_ns = 0;
    for (size_t rank = 0; rank < ranks_.size(); ++rank) {
      Recorder& recorder = ranks_[rank]->recorder();
      start_ns[rank] =
          std::max(recorder.pending()[i].earliest_ns, recorder.StreamFree(Stream::kComm));
      last_ns = std::max(last_ns, start_ns[rank]);
    }
    // Ranks that are not simulated arrive a little later than the ones that are.
    if (config_.world_size > config_.ranks) last_ns += random_.Below(90'000);
    const int64_t bytes = batches[0].collectives[i].elements * 4;
    const int64_t end_ns = last_ns + 14'000 + random_.Jitter(bytes / 180, 40);
    for (size_t rank = 0; rank < ranks_.size(); ++rank) {
      Recorder& recorder = ranks_[rank]->recorder();
      recorder.Resolve(recorder.pending()[i], start_ns[rank], end_ns);
    }
  }
  for (auto& rank : ranks_) rank->recorder().pending().clear();
}

void StepBatch::Clear() {
  for (auto& events : host) events.clear();
  calls.clear();
  device.clear();
  syncs.clear();
  annotations.clear();
  memory.clear();
  collectives.clear();
  overheads.clear();
  path.clear();
}

}  // namespace borescope::scenario
