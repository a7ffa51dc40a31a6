#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <optional>
#include <string>

#include "borescope/cli/answers.h"
#include "borescope/cli/commands.h"
#include "borescope/cli/commands/verb_commands.h"
#include "borescope/cli/options/values.h"
#include "borescope/cli/questions.h"
#include "borescope/cli/terminal/terminal.h"
#include "borescope/query.h"

namespace borescope::cli {
namespace {

// What the words of the command line ask for.
struct QueryRequest {
  std::optional<std::string> statement;  // none: statements come from standard input
  std::vector<std::string> inputs;
  QueryOptions options;
  OutputOptions output;
};

// No path has the form of a statement, but for those that exist.
Result<bool> IsStatement(const std::string& word) {
  if (word.find_first_of(" \t\n(") == std::string::npos) {
    return false;
  }
  BS_ASSIGN(const bool is_input, Exists(word));
  return !is_input;
}

Result<void> UnderstandInputs(const RawOptions& raw, QueryRequest& request) {
  request.inputs = raw.inputs;
  if (!request.inputs.empty()) {
    BS_ASSIGN(const bool is_statement, IsStatement(request.inputs.front()));
    if (is_statement) {
      request.statement = request.inputs.front();
      request.inputs.erase(request.inputs.begin());
    }
  }
  if (request.inputs.empty()) {
    return UsageError("no INPUT; name a trace file, a directory of them, or - for standard input");
  }
  if (!request.statement.has_value() &&
      std::find(request.inputs.begin(), request.inputs.end(), "-") != request.inputs.end()) {
    return UsageError(
        "statements and the trace cannot both come from standard input; name a STATEMENT");
  }
  return {};
}

Result<QueryRequest> UnderstandQuery(const RawOptions& raw) {
  constexpr int kMostRows = 1'000'000'000;
  QueryRequest request;
  BS_ASSIGN(request.output, UnderstandOutput(raw));
  request.options.rank = raw.Get("rank");
  if (!raw.Get("row-limit").empty()) {
    BS_ASSIGN(const int rows, ParseCount("row-limit", raw.Get("row-limit"), kMostRows));
    request.options.rows = static_cast<size_t>(rows);
  }
  if (!raw.Get("time-limit").empty()) {
    BS_ASSIGN(request.options.seconds, ParseSeconds(raw.Get("time-limit")));
  }
  if (!raw.Get("temp-limit").empty()) {
    BS_ASSIGN(request.options.temporary_bytes, ParseSize("temp-limit", raw.Get("temp-limit")));
  }
  BS_TRY(UnderstandInputs(raw, request));
  BS_TRY(ProtectInputs(request.inputs, request.output));
  return request;
}

// Once it is open, a session reads its inputs no more.
Result<QuerySession> Load(const RawOptions& raw, const QueryRequest& request) {
  ProgressBar bar(raw);
  RawOptions read = raw;
  read.inputs = request.inputs;
  BS_ASSIGN(const std::optional<ScrubbedCopies> copies, ScrubInputs(read, bar.Callback()));
  BS_ASSIGN(const Run run, OpenRun(read.inputs, read, bar.Callback()));
  return QuerySession::Open(run, request.options);
}

// A result that has no rows or columns is an answer too; a text without a statement is none.
Result<void> AnswerAll(QuerySession& session, const QueryRequest& request, const std::string& sql,
                       const Command& command) {
  BS_ASSIGN(const Answer answer, session.Ask(sql));
  if (answer.tables().empty()) {
    return UsageError("query: there is no statement");
  }
  return WriteAnswer(request.output, answer, command);
}

std::string ReadAll() {
  return {std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
}

// Answers statements as they are typed. A wrong one is reported, and the next may follow.
void RunShell(QuerySession& session, const QueryRequest& request, const Command& command) {
  std::string sql;
  std::string line;
  const auto prompt = [&] { WriteMessage(sql.empty() ? "borescope> " : "      ...> "); };
  for (prompt(); std::getline(std::cin, line); prompt()) {
    sql += line + "\n";
    const bool is_blank = sql.find_first_not_of(" \t\n;") == std::string::npos;
    if (!is_blank && !IsCompleteStatement(sql)) {
      continue;
    }
    const Result<void> answered =
        is_blank ? Result<void>() : AnswerAll(session, request, sql, command);
    if (!answered.ok()) FailWith(answered.error(), command);
    sql.clear();
  }
  WriteMessage("\n");
}

// No trace is read for it; those that are named stay as they are all the same.
Result<int> ShowSchema(const Command& command) {
  BS_ASSIGN(OutputOptions output, UnderstandOutput(command.raw));
  BS_TRY(ProtectInputs(command.raw.inputs, output));
  BS_ASSIGN(const Answer schema, QuerySchema());
  BS_TRY(WriteAnswer(output, schema, command));
  return kDone;
}

}  // namespace

Result<int> RunQueryVerb(const Command& command) {
  if (command.raw.Has("schema")) {
    return ShowSchema(command);
  }
  BS_ASSIGN(const QueryRequest request, UnderstandQuery(command.raw));
  BS_ASSIGN(QuerySession session, Load(command.raw, request));
  ReportFiles(session.files(), command.raw);
  const int read = StatusOf(session.files());
  if (request.statement.has_value()) {
    BS_TRY(AnswerAll(session, request, *request.statement, command));
    return read;
  }
  const bool is_shell = isatty(STDIN_FILENO) != 0 && request.output.path.empty();
  if (is_shell) {
    RunShell(session, request, command);
    return read;
  }
  const std::string sql = ReadAll();
  if (std::ferror(stdin) != 0) {  // what was read so far would be another statement
    return Error{.code = ErrorCode::kIo,
                 .cause = "cannot be read",
                 .remedy = "give the statement as an argument",
                 .file = "standard input"};
  }
  BS_TRY(AnswerAll(session, request, sql, command));
  return read;
}

}  // namespace borescope::cli
