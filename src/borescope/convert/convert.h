// Writes traces in the formats of other profilers. Targets are rows of one list; a writer writes to
// a sink or a path, gets the loaded traces one after the other, and reports how many events it
// wrote.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "borescope/base/result.h"
#include "borescope/convert/kept_rows.h"
#include "borescope/convert/merge.h"
#include "borescope/index/time_window.h"
#include "borescope/index/trace_index.h"
#include "borescope/output/sink/sink.h"
#include "borescope/trace/recorded_cut.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

struct ConvertInput {
  const Trace& trace;
  const TraceIndex& index;
  // Events that start outside are left out, except events of host and device if `rows` keeps them.
  TimeWindow window;
  MergeSource source;  // which trace of the output it is
  const KeptRows* rows =
      nullptr;  // which events of host and device are kept; nullptr: by their start
  std::optional<RecordedCut> cut = {};  // the cut that the file shall name

  bool Keeps(HostId id) const {
    return rows == nullptr ? window.Holds(trace.host().ts_ns[id.value]) : rows->host[id.value] != 0;
  }
  bool Keeps(DeviceId id) const {
    return rows == nullptr ? window.Holds(trace.device().ts_ns[id.value])
                           : rows->device[id.value] != 0;
  }
};

// What happened to the events of the input: host and device events, allocator events, samples.
struct ConvertCounts {
  uint64_t written = 0;
  uint64_t outside = 0;   // outside of the window
  uint64_t unplaced = 0;  // inside, but the target format cannot represent them

  // Counts an event, as written if it is inside the window; returns `is_inside`.
  bool Keep(bool is_inside) {
    (is_inside ? written : outside) += 1;
    return is_inside;
  }
  void Add(const ConvertCounts& more) {
    written += more.written;
    outside += more.outside;
    unplaced += more.unplaced;
  }
};

// One output that is being written.
class ConvertWriter {
 public:
  virtual ~ConvertWriter() = default;

  // The next trace, which need not outlive the call.
  virtual Result<ConvertCounts> Add(const ConvertInput& input) = 0;
  // After the last trace; no Add may follow.
  virtual Result<void> Finish() = 0;
};

// Adds a single trace and finishes.
Result<ConvertCounts> WriteAlone(ConvertWriter& writer, const ConvertInput& input);

struct ConvertTarget {
  std::string_view name;  // "chrome"
  std::string_view summary;
  std::span<const std::string_view> extensions;  // ".json"
  // Whether a part of a recording is written with the events around it (kept_rows.h), and names its
  // cut.
  bool keeps_surroundings;
  // Opens a writer of text to any sink, which must outlive it. nullptr for a database, which needs
  // a file.
  std::unique_ptr<ConvertWriter> (*open)(Sink& sink);
  // Opens a writer of a database to `path`, an empty file.
  Result<std::unique_ptr<ConvertWriter>> (*open_file)(const std::string& path);
};

std::span<const ConvertTarget> ConvertTargets();

// The target called `name` or, if that is empty, the one with the extension of `path`, which may be
// followed by ".gz". kInvalidArgument, with a list of targets, if there is none.
Result<const ConvertTarget*> ChooseTarget(std::string_view name, const std::string& path);

// A file that is being written, which appears complete or not at all; text is compressed if its
// name ends in ".gz". Errors: kIo; kInvalidArgument for a database that should be compressed, or
// whose target is not a file.
class ConvertedFile {
 public:
  static Result<std::unique_ptr<ConvertedFile>> Open(const ConvertTarget& target,
                                                     const std::string& path);

  // The next trace, which need not outlive the call.
  Result<void> Add(const ConvertInput& input);
  // Makes the file appear. No Add may follow.
  Result<ConvertCounts> Commit();

 private:
  explicit ConvertedFile(std::string path) : path_(std::move(path)) {}

  Result<void> OpenText(const ConvertTarget& target);
  Result<void> OpenDatabase(const ConvertTarget& target);
  // The error with the name of the file in place of that of its draft, which the user does not
  // know.
  Error Renamed(const Error& error) const;

  std::string path_;
  std::unique_ptr<FileSink> file_;
  std::unique_ptr<GzipSink> gzip_;         // nullptr unless compressed; writes to file_
  std::unique_ptr<ConvertWriter> writer_;  // writes to file_ or gzip_
  ConvertCounts counts_;
};

// The file of a single trace.
Result<ConvertCounts> WriteConverted(const ConvertInput& input, const ConvertTarget& target,
                                     const std::string& path);

}  // namespace borescope::internal
