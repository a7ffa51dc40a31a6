// What the rules of the verdict have in common: words for parts, and from which shares on a loss is
// worth a word.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "borescope/analysis/core/finish.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/idle/idle_causes.h"
#include "borescope/analysis/measures/names/describe.h"
#include "borescope/analysis/verbs/summary/summary_tables.h"
#include "borescope/base/text/text.h"

namespace borescope::internal {

// Shares of the span from which idle time is worth a word, and worth a warning.
inline constexpr double kIdleWord = 0.05;
inline constexpr double kIdleWarning = 0.10;

inline std::string_view SeverityOfShare(double share) {
  return share >= kIdleWarning ? "warning" : "info";
}

// "3.1 s of 10.2 s (30.4 %)".
inline std::string PartOf(int64_t part_ns, int64_t whole_ns) {
  return fmt::format("{} of {} ({})", FormatTime(part_ns), FormatTime(whole_ns),
                     FormatShare(ShareOf(part_ns, whole_ns)));
}

inline std::string Shorten(std::string_view name) {
  constexpr size_t kLongest = 60;
  return ShortenedName(name, kLongest);
}

// Options of PyTorch are no advice to other programs.
inline std::string AdviceFor(const SummaryTables& tables, std::string_view pytorch,
                             std::string_view others) {
  return std::string(tables.is_pytorch ? pytorch : others);
}

// ", the host mostly in `preprocess`"; nothing if it is not known.
inline std::string MostlyIn(const Table& idle_causes, std::string_view column, size_t row) {
  const std::string& words = Texts(idle_causes, column)[row];
  return words.empty() ? std::string() : ", the host mostly " + words;
}

// The same of the device that waited longest, by column `ns`.
inline std::string MostlyInLongest(const Table& idle_causes, std::string_view ns,
                                   std::string_view column) {
  const IntValues& times = Ints(idle_causes, ns);
  const auto longest = std::max_element(times.begin(), times.end());
  return longest == times.end()
             ? std::string()
             : MostlyIn(idle_causes, column, static_cast<size_t>(longest - times.begin()));
}

inline bool MostKernelsAreShort(const SummaryTables& tables) {
  return ShareOf(SumOf(tables.overview, "short_kernels"), SumOf(tables.overview, "kernels")) > 0.5;
}

// Whether most of the work whose launch is known ran in graphs: then using graphs is no advice.
inline bool IsMostlyGraphs(const SummaryTables& tables) {
  return ShareOf(SumOf(tables.overview, kGraphWork), SumOf(tables.overview, kLaunchedWork)) > 0.5;
}

}  // namespace borescope::internal
