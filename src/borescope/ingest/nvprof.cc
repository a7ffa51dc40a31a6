#include "borescope/ingest/nvprof.h"

#include <algorithm>

#include "borescope/trace/trace_builder.h"

namespace borescope {

bool IsNvprof(const DatabaseSchema& schema) { return schema.Has("StringTable"); }

Result<Trace> LoadNvprof(DatabaseInput input) {
  TraceBuilder builder;
  return builder.Finish(std::move(input.meta), 0, input.options.threads);
}

}  // namespace borescope
