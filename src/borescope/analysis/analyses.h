// The functions behind the rows of the registry. Each analysis lives in the file of its name; the
// definitions its numbers rest on stand at the head of that file.
#pragma once

#include <span>
#include <string_view>

#include "borescope/analysis/registry.h"

namespace borescope {

Result<Findings> MapInfo(const RankView& view, const Params& params);

Result<Findings> MapDoctor(const RankView& view, const Params& params);
Result<Findings> FinishDoctor(Findings findings, const Params& params);

Result<Findings> MapSummary(const RankView& view, const Params& params);
Result<Findings> FinishSummary(Findings findings, const Params& params);

Result<Findings> MapBreakdown(const RankView& view, const Params& params);
Result<Findings> FinishBreakdown(Findings findings, const Params& params);

Result<Findings> MapTop(const RankView& view, const Params& params);
Result<Findings> FinishTop(Findings findings, const Params& params);

Result<void> CheckKernels(const Params& params);
Result<Findings> MapKernels(const RankView& view, const Params& params);
Result<Findings> FinishKernels(Findings findings, const Params& params);

Result<void> CheckVariability(const Params& params);
Result<Findings> MapVariability(const RankView& view, const Params& params);
Result<Findings> FinishVariability(Findings findings, const Params& params);

Result<Findings> MapOps(const RankView& view, const Params& params);
Result<Findings> FinishOps(Findings findings, const Params& params);

Result<Findings> MapStacks(const RankView& view, const Params& params);
// The trees of all ranks become one.
Result<Findings> ReduceStacks(std::span<const Findings> findings, const Params& params);
Result<Findings> FinishStacks(Findings findings, const Params& params);

Result<Findings> MapFlame(const RankView& view, const Params& params);
Result<Findings> FinishFlame(Findings findings, const Params& params);

Result<Findings> MapSteps(const RankView& view, const Params& params);

Result<Findings> MapBusy(const RankView& view, const Params& params);

Result<Findings> MapInductor(const RankView& view, const Params& params);
Result<Findings> FinishInductor(Findings findings, const Params& params);
Result<Findings> MapInductorReport(const RankView& view, const Params& params);
Result<Findings> FinishInductorReport(Findings findings, const Params& params);

Result<void> CheckRoofline(const Params& params);
Result<void> CheckInductor(const Params& params);
Result<Findings> MapRoofline(const RankView& view, const Params& params);
Result<Findings> FinishRoofline(Findings findings, const Params& params);

Result<Findings> MapIdle(const RankView& view, const Params& params);

Result<Findings> MapGaps(const RankView& view, const Params& params);
Result<Findings> FinishGaps(Findings findings, const Params& params);

Result<Findings> MapOverlap(const RankView& view, const Params& params);

Result<Findings> MapLaunches(const RankView& view, const Params& params);
Result<Findings> FinishLaunches(Findings findings, const Params& params);

Result<Findings> MapDelays(const RankView& view, const Params& params);
Result<Findings> FinishDelays(Findings findings, const Params& params);

Result<Findings> MapGraphs(const RankView& view, const Params& params);

Result<Findings> MapQueue(const RankView& view, const Params& params);
Result<Overlay> OverlayQueue(const RankView& view, const Params& params);

Result<Findings> MapBandwidth(const RankView& view, const Params& params);
Result<Overlay> OverlayBandwidth(const RankView& view, const Params& params);

Result<Findings> MapSequences(const RankView& view, const Params& params);
Result<Findings> FinishSequences(Findings findings, const Params& params);
Result<Overlay> OverlaySequences(const RankView& view, const Params& params);

Result<Findings> MapAnnotations(const RankView& view, const Params& params);

Result<Findings> MapCollectives(const RankView& view, const Params& params);

Result<Findings> MapStragglers(const RankView& view, const Params& params);
Result<Findings> FinishStragglers(Findings findings, const Params& params);

Result<Findings> MapMemory(const RankView& view, const Params& params);
Result<Findings> FinishMemory(Findings findings, const Params& params);

Result<Findings> MapCounters(const RankView& view, const Params& params);

Result<void> CheckCriticalPath(const Params& params);
Result<Findings> MapCriticalPath(const RankView& view, const Params& params);
Result<Findings> FinishCriticalPath(Findings findings, const Params& params);
Result<Overlay> OverlayCriticalPath(const RankView& view, const Params& params);

Result<void> CheckStats(const Params& params);
Result<Findings> MapStats(const RankView& view, const Params& params);
Result<Findings> FinishStats(Findings findings, const Params& params);

Result<void> CheckProf(const Params& params);
Result<Findings> MapProf(const RankView& view, const Params& params);
Result<Findings> FinishProf(Findings findings, const Params& params);

Result<Findings> MapDiff(const RankView& view, const Params& params);
Result<Findings> CompareDiff(Findings base, Findings test, const Params& params);

// Reduces shared by several analyses.
// Rows of all ranks table by table, ordered by the key column `rank` where there is one; the rows
// of one rank stay in their order. Each rank comes in one piece.
Result<Findings> ConcatFindings(std::span<const Findings> findings, const Params& params);
// The same, then rows with equal keys become one.
Result<Findings> MergeFindings(std::span<const Findings> findings, const Params& params);
// Tables whose first column is `rank` as by ConcatFindings, all others as by MergeFindings.
Result<Findings> ReduceByRank(std::span<const Findings> findings, const Params& params);

}  // namespace borescope
