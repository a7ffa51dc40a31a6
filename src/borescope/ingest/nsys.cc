#include "borescope/ingest/nsys.h"

#include <algorithm>

#include "borescope/trace/trace_builder.h"

namespace borescope {

bool IsNsys(const DatabaseSchema& schema) { return schema.Has("StringIds"); }

Result<Trace> LoadNsys(DatabaseInput input) {
  TraceBuilder builder;
  return builder.Finish(std::move(input.meta), 0, input.options.threads);
}

}  // namespace borescope
