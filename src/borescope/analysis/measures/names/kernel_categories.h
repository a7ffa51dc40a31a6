// Categories of kernels by the user's own patterns, for tables with a row for each kernel name.
// Categories are assigned at the end, when the rows of all ranks are merged, so that each name is
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
// The expressions are RE2's (without backreferences and look-around): they take time linear in the
// length of the name, even for hostile expressions and names.

// The category of names that no expression matches.
inline constexpr std::string_view kNoCategory = "(none)";

class NamePatterns {
 public:
  ~NamePatterns();
  NamePatterns(NamePatterns&&) noexcept;
  NamePatterns& operator=(NamePatterns&&) noexcept;

  // kInvalidArgument, with the place, for text that is not such JSON and for a bad expression.
  static Result<NamePatterns> Parse(std::string_view json);

  // O(name x expressions). The view is valid as long as this object.
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

// Inserts the key column `category` after the column `name`. REQUIRES: `table` has `name`.
void AddCategories(Table& table, const NamePatterns& patterns);

// kernel_categories: the rows of the finished table `kernels` by category, and by the keys that
// come before the name.
Table CategoryTable(const Table& kernels, const NamePatterns& patterns);

}  // namespace borescope::internal
