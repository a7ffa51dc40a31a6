#include "borescope/engine/trace_cache.h"

#include <algorithm>
#include <utility>

namespace borescope::internal {

Result<std::shared_ptr<const LoadedTrace>> TraceCache::Get(const InputFile& input,
                                                           const LoadOptions& options) {
  const std::shared_ptr<Entry> entry = EntryOf(input.path);
  const std::lock_guard loading(entry->loading);
  {
    const std::lock_guard lock(mutex_);
    if (entry->trace != nullptr) {
      used_.splice(used_.end(), used_, std::find(used_.begin(), used_.end(), input.path));
      return entry->trace;
    }
  }
  BS_ASSIGN(std::shared_ptr<const LoadedTrace> trace, LoadTrace(input, options));
  Keep(input.path, entry, trace);
  return trace;
}

uint64_t TraceCache::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

void TraceCache::Clear() {
  const std::lock_guard lock(mutex_);
  for (const std::string& path : used_) {
    entries_[path]->trace.reset();
  }
  used_.clear();
  bytes_ = 0;
}

std::shared_ptr<TraceCache::Entry> TraceCache::EntryOf(const std::string& path) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Entry>& entry = entries_[path];
  if (entry == nullptr) {
    entry = std::make_shared<Entry>();
  }
  return entry;
}

void TraceCache::Keep(const std::string& path, const std::shared_ptr<Entry>& entry,
                      const std::shared_ptr<const LoadedTrace>& trace) {
  const std::lock_guard lock(mutex_);
  if (trace->bytes > budget_) {
    return;
  }
  entry->trace = trace;
  used_.push_back(path);
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
