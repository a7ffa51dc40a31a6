// What `inductor` and its --compat table share: device work with its category and its compiled
// graph, and the options that say what its time is a part of.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/packs/inductor/generated_code.h"

namespace borescope::internal {

// The folder in which the files of kernels are looked for (generated_code.h).
inline constexpr ParamSpec kInductorCacheParam{
    "inductor-cache", "DIR",
    "read what generated kernels do from their files in this folder (without it no file is read)",
    ParamType::kFolder};

// The files and operators of kernels that Triton launched.
class TritonSources {
 public:
  explicit TritonSources(const RankView& view);

  // The row of TritonLaunches for a piece of device work: that of the operator that launched it, or
  // else (graphs launch many kernels at once) the only file of all operators with its name.
  // kNoDetail if there is none, or several files.
  uint32_t LaunchOf(DeviceId id) const;
  // The recorded file; the empty text if there was none.
  StringId FileOf(DeviceId id) const;
  // The bytes that the launch of the kernel recorded that it reads and writes, or else (for a
  // graph) what all launches of its name recorded; kMissing if there are none, or if they differ.
  int64_t BytesOf(DeviceId id) const;
  InductorCategory CategoryOf(DeviceId id) const;

 private:
  uint32_t DetailOf(HostId op) const;
  void Learn(StringId name, uint32_t launch);

  // What the launches of an operator have in common.
  struct Common {
    uint32_t launch = kNoDetail;  // row of TritonLaunches, if they have one file
    int64_t bytes = kMissing;     // if all of them move as much
    bool is_known = false;
  };
  const RankView& view_;         // outlives this
  std::vector<Common> of_name_;  // per name of an operator
};

// The wall time that shares relate to: the selected windows, or --wall for each of --runs.
int64_t InductorWallNs(const IntervalSet& selected, const Params& params);

// The rows of TorchInductor's own report (--compat inductor).
Result<Tables> MapInductorReport(const RankView& view, const Params& params);
Result<Tables> FinishInductorReport(Tables tables, const Params& params);
Result<void> CheckInductorReport(const Tables& tables, const Params& params);

// The compiled graph of PyTorch to which a piece of device work belongs.

// The graph around each host row, by the ranges with which the compiler wraps its calls: the
// innermost range "## Call CompiledFxGraph HASH ##" has the name HASH; if there is none,
// "Torch-Compiled Region: 0/1" is its own name. Takes O(rows).
class CompiledGraphs {
 public:
  explicit CompiledGraphs(const RankView& view);

  // The graph around the launch of a piece of device work, or else around its operator; empty:
  // none.
  std::string_view Of(DeviceId id) const;

 private:
  const RankView& view_;          // outlives this
  std::vector<HostId> range_of_;  // per host row: the range, or invalid
};

// The name of the graph whose calls a range of this name wraps; empty for any other range.
std::string_view CompiledGraphOf(std::string_view range);

}  // namespace borescope::internal
