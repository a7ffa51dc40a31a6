// Categories of kernels by the user's own patterns (name_patterns.h), for tables with a row per
// kernel name. They are given at the end, when the rows of all ranks are one, so that each name is
// matched once.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/analysis/core/params.h"
#include "borescope/base/result.h"
#include "borescope/table/table.h"

namespace re2 {
class RE2;
}

namespace borescope::internal {

// NamePatterns: categories of kernel names by regular expressions of the user's own, as in raptor
// of rocmProfileData: {"category": ["expression", ...], ...}. A name belongs to the last category
// of the file with an expression that matches anywhere in it, or to none.
//
// The expressions are RE2's (its syntax has no backreferences and no look-around), because their
// time is linear in the name, whatever the expression: both may be hostile.

// What stands for the category of a name that no expression matches.
inline constexpr std::string_view kNoCategory = "(none)";

class NamePatterns {
 public:
  ~NamePatterns();
  NamePatterns(NamePatterns&&) noexcept;
  NamePatterns& operator=(NamePatterns&&) noexcept;

  // kInvalidArgument, naming the place, for text that is no such JSON and for a bad expression.
  static Result<NamePatterns> Parse(std::string_view json);

  // O(name x expressions). Valid as long as this.
  std::string_view CategoryOf(std::string_view name) const;

 private:
  NamePatterns();

  std::vector<std::string> categories_;
  std::vector<std::pair<size_t, std::unique_ptr<re2::RE2>>> patterns_;  // with their category
};

// The patterns of --patterns; the error names the file. REQUIRES: the option was given.
Result<NamePatterns> PatternsOf(const Params& params);
bool HasPatterns(const Params& params);

// Whether the file of --patterns, if there is one, can be used.
Result<void> CheckPatterns(const Params& params);

// Inserts the key column `category` behind the column `name`. REQUIRES: `table` has `name`.
void AddCategories(Table& table, const NamePatterns& patterns);

// kernel_categories: the rows of the finished table `kernels` by category, and by the keys in front
// of the name.
Table CategoryTable(const Table& kernels, const NamePatterns& patterns);

}  // namespace borescope::internal
