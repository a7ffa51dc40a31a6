// What one rank brings to its run in `diff`: counts and summed durations, by name, by what device
// work belongs to, and by where kernels were launched.
#pragma once

#include <string>
#include <string_view>

#include "borescope/analysis/core/selection/selection.h"
#include "borescope/trace/tables.h"

namespace borescope::internal {

inline constexpr std::string_view kHostSide = "host";
inline constexpr std::string_view kDeviceSide = "device";

// What device work is grouped by, each group a table of its own.
enum class WorkKey : uint8_t { kClass, kPhase, kAnnotation, kModule, kOperator, kCount };
std::string_view WorkKeyName(WorkKey key);

// Names of work that belongs to none.
inline constexpr std::string_view kNoAnnotation = "(no annotation)";
inline constexpr std::string_view kNoModule = "(no module)";

// The tables of a run, in the order of RunTable; all their columns are keys or sums:
//   diff           side, name, count, total_ns
//   diff_runs      run (empty), ranks, steps, host_events, device_events, inherited_events,
//                  inherited_ns, span_ns
//   diff_work      key (WorkKeyName), name, count, total_ns; every key has all device work but
//                  what was launched before the recording
//   diff_launches  operator, shapes, name, count, total_ns of the kernels of operators
struct RunTable {
  static constexpr size_t kNames = 0;
  static constexpr size_t kSize = 1;
  static constexpr size_t kWork = 2;
  static constexpr size_t kLaunches = 3;
};
Tables SumRun(const RankView& view, const Selected& selected, bool short_names);

// The name under which something of one run is found in another one.

// Without what changes from run to run although the same thing ran:
//   steps               ProfilerStep#12 -> ProfilerStep#*, and all numbers of a server's step
//   addresses           "<function f at 0x7f12ab34cd56>" -> "<function f at 0x*>"
//   lines of functions  "model.py(821): forward" -> "model.py: forward", of Python frames only
std::string MatchedHostName(std::string_view name, HostKind kind);

// Of device work: without addresses.
std::string MatchedWorkName(std::string_view name);

}  // namespace borescope::internal
