// What a program that generates text does: one line of the phases in which it is, where annotations
// or shapes say which these are. It is about no fault: other rules say what lets the device idle.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/names/describe.h"
#include "borescope/analysis/verbs/summary/cells.h"
#include "borescope/analysis/verbs/summary/verdict_rules.h"

namespace borescope::internal {
namespace {

bool IsMissing(const Table& table, std::string_view column, size_t row) {
  return table.Find(column)->IsMissing(row);
}

// A cell of a column of floats as a whole number; a corrupt recording may hold more than fits.
int64_t Rounded(const Table& table, std::string_view column, size_t row) {
  constexpr double kMost = 9e18;
  return std::llround(std::min(Floats(table, column)[row], kMost));
}

// Whether a row is about a phase that is certain: work outside of steps has none, and what follows
// from a graph alone is inferred.
bool IsCertain(const Table& phases, size_t row) {
  const std::string_view known_by = Texts(phases, "known_by")[row];
  return !IsMissing(phases, "known_by", row) && known_by != "graph";
}

// The first rank that decodes, else the first with a phase: ranks of one model have the same steps.
std::optional<int64_t> RankToTell(const Table& phases) {
  std::optional<int64_t> found;
  for (size_t row = phases.rows(); row > 0; --row) {
    if (IsCertain(phases, row - 1)) {
      found = Ints(phases, "rank")[row - 1];
    }
  }
  for (size_t row = phases.rows(); row > 0; --row) {
    if (IsCertain(phases, row - 1) && Texts(phases, "phase")[row - 1] == "decode") {
      found = Ints(phases, "rank")[row - 1];
    }
  }
  return found;
}

// "decode: 412 steps of 37 requests, 10.8 ms a token, 3,426 tokens/s, 8.7 % idle"
std::string WordsOfPhase(const Table& phases, size_t row) {
  std::string words = fmt::format("{}: {}", Texts(phases, "phase")[row],
                                  FormatCount(Ints(phases, "steps")[row], "step", "steps"));
  if (!IsMissing(phases, "requests", row)) {
    const int64_t requests = Rounded(phases, "requests", row);
    words += " of " + FormatCount(requests, "request", "requests");
  }
  if (!IsMissing(phases, "token_ns", row)) {
    const int64_t token_ns = Rounded(phases, "token_ns", row);
    words += fmt::format(", {} a token", FormatTime(token_ns));
  }
  if (!IsMissing(phases, "tokens_per_second", row)) {
    const int64_t rate = Rounded(phases, "tokens_per_second", row);
    words += fmt::format(", {} tokens/s", FormatCount(rate));
  }
  if (!IsMissing(phases, "busy", row)) {
    const double busy = Floats(phases, "busy")[row];
    words += fmt::format(", {} idle", FormatShare(std::max(0.0, 1 - busy)));
  }
  return words;
}

std::optional<Finding> PhasesOfInference(const SummaryTables& tables) {
  const Table& phases = tables.phases;
  const std::optional<int64_t> rank = RankToTell(phases);
  if (!rank.has_value()) {
    return std::nullopt;
  }
  std::string evidence;
  std::optional<double> idle;  // of decode steps, else of the first phase with periods
  bool is_of_decode = false;
  for (size_t row = 0; row < phases.rows(); ++row) {
    if (Ints(phases, "rank")[row] != *rank || !IsCertain(phases, row)) {
      continue;
    }
    evidence += (evidence.empty() ? "" : "; ") + WordsOfPhase(phases, row);
    const bool is_decode = Texts(phases, "phase")[row] == "decode";
    if (!IsMissing(phases, "busy", row) && !is_of_decode && (is_decode || !idle.has_value())) {
      idle = std::max(0.0, 1 - Floats(phases, "busy")[row]);
      is_of_decode = is_decode;
    }
  }
  if (!idle.has_value()) {
    return std::nullopt;  // single steps, of which nothing shows how long they take
  }
  const bool has_ranks = tables.overview.rows() > 1;
  return Finding{has_ranks ? fmt::format("Inference, phases of rank {}", *rank)
                           : std::string("Inference, by phases"),
                 "info",
                 std::move(evidence),
                 *idle,
                 "share",
                 "`borescope inference` has every step, what each phase spends its time on, and "
                 "how long decoding waits for prefill. Times are as recorded, with what the "
                 "profiler costs.",
                 0,
                 Lever::kNone,
                 {.rank = *rank}};
}

constexpr Rule kPhaseRules[] = {PhasesOfInference};

}  // namespace

std::span<const Rule> PhaseRules() { return kPhaseRules; }

}  // namespace borescope::internal
