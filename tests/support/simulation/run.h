// What happened in a simulated run, in true time: on one clock that all ranks share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/simulation/config.h"
#include "tests/support/simulation/program.h"

namespace borescope::simulation {

struct FrameRow {
  int32_t thread = 0;
  int32_t name = -1;
  int32_t step = 0;
  FrameKind kind = FrameKind::kOp;
  bool is_data = false;
  bool is_step = false;
  int32_t collective = -1;  // that it describes
  int64_t rows = 0;         // of the matrix that it multiplies; 0: it does not
  int64_t id = 0;           // "External id"
  int64_t begin_ns = 0;
  int64_t end_ns = -1;
};

struct CallRow {
  Action action = Action::kLaunch;
  int32_t thread = 0;
  int32_t name = -1;
  int32_t step = 0;
  int32_t stream = 0;
  int32_t event = -1;
  bool is_blocked = false;  // the launch queue was full when it began
  bool waits = false;       // it may wait for device work
  int64_t correlation = 0;
  int64_t op_id = 0;  // "External id" of the operator around it; 0: none
  int64_t begin_ns = 0;
  int64_t end_ns = -1;
  int64_t awaited_ns =
      -1;  // when what it waits for was done; -1: that was before, or it never waits
};

struct WorkRow {
  int32_t work = 0;      // of the program
  int32_t call = 0;      // that launched it
  int32_t position = 0;  // among those of its launch
  int64_t begin_ns = -1;
  int64_t end_ns = -1;
};

struct StepRow {
  int32_t step = 0;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
};

struct RankRun {
  std::vector<FrameRow> frames;  // by begin, on each thread
  std::vector<CallRow> calls;
  std::vector<WorkRow> works;  // by launch
  std::vector<StepRow> steps;  // as the main thread passes through them
  RankClock clock;
  int64_t begin_ns = 0;  // of the first event
  int64_t end_ns = 0;    // of the last
};

// One collective of one group.
struct CollectiveRow {
  int32_t collective = 0;
  int32_t group = 0;  // in its partition
  std::vector<int32_t> ranks;
  std::vector<int32_t> works;  // of each rank: index into its work
  int64_t all_in_ns = -1;      // when the last rank entered
  int64_t transfer_ns = 0;     // from then until the first may leave
};

// Time that was added, or with a sign taken away, by a straggler or a slow step.
struct PlantedRow {
  int32_t rank = 0;
  int32_t step = 0;
  std::string cause;
  int64_t ns = 0;  // of host or device time, wherever that leads
};

struct SimulatedRun {
  SimulationConfig config;
  Program program;  // as changed by the plan
  std::vector<RankRun> ranks;
  std::vector<CollectiveRow> collectives;
  std::vector<PlantedRow> planted;
  std::string error;  // why the program came to a halt; empty: it did not
};

}  // namespace borescope::simulation
