// Which annotation each piece of device work belongs to: its leaf annotation, by true nesting.
#pragma once

#include <cstdint>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"

namespace borescope::internal {

enum class AnnotationSide : uint8_t { kHost, kDevice, kNone };

struct AnnotationLeaf {
  AnnotationSide side = AnnotationSide::kNone;
  StringId name;  // invalid on side kNone
};

struct AnnotationLeaves {
  std::vector<AnnotationLeaf> leaf;     // per device row; filled for device work
  std::vector<DeviceId> first_work_of;  // per device row; filled for annotations: the first work
                                        // they hold, invalid when there is none
};

// The innermost device annotation on the stream that holds the start of the work (of several that
// are not nested the one begun last), else the innermost host annotation around its launch, else
// none. O(rows).
AnnotationLeaves FindAnnotationLeaves(const RankView& view);

}  // namespace borescope::internal
