#include "borescope/analysis/verbs/whatif/scenarios.h"

#include <functional>
#include <string>
#include <utility>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/measures/replay/changes.h"

namespace borescope::internal {
namespace {

// What an option was given, in words for its errors.
template <class T>
Result<T> OfOption(const ParamSpec& option, Result<T> result) {
  return OfParameter(ParameterName(option.name), std::move(result));
}

Result<Change> TakeLaunch(std::string_view text) {
  Change change{.kind = ChangeKind::kLaunch};
  BS_ASSIGN(change.factor, ReadFactor(text));
  return change;
}

Result<Change> TakeRoof(std::string_view text) {
  Change change{.kind = ChangeKind::kRoof};
  BS_ASSIGN(change.factor, ReadRoofShare(text));
  return change;
}

Result<Change> TakeSync(std::string_view text) {
  return Change{.kind = ChangeKind::kNoSync, .text = std::string(text)};
}

Result<Change> TakeGraph(std::string_view text) {
  return Change{.kind = ChangeKind::kGraph, .text = std::string(text)};
}

struct OptionOfChange {
  const ParamSpec& option;
  Result<Change> (*read)(std::string_view text);
};
constexpr OptionOfChange kOptions[] = {{kRemoveParam, ReadRemoval}, {kScaleParam, ReadScale},
                                       {kRoofParam, TakeRoof},      {kLaunchParam, TakeLaunch},
                                       {kNoSyncParam, TakeSync},    {kGraphRegionParam, TakeGraph}};

Result<std::vector<Change>> AskedChanges(const Params& params) {
  std::vector<Change> changes;
  for (const OptionOfChange& row : kOptions) {
    for (const std::string_view text : params.Texts(row.option)) {
      BS_ASSIGN(Change change, OfOption(row.option, row.read(text)));
      changes.push_back(std::move(change));
    }
  }
  if (params.Flag(kNoDataWaitParam)) {
    changes.push_back({.kind = ChangeKind::kNoDataWait});
  }
  if (params.Flag(kOverlapCommParam)) {
    changes.push_back({.kind = ChangeKind::kOverlapComm});
  }
  return changes;
}

}  // namespace

Result<std::vector<Scenario>> AskedScenarios(const Params& params) {
  BS_ASSIGN(const std::vector<Change> changes, AskedChanges(params));
  std::vector<Scenario> scenarios;
  scenarios.reserve(changes.size() + 1);
  for (const Change& change : changes) {
    scenarios.push_back({Describe(change), {change}});
  }
  if (changes.size() > 1) {
    scenarios.push_back({"all of these", changes});
  }
  if (const std::string* plan = params.Content(kPlanParam)) {
    BS_ASSIGN(const std::vector<Scenario> planned,
              OfParameter("plan", InFile(params.Text(kPlanParam), ReadPlan(*plan))));
    scenarios.insert(scenarios.end(), planned.begin(), planned.end());
  }
  return scenarios;
}

Result<std::vector<double>> SweepFactors(const Params& params) {
  std::vector<double> factors;
  std::string_view rest = params.Text(kSweepParam);
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    BS_ASSIGN(const double factor, OfOption(kSweepParam, ReadFactor(rest.substr(0, comma))));
    factors.push_back(factor);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return factors;
}

Result<std::vector<Scenario>> SweepScenarios(const Params& params) {
  BS_ASSIGN(const std::vector<double> factors, SweepFactors(params));
  if (factors.empty()) {
    return std::vector<Scenario>();
  }
  const std::vector<std::string_view> scales = params.Texts(kScaleParam);
  if (scales.size() != 1) {
    return UsageError("`sweep` varies the factor of one `scale`", "give exactly one", "sweep");
  }
  BS_ASSIGN(Change change, OfOption(kScaleParam, ReadScale(scales.front())));
  std::vector<Scenario> scenarios;
  scenarios.reserve(factors.size());
  for (const double factor : factors) {
    change.factor = factor;
    scenarios.push_back({Describe(change), {change}});
  }
  return scenarios;
}

}  // namespace borescope::internal
