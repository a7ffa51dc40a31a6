#include "borescope/verbs/check/measure_budgets.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "borescope/base/text/text.h"
#include "borescope/catalog/catalog.h"
#include "borescope/check/budget.h"
#include "borescope/engine/access.h"
#include "borescope/engine/answer_shape.h"
#include "borescope/verbs/query/query.h"

namespace borescope::internal {
namespace {

// Runaway statements must not keep a build waiting.
constexpr double kMostSeconds = 300;

// The verb of each table: the one of its name, else the first that has it. Verbs that take two runs
// or a word in front, or show tables of others, are not asked.
std::map<std::string, const AnalysisSpec*> VerbsByTable() {
  std::map<std::string, const AnalysisSpec*> verbs;
  for (const AnalysisSpec* spec : Analyses()) {
    if (spec->takes_two() || spec->leading != nullptr || spec->draws_other_verbs) {
      continue;
    }
    const Result<Tables> shape = AnswerShape(*spec, {});
    for (const Table& table : shape.ok() ? *shape : Tables()) {
      const AnalysisSpec*& verb = verbs[table.name];
      verb = verb == nullptr || spec->name == table.name ? spec : verb;
    }
  }
  return verbs;
}

Error UnknownTable(const BudgetFile& file, const Budget& budget,
                   const std::map<std::string, const AnalysisSpec*>& verbs) {
  std::vector<std::string_view> names;
  names.reserve(verbs.size());
  for (const auto& [name, verb] : verbs) {
    names.push_back(name);
  }
  const std::string_view nearest = Nearest(budget.table, names);
  return {.code = ErrorCode::kInvalidArgument,
          .cause = fmt::format("no verb has a table '{}'", budget.table),
          .remedy = nearest.empty() ? "borescope list --schema shows all"
                                    : fmt::format("did you mean '{}'?", nearest),
          .file = file.path,
          .line = budget.line};
}

Result<void> Keep(const BudgetFile& file, const Budget& budget, const Result<BudgetValue>& value,
                  RunValues& run) {
  if (!value.ok()) {
    return AboutBudget(file, budget, value.error());
  }
  if (const std::string fault = FaultOfLimits(budget, value->unit); !fault.empty()) {
    return AboutBudget(file, budget, UsageError(fault));
  }
  run.metrics[{std::string(kBudgetMetric), budget.name}] = {
      value->value,         value->unit,  value->samples, {},
      DefinitionOf(budget), value->least, value->most,    value->rest};
  return {};
}

// Answers by verb and key, each asked once.
using Answers = std::map<std::pair<const AnalysisSpec*, std::string>, AnswerData>;

Result<void> MeasureTable(const BudgetFile& file, const Budget& budget, const AnalysisSpec& verb,
                          RunQuestions& asked, Answers& answers, RunValues& run) {
  const auto key = std::pair(&verb, budget.by);
  if (!answers.contains(key)) {
    Result<AnswerData> answer = asked.Ask(QuestionOfBudget(budget, verb));
    if (!answer.ok()) {
      return AboutBudget(file, budget, answer.error());
    }
    answers.emplace(key, std::move(*answer));
  }
  for (const Table& table : answers.at(key).document.tables) {
    if (table.name == budget.table) {
      return Keep(file, budget, ValueInTable(budget, table), run);
    }
  }
  return AboutBudget(file, budget,
                     {ErrorCode::kMissingData, fmt::format("the answer of {} has no table {} here",
                                                           verb.name, budget.table)});
}

Result<void> MeasureStatements(const BudgetFile& file, RunQuestions& asked, RunValues& run) {
  std::optional<QuerySession> session;
  for (const Budget& budget : file.budgets) {
    if (budget.sql.empty()) {
      continue;
    }
    if (!session.has_value()) {
      const Result<RunOptions> recordings = asked.Recordings();
      if (!recordings.ok()) {
        return AboutBudget(file, budget, recordings.error());
      }
      BS_ASSIGN(session,
                QueryAccess::Open(*recordings, {.seconds = kMostSeconds, .rows = size_t{1}}));
    }
    const Result<Answer> result = session->Ask(budget.sql);
    if (!result.ok()) {
      return AboutBudget(file, budget, result.error());
    }
    const std::vector<Table>& tables = AnswerAccess::Inside(*result).tables;
    if (tables.size() != 1) {
      return AboutBudget(file, budget, UsageError("sql holds one statement"));
    }
    BS_TRY(Keep(file, budget, ValueOfResult(budget, tables.front()), run));
  }
  return {};
}

}  // namespace

Error AboutBudget(const BudgetFile& file, const Budget& budget, const Error& error) {
  Error inner = error;
  inner.remedy.clear();
  const bool is_named = inner.cause.starts_with("budget '");
  return {.code = error.code,
          .cause = (is_named ? "" : fmt::format("budget '{}': ", budget.name)) + inner.Sentence(),
          .remedy = error.remedy,
          .file = file.path,
          .line = budget.line};
}

CheckQuestion QuestionOfBudget(const Budget& budget, const AnalysisSpec& verb) {
  return {{&verb},
          budget.by.empty() ? std::vector<std::string>() : std::vector<std::string>{budget.by}};
}

Result<std::vector<const AnalysisSpec*>> VerbsOfBudgets(const BudgetFile& file) {
  std::vector<const AnalysisSpec*> verbs;
  if (file.budgets.empty()) {
    return verbs;
  }
  const std::map<std::string, const AnalysisSpec*> by_table = VerbsByTable();
  verbs.reserve(file.budgets.size());
  for (const Budget& budget : file.budgets) {
    const auto found = by_table.find(budget.table);
    if (!budget.table.empty() && found == by_table.end()) {
      return UnknownTable(file, budget, by_table);
    }
    verbs.push_back(budget.table.empty() ? nullptr : found->second);
  }
  return verbs;
}

Result<void> MeasureBudgets(const BudgetFile& file, std::span<const AnalysisSpec* const> verbs,
                            RunQuestions& asked, RunValues& run) {
  Answers answers;
  for (size_t i = 0; i < verbs.size(); ++i) {
    if (verbs[i] != nullptr) {
      BS_TRY(MeasureTable(file, file.budgets[i], *verbs[i], asked, answers, run));
    }
  }
  return MeasureStatements(file, asked, run);
}

}  // namespace borescope::internal
