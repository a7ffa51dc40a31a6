// Reports of hardware counters for the recordings of a run: from what the user named to what the
// measures of a rank are given. The reports are read once, and all files of the run share them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "borescope/analysis/core/shared_measures.h"
#include "borescope/base/diagnostics.h"
#include "borescope/base/result.h"
#include "borescope/engine/inputs/input_files.h"
#include "borescope/trace/counter_report.h"

namespace borescope::internal {

// A report, and the rank that it is for; without one it is for all.
struct ReportOfRank {
  std::optional<int64_t> rank;
  std::shared_ptr<const CounterReport> report;
};

struct CountersOfRun {
  std::vector<ReportOfRank> reports;  // in the order in which they were named
  bool of_any_device = false;         // OpenOptions::counters_anyway
  Diagnostics diagnostics;            // of all reports
};

// Reads the reports that `named` leads to, each "PATH" or "RANK=PATH" of files, folders and globs,
// and sets InputFile::counters. A name that exists is never taken for one with a rank. Errors are
// those of ReadCounters.
Result<void> FindCounters(std::span<const std::string> named, bool of_any_device,
                          std::vector<InputFile>& files);

// Gives the measures of a rank the reports of its input, and counts what was odd in them, once for
// all inputs of a run.
void GiveCounters(const InputFile& input, int64_t rank, SharedMeasures& shared,
                  Diagnostics& diagnostics);

}  // namespace borescope::internal
