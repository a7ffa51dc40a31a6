#include "borescope/run_overlay.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include "borescope/base/inflate.h"
#include "borescope/output/overlay_writer.h"

namespace borescope {
namespace {

namespace fs = std::filesystem;

Result<void> CheckFolderOf(const std::string& target) {
  std::error_code ignored;
  const fs::path folder = fs::path(target).parent_path();
  if (!folder.empty() && !fs::is_directory(folder, ignored)) {
    return Error{ErrorCode::kIo, target + ": cannot write: there is no folder " + folder.string() +
                                     "; make it first"};
  }
  return {};
}

// No trace may overwrite an input, or the overlay of another.
Result<void> CheckTargets(const RunOptions& options) {
  std::error_code ignored;
  std::set<std::string> targets;
  for (const InputFile& file : options.files) {
    const std::string target = OverlayPath(options.files, options.overlay, file);
    if (target.ends_with(".zst")) {
      return UsageError(target + ": overlays are written as plain text or, named .gz, as gzip");
    }
    BS_TRY(CheckFolderOf(target));
    if (fs::exists(target, ignored) && IsAmong(options.files, target)) {
      return UsageError(target + ": is an input; --overlay would overwrite it");
    }
    if (!targets.insert(target).second) {
      return UsageError(target + ": would be written for two traces of that name; rename one");
    }
  }
  return {};
}

// Whether the text breaks the rules of JSON in places other than its end, which the copy mends.
bool IsDamaged(const Diagnostics& found) {
  constexpr Diag kDamages[] = {
      Diag::kTrailingData,   Diag::kDroppedText,     Diag::kInvalidUtf8, Diag::kControlCharacter,
      Diag::kUnescapedQuote, Diag::kNonFiniteNumber, Diag::kBadSyntax};
  return std::any_of(std::begin(kDamages), std::end(kDamages),
                     [&](Diag damage) { return found.count(damage) != 0; });
}

}  // namespace

Result<void> CheckOverlay(std::span<const AnalysisSpec* const> specs, const RunOptions& options) {
  if (specs.size() > 1) {
    return UsageError("--overlay draws one verb; ask for it alone");
  }
  if (specs.front()->OverlayFor(options.params) == nullptr) {
    return UsageError("--overlay draws what Borescope finds, not another tool; leave out --compat");
  }
  if (options.overlay == "-") {
    return UsageError("--overlay writes a file, not standard output; name one");
  }
  if (std::any_of(options.files.begin(), options.files.end(),
                  [](const InputFile& file) { return file.path == "-"; })) {
    return UsageError(
        "--overlay reads the trace twice, which standard input does not allow; give a file");
  }
  std::error_code ignored;
  if (options.files.size() > 1 && !fs::is_directory(options.overlay, ignored)) {
    return UsageError(options.overlay +
                      ": is no folder; with several traces --overlay writes one each, under their "
                      "names, into a folder that exists");
  }
  return CheckTargets(options);
}

Result<void> DraftOverlay(const RunRequest& request, const RankView& view, const InputFile& input,
                          RankPart& part) {
  BS_ASSIGN(const Overlay overlay,
            request.specs.front()->OverlayFor(request.params)(view, request.params));
  const bool is_damaged = IsDamaged(view.trace.diagnostics());
  if (is_damaged && !overlay.marks.empty()) {
    return Error{ErrorCode::kMissingData,
                 input.path +
                     ": its text is damaged, so that the events to mark cannot be found "
                     "again; record it anew, or leave out --overlay"};
  }
  BS_ASSIGN(std::unique_ptr<ByteSource> source, OpenFile(input.path));
  BS_ASSIGN(OpenedSource opened, InflateIfCompressed(std::move(source)));
  const std::string path = OverlayPath(request.files, request.options.overlay, input);
  BS_ASSIGN(part.overlay, DraftOverlayFile(*opened.bytes, view.trace, overlay, path));
  part.report.overlay = OverlayReport{.path = path,
                                      .counters = overlay.counters.size(),
                                      .tracks = overlay.tracks.size(),
                                      .arrows = overlay.arrows.arrows.size(),
                                      .marked = overlay.marks.critical.size(),
                                      .keeps_damage = is_damaged};
  return {};
}

Result<void> CommitOverlays(MappedRun& run) {
  for (RankPart* part : run.selected) {
    if (part->overlay != nullptr) {
      BS_TRY(part->overlay->Commit());
    }
  }
  for (RankPart& part : run.parts) {
    if (std::find(run.selected.begin(), run.selected.end(), &part) == run.selected.end()) {
      part.report.overlay.reset();
    }
  }
  return {};
}

}  // namespace borescope
