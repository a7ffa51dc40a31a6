#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/opmodel/devices/tensor_cores.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

// The hardware counters of a trace that become columns of a table, and their values per range.

// In order of first appearance.
struct CounterColumns {
  std::map<uint32_t, size_t> number;  // StringId of the name -> place among the counters
  std::vector<StringId> names;
  int64_t left_out = 0;  // without a column: there are more than any profiler collects
};

CounterColumns FindCounterColumns(const Trace& trace);

// One value for each of columns.names; empty where the range has none. REQUIRES: `range` is one.
std::vector<std::optional<double>> CounterValues(const Trace& trace, DeviceId range,
                                                 const CounterColumns& columns);

// Which kernel launch each profiler range belongs to.
//
// Ranges carry no correlation number, and their times are a share of the profiled time made up by
// the writer, so that only their order means something. Kernels were replayed one by one, in the
// order of their launches: per device the i-th range by start belongs to the i-th launch of a
// kernel by start. Where the numbers differ, or a recorded kernel has another name than the range
// at its place, the k-th range of a kernel's name belongs to the k-th launch of that kernel, if
// kernels were recorded beside the ranges, else ranges and launches are taken in order as far as
// they go. One range over several launches is the sum of them all.

enum class LineupMode : uint8_t {
  kPosition,    // as many ranges as launches
  kNames,       // numbers or recorded names differ: by the names of the kernels
  kOrder,       // numbers differ, no kernels recorded: in order, as far as it goes
  kWholeRange,  // one range over all launches
  kNoLaunches,
};
std::string_view LineupModeName(LineupMode mode);

// A kernel launch: the call, and the kernel where it was recorded.
struct KernelLaunch {
  HostId call;
  DeviceId kernel;
};

struct LinedUpRange {
  DeviceId range;
  KernelLaunch launch;  // invalid where none was found
};

// The ranges of one device, or of all devices where the devices of the launches are unknown.
struct CounterLineup {
  int64_t gpu = kMissing;
  LineupMode mode = LineupMode::kPosition;
  std::vector<LinedUpRange> ranges;    // by start
  std::vector<KernelLaunch> launches;  // by start
  bool times_are_made_up = false;      // several ranges, all of one length

  int64_t lined_up() const;
};

// Whether the kernel may be that of the range: of its name, or the range has none.
bool NamesAgree(const Trace& trace, DeviceId range, DeviceId kernel);

// By device; every range of the trace is in one of them.
std::vector<CounterLineup> LineUpCounters(const RankView& view);

// Whether kernels used matrix units, as hardware counters say where they were recorded
// (`counters`): instructions or operations of the tensor or matrix pipes,
// sm__inst_executed_pipe_tensor*, sm__ops_path_tensor_src_*, SQ_INSTS_VALU_MFMA_*. They decide over
// names.

class MeasuredMatrixUse {
 public:
  explicit MeasuredMatrixUse(const RankView& view);

  // kYes where some counter of the pipes is above 0; kNo where all are 0, unless there is nothing
  // for them to do; else what its name says.
  MatrixUse Of(DeviceId kernel, MatrixUse by_name) const;

 private:
  enum class Measured : char { kNothing, kZero, kUsed };

  std::vector<Measured> measured_;  // per device row; empty without such counters
};

// Whether the counter counts work of matrix units.
bool CountsMatrixUnits(std::string_view counter);

}  // namespace borescope::internal
