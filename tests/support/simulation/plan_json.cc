// Reads plans.
#include <simdjson.h>

#include <charconv>
#include <optional>

#include "tests/support/simulation/plan.h"

namespace borescope::simulation {
namespace {

using simdjson::dom::element;

std::optional<double> ParseFactor(std::string_view text) {
  double factor = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), factor);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (!(factor >= 0 && factor <= 1e6)) return std::nullopt;
  return factor;
}

// "class:gemm", "comm": sets the target and its text.
bool ParseTarget(std::string_view what, Change* change) {
  struct Prefix {
    std::string_view text;
    Target target;
  };
  constexpr Prefix kPrefixes[] = {{"kernel:", Target::kKernel},
                                  {"op:", Target::kOp},
                                  {"class:", Target::kClass},
                                  {"phase:", Target::kPhase},
                                  {"host:", Target::kHost}};
  if (what == "comm" || what == "copy") {
    change->target = what == "comm" ? Target::kComm : Target::kCopy;
    return true;
  }
  for (const Prefix& prefix : kPrefixes) {
    if (!what.starts_with(prefix.text)) continue;
    change->target = prefix.target;
    change->text = what.substr(prefix.text.size());
    if (prefix.target == Target::kClass) return FindWorkClass(change->text).has_value();
    if (prefix.target == Target::kPhase) return FindPhase(change->text).has_value();
    return !change->text.empty();
  }
  return false;
}

bool ParseScale(std::string_view text, Change* change) {
  const size_t equals = text.rfind('=');
  if (equals == std::string_view::npos) return false;
  const std::optional<double> factor = ParseFactor(text.substr(equals + 1));
  if (!factor) return false;
  change->factor = *factor;
  return ParseTarget(text.substr(0, equals), change);
}

bool ParseText(std::string_view key, std::string_view text, Change* change) {
  if (key == "scale") return ParseScale(text, change);
  change->text = text;
  if (key == "remove") {
    change->kind = ChangeKind::kRemove;
    change->text.clear();
    return ParseTarget(text, change);
  }
  if (key == "no-data-wait") {
    change->kind = ChangeKind::kNoDataWait;
    change->is_zero = text == "zero";
    return text == "zero" || text == "shortest";
  }
  if (key == "overlap-comm") {
    change->kind = ChangeKind::kOverlapComm;
    change->overlap = text == "events" ? Overlap::kEvents : Overlap::kStreams;
    return text == "streams" || text == "events";
  }
  if (key == "no-sync") {
    change->kind = ChangeKind::kNoSync;
    return true;
  }
  if (key != "graph") return false;
  change->kind = ChangeKind::kGraph;
  return true;
}

bool ParseOther(std::string_view key, const element& value, Change* change) {
  if (key == "launch") {
    double factor = 0;
    if (value.get(factor) != simdjson::SUCCESS || factor < 0 || factor > 1e6) return false;
    change->kind = ChangeKind::kLaunch;
    change->factor = factor;
    return true;
  }
  bool is_on = false;
  if (value.get(is_on) != simdjson::SUCCESS || !is_on) return false;
  if (key == "no-data-wait") change->kind = ChangeKind::kNoDataWait;
  if (key == "overlap-comm") change->kind = ChangeKind::kOverlapComm;
  if (key == "no-straggler") change->kind = ChangeKind::kNoStraggler;
  return key == "no-data-wait" || key == "overlap-comm" || key == "no-straggler";
}

bool ParseMember(std::string_view key, const element& value, Change* change) {
  std::string_view text;
  const bool is_text = value.get(text) == simdjson::SUCCESS;
  if (key == "host") {
    change->keeps_host = text == "kept";
    return text == "kept" || text == "dropped";
  }
  return is_text ? ParseText(key, text, change) : ParseOther(key, value, change);
}

}  // namespace

ParsedPlan ParsePlan(std::string_view json) {
  simdjson::dom::parser parser;
  element root;
  if (const auto error = parser.parse(simdjson::padded_string(json)).get(root)) {
    return {{}, std::string("not JSON: ") + simdjson::error_message(error)};
  }
  simdjson::dom::array changes;
  if (root["changes"].get(changes) != simdjson::SUCCESS) return {{}, "has no list \"changes\""};
  ParsedPlan parsed;
  for (const element& item : changes) {
    simdjson::dom::object members;
    Change change;
    bool is_ok = item.get(members) == simdjson::SUCCESS && members.size() > 0;
    if (is_ok) {
      for (const auto& [key, value] : members) is_ok = is_ok && ParseMember(key, value, &change);
    }
    if (!is_ok) return {{}, "unknown change " + simdjson::minify(item)};
    parsed.plan.push_back(std::move(change));
  }
  return parsed;
}

}  // namespace borescope::simulation
