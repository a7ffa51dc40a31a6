#include "tests/support/scenario_config.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <charconv>

namespace borescope::scenario {
namespace {

// In the order of `Fault`.
constexpr std::array<std::string_view, static_cast<size_t>(Fault::kCount)> kFaultNames = {
    "none",
    "missing-launch",
    "orphan-launch",
    "negative-duration",
    "impossible-duration",
    "kernel-before-launch",
    "stream-overlap",
    "duplicate-correlation",
    "clock-jump",
    "nan-value",
    "bad-utf8",
    "control-char",
    "unescaped-quote",
    "big-integer",
    "duplicate-key",
    "null-args",
    "string-numbers",
    "missing-field",
    "truncated",
};

constexpr std::array<std::string_view, 2> kVendorNames = {"nvidia", "amd"};
constexpr std::array<std::string_view, 3> kEraNames = {"int-us", "float-us", "ns"};
constexpr std::array<std::string_view, 4> kLayoutNames = {"kineto", "compact", "oneline",
                                                          "indent4"};
constexpr std::array<std::string_view, 3> kBasePlaceNames = {"none", "before", "after"};

std::optional<FaultRequest> ParseFault(std::string_view text) {
  FaultRequest request{.fault = Fault::kNone, .count = 1};
  const size_t colon = text.find(':');
  if (colon != std::string_view::npos) {
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, request.count);
    if (error != std::errc() || stop != end || request.count < 0) return std::nullopt;
  }
  const std::optional<Fault> fault = FindFault(text.substr(0, colon));
  if (!fault) return std::nullopt;
  request.fault = *fault;
  return request;
}

}  // namespace

std::string_view FaultName(Fault fault) { return kFaultNames[static_cast<size_t>(fault)]; }

std::optional<Fault> FindFault(std::string_view name) {
  for (size_t i = 1; i < kFaultNames.size(); ++i) {
    if (kFaultNames[i] == name) return static_cast<Fault>(i);
  }
  return std::nullopt;
}

bool IsTextFault(Fault fault) { return fault >= Fault::kNanValue && fault < Fault::kTruncated; }

std::string_view VendorName(Vendor vendor) { return kVendorNames[static_cast<size_t>(vendor)]; }
std::string_view EraName(Era era) { return kEraNames[static_cast<size_t>(era)]; }
std::string_view LayoutName(LayoutKind kind) { return kLayoutNames[static_cast<size_t>(kind)]; }
std::string_view BasePlaceName(BasePlace p) { return kBasePlaceNames[static_cast<size_t>(p)]; }

void ScenarioConfig::Normalize() {
  if (world_size < ranks) world_size = ranks;
  if (era == Era::kIntUs) absolute = true;
  // A base added to absolute times would give dates in the next century.
  if (absolute || bare_list) base_time = BasePlace::kNone;
}

std::optional<std::vector<FaultRequest>> ParseFaults(std::string_view text) {
  std::vector<FaultRequest> requests;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::optional<FaultRequest> request = ParseFault(text.substr(0, comma));
    if (!request) return std::nullopt;
    requests.push_back(*request);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return requests;
}

std::optional<int64_t> ParseSize(std::string_view text) {
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 0) return std::nullopt;
  std::string unit(stop, text.data() + text.size());
  for (char& c : unit) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  if (unit.size() == 2 && unit[1] == 'B') unit.pop_back();
  double factor = 0;
  if (unit.empty() || unit == "B") factor = 1;
  if (unit == "K") factor = 1e3;
  if (unit == "M") factor = 1e6;
  if (unit == "G") factor = 1e9;
  if (factor == 0) return std::nullopt;
  return static_cast<int64_t>(value * factor);
}

std::string ConfigToJson(const ScenarioConfig& c) {
  return fmt::format(
      R"({{"ranks": {}, "world_size": {}, "steps": {}, "seed": {}, "layers": {}, "vendor": "{}", )"
      R"("era": "{}", "layout": "{}", "base_time": "{}", "absolute": {}, "bare_list": {}, )"
      R"("with_stack": {}, "with_shapes": {}, "with_memory": {}, "cuda_graph": {}, )"
      R"("known_path": {}, "straggler": {}, "size_bytes": {}}})",
      c.ranks, c.world_size, c.steps, c.seed, c.layers, VendorName(c.vendor), EraName(c.era),
      LayoutName(c.layout), BasePlaceName(c.base_time), c.absolute, c.bare_list, c.with_stack,
      c.with_shapes, c.with_memory, c.cuda_graph, c.known_path, c.straggler, c.size_bytes);
}

}  // namespace borescope::scenario
