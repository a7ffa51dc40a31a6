#include "borescope/verbs/convert/draw_overlays.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "borescope/analysis/core/selection/cut_selection.h"
#include "borescope/base/io/inflate.h"
#include "borescope/catalog/catalog.h"
#include "borescope/engine/access.h"
#include "borescope/engine/map_files.h"
#include "borescope/engine/targets/overlay_drafts.h"
#include "borescope/engine/targets/targets.h"
#include "borescope/index/trace_index.h"
#include "borescope/ingest/load.h"
#include "borescope/output/overlay/overlay_writer.h"

namespace borescope::internal {
namespace {

std::vector<std::string_view> DrawingVerbs() {
  std::vector<std::string_view> names;
  for (const AnalysisSpec* const spec : Analyses()) {
    if (spec->overlay != nullptr) {
      names.push_back(spec->name);
    }
  }
  return names;
}

Result<std::vector<const AnalysisSpec*>> FindDrawing(const std::vector<std::string>& verbs) {
  std::vector<const AnalysisSpec*> specs;
  for (const std::string& verb : verbs) {
    const AnalysisSpec* const spec = FindAnalysis(verb);
    if (spec == nullptr || spec->overlay == nullptr) {
      return UsageError(fmt::format("'{}' draws nothing on traces", verb),
                        fmt::format("verbs that do are {}", fmt::join(DrawingVerbs(), ", ")),
                        "overlay");
    }
    if (std::find(specs.begin(), specs.end(), spec) != specs.end()) {
      return UsageError(fmt::format("`overlay` names {} twice", verb), "name it once", "overlay");
    }
    specs.push_back(spec);
  }
  return specs;
}

Result<void> CheckCopiesOneFile(const ConvertOptions& options) {
  const bool is_whole = options.begin.empty() && options.end.empty() && options.steps.empty();
  if (!is_whole || options.scrub.has_value() || !options.align.empty() ||
      !(options.to.empty() || options.to == "chrome")) {
    return UsageError(
        "`overlay` draws into a copy of the text of a trace",
        "leave out `step`, `begin`, `end`, `align`, `scrub` and other formats, or use them first",
        "overlay");
  }
  if (!options.output.ends_with(".json") && !options.output.ends_with(".json.gz")) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .cause = "`overlay` writes JSON",
                 .remedy = "end it in .json or .json.gz",
                 .file = options.output,
                 .parameter = "overlay"};
  }
  return {};
}

template <class T>
void Append(std::vector<T>&& more, std::vector<T>& all) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

// Arrows and marks are of one verb, critical-path, which leaves events out when it draws alone.
void Join(Overlay&& more, Overlay& all) {
  Append(std::move(more.counters), all.counters);
  Append(std::move(more.tracks), all.tracks);
  if (!more.arrows.arrows.empty()) {
    all.arrows = std::move(more.arrows);
  }
  if (!more.marks.critical.empty()) {
    all.marks.critical = std::move(more.marks.critical);
  }
}

Result<Overlay> DrawAll(const std::vector<const AnalysisSpec*>& specs, const RankView& view) {
  Params params;
  BS_ASSIGN(params.selection, WithinCut(params.selection, view.trace));
  Overlay all;
  for (const AnalysisSpec* const spec : specs) {
    BS_ASSIGN(const Tables needed, MapTrace(*spec, params, view));
    BS_ASSIGN(Overlay drawn, spec->overlay(view, params));
    Join(std::move(drawn), all);
  }
  return all;
}

}  // namespace

Result<ConvertReport> DrawOverlays(const ConvertOptions& options) {
  BS_TRY(CheckCopiesOneFile(options));
  BS_ASSIGN(const std::vector<const AnalysisSpec*> specs, FindDrawing(options.overlays));
  BS_ASSIGN(const std::vector<InputFile> files, ExpandInputs(options.inputs));
  if (files.size() != 1 || files.front().path == "-") {
    return UsageError("`overlay` reads one trace, twice", "name one file", "overlay");
  }
  const std::string& path = files.front().path;
  BS_TRY(CheckNoInput(std::vector<std::string>{path}, options.output, "convert"));
  BS_ASSIGN(const Trace trace, LoadFile(path, {options.threads, FileProgress(options.progress)}));
  if (HasDamagedText(trace.diagnostics())) {
    return Error{ErrorCode::kMissingData,
                 "its text is damaged, so that its events cannot be found again",
                 "convert it first, and draw on that", path};
  }
  const TraceIndex index = BuildIndex(trace, options.threads);
  BS_ASSIGN(const Overlay overlay, DrawAll(specs, {0, trace, index, options.threads}));
  BS_ASSIGN(const OpenedSource text, OpenInflated(path));
  BS_ASSIGN(const std::unique_ptr<FileSink> file,
            DraftOverlayFile(*text.bytes, trace, overlay, options.output));
  BS_TRY(file->Commit());
  ConvertReport report;
  report.written = trace.host().size() + trace.device().size();
  report.format = "chrome";
  report.files = 1;
  AppendDiagnostics(trace.diagnostics(), path, report.diagnostics);
  return report;
}

}  // namespace borescope::internal
