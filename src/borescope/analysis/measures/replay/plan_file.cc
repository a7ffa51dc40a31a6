#include "borescope/analysis/measures/replay/plan_file.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <utility>

#include "borescope/json/json_document.h"

namespace borescope::internal {
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

// A number, or a text with one; else what is no number.
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
  return NoPlan(fmt::format("\"{}\" is no change", key));
}

Result<std::vector<Change>> ReadChanges(element value) {
  array list;
  if (value.get(list) != simdjson::SUCCESS || list.size() == 0) {
    return NoPlan("\"changes\" is no list with changes");
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
    return NoPlan("a scenario is no object");
  }
  Scenario scenario;
  for (const auto& [key, content] : fields) {
    if (key == "name") {
      BS_ASSIGN(scenario.name, TextOf(key, content));
    } else if (key == "changes") {
      BS_ASSIGN(scenario.changes, ReadChanges(content));
    } else {
      return NoPlan(fmt::format("\"{}\" is no field of a scenario", key));
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
    return NoPlan("\"scenarios\" is no list, or not alone");
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
