#include "borescope/cli/commands/query_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>

#include "borescope/base/text.h"
#include "borescope/cli/answers.h"
#include "borescope/cli/commands.h"
#include "borescope/cli/options/understand.h"
#include "borescope/cli/terminal/terminal.h"
#include "borescope/engine/targets/targets.h"
#include "borescope/verbs/query/query_run.h"

namespace borescope::internal::cli {
namespace {

// What the words of the command line ask for.
struct QueryRequest {
  std::optional<std::string> statement;  // none: statements come from standard input
  RunOptions run;
  QueryLimits limits;
  OutputOptions output;
};

Result<double> ParseSeconds(const std::string& text) {
  const std::optional<double> seconds = ParseNumber<double>(text);
  if (!seconds.has_value() || !(*seconds > 0 && *seconds <= 1e9)) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("--time-limit: '{}' is no number of seconds above 0", text)};
  }
  return *seconds;
}

// No path has the form of a statement, but for those that exist.
bool IsStatement(const std::string& word) {
  std::error_code ignored;
  return word.find_first_of(" \t\n(") != std::string::npos &&
         !std::filesystem::exists(word, ignored);
}

Result<void> UnderstandInputs(const RawOptions& raw, QueryRequest& request) {
  std::vector<std::string> inputs = raw.inputs;
  if (!inputs.empty() && IsStatement(inputs.front())) {
    request.statement = inputs.front();
    inputs.erase(inputs.begin());
  }
  if (inputs.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 "no INPUT; name a trace file, a directory of them, or - for standard input"};
  }
  if (!request.statement.has_value() &&
      std::find(inputs.begin(), inputs.end(), "-") != inputs.end()) {
    return Error{ErrorCode::kInvalidArgument,
                 "statements and the trace cannot both come from standard input; name a STATEMENT"};
  }
  BS_ASSIGN(request.run.files, ExpandInputs(inputs));
  return {};
}

Result<QueryRequest> UnderstandQuery(const RawOptions& raw) {
  constexpr int kMostRows = 1'000'000'000;
  QueryRequest request;
  BS_ASSIGN(request.output, UnderstandOutput(raw));
  BS_ASSIGN(request.run.ranks, ParseRanges("rank", raw.rank));
  if (!raw.threads.empty()) {
    BS_ASSIGN(request.run.threads, ParseCount("threads", raw.threads, 1024));
  }
  if (!raw.row_limit.empty()) {
    BS_ASSIGN(const int rows, ParseCount("row-limit", raw.row_limit, kMostRows));
    request.limits.rows = static_cast<size_t>(rows);
  }
  if (!raw.time_limit.empty()) {
    BS_ASSIGN(request.limits.seconds, ParseSeconds(raw.time_limit));
  }
  BS_TRY(UnderstandInputs(raw, request));
  BS_TRY(ProtectInputs(InputPaths(request.run), request.output));
  return request;
}

Result<QuerySession> Load(const RawOptions& raw, RunOptions& options) {
  ProgressBar bar(raw);
  options.progress = bar.OfRun();
  return QuerySession::Open(options);
}

// A result that has no rows or columns is an answer too; a text without a statement is none.
int AnswerAll(QuerySession& session, const QueryRequest& request, const std::string& sql,
              const Command& command) {
  const Result<Document> document = session.Run(sql, request.limits);
  if (!document.ok()) {
    return FailWith(document.error(), command);
  }
  if (document->tables.empty()) {
    return FailWith({ErrorCode::kInvalidArgument, "query: there is no statement"}, command);
  }
  return WriteDocument(request.output, *document, command);
}

std::string ReadAll() {
  return {std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
}

// Answers statements as they are typed. A wrong one is reported, and the next may follow.
int RunShell(QuerySession& session, const QueryRequest& request, const Command& command) {
  std::string sql;
  std::string line;
  const auto prompt = [&] { WriteMessage(sql.empty() ? "borescope> " : "      ...> "); };
  for (prompt(); std::getline(std::cin, line); prompt()) {
    sql += line + "\n";
    const bool is_blank = sql.find_first_not_of(" \t\n;") == std::string::npos;
    if (!is_blank && !IsCompleteSql(sql)) {
      continue;
    }
    if (!is_blank) {
      static_cast<void>(AnswerAll(session, request, sql, command));
    }
    sql.clear();
  }
  WriteMessage("\n");
  return kDone;
}

// No trace is read for it; those that are named stay as they are all the same.
Result<OutputOptions> UnderstandSchema(const RawOptions& raw) {
  BS_ASSIGN(OutputOptions output, UnderstandOutput(raw));
  BS_TRY(ProtectInputs(PathsBehind(raw.inputs), output));
  return output;
}

int ShowSchema(const Command& command) {
  const Result<OutputOptions> output = UnderstandSchema(command.raw);
  const Result<Document> schema = QuerySchema();
  if (!output.ok() || !schema.ok()) {
    return FailWith(output.ok() ? schema.error() : output.error(), command);
  }
  return WriteDocument(*output, *schema, command);
}

}  // namespace

int RunQuery(const Command& command) {
  if (command.raw.schema) {
    return ShowSchema(command);
  }
  Result<QueryRequest> request = UnderstandQuery(command.raw);
  if (!request.ok()) {
    return FailWith(request.error(), command);
  }
  Result<QuerySession> session = Load(command.raw, request->run);
  if (!session.ok()) {
    return FailWith(session.error(), command);
  }
  ReportFiles(session->files(), command.raw);
  const int read = StatusOf(session->files());
  if (request->statement.has_value()) {
    return std::max(read, AnswerAll(*session, *request, *request->statement, command));
  }
  const bool is_shell = isatty(STDIN_FILENO) != 0 && request->output.path.empty();
  return std::max(read, is_shell ? RunShell(*session, *request, command)
                                 : AnswerAll(*session, *request, ReadAll(), command));
}

}  // namespace borescope::internal::cli
