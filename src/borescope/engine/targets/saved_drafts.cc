#include "borescope/engine/targets/saved_drafts.h"

#include <string>
#include <utility>

#include "borescope/analysis/core/saved_form.h"
#include "borescope/base/io/inflate.h"
#include "borescope/engine/targets/targets.h"
#include "borescope/output/sink/sink.h"

namespace borescope::internal {
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
