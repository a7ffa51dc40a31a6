#include "borescope/engine/loading/loaded_trace.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "borescope/base/spilled_blocks.h"
#include "borescope/base/sqlite/settled_database.h"
#include "borescope/base/stop.h"
#include "borescope/base/stopwatch.h"
#include "borescope/engine/loading/attach_captures.h"
#include "borescope/ingest/ncu/report_trace.h"
#include "borescope/store/trace_store.h"
#include "borescope/trace/columns.h"
#include "borescope/trace/keep_processes.h"

namespace borescope::internal {

namespace {

// Inputs that follow from the content of one file, and from all of it. Recordings of borescope
// record are of several, and may still grow; what comes from a pipe or a program can be read once,
// unless it is known which content it is.
Result<bool> IsForStore(const InputFile& input) {
  if (input.store == nullptr || !input.logs.empty() || !input.passes.empty() ||
      input.rank_in_file.has_value()) {
    return false;
  }
  if (input.identity != nullptr) {
    return true;
  }
  if (input.content != nullptr || input.path == "-" || !FileIdentity::Of(input.path).has_value()) {
    return false;
  }
  BS_ASSIGN(const bool has_more, MayHaveRowsBeside(input.path));
  return !has_more;
}

Result<InputContent> ContentOf(const InputFile& input, int threads) {
  if (input.identity == nullptr) {
    return input.store->ContentOf(input.path, threads);
  }
  BS_ASSIGN(const std::string identity, InFile(input.path, input.identity()));
  return input.store->ContentCalled(identity);
}

Result<bool> IsStill(const InputFile& input, const InputContent& content, int threads) {
  if (input.identity == nullptr) {
    BS_ASSIGN(const bool has_more, MayHaveRowsBeside(input.path));
    return !has_more && input.store->IsStill(input.path, content, threads);
  }
  BS_ASSIGN(const InputContent now, ContentOf(input, threads));
  return now.hash == content.hash;
}

StoreReport Kept(const InputFile& input, const InputContent& content, const LoadedTrace& loaded,
                 int threads) {
  const Meta& meta = loaded.trace.meta();
  if (meta.format == TraceFormat::kRecording || meta.remedy != RemedyOf(meta.format)) {
    return {};
  }
  const Result<bool> is_still = IsStill(input, content, threads);
  if (!is_still.ok() || !*is_still) {
    return {CacheUse::kFailed, is_still.ok() ? input.path + ": changed while it was read"
                                             : WithOptions(is_still.error().Sentence())};
  }
  const Result<void> kept = input.store->Keep(content, loaded.trace, loaded.index, threads);
  return kept.ok() ? StoreReport{CacheUse::kKept, {}}
                   : StoreReport{CacheUse::kFailed,
                                 WithOptions(InFile(input.path, kept.error()).Sentence())};
}

// Loads the input and keeps it, unless its content is not known. `failure` of the store before.
Result<LoadedTrace> LoadAndKeep(const InputFile& input, const LoadOptions& options,
                                const Result<InputContent>& content, std::string failure) {
  BS_ASSIGN(LoadedTrace loaded, LoadAndIndex(input, options));
  if (content.ok()) {
    loaded.store = Kept(input, *content, loaded, options.threads);
  }
  if (!failure.empty()) {
    loaded.store = {CacheUse::kFailed, std::move(failure)};
  }
  return loaded;
}

}  // namespace

Result<LoadedTrace> LoadStored(const InputFile& input, const LoadOptions& options) {
  if (!input.store_failure.empty()) {
    BS_ASSIGN(LoadedTrace loaded, LoadAndIndex(input, options));
    loaded.store = {CacheUse::kFailed, input.store_failure};
    return loaded;
  }
  const Result<bool> is_for_store = IsForStore(input);
  if (!is_for_store.ok()) {
    return LoadAndKeep(input, options, is_for_store.error(),
                       WithOptions(is_for_store.error().Sentence()));
  }
  if (!*is_for_store) {
    return LoadAndIndex(input, options);
  }
  const Stopwatch stopwatch;
  const Result<InputContent> content = ContentOf(input, options.threads);
  if (!content.ok()) {
    return LoadAndKeep(input, options, content, WithOptions(content.error().Sentence()));
  }
  Result<std::optional<StoredTrace>> found =
      input.store->Find(*content, {input.path, RemedyOf}, options.threads);
  if (!found.ok() || !found->has_value()) {
    return LoadAndKeep(input, options, content,
                       found.ok() ? "" : WithOptions(found.error().Sentence()));
  }
  StoredTrace& stored = **found;
  LoadedTrace loaded{std::move(stored.trace), std::move(stored.index), stopwatch.elapsed_ns(), 0};
  loaded.store.use = CacheUse::kFound;
  return loaded;
}

namespace {

template <class T>
uint64_t BytesOf(const std::vector<T>& values) {
  return values.capacity() * sizeof(T);
}
// A view counts as what it shows, which is in memory as long as it is used.
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
  BS_ASSIGN(Trace whole, input.passes.empty() ? LoadFile(input.path, of_rank)
                                              : LoadCounterPasses(input.passes, of_rank));
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
  if (!input.passes.empty()) {
    return LoadCounterPasses(input.passes, options);
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

namespace {

std::optional<int64_t> MainProcess(const Trace& trace) {
  const Tracks& tracks = trace.tracks();
  std::optional<int64_t> process;
  uint32_t most = 0;
  for (uint32_t i = 0; i < tracks.size(); ++i) {
    const uint32_t rows = tracks.end_row[i] - tracks.first_row[i];
    if (tracks.kind[i] == TrackKind::kHost && rows > most && tracks.pid[i] != kMissing) {
      most = rows;
      process = tracks.pid[i];
    }
  }
  return process;
}

}  // namespace

RecordedWindow WindowOf(const Trace& trace) {
  RecordedWindow window;
  window.process = MainProcess(trace);
  if (const std::optional<int64_t> base = trace.meta().base_ns) {
    window.begin_ns = *base + trace.begin_ns();
    window.end_ns = *base + trace.end_ns();
  }
  return window;
}

namespace {

// The same file with other captures has other operators; with other logs, other processes;
// of a file with several ranks each has its own.
std::string KeyOf(const InputFile& input) {
  std::string key = input.path;
  for (const std::string& capture : input.captures) {
    key += '\0';
    key += capture;
  }
  for (const auto* const files : {&input.logs, &input.passes}) {
    for (const std::string& file : *files) {
      key += '\0';
      key += file;
    }
  }
  if (input.rank_in_file.has_value()) {
    key += '\0';
    key += input.rank_in_file->name;
  }
  return key;
}

}  // namespace

Result<std::shared_ptr<const LoadedTrace>> TraceCache::Get(const InputFile& input,
                                                           const LoadOptions& options) {
  const std::string key = KeyOf(input);
  const std::shared_ptr<Entry> entry = EntryOf(key);
  const std::unique_lock loading = LockUnlessStopped(entry->loading);
  {
    const std::lock_guard lock(mutex_);
    if (entry->trace != nullptr) {
      used_.splice(used_.end(), used_, std::find(used_.begin(), used_.end(), key));
      return entry->trace;
    }
  }
  BS_ASSIGN(std::shared_ptr<const LoadedTrace> trace, LoadTrace(input, options));
  Keep(key, entry, trace);
  return trace;
}

std::shared_ptr<const LoadedTrace> TraceCache::Kept(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  const auto is_of_path = [&](const std::string& key) {
    return key.starts_with(path) && (key.size() == path.size() || key[path.size()] == '\0');
  };
  const auto found = std::find_if(used_.rbegin(), used_.rend(), is_of_path);
  return found == used_.rend() ? nullptr : entries_.at(*found)->trace;
}

uint64_t TraceCache::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

void TraceCache::Clear() {
  const std::lock_guard lock(mutex_);
  for (const std::string& key : used_) {
    entries_[key]->trace.reset();
  }
  used_.clear();
  bytes_ = 0;
}

std::shared_ptr<TraceCache::Entry> TraceCache::EntryOf(const std::string& key) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Entry>& entry = entries_[key];
  if (entry == nullptr) {
    entry = std::make_shared<Entry>();
  }
  return entry;
}

void TraceCache::Keep(const std::string& key, const std::shared_ptr<Entry>& entry,
                      const std::shared_ptr<const LoadedTrace>& trace) {
  const std::lock_guard lock(mutex_);
  if (trace->bytes > budget_) {
    return;
  }
  entry->trace = trace;
  used_.push_back(key);
  bytes_ += trace->bytes;
  DropOverBudget();
}

void TraceCache::DropOverBudget() {
  while (bytes_ > budget_) {
    Entry& oldest = *entries_[used_.front()];
    bytes_ -= oldest.trace->bytes;
    oldest.trace.reset();
    used_.pop_front();
  }
}

}  // namespace borescope::internal
