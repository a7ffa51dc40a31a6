#include "borescope/convert.h"

#include <utility>

#include "borescope/api/access.h"
#include "borescope/api/tasks/convert_report.h"
#include "borescope/verbs/convert/convert_run.h"

namespace borescope {

internal::ConvertOptions InsideConvert(std::span<const std::string> inputs,
                                       const ConvertOptions& options) {
  internal::ConvertOptions inside;
  inside.inputs.assign(inputs.begin(), inputs.end());
  inside.to = options.to;
  inside.begin = options.begin;
  inside.end = options.end;
  inside.steps = options.steps;
  inside.overlays = options.overlays;
  inside.align = options.align;
  inside.keeps_context = options.keeps_context;
  if (options.scrub.has_value()) {
    inside.scrub = internal::ScrubOptions{
        options.scrub->names, options.scrub->key_file, options.scrub->map_file, {}, {}};
  }
  inside.threads = ThreadsOf(options.threads);
  inside.progress = FileProgress(options.progress);
  inside.stop = options.stop;
  return inside;
}

ConvertReport PublicReport(const internal::ConvertReport& report) {
  std::vector<AlignedFile> aligned;
  aligned.reserve(report.aligned.size());
  for (const internal::AlignedFile& file : report.aligned) {
    aligned.push_back({file.file, file.shift_ns, file.error_ns, file.verdict});
  }
  return {report.written,     report.outside,
          report.unplaced,    report.format,
          report.scrubbed,    report.files,
          report.skipped,     report.clocks,
          std::move(aligned), PublicDiagnostics(report.diagnostics)};
}

Result<ConvertReport> Convert(std::span<const std::string> inputs, const std::string& output,
                              const ConvertOptions& options) {
  internal::ConvertOptions inside = InsideConvert(inputs, options);
  inside.output = output;
  return Mapped(internal::RunConvert(inside), PublicReport);
}

}  // namespace borescope
