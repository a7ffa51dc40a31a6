#include "borescope/verbs/report/report.h"

#include <utility>

#include "borescope/api/access.h"
#include "borescope/api/questions.h"
#include "borescope/engine/targets/targets.h"
#include "borescope/run.h"

namespace borescope {

// Parameters mean what they mean for an analysis that takes a selection.
Result<std::vector<FileInfo>> Run::Report(const Output& output, const Params& params,
                                          const Run* against) const {
  const std::span<const std::string> paths = RunAccess::Paths(*this);
  const std::string_view verbs[] = {"summary"};
  internal::RunOptions options = RunAccess::Common(*this);
  if (const Result<void> read = ReadParams(verbs, params, options); !read.ok()) {
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
  internal::Result<internal::Report> report = internal::RunReport(options);
  if (!report.ok()) {
    return PublicError(report.error(), paths);
  }
  const internal::Result<void> written = WriteTo(output, [&](internal::Sink& sink) {
    return internal::WriteHtml(report->page, internal::ReportTemplate(), sink);
  });
  return written.ok() ? Result<std::vector<FileInfo>>(PublicFiles(report->files))
                      : PublicError(written.error(), paths);
}

bool HasReportCharts() { return !internal::ReportTemplate().empty(); }

}  // namespace borescope
