#include "borescope/engine/answer_shape.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "borescope/analysis/measures/time/rank_groups.h"
#include "borescope/engine/check_request.h"
#include "borescope/engine/conclude.h"
#include "borescope/engine/map_run.h"
#include "borescope/engine/partial/wire/table_shapes.h"
#include "borescope/engine/specimen.h"
#include "borescope/index/trace_index.h"
#include "borescope/ingest/load.h"
#include "borescope/table/table_ops.h"

namespace borescope::internal {
namespace {

Result<Tables> MapSpecimen(const AnalysisSpec& verb, const Params& params, int64_t rank) {
  BS_ASSIGN(const Trace trace, LoadBytes(SpecimenText(rank), "specimen", {}));
  const TraceIndex index = BuildIndex(trace, 1);
  return verb.PipelineFor(params).map({rank, trace, index}, params);
}

// The tables that a job of many ranks has beside those of a small one, each after the table that it
// follows.
void AddTablesOfMany(const Tables& of_many, Tables& tables) {
  for (size_t i = 0; i < of_many.size(); ++i) {
    const auto find = [&](const Table& wanted) {
      return std::find_if(tables.begin(), tables.end(),
                          [&](const Table& table) { return table.name == wanted.name; });
    };
    if (find(of_many[i]) == tables.end()) {
      tables.insert(i == 0 ? tables.begin() : find(of_many[i - 1]) + 1, of_many[i]);
    }
  }
}

// Of two ranks, and of many, which all but the first do the same.
Result<Tables> FinishSpecimens(const AnalysisSpec& verb, const Params& params) {
  const Pipeline& pipeline = verb.PipelineFor(params);
  std::vector<Tables> mapped(2);
  BS_ASSIGN(mapped[0], MapSpecimen(verb, params, 0));
  BS_ASSIGN(mapped[1], MapSpecimen(verb, params, 1));
  BS_ASSIGN(Tables tables, ReduceAndFinish(pipeline, params, mapped));
  while (mapped.size() < kManyRanks) {
    mapped.push_back(mapped[1]);
    SetRank(mapped.back(), static_cast<int64_t>(mapped.size() - 1));
  }
  BS_ASSIGN(const Tables of_many, ReduceAndFinish(pipeline, params, mapped));
  AddTablesOfMany(of_many, tables);
  return tables;
}

}  // namespace

Result<Tables> AnswerShape(const AnalysisSpec& verb, const Params& given) {
  BS_TRY(CheckOptions(verb, given));
  const Params params = WithoutNames(verb, given);
  BS_ASSIGN(Tables tables, FinishSpecimens(verb, params));
  if (verb.takes_two()) {
    BS_ASSIGN(tables, verb.PipelineFor(params).compare(tables, tables, params));
  }
  for (Table& table : tables) {
    table = Head(table, 0);
  }
  return tables;
}

}  // namespace borescope::internal
