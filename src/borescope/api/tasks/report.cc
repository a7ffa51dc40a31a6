#include "borescope/verbs/report/report.h"

#include <utility>

#include "borescope/api/access.h"
#include "borescope/api/questions.h"
#include "borescope/api/stored_parts.h"
#include "borescope/engine/targets/targets.h"
#include "borescope/run.h"

namespace borescope {
namespace {

Result<std::vector<FileInfo>> WritePage(const internal::Result<internal::Report>& report,
                                        const Output& output, std::span<const std::string> paths) {
  if (!report.ok()) {
    return PublicError(report.error(), paths);
  }
  const internal::Result<void> written = WriteTo(output, [&](internal::Sink& sink) {
    return internal::WriteHtml(report->page, internal::ReportTemplate(), sink);
  });
  return written.ok() ? Result<std::vector<FileInfo>>(PublicFiles(report->files))
                      : PublicError(written.error(), paths);
}

}  // namespace

// Parameters mean what they mean for an analysis that takes a selection.
Result<std::vector<FileInfo>> Run::Report(const Output& output, const Params& params,
                                          const Run* against) const {
  const std::span<const std::string> paths = RunAccess::Paths(*this);
  internal::RunOptions options = RunAccess::Common(*this);
  if (const Result<void> read = ReadReportParams(params, options); !read.ok()) {
    return read.error();
  }
  if (against != nullptr) {
    internal::RunOptions other = RunAccess::Common(*against);
    options.test.files = std::move(other.files);
    options.test.cache = other.cache;
    options.test.stop = std::move(other.stop);
  }
  const internal::Result<void> checked =
      internal::CheckNoInput(internal::InputPaths(options), output.path, "--output");
  if (!checked.ok()) {
    return PublicError(checked.error(), paths);
  }
  return WritePage(internal::RunReport(options), output, paths);
}

Result<std::vector<FileInfo>> ReportOf(std::span<const StoredPart> parts, const Output& output,
                                       const ReduceOptions& options) {
  const std::vector<std::string> names = NamesOf(parts);
  if (const Result<void> checked = CheckOutput(output.path, names); !checked.ok()) {
    return checked.error();
  }
  internal::RunOptions shown;
  shown.top = options.display.top;
  shown.stop = options.stop;
  const std::vector<internal::StoredPartial> stored = StoredPartials(parts);
  internal::StoredParts source(stored);
  return WritePage(internal::ReportOfPartials(source, shown, {options.expected_files}), output,
                   names);
}

bool HasReportCharts() { return !internal::ReportTemplate().empty(); }

}  // namespace borescope
