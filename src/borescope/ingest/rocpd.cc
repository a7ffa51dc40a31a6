#include "borescope/ingest/rocpd.h"

#include <algorithm>

#include "borescope/trace/trace_builder.h"

namespace borescope {

bool IsRocpd(const DatabaseSchema& schema) {
  return std::any_of(schema.tables().begin(), schema.tables().end(),
                     [](const auto& table) { return table.first.starts_with("rocpd_info_agent"); });
}

Result<Trace> LoadRocpd(DatabaseInput input) {
  TraceBuilder builder;
  return builder.Finish(std::move(input.meta), 0, input.options.threads);
}

}  // namespace borescope
