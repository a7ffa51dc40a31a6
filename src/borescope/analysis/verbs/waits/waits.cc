// waits: clocks of the ranks in line, every collective divided into waiting, transfer and tail, and
// who made whom wait, by how much, and why. docs/how-it-works/definitions.md has the method.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "borescope/analysis/core/finish.h"
#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/collective_kinds.h"
#include "borescope/analysis/measures/matching/match_calls.h"
#include "borescope/analysis/measures/names/describe.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/analysis/verbs/waits/blame.h"
#include "borescope/analysis/verbs/waits/comm_model.h"
#include "borescope/analysis/verbs/waits/map_waits.h"
#include "borescope/analysis/verbs/waits/wait_run.h"
#include "borescope/base/saturating.h"
#include "borescope/table/table.h"

namespace borescope::internal {

namespace {

// The tables of `waits`, from what is known about all ranks.

constexpr size_t kPreviewWaits = 10;

// "A", "B", ..., "Z", "AA".
std::string Letters(size_t number) {
  std::string text;
  for (++number; number > 0; number = (number - 1) / 26) {
    text.insert(text.begin(), static_cast<char>('A' + (number - 1) % 26));
  }
  return text;
}

// The names of clocks, by their numbers, in the order of their first ranks.
class ClockNames {
 public:
  const std::string& Of(uint32_t clock) {
    return names_.try_emplace(clock, Letters(names_.size())).first->second;
  }

 private:
  std::map<uint32_t, std::string> names_;
};

Table NewClockTable(const WaitRun& run) {
  Table table{"clocks", "Clocks of the ranks", {}};
  AddRankKey(table);
  AddString(table, "clock", Role::kDerived,
            "Ranks with one name seem to share a clock, within the error.");
  AddInt(table, "offset_ns", Unit::kNanoseconds, Role::kDerived,
         "To be added to its times for those of the first rank it met, in the middle of the "
         "recording; an estimate.");
  AddInt(table, "error_ns", Unit::kNanoseconds, Role::kDerived,
         fmt::format("By which the offset may be wrong, if no rank always leaves collectives more "
                     "than {} later than others (--exit-skew).",
                     FormatTime(run.exit_allowance_ns)));
  AddInt(table, "whole_error_ns", Unit::kNanoseconds, Role::kDerived,
         "By which this one offset may be wrong anywhere in the recording; missing where that is "
         "error_ns, as the clock neither drifts nor was set.");
  AddInt(table, "low_ns", Unit::kNanoseconds, Role::kDerived,
         "The least possible offset: none leaves a collective before all have entered it.");
  AddInt(table, "high_ns", Unit::kNanoseconds, Role::kDerived, "The largest possible offset.");
  AddFloat(table, "drift_ppm", Unit::kNone, Role::kDerived,
           "Microseconds per second that are to be added besides; missing for less than 0.1 s, and "
           "where "
           "chance alone explains it.");
  AddString(table, "verdict", Role::kDerived,
            "one clock: with other ranks; aligned; stepped: set while it ran; doubtful: more than "
            "1 in 100 collectives contradict the clocks, so no bounds are certain; not comparable: "
            "too many do; no collectives.");
  AddInt(table, "collectives", Unit::kCount, Role::kDerived, "Collectives found on other ranks.");
  AddInt(table, "contradicted", Unit::kCount, Role::kDerived,
         "Collectives that it left before the last rank entered, or entered after the first had "
         "left, by more than the errors of both clocks: they are not divided.");
  return table;
}

void PushClock(const RankClock& clock, ClockNames& names, Row& row) {
  const bool is_known = clock.verdict != RankClockVerdict::kNoMeetings &&
                        clock.verdict != RankClockVerdict::kNotComparable;
  if (is_known) {
    row.Text(names.Of(clock.clock)).Int(clock.offset_ns).Int(clock.error_ns);
    clock.whole_error_ns > clock.error_ns ? row.Int(clock.whole_error_ns) : row.Missing();
  } else {
    row.Missing().Missing().Missing().Missing();
  }
  row.MaybeInt(clock.low_ns).MaybeInt(clock.high_ns);
  clock.drift.value_or(0) != 0 && is_known ? row.Float(*clock.drift * 1e6) : row.Missing();
  row.Text(RankClockVerdictName(clock.verdict)).Int(clock.meetings).Int(clock.contradicted);
}

// What one rank made others wait, and waited.
struct RankSums {
  Blame caused;
  int64_t waited_ns = 0;
  int64_t dispatch_ns = 0;
  int64_t last_times = 0;
  int64_t collectives = 0;
  std::vector<std::pair<int64_t, LateCause>> causes;  // the largest first
};

void AddCalls(const Tables& tables, const WaitRun& run, std::vector<RankSums>& sums) {
  const Column& dispatch = *tables[2].Find("dispatch_ns");
  for (const WaitCall& call : run.calls) {
    if (call.collective == kNoCollective || !run.collectives[call.collective].is_selected) continue;
    RankSums& rank = sums[call.rank];
    ++rank.collectives;
    AddSaturatingTo(rank.waited_ns, call.parts.skew_ns);
    if (!dispatch.IsMissing(call.row)) {
      AddSaturatingTo(rank.dispatch_ns, std::get<IntValues>(dispatch.values)[call.row]);
    }
  }
  for (const WaitCollective& collective : run.collectives) {
    if (!collective.is_selected || !collective.last.is_certain) continue;
    ++sums[run.calls[collective.first + collective.last.last].rank].last_times;
  }
}

void AddCaused(const BlameSums& blame, std::vector<RankSums>& sums) {
  for (const auto& [key, part] : blame.by_cause) {
    RankSums& rank = key.first == kNobody ? sums.back() : sums[key.first];
    AddSaturatingTo(rank.caused.ns, part.ns);
    AddSaturatingTo(rank.caused.exposed_ns, part.exposed_ns);
    rank.causes.emplace_back(part.ns, key.second);
  }
  for (RankSums& rank : sums) {
    std::stable_sort(rank.causes.begin(), rank.causes.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
  }
}

std::string_view CauseWords(LateCause cause) {
  switch (cause) {
    case LateCause::kCompute:
      return "computing longer";
    case LateCause::kCopy:
      return "copying";
    case LateCause::kComm:
      return "other communication";
    case LateCause::kData:
      return "its host loading data";
    case LateCause::kHost:
      return "its host launching late";
    case LateCause::kSync:
      return "its host waiting for the device";
    case LateCause::kLaunch:
      return "slow launches";
    case LateCause::kDevice:
      return "its device waiting between queued works";
    case LateCause::kBeforeRecording:
      return "what was before the recording";
    case LateCause::kInherited:
      return "what made it late before";
    case LateCause::kWaiting:
      return "waiting in other groups";
    case LateCause::kUnknown:
    case LateCause::kCount:
      break;
  }
  return "unknown idle time";
}

std::string InCollectives(int64_t count) {
  return fmt::format("{} collective{}", FormatCount(count), count == 1 ? "" : "s");
}

std::string Evidence(const RankClock& clock, const RankSums& rank, int64_t all_ns) {
  if (clock.verdict == RankClockVerdict::kNotComparable) {
    return "no clocks make its collectives possible: who waited for whom is not known";
  }
  if (clock.meetings > 0 && rank.collectives == 0) {
    return "none of its collectives is selected";
  }
  if (rank.collectives == 0) {
    return "none of its collectives was found on another rank: recorded at another time, of "
           "another run, by groups of which no other rank is here, or by several groups of one "
           "name";
  }
  if (rank.caused.ns == 0) {
    return fmt::format("nobody waited for it for certain; it waited {} in {}",
                       FormatTime(rank.waited_ns), InCollectives(rank.collectives));
  }
  std::string text = fmt::format(
      "last in {} of {}; made the others wait {} ({} of all): ", FormatCount(rank.last_times),
      InCollectives(rank.collectives), FormatTime(rank.caused.ns),
      FormatShare(ShareOf(rank.caused.ns, all_ns)));
  for (size_t i = 0; i < std::min<size_t>(2, rank.causes.size()); ++i) {
    if (rank.causes[i].first == 0) break;
    text += fmt::format("{}{} by {}", i == 0 ? "" : ", ", FormatTime(rank.causes[i].first),
                        CauseWords(rank.causes[i].second));
  }
  return text;
}

Table NewWaitsByRank() {
  Table table{"waits_by_rank", "Who made others wait", {}};
  AddInt(table, "rank", Unit::kNone, Role::kKey,
         "Rank of the process in the job; missing for waiting of which it is not certain who was "
         "last.");
  AddInt(table, "caused_ns", Unit::kNanoseconds, Role::kDerived,
         "Time that others waited because of it, also where it made another rank late that was "
         "waited for.");
  AddInt(table, "caused_exposed_ns", Unit::kNanoseconds, Role::kDerived,
         "The part of it beside which the waiting rank computed nothing.");
  AddInt(table, "waited_ns", Unit::kNanoseconds, Role::kDerived,
         "Time it waited in collectives for the last rank.");
  AddInt(table, "dispatch_ns", Unit::kNanoseconds, Role::kDerived,
         "From the launch of its collectives, or the end of what their stream ran before, to "
         "their begin.");
  AddInt(table, "last_times", Unit::kCount, Role::kDerived,
         "Collectives that it entered last, by more than the error of the clocks.");
  AddString(table, "main_cause", Role::kDerived, "The largest of its causes in lateness.");
  AddString(table, "evidence", Role::kDerived, "The same in words.");
  return table;
}

void PushRank(const RankSums& sums, const std::string& evidence, Row& row) {
  row.Int(sums.caused.ns).Int(sums.caused.exposed_ns).Int(sums.waited_ns);
  row.Int(sums.dispatch_ns).Int(sums.last_times);
  row.MaybeText(sums.caused.ns == 0 ? std::string_view()
                                    : LateCauseName(sums.causes.front().second));
  row.Text(evidence);
}

Table NewWaitTable() {
  Table table{"waits", "Collectives by the waiting in them", {}, kPreviewWaits};
  AddString(table, "collective", Role::kKey, "What was asked for.");
  AddString(table, "group", Role::kKey, "Name of the process group; missing when not recorded.");
  AddStepKeyOrNone(table);
  AddInt(table, "position", Unit::kNone, Role::kKey,
         "Sequence number where recorded, else the place among its kind in the step, from 0; "
         "before the first step counted back from -1.");
  AddString(table, "called_from", Role::kKey,
            "The nearest operator or annotation around the launch.");
  AddInt(table, "ranks", Unit::kCount, Role::kDerived, "Ranks whose recordings hold it.");
  AddInt(table, "group_size", Unit::kCount, Role::kDerived,
         "Number of ranks in the group: the last one may be one that was not recorded.");
  AddInt(table, "last_rank", Unit::kNone, Role::kDerived,
         "Rank that entered last; missing where that is less than the errors of the clocks.");
  AddInt(table, "lead_ns", Unit::kNanoseconds, Role::kDerived,
         "From the last but one to the last that entered.");
  AddInt(table, "spread_ns", Unit::kNanoseconds, Role::kDerived,
         "From the first to the last that entered.");
  AddInt(table, "skew_ns", Unit::kNanoseconds, Role::kSum,
         "Waiting of all ranks until the last one entered.");
  AddInt(table, "common_ns", Unit::kNanoseconds, Role::kSum,
         "Time of all ranks while all were inside: the transfer.");
  AddInt(table, "tail_ns", Unit::kNanoseconds, Role::kSum,
         "Time of all ranks after the first had left.");
  AddInt(table, "exposed_skew_ns", Unit::kNanoseconds, Role::kSum,
         "The part of skew_ns beside which the waiting rank computed nothing.");
  AddInt(table, "bytes", Unit::kBytes, Role::kDerived, "Size of the message, of one rank.");
  AddFloat(table, "bus_gbps_common", Unit::kGigabytesPerSecond, Role::kDerived,
           "Bus bandwidth while all were inside.");
  AddString(table, "cause", Role::kDerived,
            "By what the last rank was late most, against the medians of the others; tie: "
            "nobody was last for certain; contradicted: no clocks make it possible.");
  AddInt(table, "cause_ns", Unit::kNanoseconds, Role::kDerived, "The part of skew_ns due to it.");
  return table;
}

void PushParts(const WaitCollective& collective, Row& row) {
  if (collective.is_contradicted) {
    row.Missing().Missing().Missing().Missing().Missing().Missing();
  } else {
    row.Int(collective.last.lead_ns).Int(collective.last.spread_ns);
    row.Int(collective.skew_ns).Int(collective.common_ns).Int(collective.tail_ns);
    row.Int(collective.exposed_skew_ns);
  }
  row.MaybeInt(collective.bytes);
}

std::optional<double> BusRate(const WaitCollective& collective, const CollectiveKeys& keys) {
  const int64_t ns = collective.common.first_out_ns - collective.common.all_in_ns;
  if (collective.bytes == kMissing || ns <= 0 || collective.is_contradicted) return std::nullopt;
  for (size_t kind = 0; kind < static_cast<size_t>(CollectiveKind::kCount); ++kind) {
    const auto candidate = static_cast<CollectiveKind>(kind);
    if (CollectiveKindName(candidate) != keys.Text(collective.key_row, "collective")) continue;
    const std::optional<double> factor = BusFactor(candidate, keys.GroupSize(collective.key));
    if (!factor.has_value()) return std::nullopt;
    return *factor * static_cast<double>(collective.bytes) / static_cast<double>(ns);
  }
  return std::nullopt;
}

// Time of all ranks inside of the selected collectives.
struct InsideSums {
  int64_t skew_ns = 0;
  int64_t exposed_ns = 0;  // of skew_ns
  int64_t expected_ns = 0;
  int64_t excess_ns = 0;
  int64_t tail_ns = 0;
  int64_t contradicted_ns = 0;

  int64_t All() const {
    return AddSaturating(AddSaturating(AddSaturating(skew_ns, tail_ns), contradicted_ns),
                         AddSaturating(expected_ns, excess_ns));
  }
};

InsideSums SumInside(const WaitRun& run, const CommModels& models) {
  InsideSums sums;
  for (size_t i = 0; i < run.collectives.size(); ++i) {
    const WaitCollective& collective = run.collectives[i];
    if (!collective.is_selected) continue;
    if (collective.is_contradicted) {
      AddSaturatingTo(sums.contradicted_ns, collective.inside_ns);
      continue;
    }
    AddSaturatingTo(sums.skew_ns, collective.skew_ns);
    AddSaturatingTo(sums.exposed_ns, collective.exposed_skew_ns);
    AddSaturatingTo(sums.tail_ns, collective.tail_ns);
    const int64_t expected = models.ExpectedNs(run, i);
    for (const WaitCall& call : run.CallsOf(collective)) {
      const int64_t at_rate =
          expected == kMissing ? call.parts.common_ns : std::min(expected, call.parts.common_ns);
      AddSaturatingTo(sums.expected_ns, at_rate);
      AddSaturatingTo(sums.excess_ns, call.parts.common_ns - at_rate);
    }
  }
  return sums;
}

Table NewCollectiveTime() {
  Table table{"collective_time", "Where the time inside of collectives went", {}};
  AddString(
      table, "part", Role::kKey,
      "waiting: for the last rank; transfer: all were inside, as long as expected "
      "(comm_model) or where nothing is expected; transfer excess: what it took longer; tail: "
      "after the first had left; contradicted: in collectives that no clocks make possible, which "
      "are not divided.");
  AddInt(table, "total_ns", Unit::kNanoseconds, Role::kSum, "Of all ranks together.");
  AddFloat(table, "share", Unit::kShare, Role::kDerived, "Of all time inside.");
  AddInt(table, "exposed_ns", Unit::kNanoseconds, Role::kSum,
         "The part of waiting beside which the rank computed nothing; missing for other parts.");
  return table;
}

// clocks: what has to be added to the times of each rank.
Table ClockTable(const WaitRun& run) {
  Table table = NewClockTable(run);
  ClockNames names;
  for (size_t place = 0; place < run.ranks.size(); ++place) {
    Row row(table);
    row.Int(run.ranks[place]);
    PushClock(run.clocks.ranks[place], names, row);
  }
  return table;
}

// collective_time: where the time inside of collectives went.
Table CollectiveTimeTable(const WaitRun& run, const CommModels& models) {
  const InsideSums sums = SumInside(run, models);
  const int64_t all_ns = sums.All();
  Table table = NewCollectiveTime();
  const auto add = [&](std::string_view part, int64_t ns) {
    Row row(table);
    row.Text(part).Int(ns).Share(ns, all_ns);
    part == "waiting" ? row.Int(sums.exposed_ns) : row.Missing();
  };
  add("waiting", sums.skew_ns);
  add("transfer", sums.expected_ns);
  add("transfer excess", sums.excess_ns);
  add("tail", sums.tail_ns);
  if (sums.contradicted_ns > 0) add("contradicted", sums.contradicted_ns);
  return table;
}

// waits_by_rank: who made others wait; a row without a rank has what nobody can be blamed for.
Table WaitsByRankTable(const Tables& tables, const WaitRun& run, const BlameSums& blame) {
  std::vector<RankSums> sums(run.ranks.size() + 1);
  AddCalls(tables, run, sums);
  AddCaused(blame, sums);
  int64_t all_ns = 0;
  for (const RankSums& rank : sums) AddSaturatingTo(all_ns, rank.caused.ns);
  Table table = NewWaitsByRank();
  for (size_t place = 0; place < run.ranks.size(); ++place) {
    Row row(table);
    row.Int(run.ranks[place]);
    PushRank(sums[place], Evidence(run.clocks.ranks[place], sums[place], all_ns), row);
  }
  if (sums.back().caused.ns > 0) {
    Row row(table);
    row.Missing().Int(sums.back().caused.ns).Int(sums.back().caused.exposed_ns);
    row.Int(0).Int(0).Int(0).Text("tie");
    row.Text(
        fmt::format("{} of all waiting: the last two ranks entered within the error of "
                    "their clocks",
                    FormatShare(ShareOf(sums.back().caused.ns, all_ns))));
  }
  return Sorted(table, "caused_ns");
}

// lateness: the causes of what each rank made others wait.
Table LatenessTable(const WaitRun& run, const BlameSums& blame) {
  Table table{"lateness", "Why they were late", {}};
  AddInt(table, "rank", Unit::kNone, Role::kKey,
         "Rank of the process in the job; missing as in waits_by_rank.");
  AddString(
      table, "cause", Role::kKey,
      "What it did longer than the other ranks (their medians): compute, copy, "
      "communication, waiting (in other groups, for nobody certain), idle by cause; before "
      "recording: its recording began later; inherited: it was behind in the collective before, "
      "of which it was not the last for certain; tie.");
  AddInt(table, "total_ns", Unit::kNanoseconds, Role::kSum,
         "Time that others waited for that; adds up to caused_ns of the rank.");
  AddFloat(table, "share", Unit::kShare, Role::kDerived, "Of what the rank caused.");
  std::map<uint32_t, int64_t> all_ns;
  for (const auto& [key, part] : blame.by_cause) AddSaturatingTo(all_ns[key.first], part.ns);
  for (const auto& [key, part] : blame.by_cause) {
    if (part.ns == 0) continue;
    Row row(table);
    key.first == kNobody ? row.Missing() : row.Int(run.ranks[key.first]);
    row.Text(key.first == kNobody ? "tie" : LateCauseName(key.second));
    row.Int(part.ns).Share(part.ns, all_ns[key.first]);
  }
  return Sorted(table, "total_ns");
}

// waits: every collective.
Table WaitTable(const WaitRun& run, const CollectiveKeys& keys,
                const std::vector<Lateness>& lateness, const BlameSums& blame) {
  Table table = NewWaitTable();
  for (size_t i = 0; i < run.collectives.size(); ++i) {
    const WaitCollective& collective = run.collectives[i];
    if (!collective.is_selected) continue;
    const bool is_certain = lateness[i].last_rank != kNobody;
    Row row(table);
    row.Text(keys.Text(collective.key_row, "collective"));
    row.MaybeText(keys.Text(collective.key_row, "group")).MaybeInt(collective.step);
    row.Int(collective.position).MaybeText(keys.Text(collective.key_row, "site"));
    row.Count(collective.count).MaybeInt(keys.GroupSize(collective.key));
    is_certain ? row.Int(run.ranks[lateness[i].last_rank]) : row.Missing();
    PushParts(collective, row);
    const std::optional<double> rate = BusRate(collective, keys);
    rate.has_value() ? row.Float(*rate) : row.Missing();
    row.Text(is_certain ? LateCauseName(blame.main_cause[i].cause)
                        : (collective.is_contradicted ? "contradicted" : "tie"));
    is_certain ? row.Int(blame.main_cause[i].ns) : row.Missing();
  }
  return Sorted(table, "skew_ns");
}

Error OneRank() {
  return {ErrorCode::kMissingData, "waits are found by comparing ranks, and this is one rank",
          "give the whole run, for example: borescope waits run/"};
}

bool AreOfOneJob(const Table& ranks) {
  const Column& world = *ranks.Find("world_size");
  for (size_t row = 1; row < ranks.rows(); ++row) {
    if (world.IsMissing(row) || world.IsMissing(0)) continue;
    if (Ints(ranks, "world_size")[row] != Ints(ranks, "world_size")[0]) return false;
  }
  return true;
}

Error DifferentJobs() {
  return {ErrorCode::kMissingData,
          "no collective of one rank was found on another one, and the files say that their jobs "
          "have different sizes: give ranks of one run, recorded at the same time"};
}

Error NothingMatched() {
  return {ErrorCode::kMissingData,
          "no collective of one rank was found on another one: give ranks of one run, recorded at "
          "the same time"};
}

Result<Tables> FinishWaits(Tables tables, const Params& params) {
  if (tables[0].rows() < 2) return OneRank();
  const CollectiveKeys keys(tables[1]);
  WaitRun run = MakeWaitRun(tables, keys, params.Number(kExitSkewParam));
  if (run.collectives.empty() && !AreOfOneJob(tables[0])) return DifferentJobs();
  // Without any collective the answer has no rows; where groups are crowded it says so by rank.
  if (run.collectives.empty() && !run.has_crowded_groups && tables[2].rows() > 0) {
    return NothingMatched();
  }
  DivideCollectives(tables, run);
  const std::vector<Lateness> lateness = ExplainLateness(tables, run);
  const BlameSums blame = SumBlame(lateness);
  const CommModels models = FitCommModels(run, keys);
  return Tables{ClockTable(run),
                CollectiveTimeTable(run, models),
                WaitsByRankTable(tables, run, blame),
                LatenessTable(run, blame),
                WaitTable(run, keys, lateness, blame),
                CommModelTable(models),
                CommSlowTable(run, keys, models)};
}

constexpr const ParamSpec* kParams[] = {&kExitSkewParam};
constexpr std::string_view kRank[] = {"rank"};
constexpr std::string_view kCaused[] = {"caused_ns"};
constexpr std::string_view kPart[] = {"part"};
constexpr std::string_view kTotal[] = {"total_ns"};
constexpr ViewSpec kViews[] = {
    {"collective_time", ViewKind::kBars, "Time inside of collectives", kPart, kTotal},
    {"waits_by_rank", ViewKind::kBars, "Waiting caused by each rank", kRank, kCaused}};

}  // namespace

const AnalysisSpec kWaitsVerb{.name = "waits",
                              .summary = "who made whom wait, by how much and why; clocks in line",
                              .example = "borescope waits run/",
                              .needs = Needs::kCollectiveKernels,
                              .params = kParams,
                              .answer = {.map = MapWaits,
                                         .reduce = ConcatTables,
                                         .finish = FinishWaits,
                                         .check_tables = CheckWaitTables},
                              .views = kViews};

}  // namespace borescope::internal
