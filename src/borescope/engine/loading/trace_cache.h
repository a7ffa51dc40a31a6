// TraceCache: loaded recordings that are kept between questions, as many as fit a budget.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "borescope/engine/loading/loaded_trace.h"

namespace borescope::internal {

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

  // Of the recordings that are kept.
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
