// StepPattern: the annotations that are steps, by a regular expression over their names.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "borescope/base/result.h"

namespace re2 {
class RE2;
}  // namespace re2

namespace borescope::internal {

class StepPattern {
 public:
  ~StepPattern();
  StepPattern(StepPattern&&) noexcept;
  StepPattern& operator=(StepPattern&&) noexcept;

  // kInvalidArgument for a text that is not a regular expression of RE2.
  static Result<StepPattern> Parse(std::string_view text);

  // Whether it matches anywhere in the name.
  bool Matches(std::string_view name) const;

 private:
  explicit StepPattern(std::unique_ptr<re2::RE2> expression);

  std::unique_ptr<re2::RE2> expression_;
};

}  // namespace borescope::internal
