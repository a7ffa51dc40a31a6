// One rank that carries out a plan, step by step.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/planted/planted_plan.h"

namespace borescope::scenario {

// Of an operator: its name and arguments.
struct OpCall {
  std::string_view name;
  std::string input_dims;
  std::string_view input_types;
};

class PlantedActor {
 public:
  PlantedActor(const PlantConfig& config, const PlantedPlan& plan, int rank, PlantedRank* out,
               Script* script);

  // Everything of the step but its collective.
  void RunStep(size_t step);
  int64_t BeginCollective() { return machine_.BeginCollective(); }
  void EndCollective(int64_t end_ns) { machine_.EndCollective(end_ns); }
  void Finish();

 private:
  void RunItem(size_t item);
  // Whether it could be done here: a host that is hardly ahead of the device has nothing to wait
  // for.
  bool Perform(const PlantSite& site, size_t item);
  // Launches by an operator with these arguments; returns for how long the device was idle.
  int64_t LaunchIn(const OpCall& op, const std::vector<MachineWork>& works,
                   const LaunchAs& as = {});
  void CallInOperator();
  // The next work of the program: products of matrices.
  int64_t LaunchItem(size_t item, const LaunchAs& as = {});
  void LaunchMemoryBound(int64_t ns);
  void LaunchFp32Product(int64_t ns);
  // Work from before the recording, of the program itself.
  void InheritSteps();
  // The host waits until the device has hardly anything left to do.
  void CatchUp();
  void Allocate(const PlantSite& site, size_t item);
  void RunOptimizer();
  // A number of launches that is the same whenever the program runs: until they cost `ns`.
  template <class Launch>
  void RepeatUntil(int64_t ns, const Launch& launch);
  int64_t PerformLaunch(Cause cause, int64_t ns, size_t item);
  void WaitThenWork(int64_t ns);
  void LaunchTiny(const PlantSite& site);
  void LaunchGraph(const PlantSite& site);
  bool IsLate(Cause cause, size_t step) const;
  void ComeLate(size_t step);
  Cause CauseOf(const PlantSite& site) const { return config_.plants[site.plant].cause; }
  void Count(size_t plant, int64_t ns) { out_->truth.planted_ns[plant] += ns; }

  const PlantConfig& config_;
  const PlantedPlan& plan_;
  int rank_;
  PlantedRank* out_;
  Machine machine_;
  int64_t nesting_ = 0;             // operators that call others before each launch
  std::vector<PlantSite> waiting_;  // sites that could not be done yet
  std::vector<int64_t> step_ends_;  // of the work of each step
};

}  // namespace borescope::scenario
