// prof and its twin of --compat pyprof: one row per kernel, with the operator, the layer and the
// line of Python that it comes from, and what it computes and moves.
//
//   python_literal.cc            the language of PyProf's markers
//   markers.cc                   the markers
//   launch_ranges.cc             what is around a launch
//   analysis/verbs/prof/prof.cc  the rows by our rules
//   compat.cc                    the rows by PyProf's
//   parse_stage.cc               what PyProf makes the rows from
//   formulas/formula_table.cc    PyProf's FLOPs and bytes, in formulas/*_formulas.cc
//   columns.cc                   the columns of both
#pragma once

#include "borescope/analysis/core/reduce.h"

namespace borescope::internal {

Result<Tables> MapPyProf(const RankView& view, const Params& params);
Result<Tables> FinishPyProf(Tables tables, const Params& params);
inline constexpr Pipeline kPyProf{.map = MapPyProf, .reduce = ConcatTables, .finish = FinishPyProf};

}  // namespace borescope::internal
