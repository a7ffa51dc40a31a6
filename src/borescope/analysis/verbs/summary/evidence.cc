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

#include "borescope/analysis/core/finish.h"
#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/device_steps.h"
#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/analysis/measures/idle/idle_causes.h"
#include "borescope/analysis/measures/idle/stream_gaps.h"
#include "borescope/analysis/measures/names/describe.h"
#include "borescope/analysis/verbs/summary/summary_tables.h"
#include "borescope/analysis/verbs/summary/verdict.h"
#include "borescope/base/intervals.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"
#include "borescope/index/names/copy_kind.h"
#include "borescope/table/display/tone.h"
#include "borescope/table/table_ops.h"

namespace borescope::internal {

namespace {

constexpr std::string_view kBeforeFirst = "before_first_launch_ns";
constexpr std::string_view kAfterLast = "after_last_work_ns";
constexpr std::string_view kBeforeRecording = "before_recording_ns";
constexpr std::string_view kInheritedGaps = "inherited_ns";  // of idle_causes

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

Table NewLeftOut() {
  Table table{"left_out", "Left out of shares, as it says nothing about the use of devices", {}};
  const auto ns = [&](std::string_view name, std::string_view doc) {
    AddInt(table, name, Unit::kNanoseconds, Role::kSum, doc).hints.tone = Tone::kFaint;
  };
  AddRankKey(table);
  AddGpuKey(table);
  ns(kBeforeFirst, "Until the first launch of a whole process, or of a clock that jumped.");
  ns(kAfterLast, "After the last work of a whole process, of a clock that jumped or a cut file.");
  ns(kBeforeRecording, "While work ran that was launched before the recording began.");
  return table;
}

}  // namespace

int64_t LeftOut::all_ns() const {
  return AddSaturating(AddSaturating(head_ns, tail_ns), before_recording_ns);
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
  add(before_recording_ns, "in which work from before the recording ran");
  return words;
}

LeftOut FindLeftOut(const SummaryTables& tables) {
  const std::vector<int64_t>& whole = tables.process_ranks;
  return {SumOnRanks(tables.idle_causes, "head_ns", whole),
          SumOnRanks(tables.idle_causes, "tail_ns", whole), SumOf(tables.left_out, kBeforeFirst),
          SumOf(tables.left_out, kAfterLast), SumOf(tables.left_out, kBeforeRecording)};
}

Table LeftOutTable(const SummaryTables& tables) {
  const std::vector<int64_t> jumped = RanksOfCheck(tables.quality, "clock-jump");
  const std::vector<int64_t> heads = Joined(jumped, tables.process_ranks);
  const std::vector<int64_t> tails = Joined(RanksOfCheck(tables.quality, "truncated-file"), heads);
  const Table& causes = tables.idle_causes;
  Table left_out = NewLeftOut();
  for (size_t row = 0; row < causes.rows(); ++row) {
    const int64_t rank = Ints(causes, "rank")[row];
    const auto if_in = [&](const std::vector<int64_t>& ranks, std::string_view column) {
      return std::binary_search(ranks.begin(), ranks.end(), rank) ? Ints(causes, column)[row] : 0;
    };
    Row(left_out)
        .Int(rank)
        .MaybeInt(CellOrMissing(causes, "gpu", row))
        .Int(if_in(heads, "head_ns"))
        .Int(if_in(tails, "tail_ns"))
        .Int(AddSaturating(Ints(causes, kBeforeRecording)[row], Ints(causes, kInheritedGaps)[row]));
  }
  return left_out;
}

int64_t LeftOutOfDevice(const SummaryTables& tables, size_t row) {
  int64_t sum_ns = 0;
  for (const std::string_view column : {kBeforeFirst, kAfterLast, kBeforeRecording}) {
    AddSaturatingTo(sum_ns, Ints(tables.left_out, column)[row]);
  }
  return sum_ns;
}

bool IsLeftOut(const SummaryTables& tables, size_t row, std::string_view column) {
  const std::string_view left_out = column == "head_ns"   ? kBeforeFirst
                                    : column == "tail_ns" ? kAfterLast
                                                          : std::string_view();
  return !left_out.empty() && Ints(tables.left_out, left_out)[row] > 0;
}

Table ShownLeftOut(const Table& left_out) {
  std::vector<uint32_t> rows;
  for (uint32_t row = 0; row < left_out.rows(); ++row) {
    if (Ints(left_out, kBeforeFirst)[row] > 0 || Ints(left_out, kAfterLast)[row] > 0 ||
        Ints(left_out, kBeforeRecording)[row] > 0) {
      rows.push_back(row);
    }
  }
  return TakeRows(left_out, rows);
}

int64_t ObservedSpan(const SummaryTables& tables) {
  return SubtractSaturating(SumOf(tables.breakdown, "span_ns"), FindLeftOut(tables).all_ns());
}

namespace {

Table NewWorkPlaces() {
  Table table{"work_places", "Where work is longest", {}};
  AddRankKey(table);
  AddGpuKey(table);
  AddString(table, "what", Role::kKey, "exposed_comm or exposed_copy.");
  AddInt(table, "begin_ns", Unit::kNanoseconds, Role::kKey, "When it begins.");
  AddInt(table, "end_ns", Unit::kNanoseconds, Role::kKey, "When it ends.");
  return table;
}

Interval LongestOf(const IntervalSet& times) {
  const auto longest = std::max_element(
      times.begin(), times.end(),
      [](const Interval& a, const Interval& b) { return a.length() < b.length(); });
  return longest == times.end() ? Interval() : *longest;
}

int64_t LengthAt(const Table& places, size_t row) {
  return SubtractSaturating(Ints(places, "end_ns")[row], Ints(places, "begin_ns")[row]);
}

// Rank and GPU.
using Device = std::pair<int64_t, int64_t>;

Device DeviceAt(const Table& table, size_t row) {
  return {Ints(table, "rank")[row], CellOrMissing(table, "gpu", row)};
}

// What idle_places calls the time of a cause beside the longest gap.
std::string_view BesideLongestGap(std::string_view column) {
  return column == "host_ns" ? kHostBesideGap : column == "sync_ns" ? kSyncBesideGap : column;
}

// The longest row that is kept, of equal ones the first.
template <class Keeps>
FindingPlace LongestRow(const Table& places, const Keeps& keeps) {
  size_t longest = places.rows();
  for (size_t row = 0; row < places.rows(); ++row) {
    const bool is_longer =
        longest == places.rows() || LengthAt(places, row) > LengthAt(places, longest);
    longest = keeps(row) && is_longer ? row : longest;
  }
  if (longest == places.rows()) {
    return {};
  }
  return {Ints(places, "rank")[longest], CellOrMissing(places, "gpu", longest), kMissing,
          Ints(places, "begin_ns")[longest], Ints(places, "end_ns")[longest]};
}

// "+8.912ms".
std::string Offset(int64_t ns) {
  return ns < 0 ? fmt::format("{}ns", ns) : fmt::format("+{:.3f}ms", static_cast<double>(ns) / 1e6);
}

// The begin of the recording of a rank.
int64_t BeginOf(const Table& overview, int64_t rank) {
  const IntValues& ranks = Ints(overview, "rank");
  const auto found = std::find(ranks.begin(), ranks.end(), rank);
  return found == ranks.end()
             ? kMissing
             : Ints(overview, kRecordingBegin)[static_cast<size_t>(found - ranks.begin())];
}

}  // namespace

Result<Table> WorkPlaces(const RankView& view, const Selected& selected) {
  Table table = NewWorkPlaces();
  const SharedDeviceTimes times = DeviceTimes(view, selected, PerTrack::kGpu);
  for (const DeviceTime& time : *times) {
    const IntervalSet windows = selected.TimeOf(time.tracks);
    const auto push = [&](std::string_view what, const IntervalSet& exposed) {
      const Interval longest = LongestOf(Intersect(exposed, windows));
      if (longest.length() > 0) {
        Row(table).Int(view.rank).MaybeInt(time.gpu).Text(what).Int(longest.begin).Int(longest.end);
      }
    };
    push(kExposedCommPlace, time.exposed_comm);
    push(kExposedCopyPlace, time.exposed_copy);
  }
  return table;
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
  const StringValues& causes = Texts(tables.idle_places, "cause");
  return LongestRow(tables.idle_places, [&](size_t row) {
    const Device device = DeviceAt(tables.idle_places, row);
    return !left_out.contains(device) &&
           causes[row] == (without_gap.contains(device) ? BesideLongestGap(column) : column);
  });
}

FindingPlace PlaceOfProcessEnd(const SummaryTables& tables, std::string_view column) {
  const Table& places = tables.idle_places;
  const std::vector<int64_t>& ranks = tables.process_ranks;
  return LongestRow(places, [&](size_t row) {
    return Texts(places, "cause")[row] == column &&
           std::binary_search(ranks.begin(), ranks.end(), Ints(places, "rank")[row]);
  });
}

FindingPlace PlaceOfIdleOn(const SummaryTables& tables, std::string_view column, size_t row) {
  const Table& places = tables.idle_places;
  const int64_t rank = Ints(tables.idle_causes, "rank")[row];
  const int64_t gpu = CellOrMissing(tables.idle_causes, "gpu", row);
  return LongestRow(places, [&](size_t at) {
    return Texts(places, "cause")[at] == column && Ints(places, "rank")[at] == rank &&
           CellOrMissing(places, "gpu", at) == gpu;
  });
}

FindingPlace PlaceOfWork(const SummaryTables& tables, std::string_view what) {
  const Table& places = tables.work_places;
  return LongestRow(places, [&](size_t row) { return Texts(places, "what")[row] == what; });
}

FindingPlace PlaceOfKernel(const SummaryTables& tables, std::string_view name) {
  const Table& events = tables.few_events;
  return LongestRow(events, [&](size_t row) {
    return Texts(events, "what")[row] == kKernelPlace && Texts(events, "name")[row] == name;
  });
}

FindingPlace PlaceOfStep(const SummaryTables& tables, int64_t rank, int64_t step) {
  const Table& steps = tables.steps;
  FindingPlace place{.rank = rank, .step = step};
  int64_t longest_ns = -1;
  for (size_t row = 0; row < steps.rows(); ++row) {
    const int64_t length_ns = CellOrMissing(steps, "length_ns", row);
    if (Ints(steps, "rank")[row] == rank && CellOrMissing(steps, "step", row) == step &&
        length_ns > longest_ns) {
      longest_ns = length_ns;
      const int64_t begin_ns = Ints(steps, "begin_ns")[row];
      // A step that was over when the one before was complete has only its window on the host.
      place.end_ns = length_ns > 0 ? Ints(steps, "end_ns")[row]
                                   : AddSaturating(begin_ns, Ints(steps, "span_ns")[row]);
      place.begin_ns = length_ns > 0 ? SubtractSaturating(place.end_ns, length_ns) : begin_ns;
    }
  }
  return place;
}

FindingPlace PlaceOfStraggler(const SummaryTables& tables, int64_t rank) {
  const Table& waits = tables.longest_waits;
  for (size_t row = 0; row < waits.rows(); ++row) {
    if (Ints(waits, "rank")[row] == rank) {
      const int64_t begin_ns =
          std::max(Ints(waits, "begin_ns")[row], BeginOf(tables.overview, rank));
      return {rank, kMissing, CellOrMissing(waits, "step", row), begin_ns,
              Ints(waits, "end_ns")[row]};
    }
  }
  return {.rank = rank};
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
// Of all kernel time of a rank; see WorkPlaces.
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

Table NewTable() {
  Table table{"few_events", "The largest events of sums", {}};
  AddRankKey(table);
  AddGpuKey(table);
  AddString(table, "what", Role::kKey, "exposed_comm, exposed_copy, kernel, or a cause of idling.");
  AddString(table, "name", Role::kKey, "Of a kernel.");
  const auto number = [&](std::string_view name, Unit unit, std::string_view doc) {
    AddInt(table, name, unit, Role::kDerived, doc);
  };
  number("events", Unit::kCount, "Events of the sum.");
  number("all_ns", Unit::kNanoseconds, "The sum.");
  number("few", Unit::kCount, "Of these one to three that make up most of it; 0: there are none.");
  number("few_ns", Unit::kNanoseconds, "What these make up.");
  number("largest_ns", Unit::kNanoseconds, "The largest event.");
  AddString(table, "largest", Role::kDerived, "Its name, if it has one.");
  number("stream", Unit::kNone, "Its stream.");
  number("step", Unit::kNone, "Its step.");
  number("is_first", Unit::kNone, "1: it is the first of the events.");
  number("begin_ns", Unit::kNanoseconds, "When it begins.");
  number("end_ns", Unit::kNanoseconds, "When it ends.");
  return table;
}

class Tabulator {
 public:
  Tabulator(const RankView& view, StepRule rule, Table& table)
      : view_(view), rule_(rule), table_(table) {}

  void Push(int64_t gpu, std::string_view what, std::string_view name, const Sum& sum) {
    if (sum.events.all_ns == 0) {
      return;
    }
    const FewEvents few = OncePerStep(FindFew(sum.events)) ? FewEvents() : FindFew(sum.events);
    const uint32_t step =
        sum.work.valid() && !view_.steps().steps.empty() ? StepOf(view_, sum.work, rule_) : kNoStep;
    const Tracks& tracks = view_.trace.tracks();
    Row row(table_);
    row.Int(view_.rank).MaybeInt(gpu).Text(what).MaybeText(name);
    row.Int(sum.events.count).Int(sum.events.all_ns).Count(few.events).Int(few.ns);
    row.Int(sum.events.largest_ns[0]);
    row.MaybeText(sum.work.valid() ? view_.trace.Name(sum.work) : std::string_view());
    row.MaybeInt(sum.work.valid() ? tracks.tid[view_.trace.device().track[sum.work.value].value]
                                  : kMissing);
    row.MaybeInt(step == kNoStep ? kMissing : view_.steps().steps[step].number);
    row.Int(sum.largest.begin == sum.first_ns ? 1 : 0).Int(sum.largest.begin).Int(sum.largest.end);
  }

 private:
  // What may happen in every step is a pattern, whatever else there is in a step.
  bool OncePerStep(const FewEvents& few) const {
    const size_t steps = view_.steps().steps.size();
    return steps > 0 && few.events >= steps;
  }

  const RankView& view_;
  const StepRule rule_;
  Table& table_;
};

// The part of an exposed set that lies in each work of an activity.
Sum SumOfWork(const RankView& view, const Selected& selected, const DeviceTime& time,
              Activity activity, const IntervalSet& exposed) {
  const DeviceEvents& device = view.trace.device();
  const Tracks& tracks = view.trace.tracks();
  Sum sum;
  for (const uint32_t track : time.tracks) {
    for (uint32_t row = tracks.first_row[track]; row < tracks.end_row[track]; ++row) {
      CheckStopAt(row);
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
    for (uint32_t row = tracks.first_row[track]; row < tracks.end_row[track]; ++row) {
      CheckStopAt(row);
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
  Table table = NewTable();
  Tabulator tabulator(view, selection.step_rule, table);
  for (const DeviceIdle& device : (*idle)->devices) {
    PushExposed(tabulator, view, selected, *device.time);
    PushKernels(tabulator, view, selected, *device.time);
    PushIdle(tabulator, device);
  }
  return table;
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
  const Table& table = tables.few_events;
  FewOfMany few;
  for (size_t row = 0; row < table.rows(); ++row) {
    if (Texts(table, "what")[row] != what || Texts(table, "name")[row] != name) {
      continue;
    }
    AddSaturatingTo(few.all_ns, Ints(table, "all_ns")[row]);
    if (Ints(table, "few")[row] == 0) {
      continue;
    }
    ++few.devices;
    few.events = std::max(few.events, Ints(table, "few")[row]);
    AddSaturatingTo(few.ns, Ints(table, "few_ns")[row]);
    if (const int64_t ns = Ints(table, "largest_ns")[row]; ns > few.largest_ns) {
      few.largest_ns = ns;
      few.of_events = Ints(table, "events")[row];
      few.name = Texts(table, "largest")[row];
      few.stream = CellOrMissing(table, "stream", row);
      few.is_first = Ints(table, "is_first")[row] != 0;
      few.place = {Ints(table, "rank")[row], CellOrMissing(table, "gpu", row),
                   CellOrMissing(table, "step", row), Ints(table, "begin_ns")[row],
                   Ints(table, "end_ns")[row]};
    }
  }
  return few.ns > SubtractSaturating(few.all_ns, few.ns) ? std::optional(few) : std::nullopt;
}

std::optional<LongSteps> FindLongSteps(const SummaryTables& tables, int64_t rank) {
  const Table& steps = tables.steps;
  std::map<std::pair<int64_t, std::string_view>, int64_t> lengths_of;  // begin, name
  for (size_t row = 0; row < steps.rows(); ++row) {
    if (Ints(steps, "rank")[row] == rank && CellOrMissing(steps, "step", row) != kMissing) {
      lengths_of[{Ints(steps, "begin_ns")[row], Texts(steps, "name")[row]}] =
          Ints(steps, "length_ns")[row];
    }
  }
  std::vector<int64_t> lengths;
  lengths.reserve(lengths_of.size());
  for (const auto& [step, length_ns] : lengths_of) {
    lengths.push_back(length_ns);
  }
  std::sort(lengths.begin(), lengths.end());
  if (lengths.empty()) {
    return std::nullopt;
  }
  const int64_t median_ns = lengths[(lengths.size() - 1) / 2];
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

Table NewRoundTrips() {
  Table table{"round_trips", "Copies to the device and back", {}};
  AddRankKey(table);
  AddInt(table, "bytes", Unit::kBytes, Role::kKey, "Size of each copy.");
  const auto sum = [&](std::string_view name, Unit unit, std::string_view doc) {
    AddInt(table, name, unit, Role::kSum, doc);
  };
  sum("rounds", Unit::kCount, "To the device, a kernel, and back.");
  sum("copies", Unit::kCount, "Copies of this size.");
  sum("total_ns", Unit::kNanoseconds, "Sum of their durations.");
  return table;
}

// The large copies of a device to the host and from it, by begin.
std::vector<Copy> LargeCopies(const RankView& view, const Selected& selected,
                              const std::vector<uint32_t>& tracks) {
  const DeviceEvents& device = view.trace.device();
  const Tracks& all = view.trace.tracks();
  std::vector<Copy> copies;
  for (const uint32_t track : tracks) {
    for (uint32_t row = all.first_row[track]; row < all.end_row[track]; ++row) {
      CheckStopAt(row);
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
  Table table = NewRoundTrips();
  const SharedDeviceTimes times = DeviceTimes(view, selected, PerTrack::kGpu);
  for (const DeviceTime& time : *times) {
    std::map<int64_t, Size> sizes;  // by bytes
    for (const Copy& copy : LargeCopies(view, selected, time.tracks)) {
      AddCopy(copy, time.compute, sizes[copy.bytes]);
    }
    for (const auto& [bytes, size] : sizes) {
      if (size.rounds >= kLeastRounds) {
        Row(table).Int(view.rank).Int(bytes).Int(size.rounds).Int(size.copies).Int(size.ns);
      }
    }
  }
  return table;
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
  const Table& table = tables.round_trips;
  RoundTrips found;
  for (size_t row = 0; row < table.rows(); ++row) {
    const int64_t bytes = Ints(table, "bytes")[row];
    AddSaturatingTo(found.ns, Ints(table, "total_ns")[row]);
    const int64_t copies = Ints(table, "copies")[row];
    AddSaturatingTo(found.all_bytes, MultiplySaturating(bytes, copies));
    if (Ints(table, "rounds")[row] > found.rounds) {
      found.rounds = Ints(table, "rounds")[row];
      found.bytes = bytes;
    }
  }
  const int64_t all_ns = SumOf(tables.copies, "total_ns");
  return found.rounds > 0 && found.ns > SubtractSaturating(all_ns, found.ns) ? std::optional(found)
                                                                             : std::nullopt;
}

}  // namespace borescope::internal
