#include "borescope/verbs/query/query.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/analysis/measures/counter_join/counter_join.h"
#include "borescope/base/memory_limit.h"
#include "borescope/base/row_limit.h"
#include "borescope/base/stop.h"
#include "borescope/catalog/catalog.h"
#include "borescope/engine/access.h"
#include "borescope/engine/answer_shape.h"
#include "borescope/engine/job_answer.h"
#include "borescope/engine/loading/attach_counters.h"
#include "borescope/engine/map_run.h"
#include "borescope/engine/question/question.h"
#include "borescope/postmortem/findings.h"
#include "borescope/postmortem/job_files.h"
#include "borescope/query/database.h"
#include "borescope/verbs/query/job_ranks.h"

namespace borescope::internal {

// What reports of counters say about a rank.
struct QueriedCounters {
  std::shared_ptr<const RankCounters> counters;  // the relation refers to it
  query::KernelCounters kernels;
  Tables tables;
};

namespace {

Diagnostic CutRow(const query::QueryResult& answer) {
  return {Severity::kWarning,
          "row-limit",
          1,
          answer.table.name,
          fmt::format("only the first {} rows are given", answer.table.rows()),
          "The result has more rows than --row-limit; add LIMIT to the statement or raise it."};
}

// What SQL has of the verb `counters`: its tables with a row that is complete for its rank. The
// others are sums, or the relation `counters`.
constexpr std::string_view kTables[] = {"counter_join", "counter_ops", "speed_of_light",
                                        "counter_rules"};

Tables TakeTables(Tables tables) {
  std::erase_if(tables, [](const Table& table) {
    return std::find(std::begin(kTables), std::end(kTables), table.name) == std::end(kTables);
  });
  return tables;
}

// The tables without rows, which are the same for every run.
Result<Tables> ShapeOfTables() {
  BS_ASSIGN(Tables tables, ShapeOf(*FindAnalysis("counters"), {}));
  return TakeTables(std::move(tables));
}

// The values of the counters that kernels share, with the texts of their report.
std::vector<query::KernelCounters::Value> ValuesOf(const RankCounters& counters,
                                                   const CounterGroup& group) {
  const CounterReport& report = *counters.reports[group.report];
  std::vector<query::KernelCounters::Value> values;
  values.reserve(group.mean.size());
  // A mean of several is no whole number.
  const CountedKernel* const only =
      group.kernels.size() == 1 ? &report.kernels[group.kernels.front()] : nullptr;
  for (size_t i = 0; i < group.mean.size(); ++i) {
    const CounterMetric& metric = report.metrics[group.mean[i].counter];
    values.push_back({metric.name, metric.unit, group.mean[i].value,
                      only == nullptr ? std::nullopt : only->values[i].exact});
  }
  return values;
}

Result<query::KernelCounters> CountersOfKernels(const RankCounters& counters,
                                                const std::string& path) {
  query::KernelCounters kernels;
  kernels.values.reserve(counters.groups.size());  // kernels refer to them
  for (const CounterGroup& group : counters.groups) {
    kernels.values.push_back(ValuesOf(counters, group));
  }
  for (const DeviceId id : counters.kernels) {
    CheckStopAt(kernels.kernels.size());
    const CounterGroup* const group = counters.GroupOf(id);
    if (group == nullptr || group->mean.empty()) continue;
    const auto place = static_cast<size_t>(group - counters.groups.data());
    if (!kernels.Add({id.value, JoinSourceName(counters.SourceOf(id)), kernels.values[place]})) {
      return Error{ErrorCode::kInvalidArgument, "it has more counters than can be numbered",
                   "give a report of fewer metrics or kernels", path};
    }
  }
  return kernels;
}

// Matches the reports of the run with each rank. Nothing without counters.
Result<std::vector<QueriedCounters>> CountersOfRanks(const RunOptions& options, LoadedRun& run) {
  std::vector<QueriedCounters> all;
  const bool has_reports = !options.files.empty() && options.files.front().counters != nullptr;
  const bool has_recorded =
      std::any_of(run.ranks.begin(), run.ranks.end(),
                  [](const LoadedRank& rank) { return rank.loaded->trace.ranges().size() > 0; });
  if (!has_reports && !has_recorded) return all;
  all.reserve(run.ranks.size());
  for (LoadedRank& rank : run.ranks) {
    const Trace& trace = rank.loaded->trace;
    SharedMeasures shared;
    RankView view{rank.rank, trace, rank.loaded->index, options.threads};
    view.shared = &shared;
    Diagnostics found;
    GiveCounters(options.files.front().counters.get(), rank.rank, trace, shared, found);
    QueriedCounters& own = all.emplace_back();
    BS_ASSIGN(own.counters, SharedRankCounters(view));
    if (!own.counters->empty()) {
      BS_ASSIGN(own.kernels, CountersOfKernels(*own.counters, rank.path));
    }
    if (!own.counters->empty() || trace.ranges().size() > 0) {
      BS_ASSIGN(Tables tables, MapTrace(*FindAnalysis("counters"), {}, view));
      own.tables = TakeTables(std::move(tables));
    }
    rank.diagnostics.Merge(found);
    AppendDiagnostics(found, rank.path, run.diagnostics);
  }
  return all;
}

std::vector<query::RankData> RanksOf(const LoadedRun& run,
                                     const std::vector<QueriedCounters>& counters) {
  std::vector<query::RankData> ranks;
  ranks.reserve(run.ranks.size());
  for (size_t i = 0; i < run.ranks.size(); ++i) {
    const LoadedRank& rank = run.ranks[i];
    query::RankData& data = ranks.emplace_back(query::RankData{
        rank.rank, rank.path, rank.loaded->trace, rank.loaded->index, rank.diagnostics});
    if (i < counters.size()) {
      data.counters = &counters[i].kernels;
      data.tables = counters[i].tables;
    }
  }
  return ranks;
}

// Within the memory that there may be.
Result<void> ReadWithin(const RunOptions& options, JobRanks& job,
                        std::vector<Diagnostic>& diagnostics) {
  return ReadJobWithin(options.memory_limit, options.files.front().path,
                       [&] { return job.Read(options, diagnostics); });
}

// Loads the traces of a run in which logs may lie. Where no file is a trace, logs are enough in
// which something is found.
Result<void> LoadBesideLogs(const RunOptions& options, LoadedRun& run, JobRanks& job) {
  Result<LoadedRun> loaded = LoadRun(options);
  const bool is_no_trace = !loaded.ok() && loaded.error().code == ErrorCode::kUnsupportedFormat;
  if (!loaded.ok() && !is_no_trace) {
    return loaded.error();
  }
  run = loaded.ok() ? std::move(*loaded) : LoadedRun{};
  BS_TRY(ReadWithin(options, job, run.diagnostics));
  if (!is_no_trace) {
    return {};  // logs are read once they are asked for
  }
  BS_ASSIGN(const bool has_findings,
            ReadJobWithin(options.memory_limit, options.files.front().path,
                          [&]() -> Result<bool> { return job.HasFindings(); }));
  return has_findings ? Result<void>() : loaded.error();
}

// What was loaded as a trace is no dump, and who could not load a file has said so.
void SayUnknown(const JobRanks& job, LoadedRun& run) {
  for (const JobFile& file : job.unknown()) {
    const bool is_known = std::any_of(
        run.files.begin(), run.files.end(),
        [&](const FileInfo& known) { return known.path == file.path && !known.skipped; });
    if (!is_known) {
      run.diagnostics.push_back(NotRecognised(file));
    }
  }
}

// Loads the traces of a run, and what a dead job left among its files. One of both is enough.
Result<void> LoadInto(const RunOptions& options, LoadedRun& run, JobRanks& job) {
  return WithNumberedRows([&] {
    return Stoppable(options.stop, [&]() -> Result<void> {
      Result<JobRanks> found = JobRanks::Find(options);
      if (!found.ok()) {
        BS_ASSIGN(run, LoadRun(options));  // which says better what is wrong with a trace
        const std::string& failed = found.error().file;
        if (std::any_of(run.files.begin(), run.files.end(), [&](const FileInfo& file) {
              return file.path == failed && !file.error.empty() && !file.skipped;
            })) {
          return {};  // it has just been said
        }
        BS_ASSIGN(Diagnostic why, NotSearched(found.error()));
        run.diagnostics.push_back(std::move(why));
        return {};
      }
      job = std::move(*found);
      if (!job.HasData()) {
        BS_TRY(LoadBesideLogs(options, run, job));
        SayUnknown(job, run);
        return {};
      }
      RunOptions traces = options;
      std::erase_if(traces.files, [&](const InputFile& file) { return job.Holds(file.path); });
      std::vector<Diagnostic> odd;
      BS_TRY(ReadWithin(options, job, odd));
      if (!traces.files.empty()) {
        Result<LoadedRun> loaded = LoadRun(traces);
        const bool is_no_trace =
            !loaded.ok() && loaded.error().code == ErrorCode::kUnsupportedFormat;
        if (!loaded.ok() && !is_no_trace) {
          return loaded.error();
        }
        if (is_no_trace) {
          odd.push_back({Severity::kWarning, "unreadable-file", 1, loaded.error().file,
                         loaded.error().cause, "The answer is about the other files."});
        }
        run = loaded.ok() ? std::move(*loaded) : LoadedRun{};
      }
      run.diagnostics.insert(run.diagnostics.end(), odd.begin(), odd.end());
      SayUnknown(job, run);
      return {};
    });
  });
}

}  // namespace
}  // namespace borescope::internal

namespace borescope {

struct QuerySession::State {
  explicit State(const internal::RunOptions& options)
      : stop(options.stop), memory(options.memory_limit) {}

  // What a statement may take of the memory that loading left.
  uint64_t memory_left() const {
    const uint64_t taken = memory.taken();
    return memory.bytes() == 0      ? internal::query::Limits().memory_bytes
           : taken < memory.bytes() ? memory.bytes() - taken
                                    : 1;
  }

  internal::LoadedRun run;
  internal::JobRanks job;
  internal::Tables tables;  // of analyses, without rows
  std::vector<internal::QueriedCounters> counters;
  std::vector<internal::query::RankData> ranks;
  StopToken stop;
  QueryOptions limits;
  internal::MemoryLimit memory;                       // since before the run was loaded
  std::optional<internal::query::Database> database;  // last: goes before what it reads
};

QuerySession::QuerySession(std::unique_ptr<State> state) : state_(std::move(state)) {}
QuerySession::QuerySession(QuerySession&&) noexcept = default;
QuerySession& QuerySession::operator=(QuerySession&&) noexcept = default;
QuerySession::~QuerySession() = default;

Result<QuerySession> QuerySession::Open(const Run& run, const QueryOptions& options) {
  internal::RunOptions asked = RunAccess::Common(run);
  BS_ASSIGN(asked.ranks, internal::ParseRanges("rank", options.rank));
  return QueryAccess::Open(asked, options);
}

Result<QuerySession> QueryAccess::Open(const internal::RunOptions& options,
                                       const QueryOptions& limits) {
  auto state = std::make_unique<QuerySession::State>(options);
  state->limits = limits;
  BS_TRY(internal::LoadInto(options, state->run, state->job));
  BS_ASSIGN(state->tables, internal::ShapeOfTables());
  BS_ASSIGN(state->counters, internal::WithNumberedRows([&] {
              return internal::Stoppable(
                  options.stop, [&] { return internal::CountersOfRanks(options, state->run); });
            }));
  state->ranks = internal::RanksOf(state->run, state->counters);
  state->job.AddTo(state->ranks);
  const bool is_any = std::any_of(state->ranks.begin(), state->ranks.end(),
                                  [](const auto& rank) { return rank.rank != internal::kMissing; });
  if (!options.ranks.empty() && !is_any && !state->job.HasFindingsOf(options.ranks)) {
    return internal::UsageError("`rank` names no rank of these files", "", "rank");
  }
  BS_ASSIGN(internal::query::Database database,
            internal::query::Database::Open(state->ranks, state->tables));
  state->database = std::move(database);
  return QuerySession(std::move(state));
}

Result<Answer> QuerySession::Ask(std::string_view sql, const SqlParameters& parameters) {
  namespace query = internal::query;
  const QueryOptions& limits = state_->limits;
  const query::Limits most{
      limits.seconds, limits.rows.value_or(query::kDefaultRowLimit), state_->memory_left(),
      limits.temporary_bytes.value_or(query::Limits().temporary_bytes), limits.rows.has_value()};
  BS_ASSIGN(std::vector<query::QueryResult> results, internal::WithNumberedRows([&] {
              return internal::Stoppable(
                  state_->stop, [&] { return state_->database->Run(sql, parameters, most); });
            }));
  // One after the other: where a copy fails within braces, GCC 12 destroys the copy before it
  // twice.
  internal::AnswerData answer;
  answer.document.diagnostics = state_->run.diagnostics;
  answer.files = state_->run.files;
  const std::vector<Diagnostic>& late = state_->job.late();
  answer.document.diagnostics.insert(answer.document.diagnostics.end(), late.begin(), late.end());
  answer.document.tables.reserve(results.size());
  for (query::QueryResult& result : results) {
    if (result.is_cut) {
      answer.document.diagnostics.push_back(internal::CutRow(result));
    }
    answer.document.tables.push_back(std::move(result.table));
  }
  return AnswerAccess::Make(std::move(answer));
}

const std::vector<FileInfo>& QuerySession::files() const { return state_->run.files; }

Result<Answer> QuerySchema() {
  BS_ASSIGN(const internal::Tables of_analyses, internal::ShapeOfTables());
  BS_ASSIGN(std::vector<internal::Table> tables, internal::query::SchemaTables(of_analyses));
  return AnswerAccess::Make(internal::Document{std::move(tables), {}});
}

bool IsCompleteStatement(const std::string& sql) { return internal::query::IsComplete(sql); }

}  // namespace borescope
