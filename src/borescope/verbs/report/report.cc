#include "borescope/verbs/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/verbs/timeline/timeline_data.h"
#include "borescope/analysis/verbs/timeline/timeline_tables.h"
#include "borescope/analysis/verbs/timeline/timeline_waits.h"
#include "borescope/analysis/verbs/timeline/tracks.h"
#include "borescope/base/row_limit.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"
#include "borescope/catalog/catalog.h"
#include "borescope/catalog/report_sections.h"
#include "borescope/engine/loading/loaded_trace.h"
#include "borescope/engine/map_run.h"
#include "borescope/engine/partial/questions.h"
#include "borescope/engine/run_analyses.h"
#include "borescope/output/html/html.h"
#include "borescope/output/units/timestamps.h"
#include "borescope/table/compare.h"
#include "borescope/table/fit.h"
#include "borescope/table/table_ops.h"
#include "borescope/table/typed_rows.h"

namespace borescope::internal {
namespace {

// The tables of a page: made to fit, and of two runs made one.

// What one run says in one section.
struct SectionTables {
  Tables tables;
  std::string lack;  // why there are none, and what to record; empty if there are
};

// What keeps a page of some fifty tables below 5 MB: rows and bytes of one table.
constexpr size_t kMostRows = 2000;
constexpr size_t kMostBytes = 300'000;

// Columns that say where, not what.
constexpr std::string_view kPlaces[] = {"rank", "gpu", "device"};

struct Limits {
  size_t rows = kMostRows;
  size_t bytes = kMostBytes;
};

Limits LimitsOf(const RunOptions& options) {
  return options.top.has_value() ? Limits{*options.top, SIZE_MAX} : Limits();
}

Limits Half(const Limits& limits) {
  return {std::max<size_t>(1, limits.rows / 2), std::max<size_t>(1, limits.bytes / 2)};
}

const ViewSpec* FindView(const SectionSpec& spec, const Table& table, ViewKind kind) {
  const auto found = std::find_if(spec.views.begin(), spec.views.end(), [&](const ViewSpec& view) {
    return view.kind == kind && view.table == table.name;
  });
  return found == spec.views.end() ? nullptr : &*found;
}

// The columns of a flame graph that are wide, of both runs.
std::vector<std::string> WidthsOf(const ViewSpec& flame) {
  std::vector<std::string> widths;
  for (const std::string_view value : flame.values) {
    widths.emplace_back(value);
    widths.push_back(std::string(kAgainstPrefix) + std::string(value));
  }
  return widths;
}

// Lines keep their outline, flame graphs what is wide, all else its first rows.
Table Fit(const SectionSpec& spec, Table table, const Limits& limits) {
  if (const ViewSpec* series = FindView(spec, table, ViewKind::kSeries); series != nullptr) {
    return table.rows() <= limits.rows ? std::move(table)
                                       : Outline(table, series->values.front(), limits.rows);
  }
  const size_t fitting = RowsThatFit(table, limits.rows, limits.bytes);
  if (fitting == table.rows()) {
    return table;
  }
  if (const ViewSpec* flame = FindView(spec, table, ViewKind::kFlame); flame != nullptr) {
    return LargestRows(table, WidthsOf(*flame), limits.rows, limits.bytes);
  }
  return Head(table, fitting);
}

const Table* FindTable(const Tables& tables, std::string_view name) {
  const auto found = std::find_if(tables.begin(), tables.end(),
                                  [&](const Table& table) { return table.name == name; });
  return found == tables.end() ? nullptr : &*found;
}

bool IsWanted(const SectionSpec& spec, const Table& table) {
  return spec.tables.empty() ||
         std::find(spec.tables.begin(), spec.tables.end(), table.name) != spec.tables.end();
}

ReportSection& OpenSection(const SectionSpec& spec, ReportPage& page) {
  ReportSection& section = page.sections.emplace_back();
  section.name = spec.analysis->name;
  section.summary = spec.analysis->summary;
  section.pane = PaneOf(*spec.analysis).name;
  section.views.assign(spec.views.begin(), spec.views.end());
  return section;
}

// Times count from the begin of the recording, as in text; nobody reads a clock of nineteen digits,
// and browsers round it. Times that lines are drawn over stay as they are: the chart counts them
// from the begin.
Table WithTimestamps(const SectionSpec& spec, Table table, const ReportPage& page) {
  const bool is_drawn_over_time = FindView(spec, table, ViewKind::kSeries) != nullptr;
  return is_drawn_over_time ? std::move(table) : SinceBegin(std::move(table), page.document.begins);
}

void AddTable(Table table, size_t all_rows, Comparison comparison, ReportPage& page) {
  ReportSection& section = page.sections.back();
  if (section.table_count == 0) {
    section.first_table = page.document.tables.size();
  }
  page.document.tables.push_back(std::move(table));
  page.all_rows.push_back(all_rows);
  page.comparisons.push_back(comparison);
  ++section.table_count;
}

// Takes the table with the name of `empty`; `empty` itself if there is none.
Table TakeTable(const Table& empty, Tables& findings) {
  const auto found = std::find_if(findings.begin(), findings.end(),
                                  [&](const Table& table) { return table.name == empty.name; });
  if (found == findings.end()) {
    return empty;
  }
  return std::move(*found);
}

// Times of two recordings are compared by the time since the begin of each.
void JoinSeries(const SectionSpec& spec, Table& mine, Table& other, ReportSection& section) {
  const ViewSpec* series = FindView(spec, mine, ViewKind::kSeries);
  if (series == nullptr) {
    return;
  }
  AddElapsed(mine, series->x);
  AddElapsed(other, series->x);
  for (ViewSpec& view : section.views) {
    view.x = view.table == mine.name && !view.x.empty() ? kElapsedColumn : view.x;
  }
}

void AddPair(const SectionSpec& spec, Table mine, Table other, const Limits& limits,
             ReportPage& page) {
  if (std::optional<Table> matched = MatchRows(mine, other); matched.has_value()) {
    const size_t all_rows = matched->rows();
    AddTable(Fit(spec, std::move(*matched), limits), all_rows, Comparison::kMatched, page);
    return;
  }
  const size_t all_rows = mine.rows() + other.rows();
  JoinSeries(spec, mine, other, page.sections.back());
  Table joined =
      JoinRows(Fit(spec, std::move(mine), Half(limits)), Fit(spec, std::move(other), Half(limits)));
  AddTable(std::move(joined), all_rows, Comparison::kJoined, page);
}

// The tables of this run in their order, then those that only the other has; without rows.
Tables AllTables(const SectionSpec& spec, const Tables& mine, const Tables& other) {
  Tables tables;
  for (const Tables* findings : {&mine, &other}) {
    for (const Table& table : *findings) {
      const bool is_there = std::any_of(tables.begin(), tables.end(), [&](const Table& before) {
        return before.name == table.name;
      });
      if (IsWanted(spec, table) && !is_there) {
        tables.push_back(Head(table, 0));
      }
    }
  }
  return tables;
}

// All panes of a page, in their order.
std::vector<ReportPane> PanesOfPage() {
  std::vector<ReportPane> panes;
  for (const PaneSpec& pane : ReportPanes()) {
    panes.push_back({std::string(pane.name), std::string(pane.title)});
  }
  return panes;
}

// Adds a section with its tables to the page. Of `options` counts `top`.
void AddSection(const SectionSpec& spec, SectionTables answer, const RunOptions& options,
                ReportPage& page) {
  OpenSection(spec, page).lack = std::move(answer.lack);
  for (Table& table : answer.tables) {
    if (IsWanted(spec, table)) {
      const size_t all_rows = table.rows();
      Table fitting = Fit(spec, std::move(table), LimitsOf(options));
      AddTable(WithTimestamps(spec, std::move(fitting), page), all_rows, Comparison::kNone, page);
    }
  }
}

// The same with the tables of two runs side by side (table/compare.h): matched row by row where
// keys allow it, else joined. Without an answer of `mine` it says what is lacking. Where
// `one_rank_each`, rows match whatever their rank and device.
void AddComparison(const SectionSpec& spec, SectionTables mine, SectionTables other,
                   bool one_rank_each, const RunOptions& options, ReportPage& page) {
  ReportSection& section = OpenSection(spec, page);
  if (!mine.lack.empty()) {
    section.lack = mine.lack + (other.lack.empty() ? " (the other run has it)" : "");
    return;
  }
  section.other_lack = other.lack;
  for (const Table& table : AllTables(spec, mine.tables, other.tables)) {
    Table here = TakeTable(table, mine.tables);
    Table there = TakeTable(table, other.tables);
    if (one_rank_each) {
      UnkeyPlaces(kPlaces, here, there);
    }
    AddPair(spec, std::move(here), std::move(there), LimitsOf(options), page);
  }
}

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

// What each run has to answer.
struct Questions {
  std::vector<SectionSpec> sections;
  // Those of the sections, then that of the timeline, then that of the comparison.
  std::vector<const AnalysisSpec*> specs;
  Params params;
  bool has_timeline = false;
  const AnalysisSpec* comparison =
      nullptr;  // the verb diff, when there are two runs and it is asked
};

Questions QuestionsOf(const RunOptions& options, std::string_view timeline) {
  MappedQuestion asked = QuestionOfReport(options.params, options.ranks, timeline);
  return {ReportSections(), std::move(asked.verbs), std::move(asked.params),
          timeline != kNoTimeline};
}

// Verbs that answer for the whole recordings of two runs: they judge or describe a run.
constexpr std::string_view kOfWholeRuns[] = {"summary", "whatif", "variance", "doctor",
                                             "info",    "memory", "inference"};

bool IsOfWholeRun(const SectionSpec& section) {
  return !section.analysis->takes_selection ||
         std::find(std::begin(kOfWholeRuns), std::end(kOfWholeRuns), section.analysis->name) !=
             std::end(kOfWholeRuns);
}

// Of two runs in two questions: what is of the whole run, with the verb diff and the timeline; and
// what is compared by step, where all steps are selected.
Questions QuestionsOfWhole(const RunOptions& options, std::string_view timeline) {
  Questions questions = QuestionsOf(options, timeline);
  std::erase_if(questions.sections, [](const auto& section) { return !IsOfWholeRun(section); });
  const AnalysisSpec* const drawn = questions.has_timeline ? questions.specs.back() : nullptr;
  questions.specs.clear();
  for (const SectionSpec& section : questions.sections) {
    questions.specs.push_back(section.analysis);
  }
  if (drawn != nullptr) {
    questions.specs.push_back(drawn);
  }
  questions.comparison = FindAnalysis("diff");
  questions.specs.push_back(questions.comparison);
  return questions;
}

Questions QuestionsByStep(const RunOptions& options, bool have_steps) {
  Questions questions = QuestionsOf(options, kNoTimeline);
  std::erase_if(questions.sections, IsOfWholeRun);
  questions.specs.clear();
  for (const SectionSpec& section : questions.sections) {
    questions.specs.push_back(section.analysis);
  }
  // Frames that are narrow in one of the runs only have to match, too.
  std::erase_if(questions.params.values,
                [](const auto& value) { return value.name == kMinShareParam.name; });
  if (have_steps && questions.params.selection.steps.empty()) {
    questions.params.selection.steps.ranges = {
        {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()}};
  }
  return questions;
}

// Why the verb does not answer what is selected; empty where it does.
std::string WhyRefused(const AnalysisSpec& spec, const Params& params) {
  const Result<void> checked = spec.check == nullptr ? Result<void>() : spec.check(params);
  return checked.ok() ? std::string() : WithOptions(checked.error().Sentence());
}

// The summary needs nothing of a trace: what it lacks is what was selected.
constexpr std::string_view kJudge = "summary";

// The verb that compares ranks: what it maps puts the timeline of many in line, too.
constexpr std::string_view kComparesRanks = "waits";

// As ConcludeOne; keeps what the verb maps of all ranks.
Result<Tables> ConcludeAndKeep(const AnalysisSpec& spec, size_t index, const Params& params,
                               MappedRun& run, MissingByRank& lacks, Tables& mapped) {
  MissingByRank with_this = lacks;
  BS_ASSIGN(mapped, ReduceOne(spec, index, params, run, with_this));
  BS_ASSIGN(Tables tables, spec.PipelineFor(params).finish(mapped, params));
  lacks = std::move(with_this);
  return tables;
}

// `waits`: what that verb maps, where the timeline is to be put in line.
Result<std::vector<SectionTables>> AnswerSections(const Questions& questions, MappedRun& run,
                                                  MissingByRank& lacks, Tables& waits) {
  std::vector<SectionTables> answers;
  for (size_t i = 0; i < questions.sections.size(); ++i) {
    const AnalysisSpec& spec = *questions.sections[i].analysis;
    if (std::string refusal = WhyRefused(spec, questions.params); !refusal.empty()) {
      answers.push_back({{}, std::move(refusal)});
      continue;
    }
    const bool is_kept =
        spec.name == kComparesRanks && questions.has_timeline && run.selected.size() > 1;
    Result<Tables> tables = is_kept ? ConcludeAndKeep(spec, i, questions.params, run, lacks, waits)
                                    : ConcludeOne(spec, i, questions.params, run, lacks);
    if (tables.ok()) {
      const std::string lack = spec.lack == nullptr ? "" : spec.lack(*tables);
      answers.push_back({lack.empty() ? std::move(*tables) : Tables(), lack});
    } else if (tables.error().code == ErrorCode::kMissingData && spec.name != kJudge) {
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

// Where findings lead that timelines do not draw exactly: on the clocks of the files, by rank.
using PlacesOfRanks = std::map<int64_t, std::vector<Interval>>;

bool IsDrawnExactly(const Timeline& timeline, const Interval& place) {
  const auto at = [&](int64_t ns) {
    return AddSaturating(SubtractSaturating(ns, timeline.clock_begin_ns), timeline.shift_ns);
  };
  return std::any_of(timeline.windows.begin(), timeline.windows.end(),
                     [&](const DrawnWindow& window) {
                       return window.begin_ns <= at(place.begin) && at(place.end) <= window.end_ns;
                     });
}

PlacesOfRanks PlacesNotDrawn(const Table& verdict, const std::vector<Timeline>& timelines) {
  constexpr size_t kMostRanks = 4;  // each is read again
  PlacesOfRanks places;
  const Column& ranks = *verdict.Find("rank");
  const Column& begins = *verdict.Find("begin_ns");
  for (size_t row = 0; row < verdict.rows(); ++row) {
    if (ranks.IsMissing(row) || begins.IsMissing(row)) {
      continue;
    }
    const int64_t rank = Ints(verdict, "rank")[row];
    const Interval place{Ints(verdict, "begin_ns")[row], Ints(verdict, "end_ns")[row]};
    const auto drawn = std::find_if(timelines.begin(), timelines.end(),
                                    [&](const Timeline& one) { return one.rank == rank; });
    if (drawn != timelines.end() && !IsDrawnExactly(*drawn, place) &&
        (places.contains(rank) || places.size() < kMostRanks)) {
      places[rank].push_back(place);
    }
  }
  return places;
}

// The timeline of one rank with these places exact before others, and no more of it than its share.
// Nothing if the file has none any more.
Result<std::optional<Timeline>> DrawnAgain(const Questions& questions, const InputFile& file,
                                           size_t sharing, std::span<const Interval> places,
                                           RunOptions options) {
  const AnalysisSpec* const spec[] = {questions.specs[questions.sections.size()]};
  Params params = questions.params;
  DrawFirst(places, params);
  options.progress = {};
  BS_ASSIGN(MappedRun run, MapRun({spec, {&file, 1}, {}, params, options}));
  MissingByRank lacks;
  BS_ASSIGN(Tables reduced, ReduceOne(*spec[0], 0, params, run, lacks));
  params.sharing = sharing;
  BS_ASSIGN(const Tables tables, spec[0]->PipelineFor(params).finish(std::move(reduced), params));
  std::vector<Timeline> drawn = ShiftedTimelines(tables);
  return drawn.empty() ? std::optional<Timeline>() : std::optional(std::move(drawn.front()));
}

// Findings about several ranks are known when each has been drawn. Those ranks whose timelines do
// not have the places exactly are read again, where their files can be.
Result<void> DrawPlacesOfFindings(const Questions& questions, std::span<const InputFile> files,
                                  const MappedRun& run, const RunOptions& options,
                                  RunAnswers& answers) {
  const auto judge = std::find_if(questions.sections.begin(), questions.sections.end(),
                                  [](const auto& one) { return one.analysis->name == kJudge; });
  if (run.selected.size() < 2 || judge == questions.sections.end() ||
      files.size() != run.parts.size() || answers.timeline.empty()) {
    return {};
  }
  const Tables& tables =
      answers.sections[static_cast<size_t>(judge - questions.sections.begin())].tables;
  if (tables.empty()) {
    return {};
  }
  std::vector<Timeline> timelines = ShiftedTimelines(answers.timeline);
  const PlacesOfRanks places = PlacesNotDrawn(GetTable(tables, "verdict"), timelines);
  for (const RankPart* part : run.selected) {
    const InputFile& file = files[static_cast<size_t>(part - run.parts.data())];
    const auto own = places.find(part->report.rank);
    if (own == places.end() || (file.path == "-" && file.content == nullptr)) {
      continue;
    }
    BS_ASSIGN(std::optional<Timeline> again,
              DrawnAgain(questions, file, SharingRanks(run), own->second, options));
    for (Timeline& timeline : timelines) {
      if (again.has_value() && timeline.rank == part->report.rank) {
        const int64_t shift_ns = timeline.shift_ns;
        ShiftTimeline(SubtractSaturating(shift_ns, again->shift_ns), *again);
        again->shift_ns = shift_ns;
        again->rank = timeline.rank;
        timeline = std::move(*again);
        break;
      }
    }
  }
  if (!places.empty()) {
    answers.timeline = TimelineTables(std::move(timelines));
  }
  return {};
}

// `options`: to read files again with; nullptr where they cannot be.
Result<RunAnswers> AnswersOfRun(const Questions& questions, std::span<const InputFile> files,
                                MappedRun& run, const RunOptions* options) {
  RunAnswers answers;
  answers.title = NameOfRun(files);
  answers.ranks = run.selected.size();
  answers.begins = BeginsOf(run);
  MissingByRank lacks;
  Tables waits;
  BS_ASSIGN(answers.sections, AnswerSections(questions, run, lacks, waits));
  if (questions.has_timeline) {
    BS_ASSIGN(answers.timeline, AnswerTimeline(questions, run, lacks));
    if (options != nullptr) {
      BS_TRY(DrawPlacesOfFindings(questions, files, run, *options, answers));
    }
  }
  if (!waits.empty() && !answers.timeline.empty()) {
    AddWaits(waits, questions.params.Number(kExitSkewParam),
             questions.params.Number(kTimelineSizeParam), answers.timeline);
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
  return AnswersOfRun(questions, files, run, &options);
}

// Columns of a sum that count no work.
constexpr std::string_view kNotWork[] = {"ranks", "steps", "members", "devices", "streams"};

// A sum over `units` as that of one of them: times and sizes are rounded, counts as they come out.
void DivideColumn(int64_t units, Column& column) {
  if (auto* reals = std::get_if<FloatValues>(&column.values); reals != nullptr) {
    for (double& value : *reals) {
      value /= static_cast<double>(units);
    }
    return;
  }
  const IntValues sums = std::get<IntValues>(column.values);
  const bool is_whole =
      std::all_of(sums.begin(), sums.end(), [&](int64_t sum) { return sum % units == 0; });
  if (column.unit != Unit::kCount || is_whole) {
    IntValues means;
    means.reserve(sums.size());
    for (const int64_t sum : sums) {
      means.push_back(sum / units + ((sum % units) * 2 >= units ? 1 : 0));
    }
    column.values = std::move(means);
    return;
  }
  FloatValues means;
  means.reserve(sums.size());
  for (const int64_t sum : sums) {
    means.push_back(static_cast<double>(sum) / static_cast<double>(units));
  }
  column.values = std::move(means);
}

// Tables of which all numbers are sums, although paths of several ranks do not add up.
constexpr std::string_view kAllSums[] = {"critical_path_summary", "critical_ops", "what_if"};

// Sums of a run as those of one of its steps; rows that are of one step, or of one event, stay.
void DivideTable(int64_t units, Table& table) {
  constexpr std::string_view kOfOne[] = {"step", "ts_ns", "begin_ns", "correlation", "position"};
  for (const Column& column : table.columns) {
    if (column.role == Role::kKey &&
        std::find(std::begin(kOfOne), std::end(kOfOne), column.name) != std::end(kOfOne)) {
      return;
    }
  }
  const bool has_sums_only =
      std::find(std::begin(kAllSums), std::end(kAllSums), table.name) != std::end(kAllSums);
  for (Column& column : table.columns) {
    const bool is_sum = column.role == Role::kSum ||
                        (has_sums_only && column.role != Role::kKey && column.unit != Unit::kShare);
    const bool is_work =
        column.IsNumber() && is_sum && column.unit != Unit::kNone &&
        std::find(std::begin(kNotWork), std::end(kNotWork), column.name) == std::end(kNotWork);
    if (is_work) {
      DivideColumn(units, column);
    }
  }
}

// One kind of cells in both runs, where only in one of them all counts can be divided.
void AlignKinds(Tables& mine, Tables& other) {
  for (Table& table : mine) {
    const auto twin = std::find_if(other.begin(), other.end(),
                                   [&](const Table& one) { return one.name == table.name; });
    for (Column& column : table.columns) {
      Column* const against = twin == other.end() ? nullptr : twin->Find(column.name);
      if (against == nullptr || !column.IsNumber() || !against->IsNumber()) {
        continue;
      }
      for (Column* one : {&column, against}) {
        const bool is_other_real =
            std::holds_alternative<FloatValues>((one == against ? column : *against).values);
        if (const auto* whole = std::get_if<IntValues>(&one->values);
            whole != nullptr && is_other_real) {
          one->values = FloatValues(whole->begin(), whole->end());
        }
      }
    }
  }
}

// The summary is the first section.
Digest DigestOf(const RunAnswers& answers) {
  return MakeDigest(answers.title, answers.sections.front().tables);
}

// Whether sums are divided: other units are whole runs and ranks, whose tables have rows of ranks.
bool IsOfWork(const ReportUnits& units) { return units.unit == "step" || units.unit == "token"; }

// What the runs are compared by, of the tables of the verb diff.
ReportUnits UnitsOf(const Tables& changes) {
  const auto text = [&](std::string_view table, std::string_view column) {
    const Table* const found = FindTable(changes, table);
    return found == nullptr || found->rows() == 0
               ? std::string()
               : std::string(std::get<StringValues>(found->Find(column)->values)[0]);
  };
  ReportUnits units;
  units.unit = text("diff_time", "part");
  const Table* const runs = FindTable(changes, "diff_runs");
  if (runs != nullptr && runs->rows() == 2) {
    const auto& counts = std::get<IntValues>(runs->Find("units")->values);
    units.other = counts[0];
    units.mine = counts[1];
  }
  return units;
}

// What changed from the other run to this one, after the overview.
Result<Tables> ChangesOfRuns(const Questions& questions, RunAnswers& mine, RunAnswers& other) {
  return questions.comparison->answer.compare(std::move(other.sums), std::move(mine.sums),
                                              questions.params);
}

void AddChanges(const Questions& questions, Tables tables, const RunOptions& options,
                Report& report) {
  constexpr size_t kMostChanges = 5;
  ReportPage& page = report.page;
  CompareDigests(ComparisonOf(tables, kMostChanges), report.digest);
  SectionTables changes;
  changes.tables = std::move(tables);
  RunOptions all = options;
  all.top.reset();
  AddSection({questions.comparison, {}, {}}, std::move(changes), all, page);
  page.sections.back().summary =
      "what changed by name, from the other run (base) to this one (test)";
  std::rotate(page.sections.begin() + 1, page.sections.end() - 1, page.sections.end());
}

// The sections of a run in the order of the page, of both of its answers.
std::vector<SectionTables> JoinSections(const Questions& whole, RunAnswers& of_whole,
                                        const Questions& by_step, RunAnswers& of_steps) {
  std::vector<SectionTables> sections;
  const auto take = [&](const SectionSpec& section, const Questions& questions,
                        RunAnswers& answers) {
    for (size_t i = 0; i < questions.sections.size(); ++i) {
      if (questions.sections[i].analysis == section.analysis) {
        sections.push_back(std::move(answers.sections[i]));
      }
    }
  };
  for (const SectionSpec& section : ReportSections()) {
    IsOfWholeRun(section) ? take(section, whole, of_whole) : take(section, by_step, of_steps);
  }
  return sections;
}

bool HaveSteps(const RunAnswers& mine, const RunAnswers& other) {
  const auto has_steps = [](const RunAnswers& answers) {
    const Table* const size = FindTable(answers.sums, "diff_size");
    return size != nullptr && size->rows() > 0 &&
           std::get<IntValues>(size->Find("steps")->values)[0] > 0;
  };
  return has_steps(mine) && has_steps(other);
}

template <class T>
void Append(std::vector<T>& to, std::vector<T>& from) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
}

// Both runs with all their answers.
struct ComparedRuns {
  RunAnswers mine;
  RunAnswers other;
  Tables changes;
};

// What a run keeps of its recordings from its first questions to the second: a quarter of the
// memory there may be, as there are two runs.
TraceCache CacheOfRun(uint64_t memory_limit) {
  constexpr uint64_t kMost = uint64_t{2} << 30U;
  return TraceCache(memory_limit == 0 ? kMost : std::min(kMost, memory_limit / 4));
}

// The sections by step are asked once it is known whether both runs have steps. What fits into
// memory is not loaded again for them.
Result<ComparedRuns> AskBoth(const Questions& whole, const RunOptions& options) {
  ComparedRuns runs;
  TraceCache mine_kept = CacheOfRun(options.memory_limit);
  TraceCache other_kept = CacheOfRun(options.memory_limit);
  const auto keeps = [](const TraceCache* cache) {
    return cache != nullptr && cache->budget() > 0;
  };
  RunOptions first = OptionsOfPart(options, {}, ProgressAtStart(options.test.files));
  first.cache = keeps(options.cache) ? options.cache : &mine_kept;
  BS_ASSIGN(runs.mine, AnswersOf(whole, options.files, first));
  RunOptions second = OptionsOfPart(options, ProgressAtStart(options.files), {});
  // One of its own, as files of both runs may have the same names.
  second.cache = keeps(options.test.cache) ? options.test.cache : &other_kept;
  const Questions whole_of_other = QuestionsOfWhole(options, kNoTimeline);
  BS_ASSIGN(runs.other,
            OfParameter("against", AnswersOf(whole_of_other, options.test.files, second)));
  const Questions by_step = QuestionsByStep(options, HaveSteps(runs.mine, runs.other));
  first.progress = {};
  second.progress = {};
  BS_ASSIGN(RunAnswers mine, AnswersOf(by_step, options.files, first));
  BS_ASSIGN(RunAnswers other,
            OfParameter("against", AnswersOf(by_step, options.test.files, second)));
  BS_ASSIGN(runs.changes, ChangesOfRuns(whole, runs.mine, runs.other));
  const ReportUnits units = UnitsOf(runs.changes);
  for (size_t i = 0; IsOfWork(units) && i < by_step.sections.size(); ++i) {
    for (Table& table : mine.sections[i].tables) {
      DivideTable(units.mine, table);
    }
    for (Table& table : other.sections[i].tables) {
      DivideTable(units.other, table);
    }
    AlignKinds(mine.sections[i].tables, other.sections[i].tables);
  }
  runs.mine.sections = JoinSections(whole, runs.mine, by_step, mine);
  runs.other.sections = JoinSections(whole_of_other, runs.other, by_step, other);
  return runs;
}

Result<Report> CompareRuns(const RunOptions& options) {
  const Questions questions = QuestionsOfWhole(options, options.timeline);
  BS_ASSIGN(ComparedRuns runs, AskBoth(questions, options));
  auto& [mine, other, changes] = runs;
  Report report;
  report.page.title = mine.title;
  report.page.panes = PanesOfPage();
  report.page.against = other.title;
  report.page.units = UnitsOf(changes);
  report.page.timeline = std::move(mine.timeline);
  report.digest.run = DigestOf(mine);
  report.digest.against = DigestOf(other);
  const bool one_rank_each = mine.ranks == 1 && other.ranks == 1;
  const std::vector<SectionSpec> sections = ReportSections();
  for (size_t i = 0; i < sections.size(); ++i) {
    AddComparison(sections[i], std::move(mine.sections[i]), std::move(other.sections[i]),
                  one_rank_each, options, report.page);
    if (IsOfWork(report.page.units) && !IsOfWholeRun(sections[i])) {
      report.page.sections.back().summary +=
          fmt::format("; sums are of one {}", report.page.units.unit);
    }
  }
  AddChanges(questions, std::move(changes), options, report);
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
  BS_ASSIGN(RunAnswers answers, AnswersOfRun(questions, joined.files, joined.run, nullptr));
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
  const auto report = [&] {
    return options.test.files.empty()
               ? ReportOf(QuestionsOf(options, options.timeline), options)
               : Stoppable(options.test.stop, [&] { return CompareRuns(options); });
  };
  return WithNumberedRows([&] { return Stoppable(options.stop, report); });
}

}  // namespace borescope::internal
