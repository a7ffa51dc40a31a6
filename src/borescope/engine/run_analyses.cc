#include "borescope/engine/run_analyses.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/analysis/core/reduce.h"
#include "borescope/base/row_limit.h"
#include "borescope/base/stop.h"
#include "borescope/catalog/report_sections.h"
#include "borescope/engine/check_request.h"
#include "borescope/engine/job_answer.h"
#include "borescope/engine/map_run.h"
#include "borescope/engine/question/question.h"
#include "borescope/output/units/units.h"
#include "borescope/table/table_ops.h"

namespace borescope::internal {

Progress ProgressAtStart(std::span<const InputFile> files) {
  Progress whole;
  whole.total_files = files.size();
  for (const InputFile& file : files) {
    whole.total_bytes += file.bytes;
  }
  return whole;
}

RunOptions OptionsOfPart(const RunOptions& options, const Progress& before, const Progress& after) {
  RunOptions part = options;
  if (options.progress) {
    part.progress = [&options, before, after](const Progress& own) {
      options.progress({before.total_bytes + own.done_bytes,
                        before.total_bytes + own.total_bytes + after.total_bytes,
                        before.total_files + own.done_files,
                        before.total_files + own.total_files + after.total_files});
    };
  }
  return part;
}

namespace {

Result<std::vector<Tables>> TakeFolded(FoldedTables& folded) {
  if (folded.error.has_value()) {
    return *folded.error;
  }
  return std::move(folded.tables);
}

// The findings of the ranks that could answer analysis `index` of the request; what the others lack
// is added to `lacks`. An error when none could, or when what was asked for is wrong whatever the
// rank.
Result<std::vector<Tables>> TakeFindings(MappedRun& run, size_t index, std::string_view verb,
                                         MissingByRank& lacks) {
  std::vector<Tables> findings;
  bool is_answered = false;
  for (RankPart* part : run.selected) {
    Outcome& outcome = part->outcomes[index];
    if (!outcome.error.has_value()) {
      is_answered = true;
      if (run.folded.empty()) findings.push_back(std::move(outcome.tables));
    } else if (outcome.error->code != ErrorCode::kMissingData) {
      return *outcome.error;
    } else {
      RankMissing& lack = lacks[part];
      lack.error = lack.verbs.empty() ? *outcome.error : lack.error;
      lack.verbs.push_back(verb);
    }
  }
  if (!is_answered) {
    return *run.selected.front()->outcomes[index].error;
  }
  return run.folded.empty() ? std::move(findings) : TakeFolded(run.folded[index]);
}

Result<Tables> Finish(const Pipeline& pipeline, const Params& params, Tables reduced) {
  return pipeline.finish == nullptr ? std::move(reduced)
                                    : pipeline.finish(std::move(reduced), params);
}

}  // namespace

void CountMissing(const MissingByRank& lacks) {
  for (const auto& [part, lack] : lacks) {
    part->diagnostics.CountMany(Diag::kMissingData, lack.verbs.size(), Diagnostics::kNoByte,
                                fmt::format("{}: {}", fmt::join(lack.verbs, ", "),
                                            TextWithoutFile(lack.error, part->report.path)));
  }
}

Result<Tables> ReduceAndFinish(const Pipeline& pipeline, const Params& params,
                               std::span<const Tables> findings) {
  BS_ASSIGN(Tables reduced, pipeline.reduce(findings, params));
  return Finish(pipeline, params, std::move(reduced));
}

Result<Tables> ReduceOne(const AnalysisSpec& spec, size_t index, const Params& params,
                         MappedRun& run, MissingByRank& lacks) {
  BS_ASSIGN(const std::vector<Tables> findings, TakeFindings(run, index, spec.name, lacks));
  return spec.PipelineFor(params).reduce(findings, params);
}

Result<Tables> ConcludeOne(const AnalysisSpec& spec, size_t index, const Params& params,
                           MappedRun& run, MissingByRank& lacks) {
  MissingByRank with_this = lacks;
  BS_ASSIGN(std::vector<Tables> findings, TakeFindings(run, index, spec.name, with_this));
  Params with_faults = params;
  with_faults.run_faults = FaultsOf(run);
  with_faults.sharing = SharingRanks(run);
  const Pipeline& pipeline = spec.PipelineFor(params);
  BS_ASSIGN(Tables tables, findings.size() == 1 && pipeline.reduce == ConcatTables
                               ? Finish(pipeline, with_faults, ConcatOne(std::move(findings[0])))
                               : ReduceAndFinish(pipeline, with_faults, findings));
  lacks = std::move(with_this);
  return tables;
}

std::vector<RankBegin> BeginsOf(const MappedRun& run) {
  std::vector<RankBegin> begins;
  begins.reserve(run.selected.size());
  for (const RankPart* part : run.selected) {
    begins.push_back({part->report.rank, part->report.begin_ns});
  }
  return begins;
}

namespace {

// Rows in any other order than preorder are no tree: people see their depth as a number.
void ForgetTree(Table& table) {
  Column* depth = table.Find("depth");
  if (depth != nullptr) {
    depth->role = Role::kDerived;
  }
}

// Sorts and cuts for display. A column has to be in one table at least.
Result<void> Arrange(const RunOptions& options, Tables& findings) {
  std::optional<Error> unknown;
  bool sorted = options.sort.empty() || findings.empty();
  for (Table& table : findings) {
    if (options.sort.empty()) {
      break;
    }
    Result<Table> in_order = SortBy(table, options.sort);
    if (in_order.ok()) {
      table = std::move(*in_order);
      ForgetTree(table);
      sorted = true;
    } else if (!unknown.has_value()) {
      unknown = OfParameter("sort", in_order.error());
    }
  }
  if (!sorted) {
    return *unknown;
  }
  for (Table& table : findings) {
    if (options.top.has_value()) {
      table.preview_rows = 0;
    }
    if (options.top.has_value() && *options.top < table.rows()) {
      table.title +=
          fmt::format(" (first {} of {} rows)", GroupDigits(static_cast<int64_t>(*options.top)),
                      GroupDigits(static_cast<int64_t>(table.rows())));
      table = Head(table, *options.top);
    }
  }
  return {};
}

// Verbs without an answer, and why the first of them has none.
struct LeftOut {
  std::vector<std::string_view> verbs;
  std::optional<Error> error;
};

// Counts them among the diagnostics of the run as a whole.
void CountLeftOut(const LeftOut& left_out, MappedRun& run) {
  if (left_out.verbs.empty()) {
    return;
  }
  const std::string text = fmt::format(
      "verbs left out: {} ({}: {})", fmt::join(left_out.verbs, ", "), left_out.verbs.front(),
      TextWithoutFile(*left_out.error, run.selected.front()->report.path));
  run.diagnostics.CountMany(Diag::kMissingData, left_out.verbs.size(), Diagnostics::kNoByte, text);
}

// The tables of all analyses. Of several, those whose data is missing are left out, and reported.
Result<Tables> Conclude(std::span<const AnalysisSpec* const> specs, const Params& params,
                        MappedRun& run) {
  Tables all;
  MissingByRank lacks;
  LeftOut left_out;
  for (size_t i = 0; i < specs.size(); ++i) {
    Result<Tables> concluded = ConcludeOne(*specs[i], i, params, run, lacks);
    if (!concluded.ok() && concluded.error().code == ErrorCode::kMissingData) {
      left_out.error = left_out.error.has_value() ? left_out.error : concluded.error();
      left_out.verbs.push_back(specs[i]->name);
      continue;
    }
    BS_ASSIGN(Tables tables, std::move(concluded));
    std::move(tables.begin(), tables.end(), std::back_inserter(all));
  }
  if (left_out.verbs.size() == specs.size()) {
    return *left_out.error;
  }
  CountMissing(lacks);
  CountLeftOut(left_out, run);
  return all;
}

void AppendReports(MappedRun& run, AnswerData& answer) {
  const std::vector<Diagnostic> rows = CollectDiagnostics(run);
  answer.document.diagnostics.insert(answer.document.diagnostics.end(), rows.begin(), rows.end());
  std::vector<FileInfo> files = TakeReports(run);
  std::move(files.begin(), files.end(), std::back_inserter(answer.files));
}

Result<Tables> ReduceRun(const AnalysisSpec& spec, const Params& params, MappedRun& run) {
  MissingByRank lacks;
  BS_ASSIGN(Tables reduced, ReduceOne(spec, 0, params, run, lacks));
  CountMissing(lacks);
  return reduced;
}

// What is drawn of the answer, and the line above it.
void AddViews(std::span<const AnalysisSpec* const> specs, const RunOptions& options,
              Document& document) {
  std::vector<std::string_view> verbs;
  for (const AnalysisSpec* spec : specs) {
    verbs.push_back(spec->name);
  }
  document.views = ViewsOf(document.tables);
  document.source = fmt::format("{} of {}", fmt::join(verbs, ", "), NameOfRun(options.files));
  // What other tools print is as long as they print it.
  constexpr size_t kTwoScreens = 48;
  const bool is_short = !options.top.has_value() && options.params.compat == Compat::kNone;
  document.most_lines = is_short ? kTwoScreens * specs.size() : 0;
}

// Which of the tables, if any, text shows as lines for scripts.
LineStyle LinesOf(std::span<const AnalysisSpec* const> specs, const Params& params,
                  std::span<const Table> tables) {
  for (const AnalysisSpec* spec : specs) {
    LineStyle style = spec->lines == nullptr ? LineStyle() : spec->lines(params, tables);
    if (style.form != LineForm::kNone) {
      return style;
    }
  }
  return {};
}

Result<AnswerData> RunComparison(const AnalysisSpec& spec, const RunOptions& options) {
  const AnalysisSpec* const specs[] = {&spec};
  Params test_params = options.params;
  test_params.selection.steps = options.test.steps;
  const RunOptions first = OptionsOfPart(options, {}, ProgressAtStart(options.test.files));
  BS_ASSIGN(MappedRun base,
            MapRun({specs, options.files, options.ranks, options.params, first, "base"}));
  BS_ASSIGN(Tables base_tables, ReduceRun(spec, options.params, base));
  RunOptions second = OptionsOfPart(options, ProgressAtStart(options.files), {});
  second.cache = options.test.cache;
  BS_ASSIGN(MappedRun test,
            MapRun({specs, options.test.files, options.test.ranks, test_params, second, "test"}));
  BS_ASSIGN(Tables test_tables, ReduceRun(spec, test_params, test));
  AnswerData answer;
  BS_ASSIGN(answer.document.tables,
            spec.PipelineFor(options.params)
                .compare(std::move(base_tables), std::move(test_tables), options.params));
  BS_TRY(Arrange(options, answer.document.tables));
  AddViews(specs, options, answer.document);
  AppendReports(base, answer);
  AppendReports(test, answer);
  return answer;
}

// The answer about what a dead job left, where that is what the files are.
Result<AnswerData> AnswerOfOther(const AnalysisSpec& spec, const RunOptions& options,
                                 const Error& why_no_run) {
  const AnalysisSpec* const specs[] = {&spec};
  std::optional<Result<JobAnswer>> job = AnswerOfJob(spec, options);
  if (!job.has_value()) {
    return why_no_run;
  }
  BS_ASSIGN(JobAnswer found, std::move(*job));
  AnswerData answer;
  answer.document.tables = std::move(found.tables);
  answer.document.diagnostics = std::move(found.diagnostics);
  BS_TRY(Arrange(options, answer.document.tables));
  AddViews(specs, options, answer.document);
  if (options.accept) {
    BS_TRY(options.accept(answer.document));
  }
  return answer;
}

// `beside`: what there is to say about files that are no profiles.
Result<AnswerData> FromMapped(std::span<const AnalysisSpec* const> specs, const RunOptions& options,
                              MappedRun& run, JobAnswer beside) {
  AnswerData answer;
  BS_ASSIGN(answer.document.tables, Conclude(specs, options.params, run));
  std::move(beside.tables.begin(), beside.tables.end(), std::back_inserter(answer.document.tables));
  std::move(beside.diagnostics.begin(), beside.diagnostics.end(),
            std::back_inserter(answer.document.diagnostics));
  BS_TRY(CheckDistinct(answer.document.tables));
  BS_TRY(Arrange(options, answer.document.tables));
  AddViews(specs, options, answer.document);
  answer.document.lines = LinesOf(specs, options.params, answer.document.tables);
  answer.document.begins = BeginsOf(run);
  if (options.accept) {
    BS_TRY(options.accept(answer.document));
  }
  BS_TRY(CommitDrafts(run));
  AppendReports(run, answer);
  return answer;
}

Result<AnswerData> MapAndAnswer(std::span<const AnalysisSpec* const> specs,
                                const RunOptions& given) {
  RunOptions options = given;
  BS_TRY(Prepare(specs, options));
  if (specs.front()->takes_two()) {
    return Stoppable(options.test.stop, [&] { return RunComparison(*specs.front(), options); });
  }
  RunRequest request{specs, options.files, options.ranks, options.params, options};
  request.reads_files = true;
  Result<MappedRun> run = MapRun(request);
  const bool is_info = specs.size() == 1 && specs.front()->name == "info";
  if (!run.ok()) {
    // Dumps may be of other ranks than profiles.
    const bool may_be_other =
        specs.size() == 1 && (run.error().code == ErrorCode::kUnsupportedFormat ||
                              (is_info && run.error().parameter == "rank"));
    return may_be_other ? AnswerOfOther(*specs.front(), options, run.error()) : run.error();
  }
  JobAnswer beside;
  if (is_info) {
    BS_ASSIGN(beside, InfoBesideProfiles(*specs.front(), options, run->parts));
  }
  return FromMapped(specs, options, *run, std::move(beside));
}

}  // namespace

Result<void> CheckDistinct(const Tables& tables) {
  std::set<std::string_view> names;
  for (const Table& table : tables) {
    if (!names.insert(table.name).second) {
      return Error{ErrorCode::kInvalidArgument,
                   fmt::format("two of the verbs give a table \"{}\"", table.name),
                   "ask for summary alone"};
    }
  }
  return {};
}

Result<void> Prepare(std::span<const AnalysisSpec* const> specs, RunOptions& options) {
  if (options.for_picture) {
    std::for_each(specs.begin(), specs.end(),
                  [&](const AnalysisSpec* spec) { AskForViews(*spec, options.params); });
  }
  BS_TRY(ReadParamFiles(specs, options.params));
  for (const AnalysisSpec* spec : specs) {
    BS_TRY(CheckOptions(*spec, options.params));
  }
  return CheckTogether(specs, options);
}

Result<AnswerData> AnswerOf(std::span<const AnalysisSpec* const> specs, const RunOptions& options,
                            MappedRun& run) {
  return FromMapped(specs, options, run, {});
}

Result<AnswerData> RunAnalyses(std::span<const AnalysisSpec* const> specs,
                               const RunOptions& options) {
  return WithNumberedRows(
      [&] { return Stoppable(options.stop, [&] { return MapAndAnswer(specs, options); }); });
}

bool HasPicture(const AnalysisSpec& spec) { return HasViews(spec); }

Result<AnswerData> RunAnalysis(const AnalysisSpec& spec, const RunOptions& options) {
  const AnalysisSpec* const specs[] = {&spec};
  return RunAnalyses(specs, options);
}

}  // namespace borescope::internal
