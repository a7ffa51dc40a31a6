#include "borescope/verbs/query/query_run.h"

#include <fmt/format.h>

#include "borescope/base/memory_limit.h"
#include "borescope/base/row_limit.h"
#include "borescope/base/stop.h"
#include "borescope/engine/loading/load_run.h"
#include "borescope/query/database.h"

namespace borescope::internal {
namespace {

DiagnosticRow CutRow(const query::QueryResult& answer) {
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

}  // namespace

struct QuerySession::State {
  explicit State(const RunOptions& options) : stop(options.stop), memory(options.memory_limit) {}

  // What a statement may take of the memory that loading left.
  uint64_t memory_left() const {
    const uint64_t taken = memory.taken();
    return memory.bytes() == 0      ? query::Limits().memory_bytes
           : taken < memory.bytes() ? memory.bytes() - taken
                                    : 1;
  }

  LoadedRun run;
  std::vector<query::RankData> ranks;
  std::stop_token stop;
  MemoryLimit memory;                       // since before the run was loaded
  std::optional<query::Database> database;  // last: goes before what it reads
};

QuerySession::QuerySession(std::unique_ptr<State> state) : state_(std::move(state)) {}
QuerySession::QuerySession(QuerySession&&) noexcept = default;
QuerySession& QuerySession::operator=(QuerySession&&) noexcept = default;
QuerySession::~QuerySession() = default;

Result<QuerySession> QuerySession::Open(const RunOptions& options) {
  auto state = std::make_unique<State>(options);
  BS_ASSIGN(state->run, LoadRun(options));
  state->ranks = RanksOf(state->run);
  BS_ASSIGN(query::Database database, query::Database::Open(state->ranks));
  state->database = std::move(database);
  return QuerySession(std::move(state));
}

Result<Document> QuerySession::Run(std::string_view sql, const query::Parameters& parameters,
                                   const QueryLimits& limits) {
  const query::Limits most{
      limits.seconds, limits.rows.value_or(query::kDefaultRowLimit), state_->memory_left(),
      limits.temporary_bytes.value_or(query::Limits().temporary_bytes), limits.rows.has_value()};
  BS_ASSIGN(std::vector<query::QueryResult> answers, WithNumberedRows([&] {
              return Stoppable(state_->stop,
                               [&] { return state_->database->Run(sql, parameters, most); });
            }));
  Document document{{}, state_->run.diagnostics};
  document.tables.reserve(answers.size());
  for (query::QueryResult& answer : answers) {
    if (answer.is_cut) {
      document.diagnostics.push_back(CutRow(answer));
    }
    document.tables.push_back(std::move(answer.table));
  }
  return document;
}

const std::vector<FileReport>& QuerySession::files() const { return state_->run.files; }

Result<Document> QuerySchema() {
  BS_ASSIGN(std::vector<Table> tables, query::SchemaTables());
  return Document{std::move(tables), {}};
}

bool IsCompleteSql(const std::string& sql) { return query::IsComplete(sql); }

}  // namespace borescope::internal
