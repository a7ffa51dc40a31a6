// Causes that have a name in the program: the call, operator, optimizer or line of it that costs
// the time, how often it occurs in a step, and what it costs. Each is recognised by what was
// recorded of it alone, so that a rule of the verdict (cause_rules.cc) can say what to change.
// Internal to summary/.
#pragma once

#include <string_view>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/base/result.h"
#include "borescope/table/table.h"

namespace borescope::internal {

// What a row of table named_causes is about.
//   fp32_products  kernels of matrix products and convolutions of 32-bit numbers on vector units,
//                  where the device has matrix units for TF32; `ns` is their device time
//   allocation     calls that allocate or free memory in the steps; `ns` is their host time
//   silent_host    times of 50 ms or more in which a thread that drives devices recorded nothing
//                  but a step, or what is around other events, and in which the device idles; `ns`
//                  is that idle time
//   silent_outside  the same outside of all events of all threads
//   nothing        times of a millisecond or more in which no thread of the host recorded anything,
//                  not even a range or a step around it, and in which the device idles; `name` is
//                  what ends most of them by time; `ns` is that idle time
//   optimizer      launches inside an optimizer that treats each parameter by itself; `ns` is the
//                  idle time of the device around these launches
//   wait           of the places of the program where the host waits for devices (operator, call,
//                  frame of Python) the one after which they idle longest; `count` is how often it
//                  waits there, `ns` the idle time of cause sync after it, `of_ns` after all
inline constexpr std::string_view kFp32Products = "fp32_products";
inline constexpr std::string_view kAllocation = "allocation";
inline constexpr std::string_view kSilentHost = "silent_host";
inline constexpr std::string_view kSilentOutside = "silent_outside";
inline constexpr std::string_view kNothingRecorded = "nothing";
inline constexpr std::string_view kOptimizerLaunches = "optimizer";
inline constexpr std::string_view kNamedWait = "wait";

// What annotations of optimizers contain.
inline constexpr std::string_view kOptimizerMark = "Optimizer.step#";

// Whether a call of this name takes memory from the device or the system, or gives it back.
bool IsAllocationCall(std::string_view name);

// Pauses of the host from this length on are silent.
inline constexpr int64_t kSilentNs = 50'000'000;

// Times without any event of the host from this length on are pauses of the host, and not what
// passes between two calls.
inline constexpr int64_t kNothingNs = 1'000'000;

// Table named_causes of a rank: rank, gpu, cause, name, count, ns, of_ns (what `ns` is a part of:
// the kernel time, the time of steps, the selected time), others (what else there is of its
// kind: all launches, all products), and when it was longest. O(rows log rows).
Result<Table> NamedCausesTable(const RankView& view, const Selection& selection);

}  // namespace borescope::internal
