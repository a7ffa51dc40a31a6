// The functions and options of stacks and graphs.
#pragma once

#include <span>

#include "borescope/analysis/registry.h"

namespace borescope {

Result<void> CheckStacks(const Params& params);
Result<Findings> MapStacks(const RankView& view, const Params& params);
// Trees of call stacks become one.
Result<Findings> ReduceStacks(std::span<const Findings> findings, const Params& params);
Result<Findings> FinishStacks(Findings findings, const Params& params);

Result<Findings> MapGraphs(const RankView& view, const Params& params);
Result<Findings> ConcatFindings(std::span<const Findings> findings, const Params& params);

// stacks
inline constexpr ParamSpec kRootParam{
    "root", "TEXT", "only below frames whose name contains this; all else is one row",
    ParamType::kText};
inline constexpr ParamSpec kDepthParam{
    "depth", "N", "at most N frames deep; what is below is \"(other)\" (default: all)",
    ParamType::kText};
inline constexpr ParamSpec kMinShareParam{
    "min-share", "SHARE",
    "frames with less of the device time and of the host time, as 1% or 0.01, become \"(other)\"",
    ParamType::kText};
inline constexpr ParamSpec kFoldedParam{
    "folded", "", "one row for each stack, \"a;b;c\": the input of flame graphs", ParamType::kFlag};

}  // namespace borescope
