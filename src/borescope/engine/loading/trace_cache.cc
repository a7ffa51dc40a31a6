#include "borescope/engine/loading/trace_cache.h"

#include <algorithm>
#include <utility>

#include "borescope/base/lock_unless_stopped.h"

namespace borescope::internal {
namespace {

// The same file with other captures has other operators; with other logs, other processes;
// of a file with several ranks each has its own.
std::string KeyOf(const InputFile& input) {
  std::string key = input.path;
  for (const std::string& capture : input.captures) {
    key += '\0';
    key += capture;
  }
  for (const std::string& log : input.logs) {
    key += '\0';
    key += log;
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
