#include "borescope/verbs/check/check_questions.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "borescope/catalog/catalog.h"
#include "borescope/verbs/check/measure_budgets.h"

namespace borescope::internal {
namespace {

void AddVerb(const AnalysisSpec* verb, std::vector<const AnalysisSpec*>& verbs) {
  if (std::find(verbs.begin(), verbs.end(), verb) == verbs.end()) {
    verbs.push_back(verb);
  }
}

}  // namespace

std::vector<CheckQuestion> QuestionsOfCheck(const BudgetFile& file,
                                            std::span<const AnalysisSpec* const> verbs) {
  using Key = std::vector<std::string>;
  std::map<Key, std::vector<const AnalysisSpec*>> by_key;
  std::map<std::pair<Key, std::string_view>, const AnalysisSpec*> of_budgets;
  by_key[{}] = {FindAnalysis("steps"), FindAnalysis("roofline")};
  by_key[{"step"}] = {FindAnalysis("breakdown"), FindAnalysis("kernels")};
  for (size_t i = 0; i < verbs.size(); ++i) {
    if (verbs[i] != nullptr) {
      const CheckQuestion asked = QuestionOfBudget(file.budgets[i], *verbs[i]);
      of_budgets[{asked.by, verbs[i]->name}] = verbs[i];
    }
  }
  for (const auto& [key, verb] : of_budgets) {
    AddVerb(verb, by_key[key.first]);
  }
  std::vector<CheckQuestion> questions = {{{FindAnalysis("info")}, {}, true}};
  for (auto& [by, asked] : by_key) {
    questions.push_back({std::move(asked), by});
  }
  return questions;
}

}  // namespace borescope::internal
