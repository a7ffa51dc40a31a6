// What is different in the twin of a run. A change has the name and the value that the options of
// `borescope whatif` have.
//
//   {"changes": [{"scale": "class:gemm=0.5"}, {"remove": "op:aten::gelu"}, {"no-data-wait": true},
//                {"no-sync": "aten::item"}, {"overlap-comm": "streams"}, {"graph":
//                "execute_model"},
//                {"launch": 0.5}]}
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/simulation/config.h"
#include "tests/support/simulation/program.h"

namespace borescope::simulation {

enum class ChangeKind : uint8_t {
  kScale,        // what `target` and `text` name takes `factor` times as long
  kRemove,       // it does not happen, and neither do its launches
  kNoDataWait,   // data is loaded elsewhere: loading takes 0.1 ms, or the shortest time of its rank
                 // if that is less; or no time
  kNoSync,       // waits whose call, or a frame around it, has a name with `text` end at once
  kOverlapComm,  // collectives leave the streams of other work; kEvents: nor does that wait for
                 // them
  kGraph,        // the launches in frames whose name has `text` become graphs, with those of other
                 // threads for which the main one waits there
  kLaunch,       // launch calls take `factor` times as long
  kNoStraggler,  // nothing makes a rank slower than others
};

// What is scaled or removed.
enum class Target : uint8_t {
  kKernel,  // device work whose name has `text`
  kOp,      // device work launched inside of an operator whose name has `text`
  kClass,   // device work of this class
  kComm,    // collectives: their transfer
  kCopy,    // copies and memsets
  kPhase,   // device work of this phase
  kHost,    // host time in frames or calls whose name has `text`; not waiting
};

struct Change {
  ChangeKind kind = ChangeKind::kScale;
  Target target = Target::kKernel;
  std::string text;
  double factor = 1.0;
  // Of a graph: operators still take their time, only the launches are joined.
  bool keeps_host = false;
  // Of kNoDataWait: no time at all.
  bool is_zero = false;
  Overlap overlap = Overlap::kStreams;
};

using Plan = std::vector<Change>;

struct ParsedPlan {
  Plan plan;
  std::string error;  // empty: all is well
};

ParsedPlan ParsePlan(std::string_view json);

// Changes the program, but for kNoDataWait and kNoStraggler, which are no changes of programs.
// Removals come first, then factors, then structure, in whatever order the plan has them.
void ApplyPlan(const Plan& plan, const Constants& constants, Program* program);

}  // namespace borescope::simulation
