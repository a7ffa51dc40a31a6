#include "borescope/convert/json_value.h"

#include "borescope/json/json_check.h"

namespace borescope::internal {

bool IsJsonValue(std::string_view text) {
  constexpr size_t kDeepest = 64;
  JsonCheck check;
  return text.find_first_of("\n\r") == std::string_view::npos && check.Take(text) &&
         check.Finish() && check.deepest() < kDeepest;
}

}  // namespace borescope::internal
