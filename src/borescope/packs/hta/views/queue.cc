// HTA's get_queue_length_summary, _time_series and get_time_spent_blocked_on_full_queue: launches
// begun less works begun per stream; statistics are those of the points of the series. At equal
// times launches count first, where HTA's order is left to an unstable sort.
#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/row.h"
#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/stop.h"
#include "borescope/packs/hta/numbers.h"
#include "borescope/packs/hta/rows.h"
#include "borescope/packs/hta/tables.h"
#include "borescope/packs/hta/views/queue_launches.h"

namespace borescope::internal {
namespace {

struct Point {
  double ts_us;
  int64_t length;  // first the change, then the length from then on
  int64_t index;   // of the call or the work in the file
  TrackId track;   // of the work
};
using Series = std::map<int64_t, std::vector<Point>>;  // by stream

// The kept launch call of every correlation number, of several the first.
struct Call {
  double ts_us;
  HostId id;
};
using Calls = HashMap<int64_t, Call>;

Calls FindCalls(const HtaFrame& frame) {
  Calls calls;
  for (uint32_t row = 0; row < frame.trace().host().size(); ++row) {
    CheckStopAt(row);
    const int64_t number = frame.CorrelationOf(HostId{row});
    if (number >= 0 && frame.HasDeviceRow(number) && frame.Keeps(HostId{row}) &&
        IsHtaQueueLaunch(frame.trace().Name(HostId{row}))) {
      const double ts = frame.TimesOf(HostId{row}).ts_us;
      const auto [found, is_new] = calls.try_emplace(number, Call{ts, HostId{row}});
      if (!is_new && ts < found->second.ts_us) {
        found->second = {ts, HostId{row}};
      }
    }
  }
  return calls;
}

template <class Events>
int64_t IndexOf(const Events& events, uint32_t row) {
  return events.position.empty() ? kMissing : events.position[row];
}

Series FindSeries(const HtaFrame& frame) {
  const Calls launches = FindCalls(frame);
  const HostEvents& host = frame.trace().host();
  const DeviceEvents& device = frame.trace().device();
  Series series;
  for (const HtaRow& row : HtaDeviceRows(frame)) {
    const auto found =
        row.device.valid() ? launches.find(frame.CorrelationOf(row.device)) : launches.end();
    if (found != launches.end()) {
      const Call& call = found->second;
      const TrackId track = device.track[row.device.value];
      series[row.stream].push_back({call.ts_us, 1, IndexOf(host, call.id.value), track});
      series[row.stream].push_back({row.ts_us, -1, IndexOf(device, row.device.value), track});
    }
  }
  for (auto& [stream, points] : series) {
    std::stable_sort(points.begin(), points.end(), [](const Point& a, const Point& b) {
      return a.ts_us != b.ts_us ? a.ts_us < b.ts_us : a.length > b.length;
    });
    int64_t length = 0;
    for (Point& point : points) {
      length += point.length;
      point.length = length;
    }
  }
  return series;
}

// From the first to the last start of any kept row.
double SpanUs(const HtaFrame& frame) {
  double first = std::numeric_limits<double>::infinity();
  double last = -first;
  const auto look_at = [&](double ts) {
    first = std::min(first, ts);
    last = std::max(last, ts);
  };
  for (uint32_t row = 0; row < frame.trace().host().size(); ++row) {
    CheckStopAt(row);
    if (frame.Keeps(HostId{row})) {
      look_at(frame.TimesOf(HostId{row}).ts_us);
    }
  }
  for (uint32_t row = 0; row < frame.trace().device().size(); ++row) {
    CheckStopAt(row);
    if (frame.Repeats(DeviceId{row}) > 0) {
      look_at(frame.TimesOf(DeviceId{row}).ts_us);
    }
  }
  return std::max(0.0, last - first);
}

double BlockedUs(const std::vector<Point>& points, int64_t limit) {
  double blocked = 0;
  for (size_t i = 0; i + 1 < points.size(); ++i) {
    blocked += points[i].length >= limit ? points[i + 1].ts_us - points[i].ts_us : 0;
  }
  return blocked;
}

Table NewQueueTable() {
  Table table{"queue", "Queue lengths (as HolisticTraceAnalysis)", {}};
  AddRankKey(table);
  AddInt(table, "stream", Unit::kNone, Role::kKey, "Stream number; all devices pooled.");
  AddHtaStats(table, Unit::kNone, "", "changes of the length");
  AddInt(table, "blocked_us", Unit::kMicroseconds, Role::kSum,
         "Time with a length of --queue-limit or more.");
  AddFloat(table, "blocked_ratio", Unit::kShare, Role::kDerived,
           "That time as part of the time from the first to the last start of any event.");
  return table;
}

Table NewSeriesTable() {
  Table table{"queue_series", "Queue length over time (as HolisticTraceAnalysis)", {}};
  AddRankKey(table);
  AddInt(table, "stream", Unit::kNone, Role::kDerived, "Stream number; all devices pooled.");
  AddInt(table, "event_index", Unit::kNone, Role::kDerived,
         "The call, or the work, in the file, from 0.");
  AddInt(table, "pid", Unit::kNone, Role::kDerived, "Device of the work.");
  AddInt(table, "tid", Unit::kNone, Role::kDerived, "Its stream.");
  AddInt(table, "ts_us", Unit::kMicroseconds, Role::kDerived, "When, on the clock of the file.");
  AddInt(table, "queue_length", Unit::kCount, Role::kDerived, "Length from then on.");
  table.preview_rows = 20;
  return table;
}

HtaStats StatsOf(const std::vector<Point>& points) {
  std::vector<HtaRepeated> lengths;
  lengths.reserve(points.size());
  for (const Point& point : points) {
    lengths.push_back({static_cast<double>(point.length)});
  }
  return HtaDescribe(std::move(lengths));
}

Table SeriesTable(const Series& series, const RankView& view) {
  Table table = NewSeriesTable();
  const Tracks& tracks = view.trace.tracks();
  for (const auto& [stream, points] : series) {
    for (const Point& point : points) {
      Row(table)
          .Int(view.rank)
          .Int(stream)
          .MaybeInt(point.index)
          .Int(tracks.pid[point.track.value])
          .Int(tracks.tid[point.track.value])
          .Int(std::llround(point.ts_us))
          .Int(point.length);
    }
  }
  return table;
}

}  // namespace

Result<Tables> MapHtaQueue(const RankView& view, const Params& params) {
  const HtaFrame frame(view, HtaFrame::StepsOf(params));
  const Series series = FindSeries(frame);
  const double span = SpanUs(frame);
  Tables findings{NewQueueTable()};
  for (const auto& [stream, points] : series) {
    const double blocked = BlockedUs(points, params.Number(kQueueLimitParam));
    Row row(findings[0]);
    row.Int(view.rank).Int(stream);
    PushHtaStats(row, StatsOf(points));
    row.Int(std::llround(blocked)).Float(span == 0 ? 0.0 : blocked / span);
  }
  if (params.Flag(kSeriesParam)) {
    findings.push_back(SeriesTable(series, view));
  }
  return findings;
}

}  // namespace borescope::internal
