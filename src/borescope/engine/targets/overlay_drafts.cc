#include "borescope/engine/targets/overlay_drafts.h"

#include <algorithm>
#include <string>
#include <utility>

#include "borescope/analysis/core/selection/cut_selection.h"
#include "borescope/base/io/inflate.h"
#include "borescope/engine/targets/targets.h"
#include "borescope/output/overlay/overlay_writer.h"

namespace borescope::internal {
bool HasDamagedText(const Diagnostics& found) {
  constexpr Diag kDamages[] = {
      Diag::kTrailingData,   Diag::kDroppedText,     Diag::kInvalidUtf8, Diag::kControlCharacter,
      Diag::kUnescapedQuote, Diag::kNonFiniteNumber, Diag::kBadSyntax};
  return std::any_of(std::begin(kDamages), std::end(kDamages),
                     [&](Diag damage) { return found.count(damage) != 0; });
}

Result<void> CheckOverlay(std::span<const AnalysisSpec* const> specs, const RunOptions& options) {
  if (specs.size() > 1) {
    return UsageError("`overlay` draws one verb", "ask for it alone", "overlay");
  }
  if (specs.front()->OverlayFor(options.params) == nullptr) {
    return UsageError("`overlay` draws what Borescope finds, not another tool",
                      "leave out `compat`", "overlay");
  }
  if (std::any_of(options.files.begin(), options.files.end(),
                  [](const InputFile& file) { return file.path == "-"; })) {
    return UsageError("`overlay` reads the trace twice, which standard input does not allow",
                      "give a file", "overlay");
  }
  return {};
}

Result<void> DraftOverlay(const RunRequest& request, const RankView& view, const InputFile& input,
                          RankPart& part) {
  Params params = request.params;
  BS_ASSIGN(params.selection, WithinCut(params.selection, view.trace));
  BS_ASSIGN(const Overlay overlay, request.specs.front()->OverlayFor(params)(view, params));
  const bool is_damaged = HasDamagedText(view.trace.diagnostics());
  if (is_damaged && !overlay.marks.empty()) {
    return Error{ErrorCode::kMissingData,
                 "its text is damaged, so that the events to mark cannot be found again",
                 "record it anew, or leave out `overlay`", input.path};
  }
  BS_ASSIGN(const OpenedSource opened, OpenInflated(input.path));
  BS_ASSIGN(const std::string path, OverlayPath(request.files, request.options.overlay, input));
  BS_ASSIGN(std::unique_ptr<FileSink> file,
            DraftOverlayFile(*opened.bytes, view.trace, overlay, path));
  part.drafts.push_back(std::move(file));
  part.report.overlay = OverlayInfo{.path = path,
                                    .counters = overlay.counters.size(),
                                    .tracks = overlay.tracks.size(),
                                    .arrows = overlay.arrows.arrows.size(),
                                    .marked = overlay.marks.critical.size(),
                                    .keeps_damage = is_damaged};
  return {};
}

}  // namespace borescope::internal
