#include "borescope/analysis/verbs/summary/evidence.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/analysis/core/keyed_rows.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/analysis/measures/idle/idle_causes.h"
#include "borescope/analysis/measures/idle/stream_gaps.h"
#include "borescope/analysis/measures/names/describe.h"
#include "borescope/analysis/measures/rank_clocks/clock_estimate.h"
#include "borescope/analysis/verbs/summary/summary_tables.h"
#include "borescope/analysis/verbs/summary/verdict.h"
#include "borescope/base/each_row.h"
#include "borescope/base/intervals.h"
#include "borescope/base/saturating.h"
#include "borescope/index/names/kernel_class.h"
#include "borescope/table/table_ops.h"
#include "borescope/table/typed_rows.h"

namespace borescope::internal {

namespace {

int64_t SumOnRanks(const Table& table, std::string_view column, std::vector<int64_t> ranks) {
  std::sort(ranks.begin(), ranks.end());
  const IntValues& rank = Ints(table, "rank");
  const IntValues& values = Ints(table, column);
  int64_t sum = 0;
  for (size_t row = 0; row < table.rows(); ++row) {
    if (std::binary_search(ranks.begin(), ranks.end(), rank[row])) {
      AddSaturatingTo(sum, values[row]);
    }
  }
  return sum;
}

std::vector<int64_t> Joined(std::vector<int64_t> a, const std::vector<int64_t>& b) {
  a.insert(a.end(), b.begin(), b.end());
  std::sort(a.begin(), a.end());
  return a;
}

}  // namespace

int64_t LeftOut::all_ns() const {
  return AddSaturating(AddSaturating(head_ns, tail_ns),
                       AddSaturating(before_recording_ns, hardly_used_ns));
}

int64_t LeftOut::Of(std::string_view column) const {
  return column == "head_ns" ? head_ns : column == "tail_ns" ? tail_ns : 0;
}

std::string LeftOut::Words() const {
  std::string words;
  const auto add = [&](int64_t ns, std::string_view when) {
    if (ns > 0) {
      words += fmt::format("{} {} {}", words.empty() ? "; without" : " and", FormatTime(ns), when);
    }
  };
  add(head_ns, "before the first launch");
  add(tail_ns, "after the last device work");
  add(before_recording_ns, "of idle time beside work from before the recording");
  add(hardly_used_ns, "of idle time of devices that are hardly used");
  return words;
}

LeftOut FindLeftOut(const SummaryTables& tables) {
  const std::vector<int64_t>& whole = tables.process_ranks;
  return {SumOnRanks(tables.idle_causes, "head_ns", whole),
          SumOnRanks(tables.idle_causes, "tail_ns", whole),
          SumOf(tables.left_out, &LeftOutRow::before_first_launch_ns),
          SumOf(tables.left_out, &LeftOutRow::after_last_work_ns),
          SumOf(tables.left_out, &LeftOutRow::before_recording_ns),
          SumOf(tables.hardly_used, &LeftOutRow::hardly_used_ns)};
}

std::vector<LeftOutRow> LeftOutRows(const SummaryTables& tables) {
  const std::vector<int64_t> jumped = RanksOfCheck(tables.quality, "clock-jump");
  const std::vector<int64_t> heads = Joined(jumped, tables.process_ranks);
  const std::vector<int64_t> tails = Joined(RanksOfCheck(tables.quality, "truncated-file"), heads);
  const Table& causes = tables.idle_causes;
  std::vector<LeftOutRow> left_out;
  for (size_t row = 0; row < causes.rows(); ++row) {
    const int64_t rank = Ints(causes, "rank")[row];
    const auto if_in = [&](const std::vector<int64_t>& ranks, std::string_view column) {
      return std::binary_search(ranks.begin(), ranks.end(), rank) ? Ints(causes, column)[row] : 0;
    };
    left_out.push_back(
        {.rank = rank,
         .gpu = Recorded(CellOrMissing(causes, "gpu", row)),
         .before_first_launch_ns = if_in(heads, "head_ns"),
         .after_last_work_ns = if_in(tails, "tail_ns"),
         .before_recording_ns = AddSaturating(Ints(causes, "before_recording_ns")[row],
                                              Ints(causes, "inherited_ns")[row])});
  }
  return left_out;
}

bool IsLeftOut(const SummaryTables& tables, size_t row, std::string_view column) {
  const LeftOutRow& left_out = tables.left_out[row];
  return column == "head_ns"   ? left_out.before_first_launch_ns > 0
         : column == "tail_ns" ? left_out.after_last_work_ns > 0
                               : false;
}

std::vector<LeftOutRow> AllLeftOut(const SummaryTables& tables) {
  std::vector<LeftOutRow> left_out = tables.left_out;
  left_out.insert(left_out.end(), tables.hardly_used.begin(), tables.hardly_used.end());
  std::stable_sort(left_out.begin(), left_out.end(), [](const LeftOutRow& a, const LeftOutRow& b) {
    return std::pair(a.rank, a.gpu) < std::pair(b.rank, b.gpu);
  });
  return left_out;
}

Table ShownLeftOut(std::vector<LeftOutRow> left_out) {
  std::erase_if(left_out, [](const LeftOutRow& row) {
    return row.before_first_launch_ns <= 0 && row.after_last_work_ns <= 0 &&
           row.before_recording_ns <= 0 && row.hardly_used_ns <= 0;
  });
  return MakeTable(left_out);
}

namespace {

// Rank and GPU.
using Device = std::pair<int64_t, int64_t>;

Device DeviceAt(const Table& table, size_t row) {
  return {Ints(table, "rank")[row], CellOrMissing(table, "gpu", row)};
}

}  // namespace

// The verdict is about the other devices: their idle time is left out of all
// sums, and what little they do is in those of work.
void LeaveOutHardlyUsed(SummaryTables& tables) {
  std::set<Device> hardly;
  for (const DeviceUseRow& row : tables.device_use) {
    if (row.is_hardly_used != 0) {
      hardly.insert({row.rank, row.gpu.value_or(kMissing)});
    }
  }
  if (hardly.empty()) {
    return;
  }
  const Table& causes = tables.idle_causes;
  std::vector<uint32_t> kept;
  for (uint32_t row = 0; row < causes.rows(); ++row) {
    if (!hardly.contains(DeviceAt(causes, row))) {
      kept.push_back(row);
      continue;
    }
    tables.hardly_used.push_back({.rank = Ints(causes, "rank")[row],
                                  .gpu = Recorded(CellOrMissing(causes, "gpu", row)),
                                  .hardly_used_ns = Ints(causes, "idle_ns")[row]});
  }
  tables.idle_causes = TakeRows(causes, kept);
  const auto is_on = [&](const auto& place) {
    return hardly.contains({place.rank, place.gpu.value_or(kMissing)});
  };
  std::erase_if(tables.idle_places, is_on);
  std::erase_if(tables.work_places, is_on);
  std::erase_if(tables.few_events, is_on);
}

void LeaveOutHeldTails(SummaryTables& tables) {
  std::set<Device> left_out;
  for (const LeftOutRow& row : tables.left_out) {
    if (row.after_last_work_ns > 0) {
      left_out.insert({row.rank, row.gpu.value_or(kMissing)});
    }
  }
  for (DeviceUseRow& row : tables.device_use) {
    if (left_out.contains({row.rank, row.gpu.value_or(kMissing)})) {
      row.held_ns = SubtractSaturating(row.held_ns, row.held_tail_ns);
      row.held_tail_ns = 0;
    }
  }
}

int64_t ObservedSpan(const SummaryTables& tables) {
  return SubtractSaturating(SumOf(tables.breakdown, "span_ns"), FindLeftOut(tables).all_ns());
}

namespace {

Interval LongestOf(const IntervalSet& times) {
  const auto longest = std::max_element(
      times.begin(), times.end(),
      [](const Interval& a, const Interval& b) { return a.length() < b.length(); });
  return longest == times.end() ? Interval() : *longest;
}

// What idle_places calls the time of a cause beside the longest gap.
std::string_view BesideLongestGap(std::string_view column) {
  return column == "host_ns" ? kHostBesideGap : column == "sync_ns" ? kSyncBesideGap : column;
}

// The longest row that is kept, of equal ones the first.
template <class Place, class Keeps>
FindingPlace LongestRow(const std::vector<Place>& places, const Keeps& keeps) {
  const Place* longest = nullptr;
  const auto length_of = [](const Place& place) {
    return SubtractSaturating(place.end_ns, place.begin_ns);
  };
  for (const Place& place : places) {
    const bool is_longer = longest == nullptr || length_of(place) > length_of(*longest);
    longest = is_longer && keeps(place) ? &place : longest;
  }
  return longest == nullptr ? FindingPlace()
                            : FindingPlace{longest->rank, longest->gpu.value_or(kMissing), kMissing,
                                           longest->begin_ns, longest->end_ns};
}

// The begin of the recording of a rank.
int64_t BeginOf(const std::vector<OverviewRow>& overview, int64_t rank) {
  const auto found = std::find_if(overview.begin(), overview.end(),
                                  [&](const OverviewRow& row) { return row.rank == rank; });
  return found == overview.end() ? kMissing : found->recording_begin_ns;
}

}  // namespace

Result<Table> WorkPlaces(const RankView& view, const Selected& selected) {
  std::vector<WorkPlaceRow> rows;
  const SharedDeviceTimes times = DeviceTimes(view, selected, PerTrack::kGpu);
  for (const DeviceTime& time : *times) {
    const IntervalSet windows = selected.TimeOf(time.tracks);
    const auto push = [&](std::string_view what, const IntervalSet& exposed) {
      const Interval longest = LongestOf(Intersect(exposed, windows));
      if (longest.length() > 0) {
        rows.push_back({view.rank, Recorded(time.gpu), what, longest.begin, longest.end});
      }
    };
    push(kExposedCommPlace, time.exposed_comm);
    push(kExposedCopyPlace, time.exposed_copy);
  }
  return MakeTable(rows);
}

FindingPlace PlaceOfIdle(const SummaryTables& tables, std::string_view column,
                         std::span<const size_t> moved) {
  std::set<Device> left_out;
  std::set<Device> without_gap;
  for (size_t row = 0; row < tables.idle_causes.rows(); ++row) {
    if (IsLeftOut(tables, row, column)) {
      left_out.insert(DeviceAt(tables.idle_causes, row));
    }
  }
  for (const size_t row : moved) {
    without_gap.insert(DeviceAt(tables.idle_causes, row));
  }
  return LongestRow(tables.idle_places, [&](const IdlePlaceRow& place) {
    const Device device{place.rank, place.gpu.value_or(kMissing)};
    return !left_out.contains(device) &&
           place.cause == (without_gap.contains(device) ? BesideLongestGap(column) : column);
  });
}

FindingPlace PlaceOfProcessEnd(const SummaryTables& tables, std::string_view column) {
  const std::vector<int64_t>& ranks = tables.process_ranks;
  return LongestRow(tables.idle_places, [&](const IdlePlaceRow& place) {
    return place.cause == column && std::binary_search(ranks.begin(), ranks.end(), place.rank);
  });
}

FindingPlace PlaceOfIdleOn(const SummaryTables& tables, std::string_view column, size_t row) {
  const Device device = DeviceAt(tables.idle_causes, row);
  return LongestRow(tables.idle_places, [&](const IdlePlaceRow& place) {
    return place.cause == column && device == Device{place.rank, place.gpu.value_or(kMissing)};
  });
}

FindingPlace PlaceOfWork(const SummaryTables& tables, std::string_view what) {
  return LongestRow(tables.work_places,
                    [&](const WorkPlaceRow& place) { return place.what == what; });
}

FindingPlace PlaceOfKernel(const SummaryTables& tables, std::string_view name) {
  return LongestRow(tables.few_events, [&](const FewEventsRow& row) {
    return row.what == kKernelPlace && row.name.value_or("") == name;
  });
}

FindingPlace PlaceOfStep(const SummaryTables& tables, int64_t rank, std::optional<int64_t> process,
                         int64_t step) {
  FindingPlace place{.rank = rank, .step = step};
  int64_t longest_ns = -1;
  for (const StepRow& row : tables.steps) {
    const int64_t length_ns = row.length_ns.value_or(kMissing);
    if (row.rank == rank && row.process == process && row.step == step && length_ns > longest_ns) {
      longest_ns = length_ns;
      // A step that was over when the one before was complete has only its window on the host.
      place.end_ns = length_ns > 0 ? row.end_ns : AddSaturating(row.begin_ns, row.span_ns);
      place.begin_ns = length_ns > 0 ? SubtractSaturating(place.end_ns, length_ns) : row.begin_ns;
    }
  }
  return place;
}

FindingPlace PlaceOfStraggler(const SummaryTables& tables, int64_t rank) {
  for (const LongestWaitRow& wait : tables.longest_waits) {
    if (wait.rank == rank) {
      return {rank, kMissing, wait.step.value_or(kMissing),
              std::max(wait.begin_ns, BeginOf(tables.overview, rank)), wait.end_ns};
    }
  }
  return {.rank = rank};
}

std::string Offset(int64_t ns) {
  return ns < 0 ? fmt::format("{}ns", ns) : fmt::format("+{:.3f}ms", static_cast<double>(ns) / 1e6);
}

std::string WordsOfPlace(const SummaryTables& tables, const FindingPlace& place) {
  std::vector<std::string> words;
  const auto add = [&](std::string_view what, int64_t number) {
    if (number != kMissing) {
      words.push_back(fmt::format("{} {}", what, number));
    }
  };
  add("rank", place.rank);
  add("GPU", place.gpu);
  add("step", place.step);
  const int64_t begin_ns = place.rank == kMissing ? kMissing : BeginOf(tables.overview, place.rank);
  if (place.begin_ns != kMissing && begin_ns != kMissing) {
    words.push_back(fmt::format("{} to {}", Offset(SubtractSaturating(place.begin_ns, begin_ns)),
                                Offset(SubtractSaturating(place.end_ns, begin_ns))));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

namespace {

// A sum that takes less of the span of its device is no finding.
constexpr int64_t kLeastPart = 50;
// The same for kernels, as a part of all kernel time of a rank.
constexpr int64_t kLeastPartOfKernels = 10;

// The events of one sum, and what is known of the largest.
struct Sum {
  LargestEvents events;
  Interval largest;
  DeviceId work;  // invalid: it is no work
  int64_t first_ns = kMissing;

  void Add(Interval time, int64_t ns, DeviceId id) {
    first_ns = first_ns == kMissing ? time.begin : std::min(first_ns, time.begin);
    if (events.Add(ns)) {
      largest = time;
      work = id;
    }
  }
};

class Tabulator {
 public:
  Tabulator(const RankView& view, StepRule rule) : view_(view), rule_(rule) {}

  Table Take() const { return MakeTable(rows_); }

  void Push(int64_t gpu, std::string_view what, std::string_view name, const Sum& sum) {
    if (sum.events.all_ns == 0) {
      return;
    }
    const FewEvents few = OncePerStep(FindFew(sum.events)) ? FewEvents() : FindFew(sum.events);
    const uint32_t step =
        sum.work.valid() && !view_.steps().steps.empty() ? StepOf(view_, sum.work, rule_) : kNoStep;
    FewEventsRow row{.rank = view_.rank,
                     .gpu = Recorded(gpu),
                     .what = std::string(what),
                     .name = Recorded(name),
                     .events = sum.events.count,
                     .all_ns = sum.events.all_ns,
                     .few = static_cast<int64_t>(few.events),
                     .few_ns = few.ns,
                     .largest_ns = sum.events.largest_ns[0],
                     .is_first = sum.largest.begin == sum.first_ns ? 1 : 0,
                     .begin_ns = sum.largest.begin,
                     .end_ns = sum.largest.end};
    if (sum.work.valid()) {
      row.largest = Recorded(view_.trace.Name(sum.work));
      row.stream = view_.trace.tracks().tid[view_.trace.device().track[sum.work.value].value];
    }
    if (step != kNoStep) row.step = view_.steps().steps[step].number;
    rows_.push_back(std::move(row));
  }

 private:
  // What may happen in every step is a pattern, whatever else there is in a step.
  bool OncePerStep(const FewEvents& few) const {
    const size_t steps = view_.steps().steps.size();
    return steps > 0 && few.events >= steps;
  }

  const RankView& view_;
  const StepRule rule_;
  std::vector<FewEventsRow> rows_;
};

// The part of an exposed set that lies in each work of an activity.
Sum SumOfWork(const RankView& view, const Selected& selected, const DeviceTime& time,
              Activity activity, const IntervalSet& exposed) {
  const DeviceEvents& device = view.trace.device();
  const Tracks& tracks = view.trace.tracks();
  Sum sum;
  for (const uint32_t track : time.tracks) {
    for (const uint32_t row : EachRow(tracks.first_row[track], tracks.end_row[track])) {
      const DeviceId id{row};
      if (!IsDeviceWork(device.kind[row]) ||
          ActivityOf(device.kind[row], view.index.ClassOf(view.trace, id)) != activity ||
          !selected.Keeps(id)) {
        continue;
      }
      const Interval work{device.ts_ns[row], device.end_ns(id)};
      if (const int64_t ns = Coverage(Clip(exposed, work)); ns > 0) {
        sum.Add(work, ns, id);
      }
    }
  }
  return sum;
}

void PushExposed(Tabulator& table, const RankView& view, const Selected& selected,
                 const DeviceTime& time) {
  const IntervalSet windows = selected.TimeOf(time.tracks);
  const int64_t least_ns = Coverage(windows) / kLeastPart;
  const auto push = [&](std::string_view what, Activity activity, const IntervalSet& exposed) {
    const IntervalSet inside = Intersect(exposed, windows);
    if (Coverage(inside) > least_ns) {
      table.Push(time.gpu, what, {}, SumOfWork(view, selected, time, activity, inside));
    }
  };
  push(kExposedCommPlace, Activity::kCommunication, time.exposed_comm);
  push(kExposedCopyPlace, Activity::kCopy, time.exposed_copy);
}

// Only the names that can take much of all kernel time.
void PushKernels(Tabulator& table, const RankView& view, const Selected& selected,
                 const DeviceTime& time) {
  const DeviceEvents& device = view.trace.device();
  const Tracks& tracks = view.trace.tracks();
  std::vector<uint32_t> place_of(view.trace.strings().size());  // in `sums`, from 1 on; 0: nowhere
  std::vector<std::pair<StringId, Sum>> sums;
  int64_t all_ns = 0;
  for (const uint32_t track : time.tracks) {
    for (const uint32_t row : EachRow(tracks.first_row[track], tracks.end_row[track])) {
      if (device.kind[row] != DeviceKind::kKernel || !selected.Keeps(DeviceId{row})) {
        continue;
      }
      uint32_t& place = place_of[device.name[row].value];
      if (place == 0) {
        sums.emplace_back(device.name[row], Sum());
        place = static_cast<uint32_t>(sums.size());
      }
      sums[place - 1].second.Add({device.ts_ns[row], device.end_ns(DeviceId{row})},
                                 device.dur_ns[row], DeviceId{row});
      AddSaturatingTo(all_ns, device.dur_ns[row]);
    }
  }
  for (const auto& [name, sum] : sums) {
    if (sum.events.all_ns > 0 && sum.events.all_ns >= all_ns / kLeastPartOfKernels) {
      table.Push(time.gpu, kKernelPlace, view.trace.Text(name), sum);
    }
  }
}

bool IsInGaps(IdleCause cause) {
  return cause != IdleCause::kHead && cause != IdleCause::kTail &&
         cause != IdleCause::kBeforeRecording && cause != IdleCause::kInherited;
}

// Time of one cause, in one of the gaps of the device, whatever the others have.
void PushIdle(Tabulator& table, const DeviceIdle& device) {
  const int64_t gaps = SumWaits(device.gaps, device.windows).gaps;
  Sum sums[static_cast<size_t>(IdleCause::kCount)];
  for (const IdlePiece& piece : device.pieces) {
    sums[static_cast<size_t>(piece.cause)].Add(piece.time, piece.time.length(), {});
  }
  for (size_t cause = 0; cause < std::size(sums); ++cause) {
    if (!IsInGaps(static_cast<IdleCause>(cause))) {
      continue;
    }
    sums[cause].events.count = std::max(sums[cause].events.count, gaps);
    table.Push(device.time->gpu, fmt::format("{}_ns", IdleCauseName(static_cast<IdleCause>(cause))),
               {}, sums[cause]);
  }
}

}  // namespace

Result<Table> FewEventsTable(const RankView& view, const Selected& selected,
                             const Selection& selection) {
  const auto idle = SharedIdleTimes(view, selection);
  if (!idle->ok()) {
    return idle->error();
  }
  Tabulator tabulator(view, selection.step_rule);
  for (const DeviceIdle& device : (*idle)->devices) {
    PushExposed(tabulator, view, selected, *device.time);
    PushKernels(tabulator, view, selected, *device.time);
    PushIdle(tabulator, device);
  }
  return tabulator.Take();
}

std::string FewOfMany::Words(const SummaryTables& tables, std::string_view what) const {
  const bool is_one = events == 1 && devices == 1;
  std::string words = fmt::format(
      "{} of {} {}{} {} {}{}, {}", events, of_events, what,
      devices == 1 ? "" : fmt::format(" on each of {} devices", devices), is_one ? "takes" : "take",
      FormatTime(ns), is_one ? "" : ", the longest " + FormatTime(largest_ns),
      WordsOfPlace(tables, place));
  if (stream != kMissing) {
    words += fmt::format(", stream {}", stream);
  }
  return name.empty() ? words : words + ": " + Shorten(name);
}

std::optional<FewOfMany> FindFewOfMany(const SummaryTables& tables, std::string_view what,
                                       std::string_view name) {
  FewOfMany few;
  for (const FewEventsRow& row : tables.few_events) {
    if (row.what != what || row.name.value_or("") != name) {
      continue;
    }
    AddSaturatingTo(few.all_ns, row.all_ns);
    if (row.few == 0) {
      continue;
    }
    ++few.devices;
    few.events = std::max(few.events, row.few);
    AddSaturatingTo(few.ns, row.few_ns);
    if (row.largest_ns > few.largest_ns) {
      few.largest_ns = row.largest_ns;
      few.of_events = row.events;
      few.name = row.largest.value_or("");
      few.stream = row.stream.value_or(kMissing);
      few.is_first = row.is_first != 0;
      few.place = {row.rank, row.gpu.value_or(kMissing), row.step.value_or(kMissing), row.begin_ns,
                   row.end_ns};
    }
  }
  return few.ns > SubtractSaturating(few.all_ns, few.ns) ? std::optional(few) : std::nullopt;
}

std::optional<LongSteps> FindLongSteps(const SummaryTables& tables, int64_t rank,
                                       std::optional<int64_t> process) {
  std::map<std::pair<int64_t, std::string_view>, int64_t> lengths_of;  // begin, name
  for (const StepRow& row : tables.steps) {
    if (row.rank == rank && row.process == process && row.step) {
      lengths_of[{row.begin_ns, row.name}] = row.length_ns.value_or(0);
    }
  }
  std::vector<int64_t> lengths;
  lengths.reserve(lengths_of.size());
  for (const auto& [step, length_ns] : lengths_of) {
    lengths.push_back(length_ns);
  }
  if (lengths.empty()) {
    return std::nullopt;
  }
  const int64_t median_ns = MedianOf(lengths);
  LargestEvents above;
  for (const int64_t length_ns : lengths) {
    above.Add(std::max<int64_t>(0, SubtractSaturating(length_ns, median_ns)));
  }
  const FewEvents few = FindFew(above);
  return few.events == 0 ? std::nullopt
                         : std::optional<LongSteps>(
                               {few.events, lengths.size(), ShareOf(few.ns, above.all_ns)});
}

namespace {

// Smaller ones are parameters and results; fewer rounds are no pattern.
constexpr int64_t kLeastBytes = 64 * 1024;
constexpr int64_t kLeastRounds = 5;

// What is known of the copies of one size on one device.
struct Size {
  int64_t rounds = 0;
  int64_t copies = 0;
  int64_t ns = 0;
  int64_t there_ns = kMissing;  // since when it is on the device, and was not copied back
};

struct Copy {
  Interval time;
  int64_t bytes;
  CopyKind kind;
};

// The large copies of a device to the host and from it, by begin.
std::vector<Copy> LargeCopies(const RankView& view, const Selected& selected,
                              const std::vector<uint32_t>& tracks) {
  const DeviceEvents& device = view.trace.device();
  const Tracks& all = view.trace.tracks();
  std::vector<Copy> copies;
  for (const uint32_t track : tracks) {
    for (const uint32_t row : EachRow(all.first_row[track], all.end_row[track])) {
      const uint32_t detail = device.detail[row];
      if (device.kind[row] != DeviceKind::kMemcpy || detail == kNoDetail ||
          view.trace.copies().bytes[detail] < kLeastBytes || !selected.Keeps(DeviceId{row})) {
        continue;
      }
      const CopyKind kind = ClassifyCopy(DeviceKind::kMemcpy, view.trace.Name(DeviceId{row}));
      if (kind == CopyKind::kHostToDevice || kind == CopyKind::kDeviceToHost) {
        copies.push_back({{device.ts_ns[row], device.end_ns(DeviceId{row})},
                          view.trace.copies().bytes[detail],
                          kind});
      }
    }
  }
  std::stable_sort(copies.begin(), copies.end(),
                   [](const Copy& a, const Copy& b) { return a.time.begin < b.time.begin; });
  return copies;
}

// Whether a part of the set lies between two times.
bool RunsBetween(const IntervalSet& set, int64_t begin_ns, int64_t end_ns) {
  const auto next = std::partition_point(
      set.begin(), set.end(), [&](const Interval& part) { return part.end <= begin_ns; });
  return next != set.end() && next->begin < end_ns;
}

void AddCopy(const Copy& copy, const IntervalSet& compute, Size& size) {
  ++size.copies;
  AddSaturatingTo(size.ns, copy.time.length());
  if (copy.kind == CopyKind::kHostToDevice) {
    size.there_ns = copy.time.end;
  } else if (size.there_ns != kMissing && RunsBetween(compute, size.there_ns, copy.time.begin)) {
    ++size.rounds;
    size.there_ns = kMissing;
  }
}

// "2.05 GB"
std::string FormatSize(int64_t bytes) {
  constexpr double kThousand = 1e3;
  auto value = static_cast<double>(bytes);
  std::string_view unit = "bytes";
  for (const std::string_view next : {"kB", "MB", "GB", "TB"}) {
    if (value >= kThousand) {
      value /= kThousand;
      unit = next;
    }
  }
  return unit == "bytes" ? fmt::format("{} bytes", bytes) : fmt::format("{:.2f} {}", value, unit);
}

}  // namespace

Table RoundTripsTable(const RankView& view, const Selected& selected) {
  std::vector<RoundTripRow> rows;
  const SharedDeviceTimes times = DeviceTimes(view, selected, PerTrack::kGpu);
  for (const DeviceTime& time : *times) {
    std::map<int64_t, Size> sizes;  // by bytes
    for (const Copy& copy : LargeCopies(view, selected, time.tracks)) {
      AddCopy(copy, time.compute, sizes[copy.bytes]);
    }
    for (const auto& [bytes, size] : sizes) {
      if (size.rounds >= kLeastRounds) {
        rows.push_back({view.rank, bytes, size.rounds, size.copies, size.ns});
      }
    }
  }
  return MakeTable(rows);
}

std::string RoundTrips::Words() const {
  return fmt::format("{} to the device and back in {} rounds, {} in all", FormatSize(bytes), rounds,
                     FormatSize(all_bytes));
}

namespace {

int64_t MultiplySaturating(int64_t a, int64_t b) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  return b > 0 && a > kMost / b ? kMost : a * b;
}

}  // namespace

std::optional<RoundTrips> FindRoundTrips(const SummaryTables& tables) {
  RoundTrips found;
  for (const RoundTripRow& row : tables.round_trips) {
    AddSaturatingTo(found.ns, row.total_ns);
    AddSaturatingTo(found.all_bytes, MultiplySaturating(row.bytes, row.copies));
    if (row.rounds > found.rounds) {
      found.rounds = row.rounds;
      found.bytes = row.bytes;
    }
  }
  const int64_t all_ns = SumOf(tables.copies, "total_ns");
  return found.rounds > 0 && found.ns > SubtractSaturating(all_ns, found.ns) ? std::optional(found)
                                                                             : std::nullopt;
}

}  // namespace borescope::internal
