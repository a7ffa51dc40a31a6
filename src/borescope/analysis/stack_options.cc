#include "borescope/analysis/stack_options.h"

#include <charconv>
#include <memory>

#include "borescope/analysis/param_specs.h"
#include "borescope/base/text.h"

namespace borescope {
namespace {

// A number from 1 on; 0 without the option.
Result<int64_t> DepthOf(const Params& params) {
  const std::string_view text = params.Text(kDepthParam);
  const int64_t depth = ParseNumber<int64_t>(text).value_or(0);
  if (!text.empty() && depth <= 0) {
    return BadValue(kDepthParam, text, "no number from 1 on");
  }
  return depth;
}

// "1%" or "0.01"; 0 without the option.
Result<double> MinShareOf(const Params& params) {
  const std::string_view text = params.Text(kMinShareParam);
  double number = 0;
  const char* end = std::to_address(text.end());
  const auto [stop, code] = std::from_chars(std::to_address(text.begin()), end, number);
  const bool is_percent = code == std::errc() && std::string_view(stop, end) == "%";
  const double share = is_percent ? number / 100 : number;
  const bool is_share = code == std::errc() && (stop == end || is_percent);
  if (!text.empty() && !(is_share && share >= 0 && share <= 1)) {
    return BadValue(kMinShareParam, text, "no share; write 1% or 0.01");
  }
  return share;
}

}  // namespace

Result<StackCut> StackCutOf(const Params& params) {
  BS_ASSIGN(const int64_t depth, DepthOf(params));
  BS_ASSIGN(const double min_share, MinShareOf(params));
  return StackCut{depth, min_share};
}

}  // namespace borescope
