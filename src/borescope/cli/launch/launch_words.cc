#include "borescope/cli/launch/launch_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>

namespace borescope::cli {
namespace {

// An option of the verbs that is none of a launch, and what to do.
struct RefusedRow {
  std::string_view option;
  std::string_view remedy;
};
constexpr RefusedRow kRefused[] = {
    {"threads", "say --cpus N"},
    {"load", "it answers from what --save wrote, in one process"},
    {"save", "parts have no finished answer"},
    {"overlay", "parts have no finished answer"},
    {"scrub", "scrub first: borescope convert --scrub for each file"},
    {"scrub-key", "scrub first: borescope convert --scrub for each file"},
    {"scrub-map", "scrub first: borescope convert --scrub for each file"},
};

bool IsIn(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// All of the verbs but what reduce takes, and what is of the launch itself.
bool IsOfQuestion(const OptionRow& row) {
  constexpr std::string_view kElsewhere[] = {"sort", "top", "force"};
  return row.long_name == "captures" || (row.is_parameter() && !IsIn(kElsewhere, row.long_name));
}

bool IsOfTask(const OptionRow& row) {
  constexpr std::string_view kOfTask[] = {"memory-limit", "verbose"};
  return IsIn(kOfTask, row.long_name);
}

std::string OptionWord(const OptionRow& row, const RawOptions& raw) {
  if (row.value.empty()) {
    return fmt::format("--{}", row.long_name);
  }
  const std::string& value = row.text != nullptr ? raw.*row.text : raw.Param(row.long_name);
  return fmt::format("--{}={}", row.long_name, value);
}

std::vector<std::string> GivenWords(const RawOptions& raw, bool (*is_wanted)(const OptionRow&)) {
  std::vector<std::string> words;
  for (const OptionRow& row : Options()) {
    if (is_wanted(row) && IsGiven(row, raw)) {
      words.push_back(OptionWord(row, raw));
    }
  }
  return words;
}

Result<void> CheckRefused(const RawOptions& raw) {
  for (const OptionRow& row : Options()) {
    const auto* const refused =
        std::find_if(std::begin(kRefused), std::end(kRefused),
                     [&](const RefusedRow& one) { return one.option == row.long_name; });
    if (refused != std::end(kRefused) && IsGiven(row, raw)) {
      return UsageError(
          fmt::format("launch: --{} is not for tasks; {}", refused->option, refused->remedy));
    }
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>> MapOptions(const Command& command) {
  BS_TRY(CheckRefused(command.raw));
  std::vector<std::string> words = GivenWords(command.raw, IsOfQuestion);
  for (const ParameterInfo* const own : OwnParameters(command.analyses)) {
    const std::string name = OptionName(*own);
    if (const auto given = command.raw.params.find(name); given != command.raw.params.end()) {
      words.push_back(own->type == "flag" ? "--" + name
                                          : fmt::format("--{}={}", name, given->second));
    }
  }
  return words;
}

std::vector<std::string> TaskOptions(const RawOptions& raw) { return GivenWords(raw, IsOfTask); }

std::vector<std::string> LeadingWords(const Command& command) {
  std::vector<std::string> words;
  for (const VerbInfo* const verb : command.analyses) {
    if (!verb->word.empty()) {
      words.push_back(command.raw.Param(verb->word));
    }
  }
  return words;
}

std::vector<std::string> ReduceOptions(const RawOptions& raw) {
  std::vector<std::string> words;
  const auto add = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) {
      words.push_back(fmt::format("--{}={}", name, value));
    }
  };
  add("format", raw.format);
  add("sort", raw.Param("sort"));
  add("top", raw.Param("top"));
  if (raw.csv_safe) {
    words.emplace_back("--csv-safe");
  }
  return words;
}

}  // namespace borescope::cli
