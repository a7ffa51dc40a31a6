#include "borescope/analysis/core/instance_counts.h"

#include <algorithm>

namespace borescope::internal {

void InstanceCounts::Add(uint32_t group, int64_t instance) {
  if (instance == kMissing) {
    return;
  }
  const int64_t pair[] = {group, instance};
  const size_t known = pairs_.size();
  if (pairs_.Find(pair) == known) {
    counts_.resize(std::max<size_t>(counts_.size(), group + size_t{1}), 0);
    ++counts_[group];
  }
}

void InstanceCounts::AddColumn(Table& table) const {
  if (is_used_) {
    AddInt(table, "instances", Unit::kCount, Role::kSum,
           "Distinct modules of the class in this row, those of each rank by themselves.");
  }
}

void InstanceCounts::Push(Row& row, uint32_t group) const {
  if (is_used_) {
    row.MaybeInt(group < counts_.size() && counts_[group] > 0 ? counts_[group] : kMissing);
  }
}

}  // namespace borescope::internal
