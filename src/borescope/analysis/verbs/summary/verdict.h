// The rules of the verdict. A rule reads the tables of the summary and gives at most one finding,
// with the numbers it rests on. To add one: a function, and its row in the array at the end of
// time_rules.cc (what costs device time, and the phases of inference), idle_rules.cc (why devices
// are idle), cause_rules.cc (causes that have a name in the program), rank_rules.cc (what it costs
// that ranks differ), device_rules.cc (what it costs that the devices of one process do),
// host_use.cc (what the host does where no device worked) or verdict.cc (how far the recording can
// be trusted).
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/idle/idle_causes.h"
#include "borescope/analysis/measures/names/describe.h"
#include "borescope/analysis/verbs/summary/evidence.h"
#include "borescope/analysis/verbs/summary/prices.h"
#include "borescope/analysis/verbs/summary/summary_tables.h"
#include "borescope/base/text/text.h"

namespace borescope::internal {

struct Finding {
  std::string title;
  std::string_view severity;
  std::string evidence;
  double value = 0;
  std::string_view unit;  // of the value: share, ratio, count
  std::string help;
  int64_t stake_ns = 0;        // time that could be won; orders the findings
  Lever lever = Lever::kNone;  // what the help advises
  FindingPlace place = {};     // of the strongest evidence
};
using Rule = std::optional<Finding> (*)(const SummaryTables&);

// The advice of a check of `quality` that found something, on the first rank where it did.
std::optional<std::string> HelpOfCheck(const std::vector<QualityRow>& quality,
                                       std::string_view check);

// The ranks on which a check of `quality` found something.
std::vector<int64_t> RanksOfCheck(const std::vector<QualityRow>& quality, std::string_view check);

// The fault of the run, if it has it.
const RunFault* FindFault(const SummaryTables& tables, Diag what);

// What lets the devices idle, a finding for each cause; the most important first.
std::vector<Finding> IdleFindings(const SummaryTables& tables);

// The part of a column of idle_causes that findings about causes with a name are about
// (cause_rules.cc); with `cause`, that of this one.
int64_t IdleOfNamedCauses(const SummaryTables& tables, std::string_view column,
                          std::string_view cause = {});

// What of idle time the findings about devices of one process are about (device_rules.cc).
struct HeldIdle {
  std::map<std::string_view, int64_t>
      by_column;  // of idle_causes, and kLateBegin beside unrecorded
  std::map<std::pair<int64_t, int64_t>, int64_t> of_host_ns;  // host and sync, by rank and GPU

  int64_t In(std::string_view column) const {
    const auto found = by_column.find(column);
    return found == by_column.end() ? 0 : found->second;
  }
  int64_t OfHost(int64_t rank, int64_t gpu) const {
    const auto found = of_host_ns.find({rank, gpu});
    return found == of_host_ns.end() ? 0 : found->second;
  }
};
HeldIdle IdleOfDevices(const SummaryTables& tables);

// Devices that are left out of shares, as they are hardly used.
std::optional<Finding> HardlyUsedDevices(const SummaryTables& tables);

// Where most of the idle time after waits comes from: "; most after aten::item
// (cudaStreamSynchronize), 40 times a step: 18.2 ms". Empty where it is not known.
std::string WordsOfWaits(const SummaryTables& tables);

// What all ranks together lose to those that make them wait; 0 if there is no finding about it.
int64_t LostToLateRanks(const SummaryTables& tables);
// The same with what findings put down to waiting for ranks in turn, for senders and for ranks that
// are not here.
int64_t LostToWaiting(const SummaryTables& tables);

std::span<const Rule> CauseRules();
std::span<const Rule> TimeRules();
std::span<const Rule> RankRules();
std::span<const Rule> DeviceRules();
// What the host does where no device work was recorded (host_use.cc).
std::span<const Rule> HostRules();
std::span<const Rule> QualityRules();
// What a program that generates text does in its phases.
std::span<const Rule> PhaseRules();

// What the rules of the verdict have in common: words for parts, and from which shares on a loss is
// worth a word.

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

// Whether anything says when work ran: reports of counters alone do not, and verbs that rest on it
// are no advice then.
inline bool HasTimeline(const SummaryTables& tables) { return tables.breakdown.rows() > 0; }

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
  return ShareOf(SumOf(tables.overview, &OverviewRow::short_kernels),
                 SumOf(tables.overview, &OverviewRow::kernels)) > 0.5;
}

// Whether most of the work whose launch is known ran in graphs: then using graphs is no advice.
inline bool IsMostlyGraphs(const SummaryTables& tables) {
  return ShareOf(SumOf(tables.overview, &OverviewRow::graph_work),
                 SumOf(tables.overview, &OverviewRow::launched_work)) > 0.5;
}

}  // namespace borescope::internal
