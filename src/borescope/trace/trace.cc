#include "borescope/trace/trace.h"

#include "borescope/trace/columns.h"

namespace borescope::internal {

TraceData Trace::Take() && {
  if (data_.viewed != nullptr) {
    ForEachTable(data_, [](auto& table) { OwnColumns(table); });
    data_.strings.Own();
    data_.viewed.reset();
  }
  return std::move(data_);
}

}  // namespace borescope::internal
