// Reports of counters, whatever tool wrote them: Nsight Compute's own files, its text, and the
// counters of rocprofv3 (docs/formats/counters.md). They are recognised by content, plain or
// compressed.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/diagnostics.h"
#include "borescope/base/result.h"
#include "borescope/trace/counter_report.h"
#include "borescope/trace/formats.h"

namespace borescope::internal {

// What format of counters a file has, by its first bytes, inflated; nothing if it is none of them.
std::optional<TraceFormat> CounterFormatOf(std::string_view begin);

// The same of the file at `path`; nothing also of what is no ordinary file. kIo if it cannot be
// read.
Result<std::optional<TraceFormat>> CounterFormatOfFile(const std::string& path);

// Reads the report at `path`, or on standard input for "-". What is odd is counted in
// `diagnostics`. A report of Nsight Compute in an ordinary file is not read where it holds the code
// of devices.
Result<CounterReport> ReadCounterReport(const std::string& path, Diagnostics& diagnostics);

// The same of bytes in memory (tests, fuzzing), which may be compressed.
Result<CounterReport> ReadCounterReportBytes(std::string_view bytes, const std::string& name,
                                             Diagnostics& diagnostics);

// Reads reports in the order given. The files that rocprofv3 made of a run (one for each process
// and for each pass) are one report, at the place of the first of them.
Result<std::vector<CounterReport>> ReadCounterReports(std::span<const std::string> paths,
                                                      Diagnostics& diagnostics);

}  // namespace borescope::internal
