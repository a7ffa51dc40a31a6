// Reduces the tables of many ranks as they come, so that memory follows the answer and not their
// number. A reduce may be done in any tree (Pipeline::reduce): here some tables become one, some of
// those become one, and so on, so that each row is copied once a level.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/base/result.h"
#include "borescope/engine/map_run.h"

namespace borescope::internal {

class TableFold {
 public:
  // How many tables are reduced to one at a time.
  static constexpr size_t kFanIn = 32;

  // REQUIRES: `pipeline` and `params` outlive it; `fan_in` is at least 2.
  TableFold(const Pipeline& pipeline, const Params& params, size_t fan_in = kFanIn)
      : pipeline_(&pipeline), params_(&params), fan_in_(fan_in) {}

  // The tables of one rank. After an error of the reduce, nothing more is kept.
  void Add(Tables tables);

  // What is to be reduced to the answer.
  FoldedTables Take();

 private:
  void AddTo(size_t level, Tables tables);

  const Pipeline* pipeline_;
  const Params* params_;
  size_t fan_in_;
  // Fewer than fan_in_ each; those of level n + 1 are of fan_in_ times as many ranks.
  std::vector<std::vector<Tables>> levels_;
  std::optional<Error> error_;
};

}  // namespace borescope::internal
