// A report of counters alone as a trace: docs/formats/counters.md.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/diagnostics.h"
#include "borescope/base/result.h"
#include "borescope/ingest/load.h"
#include "borescope/trace/counter_report.h"
#include "borescope/trace/tables.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

class TextReader;

// The kernels of each process one behind the other from 0 on, as the tool ran them, in place of the
// times that it does not record (Diag::kMadeUpTimes); those of AMD where they ran. Each has a
// launch at its start and a range with its counters; the ranges of the program that were open at
// launches are annotations and operators around these. Counts go on with those in `diagnostics`.
Trace TraceOfReport(const CounterReport& report, TraceFormat format, uint64_t file_bytes,
                    Diagnostics diagnostics, int threads);

// Reads the report in the ordinary file at `path`, of Nsight Compute's own format.
Result<Trace> LoadNcuReportFile(const std::string& path, const LoadOptions& options);

// Reads a report from inflated text that begins as one.
Result<Trace> LoadCounterReport(TextReader& reader, const std::string& name,
                                const LoadOptions& options);

// Reads files of counters that rocprofv3 made of one run.
Result<Trace> LoadCounterPasses(std::span<const std::string> paths, const LoadOptions& options);

// The processes of the report in the files whose kernels were counted, in the order of their
// appearance. Several are those of one run of rocprofv3. Empty for all other files, and where there
// is one process alone. Damage to a file is reported when it is loaded. kIo if it cannot be read.
Result<std::vector<int64_t>> FindCountedProcesses(std::span<const std::string> paths);

// What to do so that the tool records it.
std::string_view NcuRemedy(MissingData lack);
std::string_view RocprofCountersRemedy(MissingData lack);

}  // namespace borescope::internal
