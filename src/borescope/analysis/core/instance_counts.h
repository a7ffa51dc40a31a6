// How many modules of a class are in each group of rows: the column `instances` of --by module.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "borescope/analysis/core/group_keys.h"
#include "borescope/analysis/core/grouper.h"
#include "borescope/analysis/core/row.h"

namespace borescope::internal {

// Counts nothing, and makes no column, unless the class of the module is among the keys.
class InstanceCounts {
 public:
  explicit InstanceCounts(const GroupKeys& keys) : is_used_(keys.HasModuleClasses()) {}

  bool is_used() const { return is_used_; }
  // `instance` is that of a row of the group: GroupKeys::ModuleInstance. Nothing for kMissing.
  void Add(uint32_t group, int64_t instance);

  void AddColumn(Table& table) const;
  void Push(Row& row, uint32_t group) const;

  // Every distinct pair of group and instance.
  size_t pairs() const { return pairs_.size(); }
  std::span<const int64_t> pair(size_t i) const { return pairs_.key(i); }

 private:
  bool is_used_;
  Grouper pairs_{2};
  std::vector<int64_t> counts_;  // per group
};

}  // namespace borescope::internal
