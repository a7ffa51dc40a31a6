// How long everything takes: the program's own times, with jitter, noise of steps and of the run,
// stragglers, slow steps and changes.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "tests/support/simulation/config.h"
#include "tests/support/simulation/draws.h"
#include "tests/support/simulation/program.h"
#include "tests/support/simulation/run.h"

namespace borescope::simulation {

// A time between two times that belongs to the machine.
enum class Lag : uint8_t {
  kLaunch,
  kCopyLaunch,
  kGraphLaunch,
  kGap,
  kGraphGap,
  kEvent,
  kReturn,
  kUnblock,
  kHandOver,
};

// What a lag belongs to.
struct LagPlace {
  int32_t rank = 0;
  int32_t thread = 0;
  int32_t step = 0;
  int32_t item = 0;
};

class Costs {
 public:
  // Both must outlive this.
  Costs(const SimulationConfig& config, const Program& program);

  int64_t HostNs(int32_t rank, int32_t thread, const Instruction& instruction);
  int64_t WorkNs(int32_t rank, const Work& work);
  int64_t LagNs(Lag lag, const LagPlace& place) const;
  // Of all ranks of a group.
  int64_t TransferNs(const Work& work, const std::vector<int32_t>& ranks, int32_t group);
  // How much later than the first the rank leaves.
  int64_t TailNs(int32_t rank, const Work& work) const;
  int64_t StartNs(int32_t rank);
  // Of the matrix that the operator multiplies.
  int64_t Rows(int32_t rank, const Instruction& instruction) const;
  RankClock ClockOf(int32_t rank, int64_t middle_ns) const;

  // What was added so far, by rank, step and cause.
  std::vector<PlantedRow> Planted() const;

 private:
  double Factor(Draw draw, int32_t rank, int32_t thread, int32_t step, int32_t item) const;
  double StepFactor(int32_t rank, int32_t step) const;
  void MakeStepFactors();
  void MakeNominalStep();
  int64_t OfStep(double percent) const;
  int64_t StragglerHostNs(int32_t rank, const Instruction& instruction, int64_t ns);
  int64_t SlowHostNs(int32_t rank, int32_t thread, const Instruction& instruction, int64_t ns);
  int64_t StragglerWorkNs(int32_t rank, const Work& work, int64_t ns);
  int64_t SlowWorkNs(int32_t rank, const Work& work, int64_t ns);
  int64_t Plant(int32_t rank, int32_t step, std::string_view cause, int64_t ns);
  double Swing(Draw draw, int32_t step) const;

  const SimulationConfig& config_;
  const Program& program_;
  double host_factor_ = 1.0;
  double device_factor_ = 1.0;
  std::vector<std::vector<double>> step_factors_;  // by rank; empty without noise
  int64_t step_ns_ = 0;                            // about what a step takes
  std::map<std::tuple<int32_t, int32_t, std::string_view>, int64_t> planted_;
};

}  // namespace borescope::simulation
