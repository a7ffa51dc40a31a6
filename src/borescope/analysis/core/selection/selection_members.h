// The single numbers of the lists of a selection: 101 and 7, but not 2..5, of "--step 101,2..5,7".
// A range takes what there is of it; a number of its own that is nowhere is a slip, which an answer
// about the others would hide. A list of which nothing is known is an error (selection.h).
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/params.h"

namespace borescope::internal {

struct SelectionMembers {
  std::set<int64_t> steps;
  std::set<int64_t> gpus;
  std::set<int64_t> streams;
  std::set<int64_t> instances;
};

std::set<int64_t> SinglesOf(const NumberRanges& numbers);

// Those of the selection that the rank does not have. Devices and streams are there if some work
// ran on them.
SelectionMembers FindUnknown(const RankView& view, const Selection& selection);

// The numbers of the selected steps to which no device work of the rank belongs by rule launch;
// none if that rule is not asked for, or the rank has no device work at all. O(rows).
std::set<int64_t> FindStepsWithoutWork(const RankView& view, const Selection& selection);

// Keeps in `unknown` what is in `other`, too: what neither of two ranks has.
void Intersect(SelectionMembers& unknown, const SelectionMembers& other);

// "step 199", "gpu 9": one text for each.
std::vector<std::string> NamesOf(const SelectionMembers& members);

}  // namespace borescope::internal
