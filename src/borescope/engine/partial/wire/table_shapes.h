// What the tables of a verb look like before their reduce: so that tables which come from elsewhere
// can be held against them before a reduce or finish relies on it. Pure.
#pragma once

#include <string>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/base/result.h"

namespace borescope::internal {

// The params without what only recorded events have: selections, names of operators.
Params WithoutNames(const AnalysisSpec& verb, Params params);

// The tables that the verb maps of a trace without events, which have the columns of all others;
// `reads_files`: with those of Pipeline::read_files.
Result<Tables> ShapeOf(const AnalysisSpec& verb, const Params& params, bool reads_files = true);

// What differs between the columns of `tables` and those of `shape`; empty: nothing. With
// `adds_columns` (Pipeline) numbers with a fraction may follow these.
std::string MismatchOf(const Tables& tables, const Tables& shape, bool adds_columns);

}  // namespace borescope::internal
