// Kernels that have another name in the test run: another tile, architecture or library computes
// the same operator on the same shapes.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "borescope/analysis/verbs/diff/changes.h"

namespace borescope::internal {

// By side (device: true) and name.
using ChangeKey = std::pair<bool, std::string>;
using Changes = std::map<ChangeKey, NameChange>;

// Makes one row of each two kernels of which one is only in the base run and the other only in the
// test run, both of one class and launched by operators of one name and shape (RunTable::kLaunches
// of either run). If there are several of a class, operator and shape, the one that takes longest
// is paired with the one that takes longest, and so on; without recorded shapes only single ones
// are paired. A kernel is in one pair at most: the one in which both took most time.
void PairRenamedKernels(const Table& base_launches, const Table& test_launches, Changes& changes);

}  // namespace borescope::internal
