#include "borescope/convert.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "borescope/analysis/core/params.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/base/check.h"
#include "borescope/base/io/inflate.h"
#include "borescope/base/result.h"
#include "borescope/base/row_limit.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"
#include "borescope/catalog/catalog.h"
#include "borescope/convert/convert.h"
#include "borescope/convert/merge.h"
#include "borescope/engine/access.h"
#include "borescope/engine/drafts.h"
#include "borescope/engine/inputs/input_files.h"
#include "borescope/engine/loading/loaded_trace.h"
#include "borescope/engine/map_files.h"
#include "borescope/engine/run_analyses.h"
#include "borescope/engine/targets/targets.h"
#include "borescope/index/trace_index.h"
#include "borescope/ingest/load.h"
#include "borescope/output/overlay/overlay_writer.h"
#include "borescope/scrub/scrub_file.h"
#include "borescope/verbs/scrub/scrub_run.h"

namespace borescope::internal {
namespace {

// What several verbs find, drawn into one copy of a trace.

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

// The copy holds the text of the one input with counters, spans and arrows of all verbs of
// `options.overlays`, each as its own --overlay draws it; events are marked, and none is left out.
// Errors: kInvalidArgument for verbs that draw nothing, and for options that make no copy of one
// file; kMissingData where a verb finds nothing to draw, or the input is no undamaged JSON.
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

// Clocks of the files that `convert` joins, by the collectives that their ranks did together.

struct FileAlignment {
  AlignedFile report;
  // To be added to its times for those of the clock of the rank `reference`. Files of one
  // `clock_name` have one clock as recorded, and keep it.
  int64_t offset_ns = 0;
  std::string clock_name;
  bool is_known = false;
  int64_t moved_ns =
      0;  // by how much its clock moves in the recording, which one offset cannot fix
};

const Table& ClocksOf(const AnswerData& answer) {
  const std::vector<Table>& tables = answer.document.tables;
  const auto found = std::find_if(tables.begin(), tables.end(),
                                  [](const Table& table) { return table.name == "clocks"; });
  BS_CHECK(found != tables.end());
  return *found;
}

FileAlignment FromRow(const Table& clocks, size_t row, const std::string& path) {
  FileAlignment alignment;
  alignment.report.file = path;
  alignment.report.verdict = Texts(clocks, "verdict")[row];
  alignment.is_known = !clocks.Find("offset_ns")->IsMissing(row);
  if (!alignment.is_known) return alignment;
  alignment.clock_name = Texts(clocks, "clock")[row];
  alignment.offset_ns = Ints(clocks, "offset_ns")[row];
  const int64_t error_ns = Ints(clocks, "error_ns")[row];
  const bool moves = !clocks.Find("whole_error_ns")->IsMissing(row);
  alignment.report.error_ns = moves ? Ints(clocks, "whole_error_ns")[row] : error_ns;
  alignment.moved_ns = SubtractSaturating(alignment.report.error_ns, error_ns);
  return alignment;
}

Error NothingInCommon() {
  return {
      ErrorCode::kMissingData,
      "`align`: no collective is in two of the files, or no clocks make those that are possible",
      "give ranks of one run, recorded at the same time, or leave out `align`"};
}

// By path. kMissingData where no collective is in two of the files.
Result<std::map<std::string, FileAlignment>> AlignFiles(const std::vector<InputFile>& files,
                                                        const ConvertOptions& options) {
  RunOptions run;
  run.files = files;
  run.threads = options.threads;
  run.stop = options.stop;
  const AnalysisSpec* waits = FindAnalysis("waits");
  BS_CHECK(waits != nullptr);
  BS_ASSIGN(const AnswerData answer, RunAnalysis(*waits, run));
  const Table& clocks = ClocksOf(answer);
  std::map<int64_t, size_t> row_of;
  for (size_t row = 0; row < clocks.rows(); ++row) row_of.emplace(Ints(clocks, "rank")[row], row);
  std::map<std::string, FileAlignment> alignments;
  for (const FileInfo& file : answer.files) {
    const auto row = row_of.find(file.rank);
    if (file.skipped || !file.error.empty() || row == row_of.end()) continue;
    alignments.emplace(file.path, FromRow(clocks, row->second, file.path));
  }
  const bool is_any_known = std::any_of(alignments.begin(), alignments.end(),
                                        [](const auto& file) { return file.second.is_known; });
  if (!is_any_known) return NothingInCommon();
  return alignments;
}

// Which part of a trace `convert` writes.

struct TracePiece {
  TimeWindow window;               // all that is asked for is in it
  std::optional<RecordedCut> cut;  // what it holds; nothing for a whole recording
};

// "3..4,7"
std::string TextOf(const NumberRanges& numbers) {
  std::vector<std::string> parts;
  parts.reserve(numbers.ranges.size());
  for (const auto& [first, last] : numbers.ranges) {
    parts.push_back(first == last ? fmt::format("{}", first) : fmt::format("{}..{}", first, last));
  }
  return fmt::format("{}", fmt::join(parts, ","));
}

void Cover(const IntervalSet& time, TimeWindow& hull) {
  if (!time.empty()) {
    hull.begin_ns = std::min(hull.begin_ns, time.front().begin);
    hull.end_ns = std::max(hull.end_ns, time.back().end);
  }
}

Result<TimeWindow> HullOfSteps(const Trace& trace, const TraceIndex& index, const Selection& part) {
  const RankView view{0, trace, index};
  BS_ASSIGN(const Selected selected, Selected::Make(view, part));
  TimeWindow hull{std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
  Cover(selected.windows(), hull);
  const SharedDeviceTimes times = DeviceTimes(view, selected, PerTrack::kGpu);
  for (const DeviceTime& time : *times) {
    Cover(selected.TimeOf(time.tracks), hull);
  }
  return hull;
}

// Uses the steps and the range of time of `part`. The window of steps is the hull of their time on
// the host and on every GPU, inside of the range. Errors are those of selecting these.
Result<TracePiece> FindPiece(const Trace& trace, const TraceIndex& index, const Selection& part) {
  BS_ASSIGN(const Selection selection, WithinCut(part, trace));
  TracePiece piece;
  if (selection.range.is_open() && selection.steps.empty()) {
    return piece;
  }
  RecordedCut cut;
  cut.recording_begin_ns = trace.begin_ns();
  cut.recording_end_ns = trace.end_ns();
  BS_ASSIGN(piece.window, ResolveWindow(trace, selection.range));
  if (!selection.range.begin.is_open()) {
    cut.begin_ns = piece.window.begin_ns;
  }
  if (!selection.range.end.is_open()) {
    cut.end_ns = piece.window.end_ns;
  }
  if (!selection.steps.empty()) {
    cut.steps = TextOf(selection.steps);
    BS_ASSIGN(piece.window, HullOfSteps(trace, index, selection));
  }
  piece.cut = std::move(cut);
  return piece;
}

// A file that is named twice is read twice.
Result<std::vector<InputFile>> FindFiles(const ConvertOptions& options) {
  if (options.output == "-") {
    return UsageError("convert writes a file, not standard output", "name one");
  }
  std::vector<InputFile> files;
  for (const std::string& input : options.inputs) {
    BS_ASSIGN(const std::vector<InputFile> found, ExpandInputs({&input, 1}));
    files.insert(files.end(), found.begin(), found.end());
  }
  BS_ASSIGN(files, GroupRecordings(std::move(files)));
  std::vector<std::string> paths;
  std::transform(files.begin(), files.end(), std::back_inserter(paths),
                 [](const InputFile& file) { return file.path; });
  BS_TRY(CheckNoInput(paths, options.output, "convert"));
  return files;
}

// Writes one trace after the other.
class Conversion {
 public:
  Conversion(const ConvertOptions& options, const ConvertTarget& target, Selection part,
             bool is_merge, std::map<std::string, FileAlignment> alignments)
      : options_(options),
        target_(target),
        part_(std::move(part)),
        is_merge_(is_merge),
        alignments_(std::move(alignments)) {}

  Result<void> Add(const InputFile& file) {
    Result<Trace> loaded = LoadInput(file, {options_.threads, FileProgress(options_.progress)});
    if (!loaded.ok() && file.from_directory &&
        loaded.error().code == ErrorCode::kUnsupportedFormat) {
      report_.skipped += 1;  // found, not named, and no trace at all
      return {};
    }
    BS_ASSIGN(Trace trace, std::move(loaded));
    MergeSource source;
    if (is_merge_) {
      TraceData data = std::move(trace).Take();
      BS_ASSIGN(source, Place(file, data));
      trace = Trace(std::move(data));
    }
    report_.files += 1;
    report_.clocks += source.has_common_clock ? 0 : 1;
    const TraceIndex index = BuildIndex(trace, options_.threads);
    BS_TRY(Write(trace, index, source));
    Diagnostics found = trace.diagnostics();
    found.Merge(index.diagnostics);
    AppendDiagnostics(found, file.path, report_.diagnostics);
    return {};
  }

  Result<ConvertReport> Finish() {
    if (output_ == nullptr) {
      return UsageError("none of the files is a trace that can be read");
    }
    BS_ASSIGN(const ConvertCounts counts, output_->Commit());
    report_.written = counts.written;
    report_.outside = counts.outside;
    report_.unplaced = counts.unplaced;
    report_.format = target_.name;
    return std::move(report_);
  }

 private:
  // Files whose clock is not known keep the times of their own clocks.
  Result<MergeSource> Place(const InputFile& file, TraceData& data) {
    const auto found = alignments_.find(file.path);
    if (report_.files == 0) {
      first_ = found == alignments_.end() ? FileAlignment() : found->second;
      return merger_.Place(data);
    }
    if (found == alignments_.end()) return merger_.Place(data);
    const FileAlignment& own = found->second;
    std::optional<int64_t> shift_ns;
    if (own.is_known && first_.is_known) {
      shift_ns = own.clock_name == first_.clock_name
                     ? merger_.RecordedShift(data).value_or(0)
                     : SubtractSaturating(own.offset_ns, first_.offset_ns);
    }
    BS_ASSIGN(const MergeSource source, merger_.Place(data, shift_ns));
    AlignedFile aligned = own.report;
    aligned.shift_ns = source.shift_ns;
    if (aligned.error_ns != 0) AddSaturatingTo(aligned.error_ns, ErrorOfFirst(own));
    report_.aligned.push_back(std::move(aligned));
    return source;
  }

  // What the clock of the first file adds to the error of another one: its own movement, and its
  // own error, unless its clock is the one that offsets are for, or both share a clock.
  int64_t ErrorOfFirst(const FileAlignment& own) const {
    if (!first_.is_known || own.clock_name == first_.clock_name) return 0;
    return first_.offset_ns == 0 ? first_.moved_ns : first_.report.error_ns;
  }

  Result<void> Write(const Trace& trace, const TraceIndex& index, const MergeSource& source) {
    BS_ASSIGN(const TracePiece piece, FindPiece(trace, index, part_));
    if (output_ == nullptr) {
      BS_ASSIGN(output_, ConvertedFile::Open(target_, options_.output));
    }
    ConvertInput input{trace, index, piece.window, source};
    if (piece.cut.has_value() && target_.keeps_surroundings && options_.keeps_context) {
      const KeptRows rows = RowsOfWindow(trace, index, piece.window);
      input.rows = &rows;
      input.cut = piece.cut;
      return output_->Add(input);
    }
    return output_->Add(input);
  }

  const ConvertOptions& options_;
  const ConvertTarget& target_;
  const Selection part_;  // steps and a range of time
  const bool is_merge_;
  const std::map<std::string, FileAlignment> alignments_;
  FileAlignment first_;
  Merger merger_;
  std::unique_ptr<ConvertedFile> output_;  // nullptr until the first trace is loaded
  ConvertReport report_;
};

Result<std::map<std::string, FileAlignment>> AlignmentsOf(const std::vector<InputFile>& files,
                                                          const ConvertOptions& options) {
  if (options.align.empty()) return std::map<std::string, FileAlignment>();
  if (options.align != "collectives") {
    return UsageError("'" + options.align + "' is not known", "it takes collectives", "align");
  }
  if (files.size() < 2) {
    return UsageError("`align` puts several files in line, and this is one", "name all ranks",
                      "align");
  }
  return AlignFiles(files, options);
}

Result<Selection> PartOf(const ConvertOptions& options) {
  Selection part;
  BS_ASSIGN(part.range, TimeRange::Parse(options.begin, options.end));
  if (!options.steps.empty()) {
    BS_ASSIGN(part.steps, NumberRanges::Parse(options.steps));
  }
  return part;
}

Result<ConvertReport> ConvertFiles(const ConvertOptions& options) {
  BS_ASSIGN(const std::vector<InputFile> files, FindFiles(options));
  BS_ASSIGN(const ConvertTarget* target, ChooseTarget(options.to, options.output));
  BS_ASSIGN(Selection part, PartOf(options));
  BS_ASSIGN(auto alignments, AlignmentsOf(files, options));
  Conversion conversion(options, *target, std::move(part), files.size() > 1, std::move(alignments));
  for (const InputFile& file : files) {
    BS_TRY(conversion.Add(file));
  }
  return conversion.Finish();
}

bool EndsInOneOf(std::string_view path, std::initializer_list<std::string_view> endings) {
  return std::any_of(endings.begin(), endings.end(),
                     [&](std::string_view ending) { return path.ends_with(ending); });
}

// Whether a recording is to be written in its own format, with all that is read of it.
bool KeepsFormat(const ConvertOptions& options, const InputFile& file, RecordingKind kind) {
  if (!options.to.empty() || !options.begin.empty() || !options.end.empty() ||
      !options.steps.empty()) {
    return false;
  }
  if (kind == RecordingKind::kPickle) {
    return true;  // it has no other
  }
  if (kind == RecordingKind::kText || kind == RecordingKind::kPlainJson) {
    return EndsInOneOf(options.output, {".json", ".json.gz", ".raw", ".raw.gz"});
  }
  const bool is_rpd = options.output.ends_with(".rpd") && file.path.ends_with(".rpd");
  return is_rpd ||
         EndsInOneOf(options.output, {".sqlite", ".sqlite3", ".db", ".nvvp", ".nvprof", ".prof"});
}

Result<ConvertReport> ScrubAlone(const ConvertOptions& options, const InputFile& file,
                                 Scrubber& scrubber) {
  BS_ASSIGN(const ScrubbedFile written,
            ScrubFile(file.path, options.output, scrubber, FileProgress(options.progress)));
  ConvertReport report;
  report.written = written.records;
  report.files = 1;
  report.scrubbed = true;
  if (written.was_cut) {
    Diagnostics found;
    found.Count(Diag::kTruncatedFile);
    AppendDiagnostics(found, file.path, report.diagnostics);
  }
  return report;
}

// In another format, or several in one: scrubbed copies are converted.
Result<ConvertReport> ScrubFirst(const ConvertOptions& options, Scrubber& scrubber) {
  BS_ASSIGN(const ScrubbedInputs copies, ScrubInputs(options.inputs, scrubber, {}));
  ConvertOptions of_copies = options;
  of_copies.inputs = copies.paths;
  BS_ASSIGN(ConvertReport report, ConvertFiles(of_copies));
  report.skipped += copies.skipped;
  return report;
}

Result<ConvertReport> Scrub(const ConvertOptions& options) {
  BS_ASSIGN(const std::vector<InputFile> files, FindFiles(options));
  BS_ASSIGN(const ScrubRules rules, RulesOf(*options.scrub));
  Scrubber scrubber(rules);
  bool keeps_format = false;
  if (files.size() == 1 && files.front().path != "-") {
    BS_ASSIGN(const RecordingKind kind, KindOfRecording(files.front().path));
    keeps_format = KeepsFormat(options, files.front(), kind);
  }
  BS_ASSIGN(ConvertReport report, keeps_format ? ScrubAlone(options, files.front(), scrubber)
                                               : ScrubFirst(options, scrubber));
  if (!options.scrub->map_file.empty()) {
    BS_TRY(WriteNameMap(scrubber, options.scrub->map_file));
  }
  return report;
}

}  // namespace
}  // namespace borescope::internal

namespace borescope {

Result<ConvertReport> Convert(const ConvertOptions& given) {
  return internal::WithNumberedRows([&] {
    return internal::Stoppable(given.stop, [&] {
      ConvertOptions options = given;
      options.threads = ThreadsOf(given.threads);
      if (!options.overlays.empty()) return internal::DrawOverlays(options);
      return options.scrub.has_value() ? internal::Scrub(options) : internal::ConvertFiles(options);
    });
  });
}

}  // namespace borescope
