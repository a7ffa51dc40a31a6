// Reports of hardware counters for the recordings of a run: from what the user named to what the
// measures of a rank are given. The reports are read once, and all files of the run share them.
#pragma once

#include <cstddef>
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
#include "borescope/trace/trace.h"

namespace borescope::internal {

// A report, and the rank that it is for; without one it is for all.
struct ReportOfRank {
  std::optional<int64_t> rank;
  std::shared_ptr<const CounterReport> report;
};

// What was odd in the reports that one of OpenOptions::counters led to.
struct OddReports {
  std::string path;  // as it was named
  Diagnostics diagnostics;
};

struct CountersOfRun {
  std::vector<ReportOfRank> reports;  // in the order in which they were named
  std::vector<OddReports> odd;        // in that order, too
  bool of_any_device = false;         // OpenOptions::counters_anyway
  size_t files = 0;                   // of the run that they were given for

  // Whether it depends on the rank what a recording is given: a report is for one, or holds the
  // processes of several.
  bool go_by_rank() const;
};

// Reads the reports that `named` leads to, each "PATH" or "RANK=PATH" of files, folders and globs,
// and sets InputFile::counters. A name that exists is never taken for one with a rank. Errors are
// those of ReadCounters.
Result<void> FindCounters(std::span<const std::string> named, bool of_any_device,
                          std::vector<InputFile>& files);

// kInvalidArgument where a report is for a rank that is not among `ranks`, which are those of the
// run, ascending.
Result<void> CheckRanksOfCounters(const CountersOfRun& counters, std::span<const int64_t> ranks);

// Gives the measures of a rank its reports; nullptr: there are none. Counts those that its
// recording has no use for, as it has counters of its own. When something asks `shared` for the
// counters, what RemediesOf finds is counted, too: `trace` and `diagnostics` must live as long as
// that may happen, and nobody else may change `diagnostics` meanwhile.
void GiveCounters(const CountersOfRun* counters, int64_t rank, const Trace& trace,
                  SharedMeasures& shared, Diagnostics& diagnostics);

}  // namespace borescope::internal
