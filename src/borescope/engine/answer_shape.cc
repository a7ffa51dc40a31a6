#include "borescope/engine/answer_shape.h"

#include <utility>
#include <vector>

#include "borescope/engine/check_request.h"
#include "borescope/engine/conclude.h"
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

}  // namespace

Result<Tables> AnswerShape(const AnalysisSpec& verb, const Params& given) {
  BS_TRY(CheckOptions(verb, given));
  const Params params = WithoutNames(verb, given);
  std::vector<Tables> mapped(2);
  BS_ASSIGN(mapped[0], MapSpecimen(verb, params, 0));
  BS_ASSIGN(mapped[1], MapSpecimen(verb, params, 1));
  const Pipeline& pipeline = verb.PipelineFor(params);
  BS_ASSIGN(Tables tables, ReduceAndFinish(pipeline, params, mapped));
  if (verb.takes_two()) {
    BS_ASSIGN(tables, pipeline.compare(tables, tables, params));
  }
  for (Table& table : tables) {
    table = Head(table, 0);
  }
  return tables;
}

}  // namespace borescope::internal
