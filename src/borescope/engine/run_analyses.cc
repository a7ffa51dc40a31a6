#include "borescope/engine/run_analyses.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/row_limit.h"
#include "borescope/base/stop.h"
#include "borescope/catalog/report_sections.h"
#include "borescope/engine/check_request.h"
#include "borescope/engine/conclude.h"
#include "borescope/engine/inputs/param_files.h"
#include "borescope/engine/map_run.h"
#include "borescope/engine/run_progress.h"
#include "borescope/output/units/units.h"
#include "borescope/table/table_ops.h"

namespace borescope::internal {
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

// Told of the run as a whole.
void CountLeftOut(const LeftOut& left_out, MappedRun& run) {
  if (left_out.verbs.empty()) {
    return;
  }
  const std::string text = fmt::format(
      "verbs left out: {} ({}: {})", fmt::join(left_out.verbs, ", "), left_out.verbs.front(),
      TextWithoutFile(*left_out.error, run.selected.front()->report.path));
  run.diagnostics.CountMany(Diag::kMissingData, left_out.verbs.size(), Diagnostics::kNoByte, text);
}

// The tables of all analyses. Of several, those whose data is missing are left out, and told.
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

// What is drawn of the answer, and what stands above it.
void AddViews(std::span<const AnalysisSpec* const> specs, const RunOptions& options,
              Document& document) {
  std::vector<std::string_view> verbs;
  for (const AnalysisSpec* spec : specs) {
    verbs.push_back(spec->name);
  }
  document.views = ViewsOf(document.tables);
  document.source = fmt::format("{} of {}", fmt::join(verbs, ", "), NameOfRun(options.files));
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

Result<AnswerData> MapAndAnswer(std::span<const AnalysisSpec* const> specs,
                                const RunOptions& given) {
  RunOptions options = given;
  BS_TRY(Prepare(specs, options));
  if (specs.front()->takes_two()) {
    return Stoppable(options.test.stop, [&] { return RunComparison(*specs.front(), options); });
  }
  RunRequest request{specs, options.files, options.ranks, options.params, options};
  request.reads_files = true;
  BS_ASSIGN(MappedRun run, MapRun(request));
  return AnswerOf(specs, options, run);
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
  AnswerData answer;
  BS_ASSIGN(answer.document.tables, Conclude(specs, options.params, run));
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
