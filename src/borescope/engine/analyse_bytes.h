// What fuzzing runs: every question about one trace.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/base/result.h"
#include "borescope/output/document.h"

namespace borescope::internal {

// Options of an analysis in which all it can do is asked for, by its own rules and by those of each
// tool it replaces: CheckOptions takes every one.
std::vector<Params> AllModes(const AnalysisSpec& spec);

// Every analysis, in every mode, over one trace in memory; `name` represents its file in messages.
// Analyses that need what the trace does not hold are left out. The trace's own error if it cannot
// be loaded. Thread-safe.
Result<Document> AnalyseBytes(std::string_view bytes, const std::string& name, int threads);

}  // namespace borescope::internal
