// The rules of the verdict. A rule reads the tables of the summary and gives at most one finding,
// with the numbers it rests on. To add one: a function, and its row in the array at the end of
// time_rules.cc (what costs device time; idle_rules.cc: why it idles; cause_rules.cc: causes that
// have a name in the program), rank_rules.cc (what costs it
// because ranks differ), phase_rules.cc (phases of inference) or quality_rules.cc (how far the
// recording can be trusted).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/verbs/summary/places.h"
#include "borescope/analysis/verbs/summary/prices.h"
#include "borescope/analysis/verbs/summary/summary_tables.h"

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
std::optional<std::string> HelpOfCheck(const Table& quality, std::string_view check);

// The ranks on which a check of `quality` found something.
std::vector<int64_t> RanksOfCheck(const Table& quality, std::string_view check);

// The fault of the run, if it has it.
const RunFault* FindFault(const SummaryTables& tables, Diag what);

// What lets the devices idle, a finding for each cause; the most important first.
std::vector<Finding> IdleFindings(const SummaryTables& tables);

// Of a column of idle_causes, what findings about causes with a name are about (cause_rules.cc);
// about one of them, if `cause` is there.
int64_t IdleOfNamedCauses(const SummaryTables& tables, std::string_view column,
                          std::string_view cause = {});

// Where most of the idle time after waits comes from: "; most after aten::item
// (cudaStreamSynchronize), 40 times a step: 18.2 ms". Empty where it is not known.
std::string WordsOfWaits(const SummaryTables& tables);

// What all ranks together lose to the one that makes them wait; 0 if there is no finding about it.
int64_t LostToStraggler(const SummaryTables& tables);

std::span<const Rule> CauseRules();
std::span<const Rule> TimeRules();
std::span<const Rule> RankRules();
std::span<const Rule> QualityRules();
// What a program that generates text does in its phases (phase_rules.cc).
std::span<const Rule> PhaseRules();

}  // namespace borescope::internal
