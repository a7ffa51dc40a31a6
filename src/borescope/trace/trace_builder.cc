#include "borescope/trace/trace_builder.h"

#include <algorithm>
#include <numeric>

#include "borescope/base/parallel.h"
#include "borescope/base/row_limit.h"
#include "borescope/base/saturating.h"
#include "borescope/trace/columns.h"
#include "borescope/trace/recorded_cut.h"
#include "borescope/trace/repaired_times.h"

namespace borescope::internal {
namespace {

// Longer than any real profile in one file; other tools use the same limit.
constexpr int64_t kLongestEventNs = int64_t{7} * 24 * 3600 * 1'000'000'000;

template <class Detail>
void ShiftDetails(ColumnData<Detail>& details, size_t from, uint32_t shift) {
  for (size_t i = from; shift != 0 && i < details.size(); ++i) {
    if (details[i] != kNoDetail) {
      details[i] = details[i] + shift;
    }
  }
}

uint32_t Rows(size_t size) { return CheckedRows(size, "rows of one kind"); }

// Offsets of the detail numbers of each kind when a part is appended.
struct HostShift {
  uint32_t ops;
  uint32_t runtime_calls;
  uint32_t frames;

  uint32_t operator[](HostKind kind) const {
    if (kind == HostKind::kPython) {
      return frames;
    }
    return kind == HostKind::kRuntime || kind == HostKind::kOther ? runtime_calls : ops;
  }
};

struct DeviceShift {
  uint32_t kernels;
  uint32_t copies;
  uint32_t syncs;
  uint32_t ranges;

  uint32_t operator[](DeviceKind kind) const {
    switch (kind) {
      case DeviceKind::kKernel:
        return kernels;
      case DeviceKind::kSync:
        return syncs;
      case DeviceKind::kRange:
        return ranges;
      default:
        return copies;
    }
  }
};

// REQUIRES: `events` events of the list precede those of the rows from `from` on.
void ShiftPositions(ColumnData<uint32_t>& positions, size_t from, uint64_t events) {
  for (size_t i = from; i < positions.size(); ++i) {
    positions[i] = static_cast<uint32_t>(std::min<uint64_t>(events + positions[i], kNoPosition));
  }
}

template <class Spine, class Shift>
void AppendSpine(Spine& whole, const Spine& part, const IdMap& map, const Shift& shift,
                 uint64_t events) {
  const size_t old_size = whole.size();
  const size_t old_positions = whole.position.size();
  AppendRows(whole, part, map);
  ShiftPositions(whole.position, old_positions, events);
  if (whole.position.size() != whole.size()) {  // a file whose events have positions, and another
    whole.position.clear();
  }
  for (size_t i = old_size; i < whole.size(); ++i) {
    if (whole.detail[i] != kNoDetail) {
      whole.detail[i] += shift[whole.kind[i]];
    }
  }
}

// REQUIRES: the calls of the part are not appended yet.
void AppendStacks(TraceData& whole, const TraceData& part, const IdMap& map) {
  const uint32_t calls = Rows(whole.runtime_calls.size());
  const uint32_t frames = Rows(whole.stack_frames.size());
  const size_t samples = whole.stack_samples.size();
  const size_t stacks = whole.call_stacks.size();
  AppendRows(whole.pauses, part.pauses, map);
  AppendRows(whole.stack_samples, part.stack_samples, map);
  AppendRows(whole.stack_frames, part.stack_frames, map);
  AppendRows(whole.call_stacks, part.call_stacks, map);
  AppendRows(whole.range_domains, part.range_domains, map);
  ShiftDetails(whole.stack_samples.frame, samples, frames);
  ShiftDetails(whole.stack_frames.parent, frames, frames);
  ShiftDetails(whole.call_stacks.call, stacks, calls);
  ShiftDetails(whole.call_stacks.frame, stacks, frames);
}

void AppendDetails(TraceData& whole, const TraceData& part, const IdMap& map) {
  const uint32_t collectives = Rows(whole.collectives.size());
  const uint32_t triton = Rows(whole.triton.size());
  const uint32_t copy_calls = Rows(whole.copy_calls.size());
  const size_t ops = whole.ops.size();
  const size_t kernels = whole.kernels.size();
  const size_t copies = whole.copies.size();
  const size_t ranges = whole.ranges.size();
  const uint32_t metrics = Rows(whole.metrics.size());
  AppendStacks(whole, part, map);
  AppendRows(whole.ops, part.ops, map);
  AppendRows(whole.triton, part.triton, map);
  AppendRows(whole.runtime_calls, part.runtime_calls, map);
  AppendRows(whole.kernels, part.kernels, map);
  AppendRows(whole.copies, part.copies, map);
  AppendRows(whole.copy_calls, part.copy_calls, map);
  AppendRows(whole.syncs, part.syncs, map);
  AppendRows(whole.collectives, part.collectives, map);
  AppendRows(whole.memory, part.memory, map);
  AppendRows(whole.ranges, part.ranges, map);
  AppendRows(whole.metrics, part.metrics, map);
  AppendRows(whole.flows, part.flows, map);
  AppendRows(whole.samples, part.samples, map);
  ShiftDetails(whole.ranges.first_metric, ranges, metrics);
  ShiftDetails(whole.ranges.end_metric, ranges, metrics);
  ShiftDetails(whole.ops.collective, ops, collectives);
  ShiftDetails(whole.ops.triton, ops, triton);
  ShiftDetails(whole.kernels.collective, kernels, collectives);
  ShiftDetails(whole.copies.call, copies, copy_calls);
}

// Tracks in a stable, readable order: host threads, each before its overlapping ranges, then
// streams, all by (pid, tid).
std::vector<uint32_t> RankTracks(Tracks& tracks) {
  std::vector<uint32_t> order(tracks.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::tuple(tracks.kind[a], tracks.pid[a], tracks.tid[a], tracks.process[a],
                      tracks.is_async[a]) < std::tuple(tracks.kind[b], tracks.pid[b], tracks.tid[b],
                                                       tracks.process[b], tracks.is_async[b]);
  });
  PermuteRows(tracks, order, 1);
  std::vector<uint32_t> new_id(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) {
    new_id[order[i]] = i;
  }
  return new_id;
}

void Renumber(ColumnData<TrackId>& column, std::span<const uint32_t> new_id) {
  for (TrackId& track : column) {
    track.value = new_id[track.value];
  }
}

// The order of two rows of one track: start, then longer first, then outer kind first.
template <class Spine>
auto OuterFirst(const Spine& spine) {
  return [&spine](uint32_t a, uint32_t b) {
    if (spine.ts_ns[a] != spine.ts_ns[b]) {
      return spine.ts_ns[a] < spine.ts_ns[b];
    }
    if (spine.dur_ns[a] != spine.dur_ns[b]) {
      return spine.dur_ns[a] > spine.dur_ns[b];
    }
    return spine.kind[a] < spine.kind[b];
  };
}

template <class Spine>
void SortSpine(Spine& spine, Tracks& tracks, TrackKind kind, int threads) {
  TrackOrder order = OrderByTrack(
      spine.size(), tracks.size(), [&](uint32_t row) { return spine.track[row].value; },
      OuterFirst(spine), threads);
  for (size_t track = 0; track < tracks.size(); ++track) {
    if (tracks.kind[track] == kind) {
      tracks.first_row[track] = order.first[track];
      tracks.end_row[track] = order.first[track + 1];
    }
  }
  if (!std::is_sorted(order.rows.begin(), order.rows.end())) {
    PermuteRows(spine, order.rows, threads);
  }
}

// Cuts impossible durations: to the start of the next event of the track, or to zero. True if
// anything was cut, after which equal starts may no longer be sorted longest first.
template <class Spine, class Limit>
bool CutDurations(Spine& spine, const StringPool& strings, Diagnostics& diagnostics,
                  const Limit& limit) {
  bool any = false;
  for (size_t row = 0; row < spine.size(); ++row) {
    if (spine.dur_ns[row] <= limit(row)) {
      continue;
    }
    const bool has_next = row + 1 < spine.size() && spine.track[row + 1] == spine.track[row];
    diagnostics.Count(Diag::kImpossibleDuration, Diagnostics::kNoByte,
                      strings.Get(spine.name[row]));
    const int64_t gap_ns = has_next ? spine.ts_ns[row + 1] - spine.ts_ns[row] : 0;
    spine.dur_ns[row] = std::min<int64_t>(gap_ns, limit(row));
    any = true;
  }
  return any;
}

template <class Spine>
void CoverTime(TraceData& data, const Spine& spine) {
  for (size_t row = 0; row < spine.size(); ++row) {
    data.begin_ns = std::min(data.begin_ns, spine.ts_ns[row]);
    data.end_ns = std::max(data.end_ns, spine.ts_ns[row] + spine.dur_ns[row]);
  }
}

// REQUIRES: `memory` is sorted, so that rows without a time come first. False if none has one.
bool CoverMemory(TraceData& data, const MemoryEvents& memory) {
  const auto first = std::find_if(memory.ts_ns.begin(), memory.ts_ns.end(),
                                  [](int64_t ts_ns) { return ts_ns != kMissing; });
  if (first == memory.ts_ns.end()) {
    return false;
  }
  data.begin_ns = *first;
  data.end_ns = memory.ts_ns.back();
  return true;
}

// Those of monitors and of call stacks.
void CoverSamples(TraceData& data) {
  const auto cover = [&](std::span<const int64_t> begins, std::span<const int64_t> ends) {
    if (!begins.empty()) {
      data.begin_ns = std::min(data.begin_ns, *std::min_element(begins.begin(), begins.end()));
      data.end_ns = std::max(data.end_ns, *std::max_element(ends.begin(), ends.end()));
    }
  };
  if (data.samples.size() + data.stack_samples.size() != 0) {
    data.begin_ns = std::numeric_limits<int64_t>::max();
    data.end_ns = std::numeric_limits<int64_t>::min();
  }
  cover(data.samples.ts_ns, data.samples.end_ns);
  cover(data.stack_samples.ts_ns, data.stack_samples.ts_ns);
}

// Allocations and samples count where there is nothing else: they are no activity.
void CoverEvents(TraceData& data) {
  if (data.host.size() + data.device.size() == 0) {
    if (!CoverMemory(data, data.memory)) {
      CoverSamples(data);
    }
    return;
  }
  data.begin_ns = std::numeric_limits<int64_t>::max();
  data.end_ns = std::numeric_limits<int64_t>::min();
  CoverTime(data, data.host);
  CoverTime(data, data.device);
}

// Times of a part of a recording count from where the recording began.
void CoverRecording(TraceData& data) {
  if (const std::optional<RecordedCut>& cut = data.meta.cut) {
    data.begin_ns = std::min(data.begin_ns, cut->recording_begin_ns);
    data.end_ns = std::max(data.end_ns, cut->recording_end_ns);
  }
}

void SortMemory(MemoryEvents& memory) {
  std::vector<uint32_t> order(memory.size());
  std::iota(order.begin(), order.end(), 0U);
  SortRuns(std::span(order),
           [&](uint32_t a, uint32_t b) { return memory.ts_ns[a] < memory.ts_ns[b]; });
  if (!std::is_sorted(order.begin(), order.end())) {
    PermuteRows(memory, order, 1);
  }
}

// By thread and time.
template <class Table>
void SortByThread(Table& table) {
  std::vector<uint32_t> order(table.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::tuple(table.track[a].value, table.ts_ns[a]) <
           std::tuple(table.track[b].value, table.ts_ns[b]);
  });
  PermuteRows(table, order, 1);
}

void SortEventCounts(TraceData& data) {
  std::sort(data.event_counts.begin(), data.event_counts.end(),
            [&](const EventCount& a, const EventCount& b) {
              return std::pair(a.phase, data.strings.Get(a.category)) <
                     std::pair(b.phase, data.strings.Get(b.category));
            });
}

// Whether all that both have together can be numbered.
void CheckSizes(const TraceData& whole, const TraceData& part) {
  CheckedRows(whole.host.size() + part.host.size(), "events of the host");
  CheckedRows(whole.device.size() + part.device.size(), "events of devices");
  CheckedRows(whole.memory.size() + part.memory.size(), "events of memory");
  CheckedRows(whole.flows.size() + part.flows.size(), "arrows");
  CheckedRows(whole.samples.size() + part.samples.size(), "samples of counters");
  CheckedRows(whole.collectives.size() + part.collectives.size(), "collectives");
  CheckedRows(whole.ranges.size() + part.ranges.size(), "ranges of counters");
  CheckedRows(whole.metrics.size() + part.metrics.size(), "values of counters");
  CheckedRows(whole.pauses.size() + part.pauses.size(), "pauses of threads");
  CheckedRows(whole.stack_samples.size() + part.stack_samples.size(), "sampled call stacks");
  CheckedRows(whole.stack_frames.size() + part.stack_frames.size(), "sampled frames");
}

bool IsNew(const TraceData& data) {
  return data.host.size() + data.device.size() + data.memory.size() + data.tracks.size() == 0 &&
         data.strings.size() == 1 && data.event_counts.empty();
}

}  // namespace

TracePart::TracePart() = default;

TrackId TracePart::Track(TrackKind kind, int64_t pid, int64_t tid, int64_t process) {
  return TrackOf({kind, pid, tid, process, false});
}

TrackId TracePart::AsyncTrack(int64_t pid, int64_t tid) {
  return TrackOf({TrackKind::kHost, pid, tid, kMissing, true});
}

TrackId TracePart::TrackOf(const TrackKey& key) {
  if (last_track_.valid() && key == last_key_) {
    return last_track_;
  }
  const size_t next = data.tracks.size();
  const auto [place, is_new] = track_ids_.try_emplace(key, TrackId{static_cast<uint32_t>(next)});
  if (is_new) {
    CheckedRows(next + 1, "threads and streams");
    data.tracks.kind.push_back(key.kind);
    data.tracks.pid.push_back(key.pid);
    data.tracks.tid.push_back(key.tid);
    data.tracks.process.push_back(key.process);
    data.tracks.is_async.push_back(key.is_async ? 1 : 0);
    data.tracks.name.push_back(StringId{0});
  }
  last_key_ = key;
  last_track_ = place->second;
  return last_track_;
}

TrackId TracePart::FindTrack(TrackKind kind, int64_t pid, int64_t tid, int64_t process,
                             bool is_async) const {
  const auto found = track_ids_.find({kind, pid, tid, process, is_async});
  return found == track_ids_.end() ? TrackId{} : found->second;
}

TracePart::RowCounts TracePart::row_counts() const {
  return {data.host.size(),   data.device.size(),  data.ops.size(),
          data.triton.size(), data.kernels.size(), data.runtime_calls.size(),
          data.copies.size(), data.flows.size(),   data.memory.size()};
}

void TracePart::Reserve(const RowCounts& rows) {
  ReserveRows(data.host, rows[0]);
  ReserveRows(data.device, rows[1]);
  ReserveRows(data.ops, rows[2]);
  ReserveRows(data.triton, rows[3]);
  ReserveRows(data.kernels, rows[4]);
  ReserveRows(data.runtime_calls, rows[5]);
  ReserveRows(data.copies, rows[6]);
  ReserveRows(data.flows, rows[7]);
  ReserveRows(data.memory, rows[8]);
}

// Few files have more pairs than a search from the first on finds quickly.
size_t TracePart::FindCount(char phase, StringId category) {
  constexpr ptrdiff_t kFew = 32;
  auto& counts = data.event_counts;
  const auto few = counts.begin() + std::min(std::ssize(counts), kFew);
  const auto found = std::find_if(counts.begin(), few, [&](const EventCount& count) {
    return count.phase == phase && count.category == category;
  });
  if (found != few) {
    return static_cast<size_t>(found - counts.begin());
  }
  const uint64_t key = uint64_t{category.value} << 8 | static_cast<unsigned char>(phase);
  const auto [place, is_new] = count_ids_.try_emplace(key, counts.size());
  if (is_new) {
    counts.push_back({phase, category, 0, 0});
  }
  return place->second;
}

void TracePart::CountEvent(char phase, StringId category, int64_t dur_ns) {
  auto& counts = data.event_counts;
  if (last_count_ >= counts.size() || counts[last_count_].phase != phase ||
      counts[last_count_].category != category) {
    last_count_ = FindCount(phase, category);
  }
  counts[last_count_].count += 1;
  AddSaturatingTo(counts[last_count_].total_ns, dur_ns);
}

TraceBuilder::TraceBuilder() = default;

void TraceBuilder::Append(TracePart&& part) {
  TraceData& whole = whole_.data;
  CheckSizes(whole, part.data);
  if (IsNew(whole)) {  // the only part of most databases: nothing to translate
    Diagnostics before = std::move(whole.diagnostics);
    whole_ = std::move(part);
    before.Merge(whole_.data.diagnostics);
    whole_.data.diagnostics = std::move(before);
    return;
  }
  TraceData& rows = part.data;
  std::vector<StringId> strings(rows.strings.size());
  for (uint32_t id = 0; id < strings.size(); ++id) {
    strings[id] = whole.strings.Intern(rows.strings.Get({id}));
  }
  std::vector<TrackId> tracks(rows.tracks.size());
  for (size_t t = 0; t < tracks.size(); ++t) {
    const Tracks& part_tracks = rows.tracks;
    tracks[t] = part_tracks.is_async[t] != 0
                    ? whole_.AsyncTrack(part_tracks.pid[t], part_tracks.tid[t])
                    : whole_.Track(part_tracks.kind[t], part_tracks.pid[t], part_tracks.tid[t],
                                   part_tracks.process[t]);
  }
  const IdMap map{strings, tracks};
  for (const TracePart::ThreadName& name : part.thread_names) {
    whole_.thread_names.push_back({name.pid, name.tid, map(name.name)});
  }
  AppendSpine(whole.host, rows.host, map,
              HostShift{Rows(whole.ops.size()), Rows(whole.runtime_calls.size()),
                        Rows(whole_.frames.rows.size())},
              whole_.events);
  whole_.frames.rows.insert(whole_.frames.rows.end(), part.frames.rows.begin(),
                            part.frames.rows.end());
  AppendSpine(whole.device, rows.device, map,
              DeviceShift{Rows(whole.kernels.size()), Rows(whole.copies.size()),
                          Rows(whole.syncs.size()), Rows(whole.ranges.size())},
              whole_.events);
  whole_.events += part.events;
  AppendDetails(whole, rows, map);
  for (const EventCount& count : rows.event_counts) {
    whole_.CountEvent(count.phase, map(count.category), count.total_ns);
    whole_.AddCount(count.count - 1);
  }
  whole.diagnostics.Merge(rows.diagnostics);
}

void TraceBuilder::Reserve(double times) {
  TracePart::RowCounts rows = whole_.row_counts();
  for (size_t& count : rows) {
    count = static_cast<size_t>(static_cast<double>(count) * times);
  }
  whole_.Reserve(rows);
}

// Streams are named "stream N"; any other name is a thread's.
void TraceBuilder::NameTracks() {
  for (const TracePart::ThreadName& row : whole_.thread_names) {
    const bool is_stream = whole_.data.strings.Get(row.name).starts_with("stream ");
    const TrackKind kind = is_stream ? TrackKind::kDevice : TrackKind::kHost;
    for (const bool is_async : {false, true}) {
      const TrackId track = whole_.FindTrack(kind, row.pid, row.tid, kMissing, is_async);
      if (track.valid()) {
        whole_.data.tracks.name[track.value] = row.name;
      }
    }
  }
}

Trace TraceBuilder::Finish(Meta meta, int64_t profiled_ns, int threads) {
  TraceData& data = whole_.data;
  data.meta = std::move(meta);
  NameTracks();
  const std::vector<uint32_t> new_id = RankTracks(data.tracks);
  for (ColumnData<TrackId>* column :
       {&data.host.track, &data.device.track, &data.memory.track, &data.flows.track,
        &data.pauses.track, &data.stack_samples.track}) {
    Renumber(*column, new_id);
  }
  data.tracks.first_row.assign(data.tracks.size(), 0);
  data.tracks.end_row.assign(data.tracks.size(), 0);
  SortSpine(data.host, data.tracks, TrackKind::kHost, threads);
  SortSpine(data.device, data.tracks, TrackKind::kDevice, threads);
  SortMemory(data.memory);
  SortByThread(data.pauses);
  SortByThread(data.stack_samples);
  if (CutDurations(data.host, data.strings, data.diagnostics,
                   [](size_t) { return kLongestEventNs; })) {
    SortSpine(data.host, data.tracks, TrackKind::kHost, threads);
  }
  if (ClampFrames(data.host, data.tracks, whole_.frames, data.strings, data.diagnostics)) {
    SortSpine(data.host, data.tracks, TrackKind::kHost, threads);
  }
  whole_.frames = {};
  const int64_t device_limit =
      profiled_ns > 0 ? std::min(profiled_ns, kLongestEventNs) : kLongestEventNs;
  if (CutDurations(data.device, data.strings, data.diagnostics, [&](size_t row) {
        return IsDeviceWork(data.device.kind[row]) ? device_limit : kLongestEventNs;
      })) {
    SortSpine(data.device, data.tracks, TrackKind::kDevice, threads);
  }
  if (CutOverruns(data.device, data.kernels, data.copies, data.tracks, data.strings,
                  data.diagnostics)) {
    SortSpine(data.device, data.tracks, TrackKind::kDevice, threads);
  }
  CoverEvents(data);
  CoverRecording(data);
  SortEventCounts(data);
  ForEachTable(data, [](auto& table) { ShrinkColumns(table); });
  return Trace(std::move(data));
}

}  // namespace borescope::internal
