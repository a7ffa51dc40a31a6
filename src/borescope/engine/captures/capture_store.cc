#include "borescope/engine/captures/capture_store.h"

#include <utility>

#include "borescope/base/lock_unless_stopped.h"
#include "borescope/engine/captures/attach_captures.h"
#include "borescope/engine/inputs/rank_numbers.h"

namespace borescope::internal {
namespace {

bool IsCapture(const LoadedTrace& file, bool is_named) {
  const Result<bool> is_capture = is_named ? CapturesGraphs(file.trace, file.index)
                                           : OnlyCapturesGraphs(file.trace, file.index);
  return is_capture.ok() && *is_capture;
}

bool IsFor(const CaptureRecording& recording, std::optional<int64_t> wanted) {
  return recording.is_capture &&
         (!recording.rank.has_value() || !wanted.has_value() || *recording.rank == *wanted);
}

CaptureRecording Load(const std::string& path, const std::shared_ptr<TraceStore>& traces,
                      bool is_named, const LoadOptions& options) {
  Result<std::shared_ptr<const LoadedTrace>> loaded =
      LoadTrace(InputFile{.path = path, .store = traces}, {options.threads, {}});
  if (!loaded.ok()) {
    return {.error = loaded.error()};
  }
  const Trace& trace = (*loaded)->trace;
  return {.is_capture = IsCapture(**loaded, is_named),
          .rank = RankClaim{trace.meta().rank, RankFromFileName(path)}.best(),
          .trace = std::move(*loaded)};
}

}  // namespace

CaptureRecording CaptureStore::Get(const std::string& path, bool is_named,
                                   std::optional<int64_t> wanted, const LoadOptions& options) {
  const std::shared_ptr<Entry> entry = EntryOf(path);
  const std::unique_lock lock = LockUnlessStopped(entry->mutex);
  std::optional<CaptureRecording>& known = entry->known;
  const bool is_needed = !known.has_value() || (known->trace == nullptr && IsFor(*known, wanted));
  CaptureRecording recording = is_needed ? Load(path, traces_, is_named, options) : *known;
  known = recording;
  if (!recording.is_capture || recording.rank.has_value()) {
    known->trace = nullptr;
  }
  if (!IsFor(recording, wanted)) {
    recording.trace = nullptr;
  }
  return recording;
}

void CaptureStore::Clear() {
  const std::lock_guard lock(mutex_);
  entries_.clear();
}

std::shared_ptr<CaptureStore::Entry> CaptureStore::EntryOf(const std::string& path) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Entry>& entry = entries_[path];
  if (entry == nullptr) {
    entry = std::make_shared<Entry>();
  }
  return entry;
}

}  // namespace borescope::internal
