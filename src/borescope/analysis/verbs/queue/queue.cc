// queue: how many launches wait on each stream.
//
// The length of a stream's queue at a time is the number of launches begun less those whose work
// has begun. A launch enters when its call begins and leaves when its first work on the stream
// begins, so that a graph of many kernels counts once. At equal times launches enter before works
// begin. Work that begins before its launch (clocks disagree) enters when it begins, hence no
// length is negative. Work whose launch was not recorded was never seen to wait: `unlinked`.
//
// A sample is the length after each change; mean, deviation and quartiles are those of the samples
// in the selected time. `time_mean` weighs each length by how long it lasted from the first to the
// last change of the stream. Lengths are a state of the stream: with a selection of time they still
// count what was launched before it.
#include <algorithm>
#include <optional>
#include <string>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/queue_lengths.h"
#include "borescope/analysis/measures/time/duration_stats.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/base/each_row.h"

namespace borescope::internal {
namespace {

// How much of the time before a timestamp is selected. Timestamps come in order.
class SelectedClock {
 public:
  explicit SelectedClock(const IntervalSet& windows) : windows_(windows) {}

  int64_t Before(int64_t ts_ns) {
    for (; next_ < windows_.size() && windows_[next_].end <= ts_ns; ++next_) {
      passed_ns_ += windows_[next_].length();
    }
    const bool is_inside = next_ < windows_.size() && windows_[next_].begin < ts_ns;
    return passed_ns_ + (is_inside ? ts_ns - windows_[next_].begin : 0);
  }

 private:
  const IntervalSet& windows_;
  size_t next_ = 0;
  int64_t passed_ns_ = 0;
};

// How long which lengths lasted, in the selected time.
struct QueueTimes {
  std::optional<double> mean;  // none where no time passed
  int64_t blocked_ns = 0;
};

QueueTimes TimesOf(const std::vector<QueueChange>& changes, const IntervalSet& windows,
                   int64_t limit) {
  SelectedClock clock(windows);
  QueueTimes times;
  Uint128 area = 0;
  int64_t span_ns = 0;
  int64_t before_ns = changes.empty() ? 0 : clock.Before(changes.front().ts_ns);
  for (const size_t i : EachIndex(1, changes.size())) {
    const int64_t length = changes[i - 1].length;
    const int64_t passed_ns = clock.Before(changes[i].ts_ns) - before_ns;
    before_ns += passed_ns;
    span_ns += passed_ns;
    area += static_cast<Uint128>(length) * static_cast<Uint128>(passed_ns);
    times.blocked_ns += length >= limit ? passed_ns : 0;
  }
  if (span_ns > 0) {
    times.mean = static_cast<double>(area) / static_cast<double>(span_ns);
  }
  return times;
}

Table NewTable() {
  Table table{"queue", "How many launches wait on each stream", {}};
  AddRankKey(table);
  AddGpuKey(table);
  AddStreamKey(table);
  AddInt(table, "samples", Unit::kCount, Role::kSum,
         "Changes of the queue's length: every launch that enters and every one that leaves it.");
  AddSampleColumns(table, Unit::kNone, "", "length after a change");
  AddFloat(table, "time_mean", Unit::kNone, Role::kDerived,
           "Mean length over the time from the first to the last change.");
  AddInt(table, "blocked_ns", Unit::kNanoseconds, Role::kSum,
         "Time with a queue of --queue-limit or more, at which a launch call has to wait.");
  AddFloat(table, "blocked_share", Unit::kShare, Role::kDerived,
           "Blocked time / the recording, or the selected time.");
  AddInt(table, "unlinked", Unit::kCount, Role::kSum,
         "Device work whose launch was not recorded, and which is in no length.");
  return table;
}

void PushQueue(Table& table, int64_t rank, const StreamQueue& queue, const Selected& selected,
               int64_t limit) {
  std::vector<int64_t> lengths;
  lengths.reserve(queue.changes.size());
  for (const QueueChange& change : queue.changes) {
    if (selected.KeepsTime(change.ts_ns)) {
      lengths.push_back(change.length);
    }
  }
  const QueueTimes times = TimesOf(queue.changes, selected.windows(), limit);
  Row row(table);
  row.Int(rank).Int(queue.gpu).Int(queue.stream).Count(lengths.size());
  PushSamples(row, StatsOfSamples(lengths));
  times.mean ? row.Float(*times.mean) : row.Missing();
  row.Int(times.blocked_ns).Share(times.blocked_ns, Coverage(selected.windows()));
  row.Int(queue.unlinked);
}

Table SeriesTable(int64_t rank, const std::vector<StreamQueue>& queues, const Selected& selected) {
  Table table{"queue_length", "Length of each queue after every change", {}, 20};
  AddRankKey(table);
  AddGpuKey(table);
  AddStreamKey(table);
  AddInt(table, "ts_ns", Unit::kNanoseconds, Role::kKey, "When, on the clock of the file.");
  AddInt(table, "length", Unit::kCount, Role::kDerived, "Launches that wait from then on.");
  for (const StreamQueue& queue : queues) {
    for (const QueueChange& change : queue.changes) {
      if (selected.KeepsTime(change.ts_ns)) {
        Row(table).Int(rank).Int(queue.gpu).Int(queue.stream).Int(change.ts_ns).Int(change.length);
      }
    }
  }
  return table;
}

Result<Tables> MapQueue(const RankView& view, const Params& params) {
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  const std::vector<StreamQueue> queues = FindQueues(view, selected);
  Tables findings{NewTable()};
  for (const StreamQueue& queue : queues) {
    PushQueue(findings[0], view.rank, queue, selected, params.Number(kQueueLimitParam));
  }
  if (params.Flag(kSeriesParam)) {
    findings.push_back(SeriesTable(view.rank, queues, selected));
  }
  return findings;
}

Result<Overlay> OverlayQueue(const RankView& view, const Params& params) {
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  Overlay overlay;
  for (const StreamQueue& queue : FindQueues(view, selected)) {
    OverlayCounter counter{
        queue.gpu, "Queue length, stream " + std::to_string(queue.stream), "launches", {}};
    counter.points.reserve(queue.changes.size());
    for (const QueueChange& change : queue.changes) {
      counter.points.push_back({change.ts_ns, static_cast<double>(change.length)});
    }
    overlay.counters.push_back(std::move(counter));
  }
  return overlay;
}

constexpr const ParamSpec* kQueueParams[] = {&kQueueLimitParam, &kSeriesParam,
                                             &kIncludeLastStepParam};
constexpr std::string_view kStream[] = {"rank", "gpu", "stream"};
constexpr std::string_view kLength[] = {"length"};
constexpr ViewSpec kViews[] = {
    {"queue_length", ViewKind::kSeries, "Launches that wait", kStream, kLength, "ts_ns"}};

}  // namespace

const AnalysisSpec kQueueVerb{
    .name = "queue",
    .summary = "how many launches wait on each stream, and time blocked at a full queue",
    .example = "borescope queue trace.json.gz --overlay queue.json.gz",
    .needs = Needs::kLaunches,
    .params = kQueueParams,
    .answer = {.map = MapQueue, .reduce = ConcatTables},
    .overlay = OverlayQueue,
    .views = kViews};

}  // namespace borescope::internal
