// The story: a transformer trained data-parallel. Every step loads data, copies it to the device,
// runs forward, backward (with all-reduces that overlap it) and the optimizer.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tests/support/scenario_recorder.h"

namespace borescope::scenario {

// One rank's steps. A step is planned in two halves because its all-reduces end only when the
// slowest rank has arrived. REQUIRES: PlanUntilCollectives, resolve pending(), PlanRest, per step.
class RankModel {
 public:
  RankModel(const ScenarioConfig& config, const KernelCatalog& catalog, int rank, int64_t begin_ns);

  void PlanUntilCollectives(int64_t step, StepBatch* batch);
  void PlanRest(StepBatch* batch);

  Recorder& recorder() { return recorder_; }
  int64_t begin_ns() const { return begin_ns_; }

 private:
  // What autograd remembers of one forward op.
  enum class Grad : uint8_t {
    kDiv,
    kNll,
    kLogSoftmax,
    kAddmm,
    kLayerNorm,
    kGelu,
    kAdd,
    kSdpa,
    kEmbedding
  };
  struct TapeEntry {
    Grad grad;
    int64_t sequence;
    int64_t flow;
    int layer;
    Kernel kernel;  // of the forward op
  };

  // Before the forward pass.
  void LoadData();
  void CopyInputs();
  void CopyInput(int64_t bytes);
  void ZeroGrad();
  void ReplayGraph();

  // Forward; each op goes on the tape.
  void Forward();
  void Block(int layer);
  void Embedding();
  void LayerNorm(int layer);
  void Linear(int layer, int number, Kernel kernel);
  void Attention(int layer);
  void Gelu(int layer);
  void Add(int layer);
  void Loss();
  const TapeEntry& Remember(Grad grad, int layer, Kernel kernel = Kernel::kAdd);
  void AllocateOutput(int64_t bytes);

  // Backward; the tape is read from its end.
  void Backward();
  void BackwardOf(const TapeEntry& entry);
  void LossBackward(const TapeEntry& entry);
  void AddmmBackward(const TapeEntry& entry);
  void LayerNormBackward(const TapeEntry& entry);
  void SdpaBackward(const TapeEntry& entry);
  void PointwiseBackward(const TapeEntry& entry);
  void EmbeddingBackward(const TapeEntry& entry);
  void Accumulate();
  void AllReduce(int64_t elements);

  // A step whose critical path is known, as batch_->path says.
  void BeginKnownPath();
  void EndKnownPath();
  void MarkPath(PathBound bound, PathMark::Of of, size_t index, bool is_end);
  void MarkLastWork(PathBound delay, PathBound work);

  void EndTraining();
  void OptimizerStep();
  void ReadLoss();
  void LogMetrics();
  void AnnotateDevice(Thread thread, StepBatch* batch);
  void NumberEvents(StepBatch* batch);

  const ScenarioConfig& config_;
  Recorder recorder_;
  Recorder* r_ = &recorder_;  // for Scope
  StepBatch* batch_ = nullptr;
  int64_t begin_ns_;
  int64_t step_ = 0;
  int64_t collective_sequence_ = 0;
  int64_t event_index_ = 0;
  StreamMark input_copied_;
  std::vector<TapeEntry> tape_;
};

// All ranks, in lockstep.
class JobModel {
 public:
  JobModel(const ScenarioConfig& config, const KernelCatalog& catalog);

  // Plans the next step of every rank; `batches` has one cleared batch a rank.
  void PlanStep(std::vector<StepBatch>* batches);

  RankModel& rank(int rank) { return *ranks_[static_cast<size_t>(rank)]; }

 private:
  void ResolveCollectives(const std::vector<StepBatch>& batches);

  const ScenarioConfig& config_;
  Random random_;
  int64_t step_ = 0;
  std::vector<std::unique_ptr<RankModel>> ranks_;
};

}  // namespace borescope::scenario
