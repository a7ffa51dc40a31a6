#include "borescope/engine/loading/loaded_trace.h"

#include <algorithm>
#include <utility>

#include "borescope/base/spilled_blocks.h"
#include "borescope/base/stopwatch.h"
#include "borescope/engine/captures/load_captures.h"
#include "borescope/engine/loading/stored_load.h"
#include "borescope/trace/columns.h"
#include "borescope/trace/keep_processes.h"

namespace borescope::internal {
namespace {

template <class T>
uint64_t BytesOf(const std::vector<T>& values) {
  return values.capacity() * sizeof(T);
}
// Of a view what it shows: it is in memory as long as it is used.
template <class T>
uint64_t BytesOf(const ColumnData<T>& values) {
  return std::max(values.capacity(), values.size()) * sizeof(T);
}

uint64_t TrackBytes(const Tracks& tracks) {
  return BytesOf(tracks.kind) + BytesOf(tracks.pid) + BytesOf(tracks.tid) +
         BytesOf(tracks.process) + BytesOf(tracks.is_async) + BytesOf(tracks.name) +
         BytesOf(tracks.first_row) + BytesOf(tracks.end_row);
}

template <class Columns>
uint64_t ColumnBytes(const Columns& columns) {
  uint64_t bytes = 0;
  ForEachColumn([&](const auto& column) { bytes += BytesOf(column); }, columns);
  return bytes;
}

}  // namespace

Result<LoadedTrace> LoadAndIndex(const InputFile& input, const LoadOptions& options) {
  const Stopwatch stopwatch;
  BS_ASSIGN(Trace trace, LoadInput(input, options));
  const int64_t load_ns = stopwatch.elapsed_ns();
  ReleaseSpilledBlocks();
  TraceIndex index = BuildIndex(trace, options.threads);
  const int64_t index_ns = stopwatch.elapsed_ns() - load_ns;
  ReleaseSpilledBlocks();
  return LoadedTrace{std::move(trace), std::move(index), load_ns, index_ns};
}

namespace {

// What the file holds of one of its ranks.
Result<Trace> LoadRankInFile(const InputFile& input, const LoadOptions& options) {
  const RankInFile& wanted = *input.rank_in_file;
  if (wanted.refusal.has_value()) {
    return *wanted.refusal;
  }
  LoadOptions of_rank = options;
  of_rank.rank_label = wanted.label;
  BS_ASSIGN(Trace whole, LoadFile(input.path, of_rank));
  TraceData data = std::move(whole).Take();
  if (!wanted.processes.empty()) {
    KeepProcesses(data, [&](int64_t process) {
      const auto rank = std::find(wanted.processes.begin(), wanted.processes.end(), process);
      return rank == wanted.processes.end() ? wanted.rank == 0
                                            : rank - wanted.processes.begin() == wanted.rank;
    });
  }
  data.meta.file += wanted.name;
  data.meta.rank = wanted.rank;
  data.meta.world_size = wanted.ranks;
  return Trace(std::move(data));
}

}  // namespace

Result<Trace> LoadInput(const InputFile& input, const LoadOptions& options) {
  if (input.rank_in_file.has_value()) {
    return LoadRankInFile(input, options);
  }
  if (!input.logs.empty()) {
    return LoadLogs(input.logs, options);
  }
  if (input.content == nullptr) {
    return LoadFile(input.path, options);
  }
  BS_ASSIGN(std::unique_ptr<ByteSource> source, InFile(input.path, input.content()));
  return LoadFrom(std::move(source), input.path, options);
}

Result<std::shared_ptr<const LoadedTrace>> LoadTrace(const InputFile& input,
                                                     const LoadOptions& options) {
  BS_ASSIGN(LoadedTrace loaded, LoadStored(input, options));
  BS_TRY(LoadCaptures(input, options, loaded));
  loaded.bytes = MemoryBytes(loaded.trace) + MemoryBytes(loaded.index);
  return std::make_shared<const LoadedTrace>(std::move(loaded));
}

uint64_t MemoryBytes(const Trace& trace) {
  return trace.strings().bytes() + TrackBytes(trace.tracks()) + ColumnBytes(trace.host()) +
         ColumnBytes(trace.device()) + ColumnBytes(trace.ops()) + ColumnBytes(trace.triton()) +
         ColumnBytes(trace.runtime_calls()) + ColumnBytes(trace.kernels()) +
         ColumnBytes(trace.copies()) + ColumnBytes(trace.copy_calls()) +
         ColumnBytes(trace.syncs()) + ColumnBytes(trace.collectives()) +
         ColumnBytes(trace.memory()) + ColumnBytes(trace.ranges()) + ColumnBytes(trace.metrics()) +
         ColumnBytes(trace.flows()) + ColumnBytes(trace.samples()) + ColumnBytes(trace.pauses()) +
         ColumnBytes(trace.stack_samples()) + ColumnBytes(trace.stack_frames()) +
         ColumnBytes(trace.call_stacks()) + ColumnBytes(trace.range_domains()) +
         BytesOf(trace.captured().parent) + BytesOf(trace.captured().call_of) +
         BytesOf(trace.captured().matches);
}

uint64_t MemoryBytes(const TraceIndex& index) {
  const Correlation& links = index.correlation;
  return BytesOf(index.tree.parent) + BytesOf(index.tree.subtree_end) + BytesOf(links.launch_of) +
         BytesOf(links.op_of) + BytesOf(links.captured_call_of) + BytesOf(links.rule) +
         BytesOf(links.device_begin) + BytesOf(links.device_rows) + BytesOf(index.steps.steps) +
         BytesOf(index.steps.device_step) + BytesOf(index.steps.process_of) +
         BytesOf(index.forward_backward) + BytesOf(index.class_of_name);
}

}  // namespace borescope::internal
