#include "borescope/verbs/report/report.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/base/row_limit.h"
#include "borescope/base/stop.h"
#include "borescope/catalog/catalog.h"
#include "borescope/catalog/report_sections.h"
#include "borescope/engine/conclude.h"
#include "borescope/engine/map_run.h"
#include "borescope/engine/partial/questions.h"
#include "borescope/engine/run_progress.h"
#include "borescope/verbs/report/report_tables.h"

namespace borescope::internal {
namespace {

// What all sections of one run say.
struct RunAnswers {
  std::string title;
  size_t ranks = 0;
  std::vector<SectionTables> sections;
  std::vector<Diagnostic> diagnostics;
  std::vector<FileInfo> files;
  std::vector<RankBegin> begins;
  Tables timeline;
  Tables sums;  // of the verb diff, for the comparison
};

// What is asked of each run.
struct Questions {
  std::vector<SectionSpec> sections;
  // Of the sections; after them that of the timeline, then that of the comparison.
  std::vector<const AnalysisSpec*> specs;
  Params params;
  bool has_timeline = false;
  const AnalysisSpec* comparison = nullptr;  // the verb diff, when there are two runs
};

Questions QuestionsOf(const RunOptions& options, std::string_view timeline) {
  MappedQuestion asked = QuestionOfReport(options.params, options.ranks, timeline);
  Questions questions{ReportSections(), std::move(asked.verbs), std::move(asked.params),
                      timeline != kNoTimeline};
  if (!options.test.files.empty()) {
    questions.comparison = FindAnalysis("diff");
    questions.specs.push_back(questions.comparison);
    // Frames that are narrow in one of the runs only have to match, too.
    std::erase_if(questions.params.values,
                  [](const auto& value) { return value.name == kMinShareParam.name; });
  }
  return questions;
}

// Why the verb does not answer what is selected; empty where it does.
std::string WhyRefused(const AnalysisSpec& spec, const Params& params) {
  const Result<void> checked = spec.check == nullptr ? Result<void>() : spec.check(params);
  return checked.ok() ? std::string() : WithOptions(checked.error().Sentence());
}

// The first section, the summary, needs nothing of a trace: what it lacks is what was selected.
Result<std::vector<SectionTables>> AnswerSections(const Questions& questions, MappedRun& run,
                                                  MissingByRank& lacks) {
  std::vector<SectionTables> answers;
  for (size_t i = 0; i < questions.sections.size(); ++i) {
    const AnalysisSpec& spec = *questions.sections[i].analysis;
    if (std::string refusal = WhyRefused(spec, questions.params); !refusal.empty()) {
      answers.push_back({{}, std::move(refusal)});
      continue;
    }
    Result<Tables> tables = ConcludeOne(spec, i, questions.params, run, lacks);
    if (tables.ok()) {
      const std::string lack = spec.lack == nullptr ? "" : spec.lack(*tables);
      answers.push_back({lack.empty() ? std::move(*tables) : Tables(), lack});
    } else if (tables.error().code == ErrorCode::kMissingData && i > 0) {
      answers.push_back({{}, TextWithoutFile(tables.error(), run.selected.front()->report.path)});
    } else {
      return tables.error();
    }
  }
  return answers;
}

// None where what was recorded has nothing to draw.
Result<Tables> AnswerTimeline(const Questions& questions, MappedRun& run, MissingByRank& lacks) {
  const size_t index = questions.sections.size();
  Result<Tables> tables = ConcludeOne(*questions.specs[index], index, questions.params, run, lacks);
  return tables.ok() || tables.error().code != ErrorCode::kMissingData ? std::move(tables)
                                                                       : Result<Tables>(Tables());
}

Result<RunAnswers> AnswersOfRun(const Questions& questions, std::span<const InputFile> files,
                                MappedRun& run) {
  RunAnswers answers;
  answers.title = NameOfRun(files);
  answers.ranks = run.selected.size();
  answers.begins = BeginsOf(run);
  MissingByRank lacks;
  BS_ASSIGN(answers.sections, AnswerSections(questions, run, lacks));
  if (questions.has_timeline) {
    BS_ASSIGN(answers.timeline, AnswerTimeline(questions, run, lacks));
  }
  if (questions.comparison != nullptr) {
    BS_ASSIGN(answers.sums, ReduceOne(*questions.comparison, questions.specs.size() - 1,
                                      questions.params, run, lacks));
  }
  CountMissing(lacks);
  answers.diagnostics = CollectDiagnostics(run);
  answers.files = TakeReports(run);
  return answers;
}

Result<RunAnswers> AnswersOf(const Questions& questions, std::span<const InputFile> files,
                             const RunOptions& options) {
  BS_ASSIGN(MappedRun run,
            MapRun({questions.specs, files, options.ranks, questions.params, options}));
  return AnswersOfRun(questions, files, run);
}

// The summary is the first section.
Digest DigestOf(const RunAnswers& answers) {
  return MakeDigest(answers.title, answers.sections.front().tables);
}

// What changed from the other run to this one, after the overview.
Result<void> AddChanges(const Questions& questions, RunAnswers& mine, RunAnswers& other,
                        const RunOptions& options, Report& report) {
  constexpr size_t kMostChanges = 5;
  const AnalysisSpec& spec = *questions.comparison;
  ReportPage& page = report.page;
  SectionTables changes;
  BS_ASSIGN(changes.tables,
            spec.answer.compare(std::move(other.sums), std::move(mine.sums), questions.params));
  report.digest.changes = ChangesOf(changes.tables, kMostChanges);
  RunOptions all = options;
  all.top.reset();
  AddSection({&spec, {}, {}}, std::move(changes), all, page);
  page.sections.back().summary =
      "what changed by name, from the other run (base) to this one (test)";
  std::rotate(page.sections.begin() + 1, page.sections.end() - 1, page.sections.end());
  return {};
}

template <class T>
void Append(std::vector<T>& to, std::vector<T>& from) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
}

Result<Report> CompareRuns(const Questions& questions, const RunOptions& options) {
  const RunOptions first = OptionsOfPart(options, {}, ProgressAtStart(options.test.files));
  BS_ASSIGN(RunAnswers mine, AnswersOf(questions, options.files, first));
  RunOptions second = OptionsOfPart(options, ProgressAtStart(options.files), {});
  second.cache = options.test.cache;  // files of both runs may have the same names
  const Questions of_other = QuestionsOf(options, kNoTimeline);
  BS_ASSIGN(RunAnswers other,
            OfParameter("against", AnswersOf(of_other, options.test.files, second)));
  Report report;
  report.page.title = mine.title;
  report.page.panes = PanesOfPage();
  report.page.against = other.title;
  report.page.timeline = std::move(mine.timeline);
  report.digest.run = DigestOf(mine);
  report.digest.against = DigestOf(other);
  const bool one_rank_each = mine.ranks == 1 && other.ranks == 1;
  for (size_t i = 0; i < questions.sections.size(); ++i) {
    AddComparison(questions.sections[i], std::move(mine.sections[i]), std::move(other.sections[i]),
                  one_rank_each, options, report.page);
  }
  BS_TRY(AddChanges(questions, mine, other, options, report));
  Append(mine.diagnostics, other.diagnostics);
  Append(mine.files, other.files);
  report.digest.diagnostics = mine.diagnostics;
  report.page.document.diagnostics = std::move(mine.diagnostics);
  report.files = std::move(mine.files);
  return report;
}

Report PageOf(const Questions& questions, const RunOptions& options, RunAnswers answers) {
  Report report;
  report.digest.run = DigestOf(answers);
  report.digest.diagnostics = answers.diagnostics;
  report.page.title = std::move(answers.title);
  report.page.panes = PanesOfPage();
  report.page.document.begins = std::move(answers.begins);
  report.page.timeline = std::move(answers.timeline);
  for (size_t i = 0; i < questions.sections.size(); ++i) {
    AddSection(questions.sections[i], std::move(answers.sections[i]), options, report.page);
  }
  report.page.document.diagnostics = std::move(answers.diagnostics);
  report.files = std::move(answers.files);
  return report;
}

Result<Report> ReportOf(const Questions& questions, const RunOptions& options) {
  BS_ASSIGN(RunAnswers answers, AnswersOf(questions, options.files, options));
  return PageOf(questions, options, std::move(answers));
}

Result<Report> JoinReport(PartSource& source, const RunOptions& given, const JoinOptions& join) {
  BS_ASSIGN(JoinedRun joined, JoinPartials(source, join));
  if (!joined.question.for_report) {
    return UsageError("the parts are not those of a report", "make them with borescope map report");
  }
  RunOptions options = given;
  options.ranks = joined.question.ranks;
  options.params.selection = joined.question.params.selection;
  options.params.values = joined.question.params.values;
  const Questions questions = QuestionsOf(options, TimelineOfReport(joined.question));
  BS_ASSIGN(RunAnswers answers, AnswersOfRun(questions, joined.files, joined.run));
  return PageOf(questions, options, std::move(answers));
}

}  // namespace

Result<Report> ReportOfPartials(PartSource& source, const RunOptions& options,
                                const JoinOptions& join) {
  return WithNumberedRows(
      [&] { return Stoppable(options.stop, [&] { return JoinReport(source, options, join); }); });
}

Result<Report> RunReport(const RunOptions& options) {
  if (!options.test.files.empty() && !options.params.Text(kPlainStepParam).empty()) {
    return UsageError(
        "report: `plain_step` is what a step of one run takes, and `against` compares two: make a "
        "report of each",
        {}, "plain_step");
  }
  const Questions questions = QuestionsOf(options, options.timeline);
  const auto report = [&] {
    return questions.comparison != nullptr
               ? Stoppable(options.test.stop, [&] { return CompareRuns(questions, options); })
               : ReportOf(questions, options);
  };
  return WithNumberedRows([&] { return Stoppable(options.stop, report); });
}

}  // namespace borescope::internal
