#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "borescope/analysis/measures/idle/host_time.h"
#include "borescope/analysis/verbs/critical_path/saved/check_graph.h"
#include "borescope/analysis/verbs/critical_path/saved/saved_columns.h"
#include "borescope/analysis/verbs/critical_path/saved/saved_graph.h"
#include "borescope/index/names/kernel_class.h"
#include "borescope/index/steps/steps.h"

namespace borescope::internal {
namespace {

// Reads one piece of a file after the other.
class ColumnReader {
 public:
  ColumnReader(ByteSource& source, const std::string& file) : source_(source), file_(file) {}

  Result<void> ReadHead() {
    char magic[kSavedMagic.size()] = {};
    BS_ASSIGN(const size_t size, Take(magic, sizeof magic));
    if (std::string_view(magic, size) != kSavedMagic) {
      return Error{.code = ErrorCode::kUnsupportedFormat,
                   .cause = "this is no graph that critical-path `save` wrote",
                   .remedy = "give one, or the trace without `load`",
                   .file = file_,
                   .offset = 0};
    }
    uint32_t version = 0;
    BS_TRY(Read(&version, sizeof version, "version"));
    if (version != kSavedVersion) {
      return Error{
          .code = ErrorCode::kUnsupportedFormat,
          .cause = fmt::format("version {} of saved graphs, of which this borescope reads {}",
                               version, kSavedVersion),
          .remedy = "save the graph again with this one",
          .file = file_,
          .offset = kSavedMagic.size()};
    }
    return {};
  }

  template <class Cells>
  Result<void> ReadColumn(std::string_view what, Cells& column) {
    using T = Cells::value_type;
    uint64_t cells = 0;
    BS_TRY(Read(&cells, sizeof cells, what));
    const uint64_t begin = at_;
    // A little at a time: of a number that is wrong the file holds less than the memory would.
    constexpr uint64_t kCellsAtOnce = (uint64_t{4} << 20) / sizeof(T);
    for (uint64_t done = 0; done < cells; done = column.size()) {
      column.resize(done + std::min(cells - done, kCellsAtOnce));
      BS_TRY(Read(column.data() + done, (column.size() - done) * sizeof(T), what));
    }
    uint64_t checksum = 0;
    BS_TRY(Read(&checksum, sizeof checksum, what));
    const auto* bytes = reinterpret_cast<const char*>(column.data());
    return checksum == SavedChecksum(bytes, column.size() * sizeof(T))
               ? Result<void>()
               : Damaged(begin, what, "does not fit its checksum");
  }

  Result<void> ReadEnd() {
    char more = 0;
    BS_ASSIGN(const size_t size, Take(&more, 1));
    return size == 0 ? Result<void>() : Damaged(at_ - 1, "end", "is followed by more bytes");
  }

 private:
  Error Damaged(uint64_t byte, std::string_view what, std::string_view cause) const {
    return {.code = ErrorCode::kCorrupt,
            .cause = fmt::format("{} {}", what, cause),
            .remedy = "save the graph again, or check that the copy finished",
            .file = file_,
            .offset = byte};
  }

  Result<size_t> Take(void* out, size_t size) {
    Result<size_t> taken = ReadFully(source_, static_cast<char*>(out), size);
    if (!taken.ok()) {
      return InFile(file_, taken.error());
    }
    at_ += *taken;
    return taken;
  }

  Result<void> Read(void* out, size_t size, std::string_view what) {
    BS_ASSIGN(const size_t taken, Take(out, size));
    return taken == size ? Result<void>() : Damaged(at_, what, "is cut off");
  }

  ByteSource& source_;
  const std::string& file_;
  uint64_t at_ = 0;
};

// What was read, in the making.
struct Parts {
  SavedExtras extras;
  TraceData trace;
  ColumnData<HostId> launch_of;
  RecordingGraph recording;
};

int64_t NumberOf(const SavedExtras& extras, SavedNumber number) {
  return extras.numbers[static_cast<size_t>(number)];
}

std::optional<int64_t> Known(int64_t number) {
  return number == kMissing ? std::nullopt : std::optional(number);
}

Result<void> FillMeta(const std::string& file, Parts& parts) {
  Meta& meta = parts.trace.meta;
  meta.file = file;
  const std::optional<TraceFormat> format =
      FindFormatNamed({parts.extras.format.data(), parts.extras.format.size()});
  if (!format.has_value()) {
    return Error{ErrorCode::kCorrupt, "format: none that this borescope knows",
                 "save the graph again", file};
  }
  meta.format = *format;
  meta.rank = Known(NumberOf(parts.extras, SavedNumber::kRank));
  meta.world_size = Known(NumberOf(parts.extras, SavedNumber::kWorldSize));
  meta.base_ns = Known(NumberOf(parts.extras, SavedNumber::kBaseNs));
  meta.vendor = static_cast<Vendor>(NumberOf(parts.extras, SavedNumber::kVendor));
  parts.trace.begin_ns = NumberOf(parts.extras, SavedNumber::kBeginNs);
  parts.trace.end_ns = NumberOf(parts.extras, SavedNumber::kEndNs);
  return {};
}

Result<void> FillNames(const std::string& file, Parts& parts) {
  const char* text = parts.extras.texts.data();
  for (const uint32_t size : parts.extras.text_sizes) {
    parts.trace.strings.Intern({text, size});
    text += size;
  }
  if (parts.trace.strings.size() != parts.extras.text_sizes.size() + 1) {  // 0 is the empty one
    return Error{ErrorCode::kCorrupt, "texts: two are equal", "save the graph again", file};
  }
  const SavedExtras& extras = parts.extras;
  parts.trace.host.name.assign(extras.host_names.begin(), extras.host_names.end());
  parts.trace.device.name.assign(extras.device_names.begin(), extras.device_names.end());
  return {};
}

// Tracks follow each other on their spine.
void FillTracks(Parts& parts) {
  Tracks& tracks = parts.trace.tracks;
  tracks.process.assign(tracks.size(), kMissing);
  tracks.is_async.assign(tracks.size(), 0);
  tracks.name.assign(tracks.size(), StringId{0});
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    const bool is_host = tracks.kind[track] == TrackKind::kHost;
    ColumnData<TrackId>& rows = is_host ? parts.trace.host.track : parts.trace.device.track;
    tracks.first_row.push_back(static_cast<uint32_t>(rows.size()));
    rows.resize(rows.size() + parts.extras.track_rows[track], TrackId{track});
    tracks.end_row.push_back(static_cast<uint32_t>(rows.size()));
  }
}

// What each device's clock says about its streams.
void SpreadSkews(const Tracks& tracks, DeviceClocks& clocks) {
  clocks.track_skew_ns.assign(tracks.size(), 0);
  for (size_t track = 0; track < tracks.size(); ++track) {
    for (const DeviceClock& clock : clocks.clocks) {
      if (tracks.kind[track] == TrackKind::kDevice && tracks.pid[track] == clock.device) {
        clocks.track_skew_ns[track] = clock.skew_ns;
      }
    }
  }
}

void FillRecording(Parts& parts) {
  const SavedExtras& extras = parts.extras;
  for (size_t i = 0; i < extras.thread_tracks.size(); ++i) {
    parts.recording.facts.threads.push_back(
        {extras.thread_tracks[i], extras.thread_is_main[i] != 0});
  }
  const std::vector<int64_t>& clocks = parts.extras.clocks;
  for (size_t at = 0; at < clocks.size(); at += kClockNumbers) {
    parts.recording.clocks.clocks.push_back({clocks[at], clocks[at + 1], clocks[at + 2],
                                             clocks[at + 3], clocks[at + 4], clocks[at + 5],
                                             clocks[at + 6], clocks[at + 7]});
  }
  SpreadSkews(parts.trace.tracks, parts.recording.clocks);
  SyncEdges& syncs = parts.recording.syncs;
  for (size_t i = 0; i < extras.sync_kinds.size(); ++i) {
    syncs.edges.push_back({extras.sync_kinds[i], extras.sync_inferred[i] != 0,
                           extras.sync_sources[i], extras.sync_calls[i], extras.sync_targets[i]});
  }
  syncs.has_records = NumberOf(extras, SavedNumber::kHasRecords) != 0;
  syncs.backward = static_cast<uint64_t>(NumberOf(extras, SavedNumber::kBackward));
  syncs.unresolved = static_cast<uint64_t>(NumberOf(extras, SavedNumber::kUnresolved));
}

}  // namespace

Result<SavedGraph> LoadGraph(ByteSource& source, const std::string& file,
                             std::string_view data_load) {
  ColumnReader reader(source, file);
  BS_TRY(reader.ReadHead());
  Parts parts;
  Result<void> read;
  ForEachSavedColumn(parts.extras, parts.trace, parts.launch_of, parts.recording,
                     [&](std::string_view what, auto& column) {
                       read = read.ok() ? reader.ReadColumn(what, column) : read;
                     });
  if (!read.ok()) {
    return read.error();
  }
  BS_TRY(reader.ReadEnd());
  BS_TRY(CheckSavedTrace(file, parts.extras, parts.trace, parts.launch_of));
  BS_TRY(FillMeta(file, parts));
  BS_TRY(FillNames(file, parts));
  FillTracks(parts);
  FillRecording(parts);
  BS_TRY(CheckSavedGraph(file, parts.trace, parts.recording));
  SavedGraph graph{Trace(std::move(parts.trace)), {}, std::move(parts.recording)};
  graph.index.correlation.launch_of = std::move(parts.launch_of);
  graph.index.class_of_name = ClassifyNames(graph.trace);
  graph.index.steps = BuildSteps(graph.trace, graph.index.correlation);
  graph.recording.facts.is_loading = FindDataLoading(graph.trace, data_load);
  return graph;
}

}  // namespace borescope::internal
