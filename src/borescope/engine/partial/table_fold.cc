#include "borescope/engine/partial/table_fold.h"

#include <iterator>
#include <utility>

namespace borescope::internal {

void TableFold::Add(Tables tables) {
  if (!error_.has_value()) {
    AddTo(0, std::move(tables));
  }
}

void TableFold::AddTo(size_t level, Tables tables) {
  if (level == levels_.size()) {
    levels_.emplace_back();
  }
  levels_[level].push_back(std::move(tables));
  if (levels_[level].size() < fan_in_) {
    return;
  }
  Result<Tables> reduced = pipeline_->reduce(levels_[level], *params_);
  levels_[level].clear();
  if (reduced.ok()) {
    AddTo(level + 1, std::move(*reduced));
  } else {
    error_ = reduced.error();
    levels_.clear();
  }
}

FoldedTables TableFold::Take() {
  FoldedTables folded;
  folded.error = std::move(error_);
  for (std::vector<Tables>& level : levels_) {
    std::move(level.begin(), level.end(), std::back_inserter(folded.tables));
  }
  levels_.clear();
  return folded;
}

}  // namespace borescope::internal
