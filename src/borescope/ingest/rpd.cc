#include "borescope/ingest/rpd.h"

#include <algorithm>

#include "borescope/trace/trace_builder.h"

namespace borescope {

bool IsRpd(const DatabaseSchema& schema) {
  return schema.Has("rocpd_api") && schema.Has("rocpd_op");
}

Result<Trace> LoadRpd(DatabaseInput input) {
  TraceBuilder builder;
  return builder.Finish(std::move(input.meta), 0, input.options.threads);
}

}  // namespace borescope
