#include "borescope/cli/launch/launch_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

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

// Options that reduce takes, and those of the launch itself.
bool IsHandedToMap(const OptionRow& row) {
  constexpr std::string_view kElsewhere[] = {"sort", "top", "force"};
  constexpr std::string_view kAlso[] = {"captures", "memory-limit", "verbose"};
  const auto is_in = [&](const auto& names) {
    return std::find(std::begin(names), std::end(names), row.long_name) != std::end(names);
  };
  return is_in(kAlso) || (row.is_parameter() && !is_in(kElsewhere));
}

std::string OptionWord(const OptionRow& row, const RawOptions& raw) {
  if (row.value.empty()) {
    return fmt::format("--{}", row.long_name);
  }
  const std::string& value = row.text != nullptr ? raw.*row.text : raw.Param(row.long_name);
  return fmt::format("--{}={}", row.long_name, value);
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
  CLI_TRY(CheckRefused(command.raw));
  std::vector<std::string> words;
  for (const OptionRow& row : Options()) {
    if (IsHandedToMap(row) && IsGiven(row, command.raw)) {
      words.push_back(OptionWord(row, command.raw));
    }
  }
  for (const ParameterInfo* const own : OwnParameters(command.analyses)) {
    const std::string name = OptionName(*own);
    if (const auto given = command.raw.params.find(name); given != command.raw.params.end()) {
      words.push_back(own->type == "flag" ? "--" + name
                                          : fmt::format("--{}={}", name, given->second));
    }
  }
  return words;
}

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
