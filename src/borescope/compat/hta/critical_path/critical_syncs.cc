#include "borescope/compat/hta/critical_path/critical_syncs.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "borescope/base/hash/hash_tables.h"

namespace borescope::internal {
namespace {

// Rows by start; of equal times in the order given.
void SortByStart(const HtaEvents& events, std::vector<HtaEventRow>& rows) {
  std::stable_sort(rows.begin(), rows.end(),
                   [&](HtaEventRow a, HtaEventRow b) { return events[a].ts_us < events[b].ts_us; });
}

// Launches whose work is known, with that work's stream, by start.
std::vector<HtaEventRow> Launches(const HtaEvents& events) {
  std::vector<HtaEventRow> launches;
  for (HtaEventRow row = 0; row < events.size(); ++row) {
    if (events.IsLaunch(row) && events[events[row].partner].stream != -1) {
      launches.push_back(row);
    }
  }
  SortByStart(events, launches);
  return launches;
}

const HtaEvent& WorkOf(const HtaEvents& events, HtaEventRow launch) {
  return events[events[launch].partner];
}

// A device and one of its streams.
using StreamKey = std::pair<int64_t, int64_t>;

// Of each event that something waits for, by the correlation number of its record; HTA takes it for
// an error when there are several.
HashMap<int64_t, StreamKey> StreamsOfRecords(const HtaEvents& events) {
  HashMap<int64_t, StreamKey> streams;
  const Trace& trace = events.trace();
  for (HtaEventRow row = 0; row < events.size(); ++row) {
    if (!events.IsSync(row)) {
      continue;
    }
    const uint32_t detail = trace.device().detail[events[row].device.value];
    if (detail != kNoDetail && trace.syncs().wait_on_stream[detail] > -1) {
      streams.try_emplace(trace.syncs().wait_on_record_correlation[detail], events[row].pid,
                          trace.syncs().wait_on_stream[detail]);
    }
  }
  return streams;
}

// The last of `launches`, sorted by start, that starts at `ts_us` or before.
HtaEventRow LastUpTo(const HtaEvents& events, const std::vector<HtaEventRow>& launches,
                     int64_t ts_us) {
  const auto after = std::partition_point(launches.begin(), launches.end(), [&](HtaEventRow row) {
    return events[row].ts_us <= ts_us;
  });
  return after == launches.begin() ? kNoHtaEvent : *(after - 1);
}

HtaEventRow FirstAfter(const HtaEvents& events, const std::vector<HtaEventRow>& launches,
                       int64_t ts_us) {
  const auto after = std::partition_point(launches.begin(), launches.end(), [&](HtaEventRow row) {
    return events[row].ts_us <= ts_us;
  });
  return after == launches.end() ? kNoHtaEvent : *after;
}

}  // namespace

std::vector<int64_t> QueueLengths(const HtaEvents& events) {
  struct Change {
    HtaEventRow row;
    int64_t by;
  };
  HashMap<int64_t, HtaEventRow> launch_of;  // by correlation number
  for (HtaEventRow row = 0; row < events.size(); ++row) {
    if (events.IsLaunch(row)) {
      launch_of[events[row].correlation] = row;
    }
  }
  std::map<int64_t, std::vector<Change>> changes;  // by stream
  for (HtaEventRow row = 0; row < events.size(); ++row) {
    const auto launch = launch_of.find(events[row].correlation);
    if (events[row].stream != -1 && launch != launch_of.end()) {
      changes[events[row].stream].push_back({launch->second, 1});
      changes[events[row].stream].push_back({row, -1});
    }
  }
  std::vector<int64_t> lengths(events.size(), kMissing);
  for (auto& [stream, of_stream] : changes) {
    std::stable_sort(of_stream.begin(), of_stream.end(), [&](const Change& a, const Change& b) {
      return std::pair(events[a.row].ts_us, -a.by) < std::pair(events[b.row].ts_us, -b.by);
    });
    int64_t length = 0;
    for (const Change& change : of_stream) {
      lengths[change.row] = length += change.by;
    }
  }
  return lengths;
}

HashMap<int64_t, HtaEventRow> LaunchesBeforeRecords(const HtaEvents& events) {
  std::map<StreamKey, std::vector<HtaEventRow>> launches;
  for (const HtaEventRow launch : Launches(events)) {
    const HtaEvent& work = WorkOf(events, launch);
    launches[{work.pid, work.stream}].push_back(launch);
  }
  const HashMap<int64_t, StreamKey> streams = StreamsOfRecords(events);
  HashMap<int64_t, HtaEventRow> before;
  for (HtaEventRow row = 0; row < events.size(); ++row) {
    const auto stream = streams.find(events[row].correlation);
    if (stream == streams.end() || events.NameOf(row) != "cudaEventRecord") {
      continue;
    }
    const auto found = launches.find(stream->second);
    if (found != launches.end()) {
      const HtaEventRow launch = LastUpTo(events, found->second, events[row].ts_us);
      if (launch != kNoHtaEvent) {
        before[events[row].correlation] = launch;
      }
    }
  }
  return before;
}

HashMap<HtaEventRow, HtaEventRow> LaunchesAfterWaits(const HtaEvents& events) {
  using Key = std::tuple<int64_t, int64_t, int64_t>;  // pid, tid, stream
  std::map<Key, std::vector<HtaEventRow>> launches;
  for (const HtaEventRow launch : Launches(events)) {
    launches[{events[launch].pid, events[launch].tid, WorkOf(events, launch).stream}].push_back(
        launch);
  }
  HashMap<HtaEventRow, HtaEventRow> after;
  for (HtaEventRow row = 0; row < events.size(); ++row) {
    const HtaEvent& event = events[row];
    if (events.NameOf(row) != "cudaStreamWaitEvent" || !events.HasPartner(row)) {
      continue;
    }
    const auto found = launches.find({event.pid, event.tid, events[event.partner].stream});
    after[row] =
        found == launches.end() ? kNoHtaEvent : FirstAfter(events, found->second, event.ts_us);
  }
  return after;
}

}  // namespace borescope::internal
