#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <map>
#include <memory>
#include <utility>

#include "borescope/base/row_limit.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"
#include "borescope/convert.h"
#include "borescope/convert/convert.h"
#include "borescope/convert/merge.h"
#include "borescope/engine/access.h"
#include "borescope/engine/inputs/input_files.h"
#include "borescope/engine/inputs/recording_groups.h"
#include "borescope/engine/loading/loaded_trace.h"
#include "borescope/engine/targets/targets.h"
#include "borescope/ingest/load.h"
#include "borescope/scrub/scrub_file.h"
#include "borescope/verbs/convert/align_files.h"
#include "borescope/verbs/convert/draw_overlays.h"
#include "borescope/verbs/convert/trace_piece.h"
#include "borescope/verbs/scrub/scrub_run.h"

namespace borescope::internal {
namespace {

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
  if (kind == RecordingKind::kText) {
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
