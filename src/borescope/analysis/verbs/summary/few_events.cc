#include "borescope/analysis/verbs/summary/few_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "borescope/analysis/core/finish.h"
#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/device_steps.h"
#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/analysis/measures/idle/idle_causes.h"
#include "borescope/analysis/measures/idle/stream_gaps.h"
#include "borescope/analysis/measures/names/describe.h"
#include "borescope/analysis/verbs/summary/cells.h"
#include "borescope/analysis/verbs/summary/verdict_words.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"

namespace borescope::internal {
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

}  // namespace borescope::internal
