// NamePatterns: categories of kernel names by regular expressions of the user's own, as in raptor
// of rocmProfileData: {"category": ["expression", ...], ...}. A name belongs to the last category
// of the file with an expression that matches anywhere in it, or to none.
//
// The expressions are RE2's (its syntax has no backreferences and no look-around), because their
// time is linear in the name, whatever the expression: both may be hostile.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/analysis/core/params.h"
#include "borescope/base/result.h"

namespace re2 {
class RE2;
}

namespace borescope::internal {

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

}  // namespace borescope::internal
