#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <type_traits>

#include "borescope/analysis/verbs/critical_path/saved/saved_columns.h"
#include "borescope/analysis/verbs/critical_path/saved/saved_graph.h"
#include "borescope/trace/columns.h"

namespace borescope::internal {
namespace {

// The columns of a trace under the names that TraceData has for them.
struct TraceColumns {
  const Tracks& tracks;
  const HostEvents& host;
  const DeviceEvents& device;
};

// Numbers the names of events anew, in the order of their first appearance: arguments and names of
// anything else stay behind.
class Renumbering {
 public:
  Renumbering(const Trace& trace, SavedExtras& extras)
      : trace_(trace), extras_(extras), numbers_(trace.strings().size()) {}

  std::vector<StringId> Of(std::span<const StringId> names) {
    std::vector<StringId> renumbered;
    renumbered.reserve(names.size());
    for (const StringId name : names) {
      renumbered.push_back(trace_.Text(name).empty() ? StringId{0} : Of(name));
    }
    return renumbered;
  }

 private:
  StringId Of(StringId name) {
    StringId& number = numbers_[name.value];
    if (!number.valid()) {
      const std::string_view text = trace_.Text(name);
      extras_.texts.insert(extras_.texts.end(), text.begin(), text.end());
      extras_.text_sizes.push_back(static_cast<uint32_t>(text.size()));
      number.value = static_cast<uint32_t>(extras_.text_sizes.size());
    }
    return number;
  }

  const Trace& trace_;
  SavedExtras& extras_;
  std::vector<StringId> numbers_;  // by old number; invalid: not seen yet
};

std::vector<int64_t> NumbersOf(const RankView& view, const SyncEdges& syncs) {
  const Meta& meta = view.trace.meta();
  std::vector<int64_t> numbers(static_cast<size_t>(SavedNumber::kCount), kMissing);
  const auto set = [&](SavedNumber number, int64_t value) {
    numbers[static_cast<size_t>(number)] = value;
  };
  // A rank that only the name of the file told is not 0.
  set(SavedNumber::kRank, meta.rank.value_or(view.rank == 0 ? kMissing : view.rank));
  set(SavedNumber::kWorldSize, meta.world_size.value_or(kMissing));
  set(SavedNumber::kBaseNs, meta.base_ns.value_or(kMissing));
  set(SavedNumber::kBeginNs, view.trace.begin_ns());
  set(SavedNumber::kEndNs, view.trace.end_ns());
  set(SavedNumber::kVendor, static_cast<int64_t>(meta.vendor));
  set(SavedNumber::kHasRecords, syncs.has_records ? 1 : 0);
  set(SavedNumber::kBackward, static_cast<int64_t>(syncs.backward));
  set(SavedNumber::kUnresolved, static_cast<int64_t>(syncs.unresolved));
  return numbers;
}

std::vector<int64_t> ClockNumbersOf(const DeviceClocks& clocks) {
  std::vector<int64_t> numbers;
  for (const DeviceClock& clock : clocks.clocks) {
    const int64_t of_one[kClockNumbers] = {clock.device,     clock.skew_ns,      clock.lowest_ns,
                                           clock.highest_ns, clock.launches,     clock.waits,
                                           clock.inferred,   clock.contradicting};
    numbers.insert(numbers.end(), std::begin(of_one), std::end(of_one));
  }
  return numbers;
}

SavedExtras ExtrasOf(const RankView& view, const RecordingGraph& recording) {
  SavedExtras extras;
  extras.numbers = NumbersOf(view, recording.syncs);
  extras.clocks = ClockNumbersOf(recording.clocks);
  const std::string_view format = FormatName(view.trace.meta().format);
  extras.format.assign(format.begin(), format.end());
  Renumbering names(view.trace, extras);
  extras.host_names = names.Of(std::span(view.trace.host().name).first(view.trace.host().size()));
  extras.device_names = names.Of(view.trace.device().name);
  const Tracks& tracks = view.trace.tracks();
  for (size_t track = 0; track < tracks.size(); ++track) {
    extras.track_rows.push_back(tracks.end_row[track] - tracks.first_row[track]);
  }
  for (const ThreadFacts& thread : recording.facts.threads) {
    extras.thread_tracks.push_back(thread.track);
    extras.thread_is_main.push_back(thread.is_main ? 1 : 0);
  }
  for (const SyncEdge& edge : recording.syncs.edges) {
    extras.sync_kinds.push_back(edge.kind);
    extras.sync_inferred.push_back(edge.inferred ? 1 : 0);
    extras.sync_sources.push_back(edge.source);
    extras.sync_calls.push_back(edge.call);
    extras.sync_targets.push_back(edge.target);
  }
  return extras;
}

template <class T>
std::string_view BytesOf(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

template <class Cells>
Result<void> PutColumn(const Cells& column, const PutBytes& put) {
  using T = Cells::value_type;
  static_assert(std::has_unique_object_representations_v<T>, "padding has no defined bytes");
  const auto* bytes = reinterpret_cast<const char*>(column.data());
  const size_t size = column.size() * sizeof(T);
  BS_TRY(put(BytesOf(static_cast<uint64_t>(column.size()))));
  BS_TRY(put({bytes, size}));
  return put(BytesOf(SavedChecksum(bytes, size)));
}

}  // namespace

namespace {

// Only what the recording itself has; captured rows are the last ones.
HostEvents Recorded(HostEvents host) {
  const size_t rows = host.size();
  ForEachColumn([&](auto& column) { column.resize(std::min(column.size(), rows)); }, host);
  host.captured = 0;
  return host;
}

}  // namespace

Result<void> SaveGraph(const RankView& view, const RecordingGraph& recording, const PutBytes& put) {
  BS_TRY(put(kSavedMagic));
  BS_TRY(put(BytesOf(kSavedVersion)));
  const SavedExtras extras = ExtrasOf(view, recording);
  std::optional<HostEvents> recorded;
  if (view.trace.host().captured != 0) recorded = Recorded(view.trace.host());
  const HostEvents& host = recorded.has_value() ? *recorded : view.trace.host();
  const TraceColumns trace{view.trace.tracks(), host, view.trace.device()};
  Result<void> written;
  ForEachSavedColumn(extras, trace, view.index.correlation.launch_of, recording,
                     [&](std::string_view, const auto& column) {
                       written = written.ok() ? PutColumn(column, put) : written;
                     });
  return written;
}

}  // namespace borescope::internal
