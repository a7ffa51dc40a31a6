// convert: a trace written in another profiler's format. Targets are rows of one list; a writer
// gets what was loaded and a sink or a path, and says how many events it wrote.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "borescope/base/result.h"
#include "borescope/convert/time_window.h"
#include "borescope/index/trace_index.h"
#include "borescope/output/sink.h"
#include "borescope/trace/trace.h"

namespace borescope {

struct ConvertInput {
  const Trace& trace;
  const TraceIndex& index;
  TimeWindow window;  // events that start outside are left out
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
};

struct ConvertTarget {
  std::string_view name;  // "chrome"
  std::string_view summary;
  std::span<const std::string_view> extensions;  // ".json"
  // Writers of text: to any sink. nullptr: a database, which needs a file of its own.
  Result<ConvertCounts> (*write)(const ConvertInput& input, Sink& sink);
  // Writers of databases: to `path`, an empty file; `name` stands for it in messages.
  Result<ConvertCounts> (*write_file)(const ConvertInput& input, const std::string& path);
};

std::span<const ConvertTarget> ConvertTargets();

// The target called `name` or, where that is empty, the one whose extension `path` has, perhaps
// followed by ".gz". kInvalidArgument lists what there is.
Result<const ConvertTarget*> ChooseTarget(std::string_view name, const std::string& path);

// Writes the file at `path`, which appears complete or not at all; text is compressed if the name
// ends in ".gz". Errors: kIo; kInvalidArgument for a database that should be compressed or is to go
// to something that is no file.
Result<ConvertCounts> WriteConverted(const ConvertInput& input, const ConvertTarget& target,
                                     const std::string& path);

}  // namespace borescope
