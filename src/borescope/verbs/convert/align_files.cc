#include "borescope/verbs/convert/align_files.h"

#include <algorithm>
#include <utility>

#include "borescope/analysis/core/row.h"
#include "borescope/base/check.h"
#include "borescope/base/saturating.h"
#include "borescope/catalog/catalog.h"
#include "borescope/engine/run_analyses.h"

namespace borescope::internal {
namespace {

const Table& ClocksOf(const AnswerData& answer) {
  const std::vector<Table>& tables = answer.document.tables;
  const auto found = std::find_if(tables.begin(), tables.end(),
                                  [](const Table& table) { return table.name == "clocks"; });
  BS_CHECK(found != tables.end());
  return *found;
}

FileAlignment FromRow(const Table& clocks, size_t row, const std::string& path) {
  FileAlignment alignment;
  alignment.report.file = path;
  alignment.report.verdict = Texts(clocks, "verdict")[row];
  alignment.is_known = !clocks.Find("offset_ns")->IsMissing(row);
  if (!alignment.is_known) return alignment;
  alignment.clock_name = Texts(clocks, "clock")[row];
  alignment.offset_ns = Ints(clocks, "offset_ns")[row];
  const int64_t error_ns = Ints(clocks, "error_ns")[row];
  const bool moves = !clocks.Find("whole_error_ns")->IsMissing(row);
  alignment.report.error_ns = moves ? Ints(clocks, "whole_error_ns")[row] : error_ns;
  alignment.moved_ns = SubtractSaturating(alignment.report.error_ns, error_ns);
  return alignment;
}

Error NothingInCommon() {
  return {
      ErrorCode::kMissingData,
      "`align`: no collective is in two of the files, or no clocks make those that are possible",
      "give ranks of one run, recorded at the same time, or leave out `align`"};
}

}  // namespace

Result<std::map<std::string, FileAlignment>> AlignFiles(const std::vector<InputFile>& files,
                                                        const ConvertOptions& options) {
  RunOptions run;
  run.files = files;
  run.threads = options.threads;
  run.stop = options.stop;
  const AnalysisSpec* waits = FindAnalysis("waits");
  BS_CHECK(waits != nullptr);
  BS_ASSIGN(const AnswerData answer, RunAnalysis(*waits, run));
  const Table& clocks = ClocksOf(answer);
  std::map<int64_t, size_t> row_of;
  for (size_t row = 0; row < clocks.rows(); ++row) row_of.emplace(Ints(clocks, "rank")[row], row);
  std::map<std::string, FileAlignment> alignments;
  for (const FileInfo& file : answer.files) {
    const auto row = row_of.find(file.rank);
    if (file.skipped || !file.error.empty() || row == row_of.end()) continue;
    alignments.emplace(file.path, FromRow(clocks, row->second, file.path));
  }
  const bool is_any_known = std::any_of(alignments.begin(), alignments.end(),
                                        [](const auto& file) { return file.second.is_known; });
  if (!is_any_known) return NothingInCommon();
  return alignments;
}

}  // namespace borescope::internal
