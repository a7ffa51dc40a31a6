// HTA's get_gpu_user_annotation_breakdown, for both sides, and
// get_gpu_kernels_with_user_annotations: every kernel gets the shortest device annotation of its
// stream that it overlaps.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "borescope/analysis/core/row.h"
#include "borescope/base/each_row.h"
#include "borescope/packs/hta/frame.h"
#include "borescope/packs/hta/hta.h"

namespace borescope::internal {
namespace {

struct Annotation {
  HtaTimes times;
  StringId name;
  int64_t repeats;
};
using ByStream =
    std::map<std::pair<int64_t, int64_t>, std::vector<Annotation>>;  // (device, stream)

std::vector<HtaDuration> HostAnnotations(const HtaFrame& frame) {
  const HostEvents& host = frame.trace().host();
  std::vector<HtaDuration> durations;
  for (const uint32_t row : EachRow(host.size())) {
    if (host.kind[row] == HostKind::kAnnotation && frame.Keeps(HostId{row})) {
      durations.push_back({frame.trace().Name(HostId{row}), frame.TimesOf(HostId{row}).dur_us});
    }
  }
  return durations;
}

ByStream DeviceAnnotations(const HtaFrame& frame) {
  const DeviceEvents& device = frame.trace().device();
  ByStream tracks;
  for (const uint32_t row : EachRow(device.size())) {
    const DeviceId id{row};
    if (device.kind[row] == DeviceKind::kAnnotation && frame.Repeats(id) > 0) {
      tracks[{frame.trace().DeviceOf(id), frame.trace().StreamOf(id)}].push_back(
          {frame.TimesOf(id), device.name[row], frame.Repeats(id)});
    }
  }
  return tracks;
}

Table NewBreakdownTable() {
  Table table{"annotations", "Annotations (as HolisticTraceAnalysis)", {}};
  AddRankKey(table);
  AddString(table, "side", Role::kKey, "host or device.");
  AddString(table, "name", Role::kKey, "Annotation, or \"others\" beyond 1000 names.");
  for (const std::string_view what : {"sum", "max", "min", "stddev", "mean"}) {
    AddFloat(table, std::string(what) + "_us", Unit::kMicroseconds, Role::kDerived,
             "Statistic of the durations; of the sums by name once names were folded.");
  }
  return table;
}

void AddBreakdown(Table& table, int64_t rank, std::string_view side,
                  const std::vector<HtaDuration>& durations) {
  std::vector<HtaAggregate> rows = HtaAggregates(durations, {1000, 0.8, {}});
  std::sort(rows.begin(), rows.end(),
            [](const HtaAggregate& a, const HtaAggregate& b) { return a.name < b.name; });
  for (const HtaAggregate& row : rows) {
    Row(table)
        .Int(rank)
        .Text(side)
        .Text(row.name)
        .Float(row.sum)
        .Float(row.max)
        .Float(row.min)
        .Float(row.stddev)
        .Float(row.mean);
  }
}

// Finds the largest number among those whose key is above a bound; numbers are added one by one.
class LargestAbove {
 public:
  explicit LargestAbove(std::vector<double> keys) : keys_(std::move(keys)) {
    std::sort(keys_.begin(), keys_.end());
    largest_.assign(keys_.size() + 1, -1);
  }

  void Add(double key, int64_t number) {
    for (size_t i = CountAbove(key) + 1; i < largest_.size(); i += i & (~i + 1)) {
      largest_[i] = std::max(largest_[i], number);
    }
  }
  // -1 if there is none.
  int64_t Find(double bound) const {
    int64_t largest = -1;
    for (size_t i = CountAbove(bound); i > 0; i -= i & (~i + 1)) {
      largest = std::max(largest, largest_[i]);
    }
    return largest;
  }

 private:
  size_t CountAbove(double bound) const {
    return static_cast<size_t>(keys_.end() - std::upper_bound(keys_.begin(), keys_.end(), bound));
  }

  std::vector<double> keys_;      // ascending
  std::vector<int64_t> largest_;  // Fenwick tree over the keys in descending order
};

constexpr StringId kNoAnnotation{};

// The shortest annotation that overlaps each row: it begins before the row ends, and ends after the
// row begins. Of equally short ones, the later one.
std::vector<StringId> ShortestOverlapping(std::vector<Annotation> annotations,
                                          const std::vector<HtaRow>& rows) {
  std::stable_sort(
      annotations.begin(), annotations.end(),
      [](const Annotation& a, const Annotation& b) { return a.times.dur_us > b.times.dur_us; });
  std::vector<double> ends;
  std::vector<size_t> by_start;
  for (size_t i = 0; i < annotations.size(); ++i) {
    ends.push_back(annotations[i].times.end_us());
    by_start.push_back(i);
  }
  std::stable_sort(by_start.begin(), by_start.end(), [&](size_t a, size_t b) {
    return annotations[a].times.ts_us < annotations[b].times.ts_us;
  });
  std::vector<size_t> by_end(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    by_end[i] = i;
  }
  std::stable_sort(by_end.begin(), by_end.end(),
                   [&](size_t a, size_t b) { return rows[a].end_us() < rows[b].end_us(); });

  LargestAbove begun(std::move(ends));
  std::vector<StringId> result(rows.size(), kNoAnnotation);
  size_t next = 0;
  for (const size_t row : by_end) {
    for (; next < by_start.size() && annotations[by_start[next]].times.ts_us < rows[row].end_us();
         ++next) {
      begun.Add(annotations[by_start[next]].times.end_us(), static_cast<int64_t>(by_start[next]));
    }
    const int64_t found = begun.Find(rows[row].ts_us);
    result[row] = found < 0 ? kNoAnnotation : annotations[static_cast<size_t>(found)].name;
  }
  return result;
}

std::vector<HtaRow> KernelRows(const HtaFrame& frame) {
  std::vector<HtaRow> rows = HtaDeviceRows(frame);
  std::erase_if(rows, [&](const HtaRow& row) {
    return !row.device.valid() || !frame.IsDeviceSide(row.device);
  });
  return rows;
}

// HTA writes a label to all rows of an interval, also to rows of other streams. Streams are in
// ascending order, and the last one wins.
std::vector<StringId> LabelsOf(const HtaFrame& frame, const ByStream& tracks,
                               const std::vector<HtaRow>& rows) {
  const Trace& trace = frame.trace();
  std::map<std::pair<double, double>, StringId> by_interval;
  std::map<std::pair<int64_t, int64_t>, std::vector<HtaRow>> by_track;
  for (const HtaRow& row : rows) {
    by_track[{trace.DeviceOf(row.device), trace.StreamOf(row.device)}].push_back(row);
  }
  for (const auto& [track, annotations] : tracks) {
    const std::vector<HtaRow>& own = by_track[track];
    const std::vector<StringId> labels = ShortestOverlapping(annotations, own);
    for (size_t i = 0; i < own.size(); ++i) {
      if (labels[i].valid()) {
        by_interval[{own[i].ts_us, own[i].end_us()}] = labels[i];
      }
    }
  }
  std::vector<StringId> result;
  result.reserve(rows.size());
  for (const HtaRow& row : rows) {
    const auto found = by_interval.find({row.ts_us, row.end_us()});
    result.push_back(found == by_interval.end() ? kNoAnnotation : found->second);
  }
  return result;
}

Table NewKernelTable() {
  Table table{"annotated_kernels", "Kernels by annotation (as HolisticTraceAnalysis)", {}};
  AddRankKey(table);
  AddString(table, "annotation", Role::kDerived,
            "Short name of the shortest device annotation it overlaps, if any.");
  AddString(table, "name", Role::kDerived, "Short name.");
  AddInt(table, "stream", Unit::kNone, Role::kDerived, "Stream number.");
  AddInt(table, "correlation", Unit::kNone, Role::kDerived, "Correlation number.");
  AddInt(table, "ts_us", Unit::kMicroseconds, Role::kDerived, "Start, on the clock of the file.");
  AddInt(table, "dur_us", Unit::kMicroseconds, Role::kDerived, "Length.");
  table.preview_rows = 20;
  return table;
}

Table NewTotalsTable() {
  Table table{"annotation_kernels", "Sums by annotation (as HolisticTraceAnalysis)", {}};
  AddRankKey(table);
  AddString(table, "annotation", Role::kKey,
            "Short name of the shortest device annotation; missing: none.");
  AddInt(table, "kernels", Unit::kCount, Role::kSum, "Rows of the device under it.");
  AddInt(table, "dur_us", Unit::kMicroseconds, Role::kSum, "Sum of their lengths.");
  return table;
}

struct Total {
  int64_t kernels = 0;
  double dur_us = 0;
};

void AddKernels(const HtaFrame& frame, const ByStream& tracks, Tables& findings) {
  const std::vector<HtaRow> rows = KernelRows(frame);
  const std::vector<StringId> labels = LabelsOf(frame, tracks, rows);
  const int64_t rank = frame.view().rank;
  std::map<std::string, Total> totals;
  for (const size_t i : EachIndex(rows.size())) {
    const std::string label = HtaShortName(frame.trace().Text(labels[i]));
    Row(findings[1])
        .Int(rank)
        .MaybeText(label)
        .Text(HtaShortName(frame.trace().Text(rows[i].name)))
        .Int(rows[i].stream)
        .Int(frame.CorrelationOf(rows[i].device))
        .Int(std::llround(rows[i].ts_us))
        .Int(std::llround(rows[i].dur_us));
    totals[label].kernels += rows[i].times;
    totals[label].dur_us += rows[i].dur_us * static_cast<double>(rows[i].times);
  }
  for (const auto& [label, total] : totals) {
    Row(findings[2]).Int(rank).MaybeText(label).Int(total.kernels).Int(std::llround(total.dur_us));
  }
}

}  // namespace

Result<Tables> MapHtaAnnotations(const RankView& view, const Params& params) {
  const HtaFrame frame(view, HtaFrame::StepsOf(params));
  const ByStream tracks = DeviceAnnotations(frame);
  std::vector<HtaDuration> device;
  for (const auto& [track, annotations] : tracks) {
    for (const Annotation& annotation : annotations) {
      device.push_back(
          {view.trace.Text(annotation.name), annotation.times.dur_us, annotation.repeats});
    }
  }
  Tables findings{NewBreakdownTable(), NewKernelTable(), NewTotalsTable()};
  AddBreakdown(findings[0], view.rank, "device", device);
  AddBreakdown(findings[0], view.rank, "host", HostAnnotations(frame));
  AddKernels(frame, tracks, findings);
  return findings;
}

Result<Tables> FinishHtaAnnotations(Tables findings, const Params&) {
  bool on_device = false;
  for (size_t row = 0; row < findings[0].rows(); ++row) {
    on_device |= Texts(findings[0], "side")[row] == "device";
  }
  if (!on_device) {
    findings[1] = NewKernelTable();
    findings[2] = NewTotalsTable();
  }
  return findings;
}

}  // namespace borescope::internal
