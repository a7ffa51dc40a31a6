#include "borescope/cli/verb_schema.h"

#include <algorithm>

namespace borescope::cli {
namespace {

bool IsNamed(const ParameterInfo& parameter, std::string_view option) {
  return std::equal(
      parameter.name.begin(), parameter.name.end(), option.begin(), option.end(),
      [](char written, char typed) { return (written == '_' ? '-' : written) == typed; });
}

const ParameterInfo* FindNamed(const std::vector<ParameterInfo>& parameters,
                               std::string_view name) {
  const auto found =
      std::find_if(parameters.begin(), parameters.end(),
                   [&](const ParameterInfo& parameter) { return IsNamed(parameter, name); });
  return found == parameters.end() ? nullptr : &*found;
}

}  // namespace

const VerbInfo* FindVerb(std::string_view name) {
  const std::vector<VerbInfo>& verbs = Describe().verbs;
  const auto found = std::find_if(verbs.begin(), verbs.end(),
                                  [&](const VerbInfo& verb) { return verb.name == name; });
  return found == verbs.end() ? nullptr : &*found;
}

const TaskInfo* FindTask(std::string_view name) {
  const std::vector<TaskInfo>& tasks = Describe().tasks;
  const auto found = std::find_if(tasks.begin(), tasks.end(),
                                  [&](const TaskInfo& task) { return task.name == name; });
  return found == tasks.end() ? nullptr : &*found;
}

const ParameterInfo* FindParameter(const VerbInfo& verb, std::string_view name) {
  return FindNamed(verb.parameters, name);
}

const ParameterInfo* FindParameter(const TaskInfo& task, std::string_view name) {
  return FindNamed(task.parameters, name);
}

const ParameterInfo* FindParameter(Verbs verbs, std::string_view name) {
  for (const VerbInfo* verb : verbs) {
    if (const ParameterInfo* parameter = FindParameter(*verb, name); parameter != nullptr) {
      return parameter;
    }
  }
  return nullptr;
}

std::string OptionName(const ParameterInfo& parameter) {
  std::string name = parameter.name;
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

std::vector<std::string_view> NamesOf(Verbs verbs) {
  std::vector<std::string_view> names;
  names.reserve(verbs.size());
  for (const VerbInfo* verb : verbs) {
    names.push_back(verb->name);
  }
  return names;
}

}  // namespace borescope::cli
