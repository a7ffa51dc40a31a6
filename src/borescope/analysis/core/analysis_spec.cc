#include "borescope/analysis/core/analysis_spec.h"

#include <algorithm>
#include <iterator>

namespace borescope::internal {

const Pipeline* AnalysisSpec::FindPipeline(Compat compat) const {
  if (compat == Compat::kNone) {
    return &answer;
  }
  const auto found =
      std::find_if(compats.begin(), compats.end(),
                   [compat](const CompatPipeline& each) { return each.tool == compat; });
  return found == compats.end() ? nullptr : found->pipeline;
}

std::vector<const ParamSpec*> AnalysisSpec::AllParams() const {
  std::vector<const ParamSpec*> all(params.begin(), params.end());
  if (leading != nullptr) {
    all.insert(all.begin(), leading);
  }
  return all;
}

bool AnalysisSpec::TakesAll(Compat compat) const {
  if (compat == Compat::kNone) {
    return takes_all;
  }
  const CompatRow* tool = FindCompat(compat);
  return tool != nullptr && tool->takes_all && FindPipeline(compat) != nullptr;
}

const CompatRow* AnalysisSpec::ToolThatTakesAll() const {
  const auto* tool = std::find_if(std::begin(kCompats), std::end(kCompats),
                                  [this](const CompatRow& row) { return TakesAll(row.id); });
  return tool == std::end(kCompats) ? nullptr : tool;
}

const CompatRow* FindCompat(Compat compat) {
  const auto* row = std::find_if(std::begin(kCompats), std::end(kCompats),
                                 [&](const CompatRow& tool) { return tool.id == compat; });
  return row == std::end(kCompats) ? nullptr : row;
}

std::string_view CompatName(Compat compat) {
  const CompatRow* row = FindCompat(compat);
  return row == nullptr ? std::string_view() : row->name;
}

}  // namespace borescope::internal
