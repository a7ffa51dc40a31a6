// A recording in memory with everything that follows from it, and where it comes from.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "borescope/answer.h"
#include "borescope/base/result.h"
#include "borescope/engine/inputs/input_files.h"
#include "borescope/index/trace_index.h"
#include "borescope/ingest/load.h"

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

}  // namespace borescope::internal
