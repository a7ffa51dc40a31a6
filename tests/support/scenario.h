// Synthetic GPU traces with known truth: the entry point. An oracle for the product's tests and a
// source of inputs of any size for its benchmarks; shares no code with the product.
//
//   ScenarioConfig  what to make                     scenario_config.h
//   JobModel        what happens, in nanoseconds     scenario_model.h (scenario_recorder.h: time)
//   FaultInjector   what went wrong                  scenario_faults.h
//   RankTruth       what a reader must find          scenario_truth.h
//   TraceWriter     how it is written                scenario_writer.h (scenario_layout.h: blanks)
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "tests/support/model/scenario_ranks.h"
#include "tests/support/scenario_config.h"
#include "tests/support/writing/scenario_sink.h"

namespace borescope::scenario {

struct RunResult {
  bool is_ok = false;  // false: a sink failed
  int64_t steps = 0;
  int64_t events = 0;
  int64_t bytes = 0;  // before compression
  std::string truth_json;
};

// Opens the sink of one rank's file. Nothing: this rank takes part in the job but is not written
// and not part of the truth.
using OpenSink = std::function<std::unique_ptr<Sink>(const RankInfo& info)>;

// Makes the run. Needs memory for one step of each rank, however long the run is.
RunResult RunScenario(ScenarioConfig config, const OpenSink& open);

}  // namespace borescope::scenario
