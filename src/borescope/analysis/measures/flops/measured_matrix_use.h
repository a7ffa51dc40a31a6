// Whether kernels used matrix units, as hardware counters say where they were recorded
// (`counters`): instructions or operations of the tensor or matrix pipes,
// sm__inst_executed_pipe_tensor*, sm__ops_path_tensor_src_*, SQ_INSTS_VALU_MFMA_*. They decide over
// names.
#pragma once

#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/opmodel/devices/tensor_cores.h"

namespace borescope::internal {

class MeasuredMatrixUse {
 public:
  explicit MeasuredMatrixUse(const RankView& view);

  // kYes where some counter of the pipes is above 0; kNo where all are 0, unless there is nothing
  // for them to do; else what its name says.
  MatrixUse Of(DeviceId kernel, MatrixUse by_name) const;

 private:
  enum class Measured : char { kNothing, kZero, kUsed };

  std::vector<Measured> measured_;  // per device row; empty without such counters
};

// Whether the counter counts work of matrix units.
bool CountsMatrixUnits(std::string_view counter);

}  // namespace borescope::internal
