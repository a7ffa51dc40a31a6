// Hardware counters: their columns and values, which kernel launch each measured range belongs to,
// and what they say about the use of matrix units.
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

// The counters of a trace that become columns of a table, in order of first appearance.
struct CounterColumns {
  std::map<uint32_t, size_t> number;  // StringId of the name -> place among the counters
  std::vector<StringId> names;
  int64_t left_out = 0;  // how many have no column, as there are more than any profiler collects
};

CounterColumns FindCounterColumns(const Trace& trace);

// As many as a table of so many rows has at most.
size_t MostCounterColumns(size_t rows);

// One value for each of columns.names; nullopt where the range has none. REQUIRES: `range` is a
// profiler range.
std::vector<std::optional<double>> CounterValues(const Trace& trace, DeviceId range,
                                                 const CounterColumns& columns);

// Which kernel launch each profiler range belongs to. Ranges have no correlation number, and the
// writer invents their times as shares of the profiled time, so only their order has a meaning.
// Kernels were replayed one by one, in the order of their launches: on each device the i-th range
// by start belongs to the i-th launch of a kernel by start. If their numbers differ, or a recorded
// kernel has another name than the range at its place, the k-th range with a kernel's name belongs
// to the k-th launch of that kernel, provided that kernels were recorded too; otherwise ranges and
// launches are paired in order as far as both go. A single range for several launches is the sum of
// all of them.
enum class LineupMode : uint8_t {
  kPosition,    // as many ranges as launches
  kNames,       // numbers or recorded names differ: paired by the names of the kernels
  kOrder,       // numbers differ, no kernels recorded: paired in order, as far as both go
  kWholeRange,  // one range over all launches
  kNoLaunches,
};
std::string_view LineupModeName(LineupMode mode);

// A kernel launch: its call, and its kernel if that was recorded.
struct KernelLaunch {
  HostId call;
  DeviceId kernel;
};

struct LinedUpRange {
  DeviceId range;
  KernelLaunch launch;  // invalid where none was found
};

// The ranges of one device, or of all devices if the devices of the launches are unknown.
struct CounterLineup {
  int64_t gpu = kMissing;
  LineupMode mode = LineupMode::kPosition;
  std::vector<LinedUpRange> ranges;    // by start
  std::vector<KernelLaunch> launches;  // by start
  bool times_are_made_up = false;      // there are several ranges, and all are equally long

  int64_t lined_up() const;
};

// Whether the kernel may be that of the range: the range has its name, or has none.
bool NamesAgree(const Trace& trace, DeviceId range, DeviceId kernel);

// One for each device, by device; every range of the trace is in one of them.
std::vector<CounterLineup> LineUpCounters(const RankView& view);

// Whether kernels used matrix units, as hardware counters say where they were recorded
// (`counters`): instructions or operations of the tensor or matrix pipes,
// sm__inst_executed_pipe_tensor*, sm__ops_path_tensor_src_*, SQ_INSTS_VALU_MFMA_*. They count more
// than names.
class MeasuredMatrixUse {
 public:
  explicit MeasuredMatrixUse(const RankView& view);

  // kYes if some counter of the pipes is above 0; kNo if all are 0, unless the kernel has no matrix
  // work; else `by_name`.
  MatrixUse Of(DeviceId kernel, MatrixUse by_name) const;

 private:
  enum class Measured : char { kNothing, kZero, kUsed };

  std::vector<Measured> measured_;  // per device row; empty without such counters
};

// Whether the counter counts work of matrix units.
bool CountsMatrixUnits(std::string_view counter);

}  // namespace borescope::internal
