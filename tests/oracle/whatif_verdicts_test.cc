// The verdict of a replay as a classifier: recordings that are whole, that lack something, and that
// lie, and how far predictions were from their twins under each verdict.
// docs/how-it-works/whatif.md has the table. The test fails where the page is not what it computes;
// with BORESCOPE_UPDATE=1 in the environment it writes the page.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/oracle/whatif_kit.h"

namespace borescope::internal {
namespace {

using simulation::ProgramKind;
using simulation::SimulationConfig;
using testkit::Prediction;

constexpr uint64_t kSeedsPerProgram = 6;
constexpr size_t kVerdicts = 4;
constexpr std::string_view kBegin = "<!-- computed by whatif_verdicts_test.cc -->\n";
constexpr std::string_view kEnd = "<!-- end of what is computed -->\n";

struct Recording {
  const char* name;
  void (*write)(SimulationConfig& config);
};
constexpr Recording kRecordings[] = {
    {"as it was", [](SimulationConfig&) {}},
    {"waits recorded", [](SimulationConfig& config) { config.has_syncs = true; }},
    {"whole microseconds", [](SimulationConfig& config) { config.has_whole_us = true; }},
    {"clock of the device up to 50 us off",
     [](SimulationConfig& config) { config.device_clock_ns = 50'000; }},
    {"2 % of launches not recorded",
     [](SimulationConfig& config) { config.unlinked_share = 0.02; }},
    {"10 % of launches not recorded",
     [](SimulationConfig& config) { config.unlinked_share = 0.1; }},
    {"30 % of launches not recorded",
     [](SimulationConfig& config) { config.unlinked_share = 0.3; }},
    {"1 % of work written 1 ms late",
     [](SimulationConfig& config) { config.shifted_share = 0.01; }},
    {"5 % of work written 1 ms late",
     [](SimulationConfig& config) { config.shifted_share = 0.05; }},
    {"20 % of work written 1 ms late",
     [](SimulationConfig& config) { config.shifted_share = 0.2; }},
};

constexpr const char* kPlans[] = {R"({"changes":[{"scale":"class:gemm=0.5"}]})",
                                  R"({"changes":[{"scale":"class:pointwise=0.5"}]})",
                                  R"({"changes":[{"scale":"host:aten=0.5"}]})"};

struct Counts {
  std::array<int, kVerdicts> verdicts{};
  std::array<std::vector<double>, kVerdicts> errors;  // without sign

  void Add(const Prediction& prediction) {
    const auto verdict = static_cast<size_t>(prediction.verdict);
    ++verdicts[verdict];
    if (prediction.error) {
      errors[verdict].push_back(std::abs(*prediction.error));
    }
  }
};

Counts CountOf(const Recording& recording) {
  Counts counts;
  for (uint64_t program = 0; program < static_cast<uint64_t>(ProgramKind::kCount); ++program) {
    for (uint64_t seed = 1; seed <= kSeedsPerProgram; ++seed) {
      SimulationConfig honest;
      honest.program = static_cast<ProgramKind>(program);
      honest.seed = 100 + seed;
      honest.jitter = 0.05;
      SimulationConfig recorded = honest;
      recording.write(recorded);
      counts.Add(testkit::Predict(recorded, honest, kPlans[seed % std::size(kPlans)]));
    }
  }
  return counts;
}

std::string ShareWithin(const std::vector<double>& errors, double limit) {
  if (errors.empty()) {
    return "-";
  }
  const auto within =
      std::count_if(errors.begin(), errors.end(), [&](double error) { return error <= limit; });
  return fmt::format("{:.0f} % of {}",
                     100.0 * static_cast<double>(within) / static_cast<double>(errors.size()),
                     errors.size());
}

std::string Page() { return std::string(BORESCOPE_DOCS) + "/how-it-works/whatif.md"; }

std::string ReadPage() {
  std::ifstream file(Page());
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(WhatIfVerdicts, AreThoseOfThePage) {
  std::string table =
      "\n| recording | good | rough | untested | refused |\n| --- | --: | --: | --: | --: |\n";
  Counts all;
  for (const Recording& recording : kRecordings) {
    const Counts counts = CountOf(recording);
    table += fmt::format("| {} | {} | {} | {} | {} |\n", recording.name, counts.verdicts[0],
                         counts.verdicts[1], counts.verdicts[2], counts.verdicts[3]);
    for (size_t verdict = 0; verdict < kVerdicts; ++verdict) {
      all.errors[verdict].insert(all.errors[verdict].end(), counts.errors[verdict].begin(),
                                 counts.errors[verdict].end());
    }
  }
  table +=
      "\n| verdict | within 1 % of a step | within 3 % | within 10 % |\n| --- | --: | --: | --: "
      "|\n";
  for (size_t verdict = 0; verdict + 1 < kVerdicts; ++verdict) {
    const std::vector<double>& errors = all.errors[verdict];
    table += fmt::format(
        "| {} | {} | {} | {} |\n", ReplayVerdictName(static_cast<ReplayVerdict>(verdict)),
        ShareWithin(errors, 0.01), ShareWithin(errors, 0.03), ShareWithin(errors, 0.1));
  }
  table += "\n";
  const std::string page = ReadPage();
  const size_t begin = page.find(kBegin);
  const size_t end = page.find(kEnd);
  ASSERT_NE(begin, std::string::npos);
  ASSERT_NE(end, std::string::npos);
  const size_t from = begin + kBegin.size();
  if (std::getenv("BORESCOPE_UPDATE") != nullptr) {
    std::ofstream(Page()) << page.substr(0, from) << table << page.substr(end);
    return;
  }
  EXPECT_EQ(page.substr(from, end - from), table)
      << "Read what changed; BORESCOPE_UPDATE=1 in the environment records it.";
}

}  // namespace
}  // namespace borescope::internal
