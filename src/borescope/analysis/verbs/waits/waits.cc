// waits: clocks of the ranks in line, every collective divided into waiting, transfer and tail, and
// who made whom wait, by how much, and why. docs/how-it-works/definitions.md has the method.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/analysis/core/keyed_rows.h"
#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/collectives.h"
#include "borescope/analysis/measures/matching/match_calls.h"
#include "borescope/analysis/measures/names/describe.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/analysis/verbs/waits/blame.h"
#include "borescope/analysis/verbs/waits/comm_model.h"
#include "borescope/analysis/verbs/waits/wait_run.h"
#include "borescope/base/saturating.h"
#include "borescope/table/table.h"
#include "borescope/table/typed_rows.h"

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

constexpr size_t kClockVerdicts = static_cast<size_t>(RankClockVerdict::kNoMeetings) + 1;

struct ClockRow {
  int64_t rank = 0;
  std::optional<std::string> clock = {};
  std::optional<int64_t> offset_ns = {};
  std::optional<int64_t> error_ns = {};
  std::optional<int64_t> whole_error_ns = {};
  std::optional<int64_t> low_ns = {};
  std::optional<int64_t> high_ns = {};
  std::optional<double> drift_ppm = {};
  RankClockVerdict verdict = RankClockVerdict::kNoMeetings;
  int64_t collectives = 0;
  int64_t contradicted = 0;

  static constexpr TableNames kTable{"clocks", "Clocks of the ranks"};
  static constexpr ColumnOf<ClockRow> kColumns[] = {
      {"rank", &ClockRow::rank, Role::kKey, kRankDoc},
      {"clock", &ClockRow::clock, Role::kDerived,
       "Ranks with one name seem to share a clock, within the error."},
      {"offset_ns", &ClockRow::offset_ns, Unit::kNanoseconds, Role::kDerived,
       "To be added to its times for those of the first rank it met, in the middle of the "
       "recording; an estimate."},
      {"error_ns", &ClockRow::error_ns, Unit::kNanoseconds, Role::kDerived, ""},
      {"whole_error_ns", &ClockRow::whole_error_ns, Unit::kNanoseconds, Role::kDerived,
       "By which this one offset may be wrong anywhere in the recording; missing where that is "
       "error_ns, as the clock neither drifts nor was set."},
      {"low_ns", &ClockRow::low_ns, Unit::kNanoseconds, Role::kDerived,
       "The least possible offset: none leaves a collective before all have entered it."},
      {"high_ns", &ClockRow::high_ns, Unit::kNanoseconds, Role::kDerived,
       "The largest possible offset."},
      {"drift_ppm", &ClockRow::drift_ppm, Role::kDerived,
       "Microseconds per second that are to be added besides; missing for less than 0.1 s, and "
       "where chance alone explains it."},
      {"verdict", EnumText<&ClockRow::verdict, RankClockVerdictName, kClockVerdicts>(),
       Role::kDerived,
       "one clock: with other ranks; aligned; stepped: set while it ran; doubtful: more than "
       "1 in 100 collectives contradict the clocks, so no bounds are certain; not comparable: "
       "too many do; no collectives."},
      {"collectives", &ClockRow::collectives, Unit::kCount, Role::kDerived,
       "Collectives found on other ranks."},
      {"contradicted", &ClockRow::contradicted, Unit::kCount, Role::kDerived,
       "Collectives that it left before the last rank entered, or entered after the first had "
       "left, by more than the errors of both clocks: they are not divided."}};
};

ClockRow ClockOf(int64_t rank, const RankClock& clock, ClockNames& names) {
  ClockRow row{.rank = rank,
               .low_ns = clock.low_ns,
               .high_ns = clock.high_ns,
               .verdict = clock.verdict,
               .collectives = clock.meetings,
               .contradicted = clock.contradicted};
  if (clock.verdict == RankClockVerdict::kNoMeetings ||
      clock.verdict == RankClockVerdict::kNotComparable) {
    return row;
  }
  row.clock = names.Of(clock.clock);
  row.offset_ns = clock.offset_ns;
  row.error_ns = clock.error_ns;
  if (clock.whole_error_ns > clock.error_ns) row.whole_error_ns = clock.whole_error_ns;
  if (clock.drift.value_or(0) != 0) row.drift_ppm = *clock.drift * 1e6;
  return row;
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

void AddCalls(const Table& calls, const WaitRun& run, std::vector<RankSums>& sums) {
  const Column& dispatch = *calls.Find("dispatch_ns");
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

struct RankRow {
  std::optional<int64_t> rank = {};
  int64_t caused_ns = 0;
  int64_t caused_exposed_ns = 0;
  int64_t waited_ns = 0;
  int64_t dispatch_ns = 0;
  int64_t last_times = 0;
  std::optional<std::string_view> main_cause = {};
  std::string evidence = {};

  static constexpr TableNames kTable{"waits_by_rank", "Who made others wait"};
  static constexpr ColumnOf<RankRow> kColumns[] = {
      {"rank", &RankRow::rank, Role::kKey,
       "Rank of the process in the job; missing for waiting of which it is not certain who was "
       "last."},
      {"caused_ns", &RankRow::caused_ns, Unit::kNanoseconds, Role::kDerived,
       "Time that others waited because of it, also where it made another rank late that was "
       "waited for."},
      {"caused_exposed_ns", &RankRow::caused_exposed_ns, Unit::kNanoseconds, Role::kDerived,
       "The part of it beside which the waiting rank computed nothing."},
      {"waited_ns", &RankRow::waited_ns, Unit::kNanoseconds, Role::kDerived,
       "Time it waited in collectives for the last rank."},
      {"dispatch_ns", &RankRow::dispatch_ns, Unit::kNanoseconds, Role::kDerived,
       "From the launch of its collectives, or the end of what their stream ran before, to "
       "their begin."},
      {"last_times", &RankRow::last_times, Unit::kCount, Role::kDerived,
       "Collectives that it entered last, by more than the error of the clocks."},
      {"main_cause", &RankRow::main_cause, Role::kDerived,
       "The largest of its causes in lateness."},
      {"evidence", &RankRow::evidence, Role::kDerived, "The same in words."}};
};

struct CollectiveRow {
  std::string_view collective = {};
  std::optional<std::string_view> group = {};
  std::optional<int64_t> step = {};
  int64_t position = 0;
  std::optional<std::string_view> called_from = {};
  int64_t ranks = 0;
  std::optional<int64_t> group_size = {};
  std::optional<int64_t> last_rank = {};
  std::optional<int64_t> lead_ns = {};
  std::optional<int64_t> spread_ns = {};
  std::optional<int64_t> skew_ns = {};
  std::optional<int64_t> common_ns = {};
  std::optional<int64_t> tail_ns = {};
  std::optional<int64_t> exposed_skew_ns = {};
  std::optional<int64_t> bytes = {};
  std::optional<double> bus_gbps_common = {};
  std::string_view cause = {};
  std::optional<int64_t> cause_ns = {};

  static constexpr TableNames kTable{"waits", "Collectives by the waiting in them", kPreviewWaits};
  static constexpr ColumnOf<CollectiveRow> kColumns[] = {
      {"collective", &CollectiveRow::collective, Role::kKey, "What was asked for."},
      {"group", &CollectiveRow::group, Role::kKey,
       "Name of the process group; missing when not recorded."},
      {"step", &CollectiveRow::step, Role::kKey, kStepOrNoneDoc},
      {"position", &CollectiveRow::position, Role::kKey,
       "Sequence number where recorded, else the place among its kind in the step, from 0; "
       "before the first step counted back from -1."},
      {"called_from", &CollectiveRow::called_from, Role::kKey,
       "The nearest operator or annotation around the launch."},
      {"ranks", &CollectiveRow::ranks, Unit::kCount, Role::kDerived,
       "Ranks whose recordings hold it."},
      {"group_size", &CollectiveRow::group_size, Unit::kCount, Role::kDerived,
       "Number of ranks in the group: the last one may be one that was not recorded."},
      {"last_rank", &CollectiveRow::last_rank, Role::kDerived,
       "Rank that entered last; missing where that is less than the errors of the clocks."},
      {"lead_ns", &CollectiveRow::lead_ns, Unit::kNanoseconds, Role::kDerived,
       "From the last but one to the last that entered."},
      {"spread_ns", &CollectiveRow::spread_ns, Unit::kNanoseconds, Role::kDerived,
       "From the first to the last that entered."},
      {"skew_ns", &CollectiveRow::skew_ns, Unit::kNanoseconds, Role::kSum,
       "Waiting of all ranks until the last one entered."},
      {"common_ns", &CollectiveRow::common_ns, Unit::kNanoseconds, Role::kSum,
       "Time of all ranks while all were inside: the transfer."},
      {"tail_ns", &CollectiveRow::tail_ns, Unit::kNanoseconds, Role::kSum,
       "Time of all ranks after the first had left."},
      {"exposed_skew_ns", &CollectiveRow::exposed_skew_ns, Unit::kNanoseconds, Role::kSum,
       "The part of skew_ns beside which the waiting rank computed nothing."},
      {"bytes", &CollectiveRow::bytes, Unit::kBytes, Role::kDerived,
       "Size of the message, of one rank."},
      {"bus_gbps_common", &CollectiveRow::bus_gbps_common, Unit::kGigabytesPerSecond,
       Role::kDerived, "Bus bandwidth while all were inside."},
      {"cause", &CollectiveRow::cause, Role::kDerived,
       "By what the last rank was late most, against the medians of the others; tie: "
       "nobody was last for certain; contradicted: no clocks make it possible."},
      {"cause_ns", &CollectiveRow::cause_ns, Unit::kNanoseconds, Role::kDerived,
       "The part of skew_ns due to it."}};
};

std::optional<double> BusRate(const WaitCollective& collective, const CollectiveKeys& keys) {
  const int64_t ns = collective.common.first_out_ns - collective.common.all_in_ns;
  if (collective.bytes == kMissing || ns <= 0 || collective.is_contradicted) return std::nullopt;
  const std::optional<double> factor = BusFactor(collective.kind, keys.GroupSize(collective.key));
  if (!factor.has_value()) return std::nullopt;
  return *factor * static_cast<double>(collective.bytes) / static_cast<double>(ns);
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

struct PartRow {
  std::string_view part = {};
  int64_t total_ns = 0;
  double share = 0;
  std::optional<int64_t> exposed_ns = {};

  static constexpr TableNames kTable{"collective_time",
                                     "Where the time inside of collectives went"};
  static constexpr ColumnOf<PartRow> kColumns[] = {
      {"part", &PartRow::part, Role::kKey,
       "waiting: for the last rank; transfer: all were inside, as long as expected "
       "(comm_model) or where nothing is expected; transfer excess: what it took longer; tail: "
       "after the first had left; contradicted: in collectives that no clocks make possible, which "
       "are not divided."},
      {"total_ns", &PartRow::total_ns, Unit::kNanoseconds, Role::kSum, "Of all ranks together."},
      {"share", &PartRow::share, Unit::kShare, Role::kDerived, "Of all time inside."},
      {"exposed_ns", &PartRow::exposed_ns, Unit::kNanoseconds, Role::kSum,
       "The part of waiting beside which the rank computed nothing; missing for other parts."}};
};

struct LatenessRow {
  std::optional<int64_t> rank = {};
  std::string_view cause = {};
  int64_t total_ns = 0;
  double share = 0;

  static constexpr TableNames kTable{"lateness", "Why they were late"};
  static constexpr ColumnOf<LatenessRow> kColumns[] = {
      {"rank", &LatenessRow::rank, Role::kKey,
       "Rank of the process in the job; missing as in waits_by_rank."},
      {"cause", &LatenessRow::cause, Role::kKey,
       "What it did longer than the other ranks (their medians): compute, copy, "
       "communication, waiting (in other groups, for nobody certain), idle by cause; before "
       "recording: its recording began later; inherited: it was behind in the collective before, "
       "of which it was not the last for certain; tie."},
      {"total_ns", &LatenessRow::total_ns, Unit::kNanoseconds, Role::kSum,
       "Time that others waited for that; adds up to caused_ns of the rank."},
      {"share", &LatenessRow::share, Unit::kShare, Role::kDerived, "Of what the rank caused."}};
};

// clocks: what has to be added to the times of each rank.
Table ClockTable(const WaitRun& run) {
  std::vector<ClockRow> rows;
  rows.reserve(run.ranks.size());
  ClockNames names;
  for (size_t place = 0; place < run.ranks.size(); ++place) {
    rows.push_back(ClockOf(run.ranks[place], run.clocks.ranks[place], names));
  }
  Table table = MakeTable(rows);
  table.Find("error_ns")->doc = fmt::format(
      "By which the offset may be wrong, if no rank always leaves collectives more "
      "than {} later than others (--exit-skew).",
      FormatTime(run.exit_allowance_ns));
  return table;
}

// collective_time: where the time inside of collectives went.
Table CollectiveTimeTable(const WaitRun& run, const CommModels& models) {
  const InsideSums sums = SumInside(run, models);
  std::vector<PartRow> rows = {
      {.part = "waiting", .total_ns = sums.skew_ns, .exposed_ns = sums.exposed_ns},
      {.part = "transfer", .total_ns = sums.expected_ns},
      {.part = "transfer excess", .total_ns = sums.excess_ns},
      {.part = "tail", .total_ns = sums.tail_ns}};
  if (sums.contradicted_ns > 0) {
    rows.push_back({.part = "contradicted", .total_ns = sums.contradicted_ns});
  }
  for (PartRow& row : rows) row.share = ShareOf(row.total_ns, sums.All());
  return MakeTable(rows);
}

// waits_by_rank: who made others wait; a row without a rank has what nobody can be blamed for.
Table WaitsByRankTable(const Table& calls, const WaitRun& run, const BlameSums& blame) {
  std::vector<RankSums> sums(run.ranks.size() + 1);
  AddCalls(calls, run, sums);
  AddCaused(blame, sums);
  int64_t all_ns = 0;
  for (const RankSums& rank : sums) AddSaturatingTo(all_ns, rank.caused.ns);
  std::vector<RankRow> rows;
  for (size_t place = 0; place < run.ranks.size(); ++place) {
    const RankSums& rank = sums[place];
    rows.push_back({.rank = run.ranks[place],
                    .caused_ns = rank.caused.ns,
                    .caused_exposed_ns = rank.caused.exposed_ns,
                    .waited_ns = rank.waited_ns,
                    .dispatch_ns = rank.dispatch_ns,
                    .last_times = rank.last_times,
                    .evidence = Evidence(run.clocks.ranks[place], rank, all_ns)});
    if (rank.caused.ns != 0) rows.back().main_cause = LateCauseName(rank.causes.front().second);
  }
  const Blame& tied = sums.back().caused;
  if (tied.ns > 0) {
    rows.push_back({.caused_ns = tied.ns,
                    .caused_exposed_ns = tied.exposed_ns,
                    .main_cause = "tie",
                    .evidence = fmt::format("{} of all waiting: the last two ranks entered within "
                                            "the error of their clocks",
                                            FormatShare(ShareOf(tied.ns, all_ns)))});
  }
  return Sorted(MakeTable(rows), "caused_ns");
}

// lateness: the causes of what each rank made others wait.
Table LatenessTable(const WaitRun& run, const BlameSums& blame) {
  std::map<uint32_t, int64_t> all_ns;
  for (const auto& [key, part] : blame.by_cause) AddSaturatingTo(all_ns[key.first], part.ns);
  std::vector<LatenessRow> rows;
  for (const auto& [key, part] : blame.by_cause) {
    if (part.ns == 0) continue;
    LatenessRow row{
        .cause = "tie", .total_ns = part.ns, .share = ShareOf(part.ns, all_ns[key.first])};
    if (key.first != kNobody) {
      row.rank = run.ranks[key.first];
      row.cause = LateCauseName(key.second);
    }
    rows.push_back(row);
  }
  return Sorted(MakeTable(rows), "total_ns");
}

CollectiveRow RowOf(const WaitCollective& collective, const CollectiveKeys& keys) {
  CollectiveRow row{
      .collective = keys.Text(collective.key_row, "collective"),
      .group = Recorded(std::string_view(keys.Text(collective.key_row, "group"))),
      .step = Recorded(collective.step),
      .position = collective.position,
      .called_from = Recorded(std::string_view(keys.Text(collective.key_row, "site"))),
      .ranks = static_cast<int64_t>(collective.count),
      .group_size = Recorded(keys.GroupSize(collective.key)),
      .bytes = Recorded(collective.bytes),
      .bus_gbps_common = BusRate(collective, keys),
      .cause = collective.is_contradicted ? "contradicted" : "tie"};
  if (!collective.is_contradicted) {
    row.lead_ns = collective.last.lead_ns;
    row.spread_ns = collective.last.spread_ns;
    row.skew_ns = collective.skew_ns;
    row.common_ns = collective.common_ns;
    row.tail_ns = collective.tail_ns;
    row.exposed_skew_ns = collective.exposed_skew_ns;
  }
  return row;
}

// waits: every collective.
Table WaitTable(const WaitRun& run, const CollectiveKeys& keys,
                const std::vector<Lateness>& lateness, const BlameSums& blame) {
  std::vector<CollectiveRow> rows;
  for (size_t i = 0; i < run.collectives.size(); ++i) {
    if (!run.collectives[i].is_selected) continue;
    CollectiveRow& row = rows.emplace_back(RowOf(run.collectives[i], keys));
    if (lateness[i].last_rank == kNobody) continue;
    row.last_rank = run.ranks[lateness[i].last_rank];
    row.cause = LateCauseName(blame.main_cause[i].cause);
    row.cause_ns = blame.main_cause[i].ns;
  }
  return Sorted(MakeTable(rows), "skew_ns");
}

Error OneRank() {
  return {ErrorCode::kMissingData, "waits are found by comparing ranks, and this is one rank",
          "give the whole run, for example: borescope waits run/"};
}

bool AreOfOneJob(const std::vector<WaitRankRow>& ranks) {
  const std::optional<int64_t> first = ranks.front().world_size;
  return std::all_of(ranks.begin(), ranks.end(), [&](const WaitRankRow& rank) {
    return !rank.world_size || !first || rank.world_size == first;
  });
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

Result<Tables> FinishWaits(Tables findings, const Params& params) {
  const Tables mapped = std::move(findings);
  const WaitTables tables(mapped);
  if (tables.ranks.size() < 2) return OneRank();
  const CollectiveKeys keys(tables.keys);
  WaitRun run = MakeWaitRun(tables, keys, params.Number(kExitSkewParam));
  if (run.collectives.empty() && !AreOfOneJob(tables.ranks)) return DifferentJobs();
  // Without any collective the answer has no rows; where groups are crowded it says so by rank.
  if (run.collectives.empty() && !run.has_crowded_groups && tables.calls.rows() > 0) {
    return NothingMatched();
  }
  DivideCollectives(tables, run);
  const std::vector<Lateness> lateness = ExplainLateness(tables, run);
  const BlameSums blame = SumBlame(lateness);
  const CommModels models = FitCommModels(run, keys);
  return Tables{WaitsByRankTable(tables.calls, run, blame),
                LatenessTable(run, blame),
                CollectiveTimeTable(run, models),
                WaitTable(run, keys, lateness, blame),
                CommModelTable(models),
                CommSlowTable(run, keys, models),
                ClockTable(run)};
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
