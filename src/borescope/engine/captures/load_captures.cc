#include "borescope/engine/captures/load_captures.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "borescope/base/lock_unless_stopped.h"
#include "borescope/base/stop.h"
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

namespace {

struct LoadedCapture {
  std::string path;
  std::shared_ptr<const LoadedTrace> trace;
};

std::optional<int64_t> RankOf(const Trace& trace, const std::string& path) {
  return RankClaim{trace.meta().rank, RankFromFileName(path)}.best();
}

bool IsOther(std::optional<int64_t> rank, std::optional<int64_t> own) {
  return rank.has_value() && own.has_value() && *rank != *own;
}

// Those that capture a graph; of other ranks only whether there are any is of interest.
struct FoundCaptures {
  std::vector<LoadedCapture> own;
  bool any = false;
  // Of those that could not be loaded: the first, and how many are no recordings at all, which may
  // lie in a folder of captures.
  std::optional<Error> unreadable = {};
  size_t skipped = 0;
};

FoundCaptures LoadAll(const InputFile& input, const LoadOptions& options, const Trace& trace) {
  const std::optional<int64_t> rank = RankOf(trace, input.path);
  const std::shared_ptr<CaptureStore> store = input.capture_store != nullptr
                                                  ? input.capture_store
                                                  : std::make_shared<CaptureStore>(input.store);
  FoundCaptures found;
  for (const std::string& path : input.captures) {
    CheckStop();
    if (IsOther(RankFromFileName(path), rank)) {
      found.any = true;
      continue;
    }
    CaptureRecording capture = store->Get(path, input.captures_are_named, rank, options);
    if (capture.error.has_value()) {
      const bool is_foreign = capture.error->code == ErrorCode::kUnsupportedFormat;
      found.skipped += is_foreign && input.captures.size() > 1 ? 1 : 0;
      if (!found.unreadable.has_value() || !is_foreign) {
        found.unreadable = std::move(capture.error);
      }
    }
    found.any = found.any || capture.is_capture;
    if (capture.trace != nullptr) {
      found.own.push_back({path, std::move(capture.trace)});
    }
  }
  return found;
}

// Whether captures are searched: the recording launches graphs, and does not hold their captures
// itself if none were named.
Result<bool> WantsCaptures(const InputFile& input, const LoadedTrace& loaded) {
  if (input.captures.empty()) return false;
  BS_ASSIGN(const bool replays, ReplaysGraphs(loaded.trace, loaded.index));
  if (!replays || input.captures_are_named) return replays;
  BS_ASSIGN(const bool has_own, CapturesGraphs(loaded.trace, loaded.index));
  return !has_own;
}

void CountMatches(const LoadedTrace& loaded, Diagnostics& diagnostics) {
  uint64_t kernels = 0;
  uint64_t tied = 0;
  uint64_t aligned = 0;
  for (const CaptureMatch& match : loaded.trace.captured().matches) {
    kernels += match.kernels;
    tied += match.tied;
    aligned += match.fit == CaptureFit::kAligned ? match.tied : 0;
  }
  if (tied > 0) {
    diagnostics.CountMany(
        Diag::kCapturedKernels, tied, Diagnostics::kNoByte,
        fmt::format("{} of {} kernels of graphs, {} by exact matches and {} by aligned ones", tied,
                    kernels, tied - aligned, aligned));
  }
  if (tied < kernels) {
    diagnostics.CountMany(Diag::kUncapturedKernels, kernels - tied, Diagnostics::kNoByte,
                          fmt::format("{} of {} kernels of graphs", kernels - tied, kernels));
  }
}

// The paths of the files to which a kernel is tied.
std::vector<std::string> UsedFiles(const Trace& trace) {
  std::set<std::string> used;
  for (const CaptureMatch& match : trace.captured().matches) {
    if (match.tied > 0) used.emplace(trace.Text(match.file));
  }
  return {used.begin(), used.end()};
}

Error NoCapture(const InputFile& input) {
  return UsageError(
      fmt::format("no graph was captured in {}",
                  input.captures.size() == 1 ? input.captures.front()
                                             : fmt::format("{} and {} more", input.captures.front(),
                                                           input.captures.size() - 1)),
      "name the recording of the warm-up in which the graphs were captured", "captures");
}

}  // namespace

Result<void> LoadCaptures(const InputFile& input, const LoadOptions& options, LoadedTrace& loaded) {
  BS_ASSIGN(const bool is_wanted, WantsCaptures(input, loaded));
  if (!is_wanted) return {};
  const FoundCaptures found = LoadAll(input, options, loaded.trace);
  if (!found.any && input.captures_are_named) {
    const bool all_are_foreign = found.skipped > 0 && found.unreadable.has_value() &&
                                 found.unreadable->code == ErrorCode::kUnsupportedFormat;
    return all_are_foreign ? NoCapture(input) : found.unreadable.value_or(NoCapture(input));
  }
  if (found.own.empty() && !input.captures_are_named) return {};
  std::vector<CaptureFile> files;
  files.reserve(found.own.size());
  for (const LoadedCapture& capture : found.own) {
    files.push_back({capture.path, capture.trace->trace, capture.trace->index});
  }
  BS_ASSIGN(loaded.trace, AttachCaptures(std::move(loaded.trace), loaded.index, files));
  loaded.index = BuildIndex(loaded.trace, options.threads);
  loaded.captures = UsedFiles(loaded.trace);
  CountMatches(loaded, loaded.index.diagnostics);
  if (input.captures_are_named && found.skipped > 0) {
    loaded.index.diagnostics.CountMany(
        Diag::kUnreadableFile, found.skipped, Diagnostics::kNoByte,
        "not used by --captures: " + WithOptions(found.unreadable->Sentence()));
  }
  return {};
}

}  // namespace borescope::internal
