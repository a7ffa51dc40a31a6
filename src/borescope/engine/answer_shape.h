// What an answer looks like before there is an input.
#pragma once

#include <cstdint>
#include <string>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/base/result.h"

namespace borescope::internal {

// The tables of a verb without their rows, as for a job of many ranks that recorded something of
// each kind. Columns that are named by what was recorded are missing. kInvalidArgument
// for options that the verb does not have. Thread-safe.
Result<Tables> AnswerShape(const AnalysisSpec& verb, const Params& given);

// A recording of one rank with an event of each kind: so that answers have every table and column
// that they can have.

// As a trace of PyTorch's profiler. Those of two ranks are of one job.
std::string SpecimenText(int64_t rank);

// What the tables of a verb look like before their reduce: so that tables which come from elsewhere
// can be held against them before a reduce or finish relies on it. Pure.

// The params without what only recorded events have: selections, names of operators.
Params WithoutNames(const AnalysisSpec& verb, Params params);

// The tables that the verb maps of a trace without events, which have the columns of all others;
// `reads_files`: with those of Pipeline::read_files.
Result<Tables> ShapeOf(const AnalysisSpec& verb, const Params& params, bool reads_files = true);

// What differs between the columns of `tables` and those of `shape`; empty: nothing. With
// `adds_columns` (Pipeline) numbers with a fraction may follow these.
std::string MismatchOf(const Tables& tables, const Tables& shape, bool adds_columns);

}  // namespace borescope::internal
