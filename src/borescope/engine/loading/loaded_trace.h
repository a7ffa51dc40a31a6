// A recording in memory with everything that follows from it, and where it comes from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "borescope/answer.h"
#include "borescope/base/result.h"
#include "borescope/engine/inputs/input_files.h"
#include "borescope/index/trace_index.h"
#include "borescope/ingest/load.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

// What the store of indexed traces had to do with a load.
struct StoreReport {
  CacheUse use = CacheUse::kNone;
  std::string reason;  // of a failure
};

// Immutable; safe to read from any number of threads.
struct LoadedTrace {
  Trace trace;
  TraceIndex index;
  int64_t load_ns = 0;
  int64_t index_ns = 0;
  uint64_t bytes = 0;                      // of memory that it takes
  std::vector<std::string> captures = {};  // files that know operators of its graphs' kernels
  StoreReport store = {};
};

// Loads one input of a run: a file, the logs of a recording, or what InputFile::content yields.
Result<Trace> LoadInput(const InputFile& input, const LoadOptions& options);

// The same with its indexes, without captures and without a store.
Result<LoadedTrace> LoadAndIndex(const InputFile& input, const LoadOptions& options);

// Loads and indexes one input of a run, or takes it from InputFile::store.
Result<std::shared_ptr<const LoadedTrace>> LoadTrace(const InputFile& input,
                                                     const LoadOptions& options);

// The memory that the columns, texts and indexes take. O(columns).
uint64_t MemoryBytes(const Trace& trace);
uint64_t MemoryBytes(const TraceIndex& index);

// An input of a run from the store of indexed traces, or loaded and kept there.

// The same trace and index as LoadAndIndex gives, whether they come from `input.store` or not;
// LoadedTrace::store says which. Whatever is wrong with the store is reported there, and the input
// is loaded: errors are those of LoadAndIndex alone.
Result<LoadedTrace> LoadStored(const InputFile& input, const LoadOptions& options);

// The process that was recorded, and when: what shows whether two recordings are windows of one
// process.
struct RecordedWindow {
  std::optional<int64_t> process;  // the one with the most events of the host
  // By the clock on the wall (Unix time); nothing where the recording does not say.
  std::optional<int64_t> begin_ns;
  std::optional<int64_t> end_ns;

  bool operator==(const RecordedWindow&) const = default;
};

RecordedWindow WindowOf(const Trace& trace);

// TraceCache: loaded recordings that are kept between questions, as many as fit a budget.

// Thread-safe. A recording that several threads ask for at once is loaded once; the others wait.
class TraceCache {
 public:
  // `budget` in bytes. Traces in use stay in memory beyond it, until their last user lets go.
  explicit TraceCache(uint64_t budget) : budget_(budget) {}

  // The recording of `input`, from the cache or loaded. Errors are those of LoadTrace, and are not
  // kept, nor is a load that was stopped: the next question tries again.
  Result<std::shared_ptr<const LoadedTrace>> Get(const InputFile& input,
                                                 const LoadOptions& options);

  // The recording of this path if it is kept, the one that was used last; nothing is loaded.
  std::shared_ptr<const LoadedTrace> Kept(const std::string& path) const;

  // How many bytes are kept; 0: nothing is.
  uint64_t budget() const { return budget_; }
  // The memory that the kept recordings take.
  uint64_t bytes() const;
  void Clear();

 private:
  struct Entry {
    std::timed_mutex loading;
    std::shared_ptr<const LoadedTrace> trace;
  };

  std::shared_ptr<Entry> EntryOf(const std::string& key);
  void Keep(const std::string& key, const std::shared_ptr<Entry>& entry,
            const std::shared_ptr<const LoadedTrace>& trace);
  void DropOverBudget();

  const uint64_t budget_;
  mutable std::mutex mutex_;                               // of all below, and of Entry::trace
  std::map<std::string, std::shared_ptr<Entry>> entries_;  // by path and captures
  std::list<std::string> used_;  // keys of the kept ones, the least recently used first
  uint64_t bytes_ = 0;
};

}  // namespace borescope::internal
