// What the rules of the verdict have in common: words for parts, and from which shares on a loss is
// worth a word.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "borescope/analysis/core/finish.h"
#include "borescope/analysis/measures/names/describe.h"
#include "borescope/analysis/verbs/summary/summary_tables.h"
#include "borescope/base/saturating.h"
#include "borescope/base/text/text.h"

namespace borescope::internal {

// Shares of the span from which idle time is worth a word, and worth a warning.
inline constexpr double kIdleWord = 0.05;
inline constexpr double kIdleWarning = 0.10;

// "3.1 s of 10.2 s (30.4 %)".
inline std::string PartOf(int64_t part_ns, int64_t whole_ns) {
  return fmt::format("{} of {} ({})", FormatTime(part_ns), FormatTime(whole_ns),
                     FormatShare(ShareOf(part_ns, whole_ns)));
}

inline std::string Shorten(std::string_view name) {
  constexpr size_t kLongest = 60;
  return ShortenedName(name, kLongest);
}

// The time of all devices about which something is known: a share of it is that of a cost.
inline int64_t ObservedSpan(const SummaryTables& tables) {
  return SubtractSaturating(SumOf(tables.breakdown, "span_ns"),
                            SumOf(tables.idle_causes, "before_recording_ns"));
}

inline bool MostKernelsAreShort(const SummaryTables& tables) {
  return ShareOf(SumOf(tables.overview, "short_kernels"), SumOf(tables.overview, "kernels")) > 0.5;
}

// What findings leave out; nothing if nothing was.
inline std::string LeftOut(int64_t before_recording_ns) {
  return before_recording_ns == 0
             ? std::string()
             : fmt::format("; without {} in which work from before the recording ran",
                           FormatTime(before_recording_ns));
}

}  // namespace borescope::internal
