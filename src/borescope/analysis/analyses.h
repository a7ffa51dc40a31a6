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
Result<Findings> ReduceSummary(std::span<const Findings> findings, const Params& params);
Result<Findings> FinishSummary(Findings findings, const Params& params);

Result<Findings> MapBreakdown(const RankView& view, const Params& params);

Result<Findings> MapKernels(const RankView& view, const Params& params);
Result<Findings> FinishKernels(Findings findings, const Params& params);

Result<Findings> MapOps(const RankView& view, const Params& params);
Result<Findings> FinishOps(Findings findings, const Params& params);

Result<Findings> MapSteps(const RankView& view, const Params& params);

// Reduces shared by several analyses.
// Rows of all ranks one after another, table by table.
Result<Findings> ConcatFindings(std::span<const Findings> findings, const Params& params);
// The same, then rows with equal keys become one.
Result<Findings> MergeFindings(std::span<const Findings> findings, const Params& params);

}  // namespace borescope
