#include "borescope/verbs/query/query.h"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "borescope/base/memory_limit.h"
#include "borescope/base/row_limit.h"
#include "borescope/base/stop.h"
#include "borescope/engine/access.h"
#include "borescope/engine/map_run.h"
#include "borescope/engine/question/question.h"
#include "borescope/output/units/units.h"
#include "borescope/query/database.h"
#include "borescope/verbs/query/job_ranks.h"

namespace borescope::internal {
namespace {

Diagnostic CutRow(const query::QueryResult& answer) {
  return {Severity::kWarning,
          "row-limit",
          1,
          answer.table.name,
          fmt::format("only the first {} rows are given", answer.table.rows()),
          "The result has more rows than --row-limit; add LIMIT to the statement or raise it."};
}

std::vector<query::RankData> RanksOf(const LoadedRun& run) {
  std::vector<query::RankData> ranks;
  ranks.reserve(run.ranks.size());
  for (const LoadedRank& rank : run.ranks) {
    ranks.push_back(
        {rank.rank, rank.path, rank.loaded->trace, rank.loaded->index, rank.diagnostics});
  }
  return ranks;
}

// Within the memory that there may be.
Result<void> ReadWithin(const RunOptions& options, JobRanks& job,
                        std::vector<Diagnostic>& diagnostics) {
  const MemoryLimit limit(options.memory_limit);
  const auto read = WithinMemory(limit, [&] { return job.Read(options, diagnostics); });
  if (read.has_value()) {
    return *read;
  }
  return Error{
      .code = ErrorCode::kIo,
      .cause = fmt::format("reading takes more than {}", FormatBytes(options.memory_limit)),
      .remedy = "raise `memory_limit`, or name fewer files",
      .file = options.files.front().path};
}

// Loads the traces of a run, and what a dead job left among its files. One of both is enough.
Result<void> LoadInto(const RunOptions& options, LoadedRun& run, JobRanks& job) {
  return WithNumberedRows([&] {
    return Stoppable(options.stop, [&]() -> Result<void> {
      BS_ASSIGN(job, JobRanks::Find(options));
      if (!job.HasData()) {
        BS_ASSIGN(run, LoadRun(options));
        return ReadWithin(options, job, run.diagnostics);  // logs alone, once they are asked for
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
        run = loaded.ok() ? std::move(*loaded) : LoadedRun{};
      }
      run.diagnostics.insert(run.diagnostics.end(), odd.begin(), odd.end());
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
  state->ranks = internal::RanksOf(state->run);
  state->job.AddTo(state->ranks);
  BS_ASSIGN(internal::query::Database database, internal::query::Database::Open(state->ranks));
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
  internal::AnswerData answer{{{}, state_->run.diagnostics}, state_->run.files};
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
  BS_ASSIGN(std::vector<internal::Table> tables, internal::query::SchemaTables());
  return AnswerAccess::Make(internal::Document{std::move(tables), {}});
}

bool IsCompleteStatement(const std::string& sql) { return internal::query::IsComplete(sql); }

}  // namespace borescope
