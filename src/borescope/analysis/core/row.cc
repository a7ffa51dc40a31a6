#include "borescope/analysis/core/row.h"

namespace borescope::internal {

namespace {

Column& AddKey(Table& table, std::string_view name, std::string_view doc) {
  return AddInt(table, name, Unit::kNone, Role::kKey, doc);
}

}  // namespace

Column& AddRankKey(Table& table) { return AddKey(table, "rank", kRankDoc); }

Column& AddGpuKey(Table& table) { return AddKey(table, "gpu", kGpuDoc); }

Column& AddGpuKeyOrNone(Table& table) {
  return AddKey(table, "gpu",
                "Device number as recorded; missing when the rank has no device work.");
}

Column& AddStreamKey(Table& table) { return AddKey(table, "stream", kStreamDoc); }

Column& AddStepKey(Table& table) { return AddKey(table, "step", "Number of the step."); }

Column& AddStepKeyOrNone(Table& table) {
  return AddKey(table, "step", "Number of the step; missing for what is in no step.");
}

}  // namespace borescope::internal
