#include "borescope/run_convert.h"

#include <filesystem>
#include <utility>

#include "borescope/convert/convert.h"
#include "borescope/ingest/load.h"
#include "borescope/run_inputs.h"

namespace borescope {
namespace {

namespace fs = std::filesystem;

Error UsageError(std::string message) { return {ErrorCode::kInvalidArgument, std::move(message)}; }

Result<void> CheckFiles(const ConvertOptions& options) {
  std::error_code ignored;
  if (fs::is_directory(options.input, ignored)) {
    return UsageError(options.input +
                      ": is a folder; convert writes one file at a time, name one of its traces");
  }
  if (options.output == "-") {
    return UsageError("convert writes a file, not standard output; name one");
  }
  if (options.input != "-" && IsSameFile(options.input, options.output)) {
    return UsageError(options.output + ": is the input; convert would overwrite it");
  }
  return {};
}

}  // namespace

std::vector<ConvertFormat> ConvertFormats() {
  std::vector<ConvertFormat> formats;
  formats.reserve(ConvertTargets().size());
  for (const ConvertTarget& target : ConvertTargets()) {
    formats.push_back({target.name, target.summary});
  }
  return formats;
}

Result<ConvertReport> RunConvert(const ConvertOptions& options) {
  BS_TRY(CheckFiles(options));
  BS_ASSIGN(const ConvertTarget* target, ChooseTarget(options.to, options.output));
  BS_ASSIGN(const Trace trace, LoadFile(options.input, {options.threads, options.progress}));
  const TraceIndex index = BuildIndex(trace, options.threads);
  BS_ASSIGN(const TimeWindow window, ResolveWindow(trace, options.begin, options.end));
  BS_ASSIGN(const ConvertCounts counts,
            WriteConverted({trace, index, window}, *target, options.output));
  ConvertReport report{
      counts.written, counts.outside, counts.unplaced, std::string(target->name), {}};
  Diagnostics found = trace.diagnostics();
  found.Merge(index.diagnostics);
  AppendDiagnostics(found, options.input, report.diagnostics);
  return report;
}

}  // namespace borescope
