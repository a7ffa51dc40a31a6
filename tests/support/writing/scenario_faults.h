// Plants faults into planned steps. Each request's events are spread over ranks and steps by the
// seed; what a step has no fitting event for is planted in a later one.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tests/support/model/scenario_batch.h"
#include "tests/support/model/scenario_random.h"

namespace borescope::scenario {

// REQUIRES: Apply is called once per rank and step, steps in order, on final (written) times.
class FaultInjector {
 public:
  FaultInjector(const ScenarioConfig& config, const KernelCatalog& catalog);

  void Apply(int rank, StepBatch* batch);
  bool Truncates(int rank) const;

 private:
  struct Planned {
    Fault fault = Fault::kNone;
    int rank = 0;
    int64_t step = 0;
  };
  using Indexes = std::vector<size_t>;

  bool Plant(Fault fault, int rank, StepBatch* batch);
  bool PlantMissingLaunch(StepBatch* batch);
  bool PlantOrphanLaunch(StepBatch* batch);
  bool PlantNegativeDuration(StepBatch* batch);
  bool PlantImpossibleDuration(StepBatch* batch);
  bool PlantKernelBeforeLaunch(StepBatch* batch);
  bool PlantStreamOverlap(StepBatch* batch);
  bool PlantDuplicateCorrelation(StepBatch* batch);
  bool PlantClockJump(int rank, StepBatch* batch);
  bool PlantInDeviceText(Fault fault, StepBatch* batch);
  bool PlantInHostText(Fault fault, StepBatch* batch);
  bool PlantMissingField(StepBatch* batch);

  void JumpClock(int rank, StepBatch* batch);
  bool IsLonelyLaunch(const StepBatch& batch, const DeviceEvent& event) const;
  bool IsComputeKernel(const DeviceEvent& event) const;

  // One of the indexes, or nothing.
  const size_t* Pick(const Indexes& indexes);

  const ScenarioConfig& config_;
  const KernelCatalog& catalog_;
  Random random_;
  std::vector<Planned> planned_;
  std::vector<bool> truncates_;
  std::vector<int64_t> jump_ns_;
};

}  // namespace borescope::scenario
