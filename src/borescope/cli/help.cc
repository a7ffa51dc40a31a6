#include "borescope/cli/help.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "borescope/text.h"
#include "borescope/version.h"

namespace borescope::cli {
namespace {

constexpr std::string_view kInputHelp =
    "INPUT is a trace or database of any format in `borescope list` (plain, .gz or\n"
    ".zst), a glob, - for standard input, or a directory: one run, in which every\n"
    "such file is one rank.\n";

constexpr std::string_view kTwoInputsHelp =
    "BASE and TEST are a trace or database each, of any format in `borescope list`\n"
    "(plain, .gz or .zst), a glob, or a directory: one run, in which every such file\n"
    "is one rank.\n";

constexpr size_t kWidth = 80;

// `term` and, from cell `width` on, its explanation, wrapped.
std::string DefinitionLines(std::string_view term, size_t width, std::string_view explanation) {
  std::string lines;
  for (const std::string& line : WrapText(explanation, kWidth - width)) {
    lines += fmt::format("{:<{}}{}\n", lines.empty() ? term : "", width, line);
  }
  return lines;
}

// Where the summaries of verbs begin.
size_t VerbWidth() {
  size_t width = 0;
  for (const std::string_view name : VerbNames()) {
    width = std::max(width, name.size());
  }
  return width + 4;
}

std::string VerbLines(std::string_view name, std::string_view summary) {
  static const size_t width = VerbWidth();
  return DefinitionLines(fmt::format("  {}", name), width, summary);
}

// What the verb is for, as the first lines of its help.
std::string HeadLines(std::string_view name, std::string_view summary) {
  constexpr size_t kIndent = 4;
  std::string lines;
  std::string text = fmt::format("borescope {}: {}", name, summary);
  for (const std::string& line : WrapText(text, kWidth - kIndent)) {
    lines += fmt::format("{}{}\n", lines.empty() ? "" : std::string(kIndent, ' '), line);
  }
  return lines;
}

std::string OptionLine(const Option& row, size_t width) {
  std::string help = row.help;
  if (!row.choices.empty()) {
    help += fmt::format(": {}", fmt::join(row.choices, ", "));
  }
  return DefinitionLines(fmt::format("  {}", OptionSyntax(row)), width + 4, help);
}

std::string OptionsHelp(const std::vector<Option>& rows) {
  size_t width = 0;
  for (const Option& row : rows) {
    width = std::max(width, OptionSyntax(row).size());
  }
  std::string text;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i == 0 || rows[i].group != rows[i - 1].group) {
      text += fmt::format("\n{}\n", GroupTitle(rows[i].group));
    }
    text += OptionLine(rows[i], width);
  }
  return text;
}

std::string InputUsage(const VerbInfo& verb) {
  if (verb.takes_two) {
    return "BASE TEST";
  }
  const ParameterInfo* const word = FindParameter(verb, verb.word);
  return word == nullptr ? "INPUT..." : fmt::format("{} INPUT...", word->placeholder);
}

// The word before INPUT, explained.
std::string LeadingHelp(const VerbInfo& verb) {
  const ParameterInfo* const word = FindParameter(verb, verb.word);
  if (word == nullptr) {
    return {};
  }
  const std::string term = fmt::format("{}: ", word->placeholder);
  return DefinitionLines(term, term.size(), word->doc) + "\n";
}

}  // namespace

std::string MainHelp() {
  std::string text = fmt::format(
      "borescope {}: finds out where the time of a GPU program goes\n\n"
      "Usage: borescope VERB [OPTIONS] INPUT...\n"
      "       borescope INPUT...                 the same as borescope summary INPUT...\n\n"
      "{}\nVerbs\n",
      Version(), kInputHelp);
  for (const VerbInfo& verb : Describe().verbs) {
    text += VerbLines(verb.name, verb.summary);
  }
  text += '\n';
  for (const VerbRow& row : OtherVerbs()) {
    text += VerbLines(row.name, row.summary);
  }
  text +=
      "\nSeveral verbs at once read the input once: borescope idle,overlap,queue INPUT\n"
      "Selections, --by, --all and --compat must then suit every verb; any other option\n"
      "goes to those that have it.\n"
      "Every verb has its options and an example: borescope VERB --help\n"
      "The version: borescope --version\n"
      "Exit status: 0 done, 1 a check failed (check, chakra check), 2 usage, input or\n"
      "output error, also of one input of several; check --strict: 3 cannot tell.\n";
  return text;
}

std::string AnalysisHelp(const VerbInfo& verb) {
  return fmt::format(
             "{}\n"
             "Usage: borescope {} [OPTIONS] {}\n"
             "Example: {}\n\n{}{}{}{}",
             HeadLines(verb.name, verb.summary), verb.name, InputUsage(verb), verb.example,
             verb.details, verb.details.empty() ? "" : "\n", LeadingHelp(verb),
             verb.takes_two ? kTwoInputsHelp : kInputHelp) +
         OptionsHelp(OptionsOf(verb));
}

std::string VerbHelp(const VerbRow& row) {
  return fmt::format(
             "{}\n"
             "Usage: borescope {} {}\n"
             "Example: {}\n{}{}",
             HeadLines(row.name, row.summary), row.name, row.usage, row.example,
             row.details.empty() ? "" : "\n", row.details) +
         OptionsHelp(ShownOptions(row));
}

}  // namespace borescope::cli
