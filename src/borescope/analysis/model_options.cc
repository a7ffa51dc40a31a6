#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "borescope/analysis/modelled_work.h"
#include "borescope/analysis/param_specs.h"
#include "borescope/base/check.h"

namespace borescope {

Result<OpModelOptions> ModelOptionsOf(const Params& params) {
  constexpr std::pair<std::string_view, CausalMode> kModes[] = {
      {"exact", CausalMode::kExact}, {"half", CausalMode::kHalf}, {"full", CausalMode::kFull}};
  constexpr int64_t kMostWeight = 1000;
  const std::string_view causal = params.Text(kCausalParam);
  const auto* mode = std::find_if(std::begin(kModes), std::end(kModes),
                                  [&](const auto& row) { return row.first == causal; });
  BS_CHECK(mode != std::end(kModes));
  const int64_t weight = params.Number(kSfuWeightParam);
  if (weight > kMostWeight) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("--sfu-weight {}: expected at most {}", weight, kMostWeight)};
  }
  return OpModelOptions{.causal = mode->second,
                        .transcendental_flops = static_cast<uint32_t>(weight)};
}

}  // namespace borescope
