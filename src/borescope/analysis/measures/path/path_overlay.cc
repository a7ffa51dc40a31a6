#include "borescope/analysis/measures/path/path_overlay.h"

#include <algorithm>
#include <utility>

#include "borescope/analysis/core/param_specs.h"

namespace borescope::internal {

Result<PathOverlayOptions> PathOverlayOptions::From(const Params& params) {
  const PathOverlayOptions options{params.Flag(kOverlayAllEventsParam),
                                   params.Flag(kOverlayAllEdgesParam)};
  if (options.all_edges && !options.all_events) {
    return Error{
        .code = ErrorCode::kInvalidArgument,
        .cause = "`overlay_all_edges` connects events that only `overlay_all_events` keeps",
        .remedy = "give both",
        .parameter = "overlay_all_edges"};
  }
  return options;
}

OverlayMarks MarkPath(std::vector<uint32_t> critical, const PathOverlayOptions& options) {
  std::sort(critical.begin(), critical.end());
  critical.erase(std::unique(critical.begin(), critical.end()), critical.end());
  OverlayMarks marks;
  marks.critical = std::move(critical);
  marks.only_critical = !options.all_events;
  marks.kept_categories = {"user_annotation", "python_function"};
  return marks;
}

}  // namespace borescope::internal
