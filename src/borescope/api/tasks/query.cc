#include "borescope/query.h"

#include <utility>

#include "borescope/api/access.h"
#include "borescope/engine/inputs/question_text.h"
#include "borescope/verbs/query/query_run.h"

namespace borescope {

struct QuerySession::State {
  internal::QuerySession session;
  internal::QueryLimits limits;
  std::vector<FileInfo> files;
};

QuerySession::QuerySession(std::unique_ptr<State> state) : state_(std::move(state)) {}
QuerySession::QuerySession(QuerySession&&) noexcept = default;
QuerySession& QuerySession::operator=(QuerySession&&) noexcept = default;
QuerySession::~QuerySession() = default;

Result<QuerySession> QuerySession::Open(const Run& run, const QueryOptions& options) {
  internal::RunOptions inside = RunAccess::Common(run);
  Result<internal::NumberRanges> ranks = internal::ParseRanges("rank", options.rank);
  if (!ranks.ok()) {
    return ranks.error();
  }
  inside.ranks = std::move(*ranks);
  Result<internal::QuerySession> session = internal::QuerySession::Open(inside);
  if (!session.ok()) {
    return session.error();
  }
  std::vector<FileInfo> files = PublicFiles(session->files());
  return QuerySession(
      std::make_unique<State>(State{std::move(*session),
                                    {options.seconds, options.rows, options.temporary_bytes},
                                    std::move(files)}));
}

Result<Answer> QuerySession::Ask(std::string_view sql, const SqlParameters& parameters) {
  Result<internal::Document> document = state_->session.Run(sql, parameters, state_->limits);
  if (!document.ok()) {
    return document.error();
  }
  internal::Answer answer;
  answer.document = std::move(*document);
  answer.files = state_->session.files();
  return AnswerAccess::Make(std::move(answer));
}

const std::vector<FileInfo>& QuerySession::files() const { return state_->files; }

Result<Answer> QuerySchema() {
  return Mapped(internal::QuerySchema(), [](internal::Document document) {
    return AnswerAccess::Make(std::move(document));
  });
}

bool IsCompleteStatement(const std::string& sql) { return internal::IsCompleteSql(sql); }

}  // namespace borescope
