// A program that launches graphs, and the recording in which these graphs were captured, with the
// operator of every kernel. Equal seeds give equal bytes.
//
// Each step launches every graph once, in the order of the captures. Some graphs were captured
// several times, in different modules. Changed captures differ in the last graph: so that the
// others can show that they are not affected.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace borescope::scenario {

enum class CaptureChange {
  kNone,
  kMissing,    // the capture lacks a kernel that the graph runs
  kInserted,   // the capture has a kernel that the graph does not run
  kOther,      // all captures are of other graphs
  kShapes,     // there is a second capture of the same kernels, with other shapes
  kOperators,  // likewise with other operators
  kUnnamed,    // calls do not name their kernels; the same operators ran before the captures
  kCount
};
std::string_view CaptureChangeName(CaptureChange change);

struct CapturedRun {
  std::string execution;  // Kineto JSON
  std::string captures;   // likewise
  // {"columns": ["correlation", "position", "match", "op", "dims", "module"], "rows": [...]}: one
  // row for every kernel of a graph, null for what must not be found.
  std::string truth;
};

CapturedRun MakeCapturedRun(uint64_t seed, CaptureChange change);

}  // namespace borescope::scenario
