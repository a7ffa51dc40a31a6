// The captures of a recording's graphs, loaded with it.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "borescope/engine/loading/loaded_trace.h"

namespace borescope::internal {

// The recordings in which the graphs of a run may have been captured, each loaded once for all
// ranks.

// What a rank has to know of a file of --captures, or one that was found.
struct CaptureRecording {
  bool is_capture = false;
  std::optional<int64_t> rank = {};  // whose graphs it captures; of one rank alone, if known
  std::optional<Error> error = {};   // it could not be loaded
  // nullptr unless it is a capture, and of rank `wanted` or of no known rank.
  std::shared_ptr<const LoadedTrace> trace = nullptr;
};

// Thread-safe. A file that several ranks ask for at once is loaded once; the others wait.
class CaptureStore {
 public:
  // `traces`: as InputFile::store, for each file.
  explicit CaptureStore(std::shared_ptr<TraceStore> traces = nullptr)
      : traces_(std::move(traces)) {}

  // The file at `path` for a rank. One that was named by the user is a capture if it captures
  // graphs, another if it does nothing else with graphs. A capture of no known rank is kept, for
  // the next rank that asks; of all others only what is known of them is.
  CaptureRecording Get(const std::string& path, bool is_named, std::optional<int64_t> wanted,
                       const LoadOptions& options);

  // Lets go of what is kept.
  void Clear();

 private:
  struct Entry {
    std::timed_mutex mutex;  // of what follows
    std::optional<CaptureRecording> known;
  };

  std::shared_ptr<Entry> EntryOf(const std::string& path);

  std::shared_ptr<TraceStore> traces_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Entry>> entries_;  // by path
};

// Looks for the graphs that `loaded` runs in the files of `input.captures`, and gives its kernels
// the operators found there. Files of other ranks, and files that cannot be read or capture
// nothing, are passed over; those for several ranks are loaded once (InputFile::capture_store); if
// the user named them and none captures a graph: kInvalidArgument, or why the first could not be
// read. Files that were not named are used only if they launch no graphs themselves and `loaded`
// captures none. What was found is counted in the diagnostics of the index.
Result<void> LoadCaptures(const InputFile& input, const LoadOptions& options, LoadedTrace& loaded);

}  // namespace borescope::internal
