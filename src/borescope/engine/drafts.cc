#include "borescope/engine/drafts.h"

#include <algorithm>
#include <string>
#include <utility>

#include "borescope/analysis/core/saved_form.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/base/io/inflate.h"
#include "borescope/engine/targets/targets.h"
#include "borescope/output/overlay/overlay_writer.h"
#include "borescope/output/sink/sink.h"

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

namespace {

const SavedForm& FormOf(const RunRequest& request) { return *request.specs.front()->saved; }

Result<void> Save(const RunRequest& request, const RankView& view, Sink& sink) {
  return FormOf(request).save(view, request.params,
                              [&](std::string_view bytes) { return sink.Write(bytes); });
}

Result<SavedAnswer> Load(const RunRequest& request, const InputFile& input, FileInfo& report) {
  BS_ASSIGN(const OpenedSource opened, OpenInflated(input.path));
  Result<SavedAnswer> answer = FormOf(request).load(*opened.bytes, report.path, request.params);
  report.file_bytes = opened.bytes->stored_bytes();
  if (!answer.ok() && opened.inflating != nullptr && !opened.inflating->damage().empty()) {
    return Error{ErrorCode::kCorrupt, std::string(opened.inflating->damage()),
                 "save the graph again, or check that the copy finished", report.path};
  }
  return answer;
}

}  // namespace

bool CanBeSaved(const AnalysisSpec& spec) { return spec.saved != nullptr; }

Result<void> CheckSaved(std::span<const AnalysisSpec* const> specs, const RunOptions& options) {
  const std::string option = options.load ? "`load`" : "`save`";
  if (specs.size() > 1) {
    return UsageError(option + " is of one verb", "ask for it alone");
  }
  if (specs.front()->saved == nullptr || options.params.compat != Compat::kNone) {
    return UsageError(option + " is of what Borescope finds, not another tool",
                      "leave out `compat`");
  }
  if (options.load && (!options.overlay.empty() || !options.save.empty())) {
    return options.overlay.empty()
               ? UsageError("`save` would write what `load` reads", "copy the file instead", "save")
               : UsageError("`overlay` draws on the trace", "name that instead of `load`",
                            "overlay");
  }
  return {};
}

Result<void> DraftSaved(const RunRequest& request, const RankView& view, const InputFile& input,
                        RankPart& part) {
  BS_ASSIGN(const std::string path, SavePath(request.files, request.options.save, input));
  BS_ASSIGN(std::unique_ptr<FileSink> file, FileSink::Open(path));
  BS_TRY(WriteMaybeGzip(path, *file, [&](Sink& sink) { return Save(request, view, sink); }));
  BS_TRY(file->Close());
  part.drafts.push_back(std::move(file));
  part.report.saved = path;
  return {};
}

void MapSaved(const RunRequest& request, const InputFile& input, RankPart& part) {
  Result<SavedAnswer> answer = Load(request, input, part.report);
  if (!answer.ok()) {
    part.load_error = answer.error();
    return;
  }
  part.report.text_bytes = part.report.file_bytes;
  part.report.events = answer->events;
  part.report.begin_ns = answer->begin_ns;
  part.report.rank = answer->rank.value_or(0);
  part.claim.recorded = answer->rank;
  part.claim.world_size = answer->world_size;
  part.outcomes.push_back(OutcomeOf(std::move(answer->tables)));
}

}  // namespace borescope::internal
