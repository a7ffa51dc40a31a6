#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/measures/flops/modelled_work.h"
#include "borescope/base/check.h"

namespace borescope::internal {
namespace {

struct ModeRow {
  std::string_view word;  // of --causal
  CausalMode mode;
};
constexpr ModeRow kModes[] = {
    {"exact", CausalMode::kExact}, {"half", CausalMode::kHalf}, {"full", CausalMode::kFull}};

// nullptr where there is none.
constexpr const ModeRow* FindMode(std::string_view word) {
  const auto* row = std::find_if(std::begin(kModes), std::end(kModes),
                                 [&](const ModeRow& one) { return one.word == word; });
  return row == std::end(kModes) ? nullptr : row;
}

// ParseParam lets through the words of the option's value; here each of them, and no other, has to
// have a mode.
constexpr bool HasModeOfEachWord() {
  const std::string_view words = kCausalParam.value;
  size_t found = 0;
  for (size_t at = 0; at <= words.size();) {
    const size_t bar = std::min(words.find('|', at), words.size());
    if (FindMode(words.substr(at, bar - at)) == nullptr) {
      return false;
    }
    found += 1;
    at = bar + 1;
  }
  return found == std::size(kModes) && FindMode(kCausalParam.default_text) != nullptr;
}
static_assert(HasModeOfEachWord(),
              "--causal: a word of kCausalParam without a mode, or the reverse");

}  // namespace

Result<OpModelOptions> ModelOptionsOf(const Params& params) {
  constexpr int64_t kMostWeight = 1000;
  const ModeRow* mode = FindMode(params.Text(kCausalParam));
  BS_CHECK(mode != nullptr);
  const int64_t weight = params.Number(kSfuWeightParam);
  if (weight > kMostWeight) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .cause = fmt::format("`sfu_weight` {}: expected at most {}", weight, kMostWeight),
                 .parameter = "sfu_weight"};
  }
  return OpModelOptions{.causal = mode->mode,
                        .transcendental_flops = static_cast<uint32_t>(weight)};
}

}  // namespace borescope::internal
