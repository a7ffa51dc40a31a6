// Operators of the kernels that graphs ran, from recordings of how these graphs were captured.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/analysis/measures/graphs/captured_work.h"
#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/result.h"
#include "borescope/engine/inputs/input_files.h"
#include "borescope/engine/loading/loaded_trace.h"
#include "borescope/index/trace_index.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

// A recording in which graphs were captured.
struct CaptureFile {
  std::string name;  // for tables and messages
  const Trace& trace;
  const TraceIndex& index;
};

// Whether the recording launches graphs that ran kernels.
Result<bool> ReplaysGraphs(const Trace& trace, const TraceIndex& index);

// Whether it captures a graph.
Result<bool> CapturesGraphs(const Trace& trace, const TraceIndex& index);

// Whether it captures graphs and runs none: the recording of a warm-up, beside that of the work.
Result<bool> OnlyCapturesGraphs(const Trace& trace, const TraceIndex& index);

// The trace with the calls that the captures recorded for kernels of its graphs (CapturedCalls), in
// the order of the files; its index has to be built again. O(rows), times a logarithm.
Result<Trace> AttachCaptures(Trace trace, const TraceIndex& index,
                             std::span<const CaptureFile> files);

// The captures of graphs in recordings, as sequences that can be compared with launches.

// Numbers for texts of several recordings.
class CommonTexts {
 public:
  uint32_t Find(std::string_view text) {
    return numbers_.try_emplace(std::string(text), static_cast<uint32_t>(numbers_.size()))
        .first->second;
  }

 private:
  HashMap<std::string, uint32_t> numbers_;
};

struct CapturedGraph {
  uint32_t file = 0;    // index of the CaptureFile
  uint32_t number = 0;  // in its file, by start
  int64_t begin_ns = 0;
  std::vector<HostId> calls;  // those that requested kernels, by start
};

struct CapturedGraphs {
  std::vector<CapturedGraph> graphs;
  std::vector<CapturedSequence> sequences;  // of the same index
};

Result<CapturedGraphs> FindCapturedGraphs(std::span<const CaptureFile> files, CommonTexts& texts);

// Host events of a capture as rows of the trace whose graphs it made.

// Adds rows to a trace that is not in use yet.
class CapturedRows {
 public:
  CapturedRows(TraceData& data, std::span<const CaptureFile> files) : data_(data), files_(files) {}

  // The rows of the calls of a graph in `data`, with everything around them that began within the
  // capture; the same rows whenever the same graph is added. They are on the track `track`. Shapes,
  // types, strides and values of operators are left out without `has_arguments`.
  const std::vector<HostId>& Add(const CapturedGraph& graph, uint32_t number, bool has_arguments,
                                 TrackId track);

 private:
  std::vector<uint32_t> RowsOf(const CapturedGraph& graph) const;
  HostId AddRow(const Trace& from, uint32_t row, bool has_arguments, TrackId track);
  uint32_t AddDetail(const Trace& from, uint32_t detail, bool has_arguments);
  StringId Text(const Trace& from, StringId id) { return data_.strings.Intern(from.Text(id)); }

  TraceData& data_;
  std::span<const CaptureFile> files_;
  std::map<std::pair<uint32_t, bool>, std::vector<HostId>> added_;
};

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

// Says where captures of graphs are searched: in which files, never what is in them. Sets
// InputFile::captures and a store that all files share: the files that `named` leads to, as
// ExpandInputs finds them; if it is empty, those next to each input that are called captures, and
// those in folders next to it that are. No file is a capture of itself. Captures are kept in
// `traces`, if there is one. Errors as those of ExpandInputs about `named`.
Result<void> FindCaptures(std::span<const std::string> named, std::shared_ptr<TraceStore> traces,
                          std::vector<InputFile>& files);

}  // namespace borescope::internal
