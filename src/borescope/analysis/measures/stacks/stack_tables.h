// Tables made of a finished tree of call stacks.
#pragma once

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/measures/stacks/stack_tree.h"
#include "borescope/base/result.h"

namespace borescope::internal {

// Table `stack_frames`: per keys, name and kind the sums over all nodes with that name. Totals
// count a frame inside another of its name with the outermost one, so that recursion inflates
// nothing. REQUIRES: SumTotals.
Table FramesTable(const StackTree& tree);

// Table `folded`: a row for each node with time of its own, its path as the text "a;b;c" that tools
// for flame graphs read. kInvalidArgument when the texts would take more than kMostFoldedBytes.
inline constexpr size_t kMostFoldedBytes = size_t{1} << 30;
Result<Table> FoldedTable(const StackTree& tree);

// A name as it stands in a folded stack: what separates frames and cells there is replaced.
std::string FoldedName(std::string_view name);

// The reduce of tables that WriteStacks made: the trees of all ranks become one.
Result<Tables> ReduceStacks(std::span<const Tables> tables, const Params& params);

// Whether the rows of such tables are in preorder (Pipeline::check_tables).
Result<void> CheckStacks(const Tables& tables, const Params& params);

}  // namespace borescope::internal
