#include "borescope/analysis/verbs/idle/longest_gaps.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/row.h"
#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"
#include "borescope/table/table_ops.h"

namespace borescope::internal {
namespace {

// A gap as far as it lies in the selected time.
struct LongGap {
  const StreamGap* gap;
  Interval hull;  // of its parts in there
  int64_t ns = 0;
  IdleCause cause = IdleCause::kUnknown;  // with most of it; of equal ones the first in time
  int64_t cause_ns = 0;
  HostId launch = {};  // the one that decided this cause
  uint32_t step = kNoStep;
};

// Sums the pieces of one gap, which come by time.
class CauseOfGap {
 public:
  void Add(const IdlePiece& piece, Interval time) {
    int64_t& sum_ns = sums_[static_cast<size_t>(piece.cause)];
    if (sum_ns == 0) {
      order_[causes_++] = piece;
    }
    sum_ns += time.length();
  }

  void Decide(LongGap& gap) const {
    for (size_t i = 0; i < causes_; ++i) {
      const int64_t ns = sums_[static_cast<size_t>(order_[i].cause)];
      if (ns > gap.cause_ns) {
        gap.cause = order_[i].cause;
        gap.cause_ns = ns;
        gap.launch = order_[i].launch;
      }
    }
  }

 private:
  static constexpr size_t kCauses = static_cast<size_t>(IdleCause::kCount);

  std::array<int64_t, kCauses> sums_{};
  std::array<IdlePiece, kCauses> order_{};  // the first of each cause
  size_t causes_ = 0;
};

Interval Both(Interval a, Interval b) {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

// The gaps in the selected time with their causes, by time.
std::vector<LongGap> GapsWithCauses(const DeviceIdle& device) {
  std::vector<LongGap> found;
  auto piece = device.pieces.begin();
  for (const GapPart& part : GapsIn(device.gaps, device.windows)) {
    CheckStopAt(found.size());
    const Interval time = part.gap->time;
    while (piece != device.pieces.end() && piece->time.end <= time.begin) {
      ++piece;
    }
    LongGap gap{.gap = part.gap, .hull = {time.end, time.begin}, .ns = part.ns};
    CauseOfGap cause;
    for (auto at = piece; at != device.pieces.end() && at->time.begin < time.end; ++at) {
      const Interval inside = Both(at->time, time);
      cause.Add(*at, inside);
      gap.hull = {std::min(gap.hull.begin, inside.begin), std::max(gap.hull.end, inside.end)};
    }
    cause.Decide(gap);
    gap.hull = gap.cause_ns > 0 ? gap.hull : time;
    found.push_back(gap);
  }
  return found;
}

// The step with most of each gap, of equal ones the first.
void FindSteps(const std::vector<Steps::Piece>& pieces, std::vector<LongGap>& gaps) {
  for (LongGap& gap : gaps) {
    const Interval time = gap.gap->time;
    auto next =
        std::upper_bound(pieces.begin(), pieces.end(), time.begin,
                         [](int64_t ns, const Steps::Piece& piece) { return ns < piece.begin_ns; });
    uint32_t step = next == pieces.begin() ? kNoStep : std::prev(next)->step;
    int64_t begin_ns = time.begin;
    int64_t longest_ns = 0;
    while (begin_ns < time.end) {
      const bool is_last = next == pieces.end() || next->begin_ns >= time.end;
      const int64_t end_ns = is_last ? time.end : next->begin_ns;
      if (end_ns - begin_ns > longest_ns) {
        longest_ns = end_ns - begin_ns;
        gap.step = step;
      }
      begin_ns = end_ns;
      step = is_last ? step : (next++)->step;
    }
  }
}

// From the longest to the shortest.
std::vector<uint32_t> ByLength(const std::vector<LongGap>& gaps) {
  std::vector<std::pair<int64_t, uint32_t>> keys;  // 0 less the length, place in `gaps`
  keys.reserve(gaps.size());
  for (const LongGap& gap : gaps) {
    keys.emplace_back(-gap.ns, static_cast<uint32_t>(keys.size()));
  }
  std::sort(keys.begin(), keys.end());
  std::vector<uint32_t> order;
  order.reserve(keys.size());
  for (const auto& [ns, place] : keys) {
    order.push_back(place);
  }
  return order;
}

// The places in `order` of the first `most`, and of the first of each step.
std::vector<size_t> PlacesToShow(const std::vector<LongGap>& gaps,
                                 const std::vector<uint32_t>& order, size_t most) {
  HashSet<uint32_t> seen;
  std::vector<size_t> places;
  for (size_t place = 0; place < order.size(); ++place) {
    const uint32_t step = gaps[order[place]].step;
    const bool is_longest_of_step = step != kNoStep && seen.insert(step).second;
    if (place < most || is_longest_of_step) {
      places.push_back(place);
    }
  }
  return places;
}

// What the host did in the gaps at some places.
std::vector<MainActivity> ActivitiesIn(const DeviceIdle& device, const std::vector<LongGap>& gaps,
                                       LateHost& late) {
  std::vector<LateTime> times;
  times.reserve(gaps.size());
  for (const LongGap& gap : gaps) {
    times.push_back({{AddSaturating(gap.hull.begin, device.skew_ns),
                      AddSaturating(gap.hull.end, device.skew_ns)},
                     gap.launch});
  }
  return late.MainActivities(times);
}

class LongGapRow {
 public:
  LongGapRow(Table& table, const RankView& view) : row_(table), trace_(view.trace) {}

  void Push(int64_t rank, int64_t gpu, int64_t step, size_t place) {
    row_.Int(rank).MaybeInt(step).MaybeInt(gpu).Count(place + 1);
  }

  void PushTimes(const LongGap& gap, int64_t span_ns) {
    row_.Int(gap.hull.begin).Int(gap.ns).Share(gap.ns, span_ns);
    row_.Text(IdleCauseName(gap.cause)).Int(gap.cause_ns);
  }

  void PushHost(const MainActivity& host) {
    const bool is_known = host.activity != HostActivity::kUnknown;
    row_.MaybeText(is_known ? HostActivityName(host.activity) : std::string_view());
    row_.MaybeText(TextOf(host.name)).MaybeText(TextOf(host.caller)).MaybeText(TextOf(host.op));
    row_.MaybeInt(is_known ? host.ns : kMissing);
  }

  void PushNeighbours(const StreamGap& gap) {
    const DeviceEvents& device = trace_.device();
    row_.MaybeText(TextOf(device.name[gap.before.value]));
    row_.MaybeText(TextOf(device.name[gap.after.value]));
    row_.Int(trace_.tracks().tid[device.track[gap.after.value].value]);
    if (gap.launch.valid()) {
      row_.MaybeText(trace_.Name(gap.launch)).Int(trace_.host().ts_ns[gap.launch.value]);
    } else {
      row_.Missing().Missing();
    }
  }

 private:
  std::string_view TextOf(StringId text) const {
    return text.valid() ? trace_.Text(text) : std::string_view();
  }

  Row row_;
  const Trace& trace_;
};

void AddHostColumns(Table& table) {
  AddString(table, "activity", Role::kDerived,
            "What is known of the thread that launched the next work, as in late_host: call, no "
            "processor, sampled or event; missing: nothing.");
  AddString(table, "host", Role::kDerived,
            "What that thread did in the gap: the innermost event that fills at least half of it, "
            "else the call, function or event with most of it; missing where nothing is known of "
            "more of it.")
      .hints.names = true;
  AddString(table, "caller", Role::kDerived,
            "Function that made the call, by its recorded stack; missing without one.");
  AddString(table, "op", Role::kDerived,
            "Innermost operator that the thread was in for at least half of the gap; missing: "
            "none.");
  AddInt(table, "host_time_ns", Unit::kNanoseconds, Role::kDerived,
         "How much of the gap that took.");
}

void AddNeighbourColumns(Table& table) {
  AddString(table, "before", Role::kDerived, "The work that ended last before the gap.");
  AddString(table, "after", Role::kDerived, "The work that ended the gap.");
  AddInt(table, "stream", Unit::kNone, Role::kDerived, "The stream of that work.");
  AddString(table, "launch", Role::kDerived, "The call that launched it; missing: not recorded.");
  AddInt(table, "launch_begin_ns", Unit::kNanoseconds, Role::kDerived,
         "When that call began, on the file's own clock.");
}

}  // namespace

Table NewLongestGaps(int64_t shown) {
  Table table{"longest_gaps", "Longest gaps: when a device had nothing to run", {}};
  table.preview_rows = static_cast<size_t>(shown);
  AddRankKey(table);
  AddStepKeyOrNone(table);
  AddGpuKey(table);
  AddInt(table, "place", Unit::kNone, Role::kKey,
         "1 is the longest gap of this device. Those of the first places have rows, and of each "
         "step the longest.");
  AddInt(table, "begin_ns", Unit::kNanoseconds, Role::kKey,
         "When nothing ran any more, on the file's own clock.");
  AddInt(table, "duration_ns", Unit::kNanoseconds, Role::kSum,
         "How long, as far as it is in the selected time.")
      .hints.tone = Tone::kIdle;
  AddFloat(table, "share", Unit::kShare, Role::kDerived, "Of the selected time of the device.");
  AddString(table, "cause", Role::kDerived,
            "Cause of most of it, as the times of idle_causes are called.");
  AddInt(table, "cause_time_ns", Unit::kNanoseconds, Role::kDerived, "How much of it that is.");
  AddHostColumns(table);
  AddNeighbourColumns(table);
  return table;
}

void PushLongestGaps(Table& table, const RankView& view, const Selected& selected,
                     const DeviceIdle& device, size_t most, LateHost& late) {
  std::vector<LongGap> all = GapsWithCauses(device);
  FindSteps(selected.PiecesOf(device.time->tracks), all);
  const std::vector<uint32_t> order = ByLength(all);
  const std::vector<size_t> places = PlacesToShow(all, order, most);
  std::vector<LongGap> gaps;
  gaps.reserve(places.size());
  for (const size_t place : places) {
    gaps.push_back(all[order[place]]);
  }
  const std::vector<MainActivity> hosts = ActivitiesIn(device, gaps, late);
  const int64_t span_ns = Coverage(device.windows);
  for (size_t i = 0; i < gaps.size(); ++i) {
    const uint32_t step = gaps[i].step;
    const int64_t number = step == kNoStep ? kMissing : view.steps().steps[step].number;
    LongGapRow row(table, view);
    row.Push(view.rank, device.time->gpu, number, places[i]);
    row.PushTimes(gaps[i], span_ns);
    row.PushHost(hosts[i]);
    row.PushNeighbours(*gaps[i].gap);
  }
}

Table FinishLongestGaps(const Table& table) {
  const IntValues& lengths = Ints(table, "duration_ns");
  const IntValues& ranks = Ints(table, "rank");
  const IntValues& gpus = Ints(table, "gpu");
  const IntValues& places = Ints(table, "place");
  std::vector<uint32_t> rows(table.rows());
  std::iota(rows.begin(), rows.end(), 0U);
  std::sort(rows.begin(), rows.end(), [&](uint32_t a, uint32_t b) {
    return std::tuple(lengths[b], ranks[a], gpus[a], places[a]) <
           std::tuple(lengths[a], ranks[b], gpus[b], places[b]);
  });
  return TakeRows(table, rows);
}

}  // namespace borescope::internal
