#include "borescope/analysis/measures/flops/measured_matrix_use.h"

#include <algorithm>

#include "borescope/analysis/measures/flops/counter_lineup.h"
#include "borescope/base/text/text.h"

namespace borescope::internal {

bool CountsMatrixUnits(std::string_view counter) {
  const auto has = [&](std::string_view part) { return Contains(counter, part); };
  return has("pipe_tensor") || has("ops_path_tensor") || has("INSTS_VALU_MFMA") ||
         has("VALU_MFMA_MOPS");
}

MeasuredMatrixUse::MeasuredMatrixUse(const RankView& view) {
  const Trace& trace = view.trace;
  const ColumnData<StringId>& names = trace.metrics().name;
  if (!std::any_of(names.begin(), names.end(),
                   [&](StringId name) { return CountsMatrixUnits(trace.Text(name)); })) {
    return;
  }
  measured_.resize(trace.device().size(), Measured::kNothing);
  for (const CounterLineup& lineup : LineUpCounters(view)) {
    if (lineup.mode == LineupMode::kWholeRange) continue;  // the sum of many kernels
    for (const LinedUpRange& lined : lineup.ranges) {
      if (!lined.launch.kernel.valid()) continue;
      const uint32_t detail = trace.device().detail[lined.range.value];
      Measured& measured = measured_[lined.launch.kernel.value];
      for (uint32_t i = trace.ranges().first_metric[detail]; i < trace.ranges().end_metric[detail];
           ++i) {
        if (!CountsMatrixUnits(trace.Text(names[i]))) continue;
        const bool is_used = trace.metrics().value[i] > 0 || measured == Measured::kUsed;
        measured = is_used ? Measured::kUsed : Measured::kZero;
      }
    }
  }
}

MatrixUse MeasuredMatrixUse::Of(DeviceId kernel, MatrixUse by_name) const {
  const Measured measured = measured_.empty() ? Measured::kNothing : measured_[kernel.value];
  if (measured == Measured::kUsed) return MatrixUse::kYes;
  const bool is_no = measured == Measured::kZero && by_name != MatrixUse::kNotMatrix;
  return is_no ? MatrixUse::kNo : by_name;
}

}  // namespace borescope::internal
