// convert: traces written in another profiler's format. Targets are rows of one list; a writer
// goes to a sink or a path, gets what was loaded, one trace after the other, and says how many
// events it wrote.
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
#include "borescope/output/sink/gzip_sink.h"
#include "borescope/output/sink/sink.h"
#include "borescope/trace/recorded_cut.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

struct ConvertInput {
  const Trace& trace;
  const TraceIndex& index;
  // Events that start outside are left out, but for those of host and device where `rows` says.
  TimeWindow window;
  MergeSource source;                   // which of the traces of the output
  const KeptRows* rows = nullptr;       // events of host and device; nullptr: by their start
  std::optional<RecordedCut> cut = {};  // what the file is to say that it holds

  bool Keeps(HostId id) const {
    return rows == nullptr ? window.Holds(trace.host().ts_ns[id.value]) : rows->host[id.value] != 0;
  }
  bool Keeps(DeviceId id) const {
    return rows == nullptr ? window.Holds(trace.device().ts_ns[id.value])
                           : rows->device[id.value] != 0;
  }
};

// What became of the events of the input: host and device events, allocator events, samples.
struct ConvertCounts {
  uint64_t written = 0;
  uint64_t outside = 0;   // of the window
  uint64_t unplaced = 0;  // inside, but the target has no place for them

  // Counts an event that is written if it is inside; returns whether it is.
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
  // Behind the last one; no Add may follow.
  virtual Result<void> Finish() = 0;
};

// The writer's answer to a single trace.
Result<ConvertCounts> WriteAlone(ConvertWriter& writer, const ConvertInput& input);

struct ConvertTarget {
  std::string_view name;  // "chrome"
  std::string_view summary;
  std::span<const std::string_view> extensions;  // ".json"
  // Whether a part of a recording takes what surrounds it along (kept_rows.h), and says what it is.
  bool keeps_surroundings;
  // Writers of text: to any sink, which outlives them. nullptr: a database, which needs a file of
  // its own.
  std::unique_ptr<ConvertWriter> (*open)(Sink& sink);
  // Writers of databases: to `path`, an empty file.
  Result<std::unique_ptr<ConvertWriter>> (*open_file)(const std::string& path);
};

std::span<const ConvertTarget> ConvertTargets();

// The target called `name` or, where that is empty, the one whose extension `path` has, perhaps
// followed by ".gz". kInvalidArgument lists what there is.
Result<const ConvertTarget*> ChooseTarget(std::string_view name, const std::string& path);

// A file that is being written, which appears complete or not at all; text is compressed if its
// name ends in ".gz". Errors: kIo; kInvalidArgument for a database that should be compressed or is
// to go to something that is no file.
class ConvertedFile {
 public:
  static Result<std::unique_ptr<ConvertedFile>> Open(const ConvertTarget& target,
                                                     const std::string& path);

  // The next trace, which need not outlive the call.
  Result<void> Add(const ConvertInput& input);
  // Lets the file appear. No Add may follow.
  Result<ConvertCounts> Commit();

 private:
  explicit ConvertedFile(std::string path) : path_(std::move(path)) {}

  Result<void> OpenText(const ConvertTarget& target);
  Result<void> OpenDatabase(const ConvertTarget& target);
  // A database names its draft, which the user does not know.
  Error Renamed(const Error& error) const;

  std::string path_;
  std::unique_ptr<FileSink> file_;
  std::unique_ptr<GzipSink> gzip_;         // nullptr unless compressed; writes to file_
  std::unique_ptr<ConvertWriter> writer_;  // writes to one of both
  ConvertCounts counts_;
};

// The file of a single trace.
Result<ConvertCounts> WriteConverted(const ConvertInput& input, const ConvertTarget& target,
                                     const std::string& path);

}  // namespace borescope::internal
