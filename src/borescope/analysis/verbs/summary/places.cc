#include "borescope/analysis/verbs/summary/places.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/analysis/measures/idle/idle_causes.h"
#include "borescope/analysis/verbs/summary/cells.h"
#include "borescope/analysis/verbs/summary/left_out.h"
#include "borescope/base/intervals.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"

namespace borescope::internal {
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

}  // namespace borescope::internal
