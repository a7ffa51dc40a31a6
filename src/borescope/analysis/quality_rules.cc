#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "borescope/analysis/describe.h"
#include "borescope/analysis/row.h"
#include "borescope/analysis/verdict_rules.h"
#include "borescope/base/text.h"

namespace borescope {
namespace {

// Share of device time without a launch from which operators cannot be trusted.
constexpr double kUnlinkedWord = 0.02;

// What was not recorded, and the option that records it where the advice names one.
struct Option {
  std::string_view check;
  std::string_view option;
  std::string_view what;
};
constexpr Option kOptions[] = {{"no-shapes", "record_shapes=True", "shapes of inputs"},
                               {"no-stacks", "with_stack=True", "call stacks"},
                               {"no-steps", "prof.step()", "training steps"}};

std::optional<Finding> Unlinked(const SummaryTables& tables) {
  const Table& quality = tables.quality;
  const auto& shares = std::get<FloatValues>(quality.Find("share")->values);
  std::optional<size_t> worst;
  for (size_t row = 0; row < quality.rows(); ++row) {
    if (Texts(quality, "check")[row] == "unlinked-device-event" && shares[row] >= kUnlinkedWord &&
        (!worst.has_value() || shares[row] > shares[*worst])) {
      worst = row;
    }
  }
  if (!worst.has_value()) {
    return std::nullopt;
  }
  return Finding{"Device work without a recorded launch",
                 "warning",
                 fmt::format("{}, {} of device time on rank {}",
                             FormatCount(Ints(quality, "count")[*worst], "event", "events"),
                             FormatShare(shares[*worst]), Ints(quality, "rank")[*worst]),
                 shares[*worst],
                 "share",
                 Texts(quality, "help")[*worst],
                 0};
}

// The rest of the doctor's warnings, in one line.
std::optional<Finding> OtherWarnings(const SummaryTables& tables) {
  const Table& quality = tables.quality;
  std::vector<std::string> names;
  int64_t cases = 0;
  bool error = false;
  for (size_t row = 0; row < quality.rows(); ++row) {
    const std::string& name = Texts(quality, "check")[row];
    const std::string& severity = Texts(quality, "severity")[row];
    if ((severity != "warning" && severity != "error") || name == "unlinked-device-event" ||
        name == "no-device-work") {
      continue;
    }
    error |= severity == "error";
    cases += Ints(quality, "count")[row];
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(name);
    }
  }
  if (names.empty()) {
    return std::nullopt;
  }
  return Finding{"The recording has faults",
                 error ? "error" : "warning",
                 fmt::format("{}: {}", FormatCount(cases, "case", "cases"), fmt::join(names, ", ")),
                 static_cast<double>(cases),
                 "count",
                 "`borescope doctor` explains each.",
                 0};
}

std::optional<Finding> MissingOptions(const SummaryTables& tables) {
  std::vector<std::string_view> options;
  for (const Option& row : kOptions) {
    if (const std::optional<std::string> help = HelpOfCheck(tables.quality, row.check)) {
      options.push_back(Contains(*help, row.option) ? row.option : row.what);
    }
  }
  if (options.empty()) {
    return std::nullopt;
  }
  return Finding{
      "More could be told from a fuller recording",
      "info",
      fmt::format("not used: {}", fmt::join(options, ", ")),
      static_cast<double>(options.size()),
      "count",
      "Turn these on when profiling next time; `borescope doctor` says what each is for.",
      0};
}

constexpr Rule kQualityRules[] = {Unlinked, OtherWarnings, MissingOptions};

}  // namespace

std::optional<std::string> HelpOfCheck(const Table& quality, std::string_view check) {
  for (size_t row = 0; row < quality.rows(); ++row) {
    if (Texts(quality, "check")[row] == check && Ints(quality, "count")[row] > 0) {
      return Texts(quality, "help")[row];
    }
  }
  return std::nullopt;
}

std::span<const Rule> QualityRules() { return kQualityRules; }

}  // namespace borescope
