#include "borescope/analysis/measures/replay/changes.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "borescope/analysis/core/selection/phases.h"
#include "borescope/base/text/text.h"
#include "borescope/index/names/kernel_class.h"
#include "borescope/json/json_cursor.h"

namespace borescope::internal {

namespace {

constexpr double kLargestFactor = 1000;
constexpr std::string_view kTargets =
    "kernel:TEXT, op:TEXT, class:NAME, comm, copy, phase:NAME or host:TEXT";

struct TargetRow {
  TargetKind kind;
  std::string_view prefix;
};
constexpr TargetRow kPrefixes[] = {{TargetKind::kKernel, "kernel:"},
                                   {TargetKind::kOp, "op:"},
                                   {TargetKind::kClass, "class:"},
                                   {TargetKind::kPhase, "phase:"},
                                   {TargetKind::kHost, "host:"}};

template <class Enum>
std::string NamesOf(std::string_view (*name)(Enum), Enum count) {
  std::string names;
  for (uint8_t value = 0; value < static_cast<uint8_t>(count); ++value) {
    names += (names.empty() ? "" : ", ") + std::string(name(static_cast<Enum>(value)));
  }
  return names;
}

bool IsClass(std::string_view text) {
  for (uint8_t value = 0; value < static_cast<uint8_t>(KernelClass::kCount); ++value) {
    if (KernelClassName(static_cast<KernelClass>(value)) == text) {
      return true;
    }
  }
  return false;
}

bool IsPhase(std::string_view text) {
  for (uint8_t value = 0; value <= static_cast<uint8_t>(Phase::kOther); ++value) {
    if (PhaseName(static_cast<Phase>(value)) == text) {
      return true;
    }
  }
  return false;
}

Result<void> CheckText(const Change& change) {
  if (change.text.empty()) {
    return UsageError("a name is missing after the colon");
  }
  if (change.target == TargetKind::kClass && !IsClass(change.text)) {
    return UsageError(fmt::format("'{}' is no class", change.text),
                      fmt::format("there are {}", NamesOf(KernelClassName, KernelClass::kCount)));
  }
  if (change.target == TargetKind::kPhase && !IsPhase(change.text)) {
    return UsageError(fmt::format("'{}' is no phase", change.text),
                      fmt::format("there are {}, {}", NamesOf(PhaseName, Phase::kOther),
                                  PhaseName(Phase::kOther)));
  }
  return {};
}

}  // namespace

Result<void> ReadTarget(std::string_view text, Change& change) {
  if (text == "comm" || text == "copy") {
    change.target = text == "comm" ? TargetKind::kComm : TargetKind::kCopy;
    change.text.clear();
    return {};
  }
  for (const TargetRow& row : kPrefixes) {
    if (text.starts_with(row.prefix)) {
      change.target = row.kind;
      change.text = text.substr(row.prefix.size());
      return CheckText(change);
    }
  }
  return UsageError(fmt::format("'{}' names nothing to change", text),
                    fmt::format("write {}", kTargets));
}

Result<double> ReadFactor(std::string_view text) {
  const std::optional<double> factor = ParseNumber<double>(text);
  if (!factor || !std::isfinite(*factor) || *factor < 0 || *factor > kLargestFactor) {
    return UsageError(fmt::format("'{}' is not a factor from 0 to 1000", text));
  }
  return *factor;
}

Result<Change> ReadScale(std::string_view text) {
  const size_t equals = text.rfind('=');
  if (equals == std::string_view::npos) {
    return UsageError(fmt::format("'{}' has no factor", text), "write WHAT=F, as class:gemm=0.5");
  }
  Change change;
  BS_TRY(ReadTarget(text.substr(0, equals), change));
  BS_ASSIGN(change.factor, ReadFactor(text.substr(equals + 1)));
  return change;
}

Result<Change> ReadRemoval(std::string_view text) {
  Change change{.kind = ChangeKind::kRemove, .factor = 0};
  BS_TRY(ReadTarget(text, change));
  return change;
}

Result<double> ReadRoofShare(std::string_view text) {
  const bool is_percent = text.ends_with('%');
  const std::optional<double> number =
      ParseNumber<double>(is_percent ? text.substr(0, text.size() - 1) : text);
  const double share = number.value_or(0) / (is_percent ? 100 : 1);
  if (!number || !(share > 0) || share > 1) {
    return UsageError(fmt::format("'{}' is not a share of a roof", text), "write 0.8 or 80%");
  }
  return share;
}

Result<Change> ReadSpeedOfLight(std::string_view text) {
  Change change{.kind = ChangeKind::kSpeedOfLight};
  const size_t equals = text.rfind('=');
  if (equals != std::string_view::npos) {
    BS_TRY(ReadTarget(text.substr(0, equals), change));
    if (change.target == TargetKind::kHost) {
      return UsageError("the host has no speed of light", "name kernels, or leave WHAT out");
    }
  }
  const std::string_view share = text.substr(equals + 1);  // npos + 1 is 0
  const Result<double> factor = ReadRoofShare(share);
  if (!factor.ok()) {
    return UsageError(fmt::format("'{}' is not a share of the speed of light", share),
                      "write 0.8, 80% or WHAT=0.8");
  }
  change.factor = *factor;
  return change;
}

std::string Describe(const Change& change) {
  std::string what;
  for (const TargetRow& row : kPrefixes) {
    what = row.kind == change.target ? std::string(row.prefix) + change.text : what;
  }
  what = change.target == TargetKind::kComm   ? "comm"
         : change.target == TargetKind::kCopy ? "copy"
                                              : what;
  switch (change.kind) {
    case ChangeKind::kScale:
      return fmt::format("{} x {}", what, change.factor);
    case ChangeKind::kRemove:
      return "without " + what;
    case ChangeKind::kRoof:
      return fmt::format("at least {:g} % of the roof", 100 * change.factor);
    case ChangeKind::kSpeedOfLight:
      return fmt::format("{} at {:g} % of the speed of light or more",
                         what.empty() ? "kernels" : what, 100 * change.factor);
    case ChangeKind::kNoDataWait:
      return "data loaded in the background";
    case ChangeKind::kNoSync:
      return change.text.empty() ? "no wait for the device" : "no wait in " + change.text;
    case ChangeKind::kOverlapComm:
      return "communication overlapped";
    case ChangeKind::kGraph:
      return change.text.empty() ? "launches as graphs" : "launches as graphs in " + change.text;
    case ChangeKind::kLaunch:
      return fmt::format("launch calls x {}", change.factor);
    case ChangeKind::kTensorCores:
      return "products on tensor cores at best";
  }
  return what;
}

namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

constexpr std::string_view kForm = R"(write {"changes": [{"scale": "class:gemm=0.5"}, ...]})";

Error NoPlan(std::string_view cause) {
  return {ErrorCode::kInvalidArgument, std::string(cause), std::string(kForm)};
}

Result<std::string> TextOf(std::string_view key, element value) {
  std::string_view text;
  if (value.get(text) != simdjson::SUCCESS || text.empty()) {
    return NoPlan(fmt::format("\"{}\" has no text", key));
  }
  return std::string(text);
}

// The text of a number, or a text that should be one; else a text that is no number.
std::string NumberText(element value) {
  double number = 0;
  std::string_view text;
  if (value.get(number) == simdjson::SUCCESS) {
    return fmt::format("{}", number);
  }
  return value.get(text) == simdjson::SUCCESS ? std::string(text) : simdjson::minify(value);
}

Result<void> CheckTrue(std::string_view key, element value) {
  bool is_on = false;
  if (value.get(is_on) != simdjson::SUCCESS || !is_on) {
    return NoPlan(fmt::format("\"{}\" is not true", key));
  }
  return {};
}

Result<Change> ReadChange(std::string_view key, element value) {
  if (key == "scale" || key == "remove") {
    BS_ASSIGN(const std::string text, TextOf(key, value));
    return key == "scale" ? ReadScale(text) : ReadRemoval(text);
  }
  if (key == "no-data-wait" || key == "overlap-comm") {
    BS_TRY(CheckTrue(key, value));
    return Change{.kind =
                      key == "overlap-comm" ? ChangeKind::kOverlapComm : ChangeKind::kNoDataWait};
  }
  if (key == "no-sync" || key == "graph") {
    Change change{.kind = key == "graph" ? ChangeKind::kGraph : ChangeKind::kNoSync};
    BS_ASSIGN(change.text, TextOf(key, value));
    return change;
  }
  if (key == "launch") {
    Change change{.kind = ChangeKind::kLaunch};
    BS_ASSIGN(change.factor, ReadFactor(NumberText(value)));
    return change;
  }
  if (key == "roof") {
    Change change{.kind = ChangeKind::kRoof};
    BS_ASSIGN(change.factor, ReadRoofShare(NumberText(value)));
    return change;
  }
  if (key == "speed-of-light") {
    return ReadSpeedOfLight(NumberText(value));
  }
  return NoPlan(fmt::format("\"{}\" is not a change", key));
}

Result<std::vector<Change>> ReadChanges(element value) {
  array list;
  if (value.get(list) != simdjson::SUCCESS || list.size() == 0) {
    return NoPlan("\"changes\" is not a list with changes");
  }
  std::vector<Change> changes;
  for (const element one : list) {
    object fields;
    if (one.get(fields) != simdjson::SUCCESS || fields.size() != 1) {
      return NoPlan("a change is an object with one field");
    }
    for (const auto& [key, content] : fields) {
      BS_ASSIGN(Change change, ReadChange(key, content));
      changes.push_back(std::move(change));
    }
  }
  return changes;
}

Result<Scenario> ReadScenario(element value) {
  object fields;
  if (value.get(fields) != simdjson::SUCCESS) {
    return NoPlan("a scenario is not an object");
  }
  Scenario scenario;
  for (const auto& [key, content] : fields) {
    if (key == "name") {
      BS_ASSIGN(scenario.name, TextOf(key, content));
    } else if (key == "changes") {
      BS_ASSIGN(scenario.changes, ReadChanges(content));
    } else {
      return NoPlan(fmt::format("\"{}\" is not a field of a scenario", key));
    }
  }
  if (scenario.changes.empty()) {
    return NoPlan("a scenario has no \"changes\"");
  }
  if (scenario.name.empty()) {
    scenario.name = DescribeAll(scenario.changes);
  }
  return scenario;
}

}  // namespace

std::string DescribeAll(const std::vector<Change>& changes) {
  std::string text;
  for (const Change& change : changes) {
    text += (text.empty() ? "" : ", ") + Describe(change);
  }
  return text;
}

Result<std::vector<Scenario>> ReadPlan(std::string_view json) {
  simdjson::dom::parser parser;
  element document;
  if (const auto error = ParseDocument(parser, json, document)) {
    return NoPlan(fmt::format("no JSON ({})", simdjson::error_message(error)));
  }
  std::vector<Scenario> scenarios;
  element listed;
  if (document["scenarios"].get(listed) != simdjson::SUCCESS) {
    BS_ASSIGN(Scenario only, ReadScenario(document));
    scenarios.push_back(std::move(only));
    return scenarios;
  }
  array list;
  if (listed.get(list) != simdjson::SUCCESS || document.get_object().size() != 1) {
    return NoPlan("\"scenarios\" is not a list, or not the only field");
  }
  for (const element one : list) {
    BS_ASSIGN(Scenario scenario,
              About(fmt::format("scenario {}", scenarios.size() + 1), ReadScenario(one)));
    scenarios.push_back(std::move(scenario));
  }
  return scenarios.empty() ? Result<std::vector<Scenario>>(NoPlan("\"scenarios\" is empty"))
                           : scenarios;
}

}  // namespace borescope::internal
