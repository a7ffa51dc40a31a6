// Loads one profile into a finished Trace. The format is recognised by content, never by extension;
// gzip (also multi-member) and zstd are inflated while reading. To add a format: its file here and
// a row in load.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "borescope/base/io/byte_source.h"
#include "borescope/base/result.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

struct LoadOptions {
  int threads = 1;
  // Called repeatedly, from any loading thread but never from two at once, with stored bytes read
  // so far and in total (0 if unknown, as for standard input). May be empty.
  std::function<void(uint64_t done, uint64_t total)> progress;
  // Of a Kineto trace into which several ranks were merged: the text before the number of its
  // processes ("[TP00-DP00] " of "[TP00-DP00] 83"), whose events are read; empty: all events are.
  std::string rank_label = {};
};

// Loads the file at `path`, or standard input for "-". An unusable input gives one Error that names
// file, byte offset, cause and remedy; repairs are counted in Trace::diagnostics().
Result<Trace> LoadFile(const std::string& path, const LoadOptions& options);

// The trace of several logs of borescope record, of one host and rank, in the order of their start.
// REQUIRES: one at least.
Result<Trace> LoadLogs(std::span<const std::string> paths, const LoadOptions& options);

// The same as LoadFile for bytes in memory (tests, fuzzing); `name` is the name of the file in
// messages.
Result<Trace> LoadBytes(std::string_view bytes, const std::string& name,
                        const LoadOptions& options);

// The same for any source of bytes, plain or compressed.
Result<Trace> LoadFrom(std::unique_ptr<ByteSource> source, const std::string& name,
                       const LoadOptions& options);

// Whether the ordinary file at `path` seems to be a trace, by its begin: other JSON may be taken
// for one. Reports of counters are none. kIo if it cannot be read.
Result<bool> MayBeTrace(const std::string& path);

// The words of the profiler of a format, as readers set Meta::remedy; nullptr for PyTorch's.
Remedy RemedyOf(TraceFormat format);

// One row per readable format, for `borescope list`.
struct FormatRow {
  std::string_view name;  // "kineto-json"
  std::string_view summary;
};
std::span<const FormatRow> Formats();

}  // namespace borescope::internal
