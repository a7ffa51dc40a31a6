// The inherited work of a rank (index/launches/inherited_work.h), found once for each question.
#pragma once

#include <memory>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/index/launches/inherited_work.h"

namespace borescope::internal {

// Any thread. O(rows), and quick where all work has a recorded launch.
inline std::shared_ptr<const InheritedWork> SharedInheritedWork(const RankView& view) {
  return view.Shared<InheritedWork>(
      [&] { return FindInheritedWork(view.trace, view.index.correlation); });
}

}  // namespace borescope::internal
