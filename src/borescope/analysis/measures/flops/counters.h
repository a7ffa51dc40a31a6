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
// all of them. Recorders that do know the launch of a range give both the same correlation number,
// which then decides.
enum class LineupMode : uint8_t {
  kPosition,    // as many ranges as launches
  kNames,       // numbers or recorded names differ: paired by the names of the kernels
  kOrder,       // numbers differ, no kernels recorded: paired in order, as far as both go
  kWholeRange,  // one range over all launches
  kNoLaunches,
  kCorrelation,  // by their numbers
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

// What a counter says about the matrix units of a kernel.
enum class MatrixEvidence : uint8_t {
  kNone,
  // Instructions or cycles of the tensor pipe by kind of instruction
  // (sm__inst_executed_pipe_tensor_op_hmma.sum, sm__pipe_tensor_type_hmma_imma_cycles_active.avg):
  // above 0 they were used; 0 says that these kinds were not.
  kKinds,
  // Operations by the types of their operands (sm__ops_path_tensor_src_bf16_dst_fp32.sum,
  // SQ_INSTS_VALU_MFMA_F16): above 0 they were used; 0 says nothing, as the kernel may have
  // computed with other types.
  kTypes,
  // The whole pipe (sm__inst_executed_pipe_tensor.sum, sm__pipe_tensor_cycles_active.avg): 0 says
  // that they were not used. Above 0 says nothing: since Hopper, copies and random numbers pass
  // through this pipe, too (39 of 72 kernels in a recording of an H100, of which 6 do matrix work).
  kPipe,
};
MatrixEvidence MatrixEvidenceOf(std::string_view counter);

// Whether kernels used matrix units, as hardware counters say where they were recorded
// (`counters`). They count more than names.
class MeasuredMatrixUse {
 public:
  explicit MeasuredMatrixUse(const RankView& view);

  // kYes if some counter shows their use; kNo if counters show that there was none, unless the
  // kernel has no matrix work; else `by_name`.
  MatrixUse Of(DeviceId kernel, MatrixUse by_name) const;

 private:
  enum class Measured : char { kNothing, kZero, kUsed };

  Measured MeasuredIn(const Trace& trace, DeviceId range) const;

  std::vector<MatrixEvidence> evidence_;  // of each StringId
  std::vector<Measured> measured_;        // per device row; empty without such counters
};

}  // namespace borescope::internal
