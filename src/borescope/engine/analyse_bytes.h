// What fuzzing runs: a question about a trace.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/base/result.h"
#include "borescope/output/writer.h"

namespace borescope::internal {

// Options of an analysis in which all it can do is asked for, by its own rules and by those of each
// tool it replaces: CheckOptions takes every one.
std::vector<Params> AllModes(const AnalysisSpec& spec);

// One analysis in one mode, the `which`-th of all in a circle, over one trace in memory; `name`
// represents its file in messages. Without tables if it needs what the trace does not hold. The
// trace's own error if it cannot be loaded. Thread-safe.
Result<Document> AnalyseBytes(std::string_view bytes, const std::string& name, int threads,
                              uint64_t which);

}  // namespace borescope::internal
