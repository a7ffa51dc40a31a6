#include "borescope/cli/help.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

// How much of a group of options is said, from least to most.
enum class GroupForm { kNames, kLines, kAll };

using Rows = std::span<const Option>;

// The rows of each group, which are beside each other.
std::vector<Rows> GroupsOf(const std::vector<Option>& rows) {
  std::vector<Rows> groups;
  for (size_t begin = 0; begin < rows.size();) {
    size_t end = begin;
    while (end < rows.size() && rows[end].group == rows[begin].group) ++end;
    groups.push_back(Rows(rows).subspan(begin, end - begin));
    begin = end;
  }
  return groups;
}

// "--rank LIST, -f, --format FORMAT, ..."
std::string NamesOfOptions(Rows rows) {
  constexpr size_t kIndent = 2;
  std::string names;
  for (const Option& row : rows) {
    const std::string syntax = OptionSyntax(row);
    names += (names.empty() ? "" : ", ") + syntax.substr(syntax.find_first_not_of(' '));
  }
  std::string text;
  for (const std::string& line : WrapText(names, kWidth - kIndent)) {
    text += std::string(kIndent, ' ') + line + '\n';
  }
  return text;
}

// The first line of what is said about an option; "..." for the rest of it.
std::string ShortOptionLine(const Option& row, size_t width) {
  constexpr std::string_view kMore = " ...";
  std::string whole = OptionLine(row, width);
  const size_t end = whole.find('\n');
  if (end + 1 == whole.size()) {
    return whole;
  }
  std::string line = whole.substr(0, end);
  if (line.size() + kMore.size() > kWidth) {
    line.resize(line.find_last_of(' ', kWidth - kMore.size()));
  }
  while (line.ends_with(',') || line.ends_with(';') || line.ends_with(':')) line.pop_back();
  return line + std::string(kMore) + '\n';
}

std::string GroupText(Rows rows, size_t width, GroupForm form) {
  std::string text = fmt::format("\n{}\n", GroupTitle(rows.front().group));
  if (form == GroupForm::kNames) {
    return text + NamesOfOptions(rows);
  }
  for (const Option& row : rows) {
    text += form == GroupForm::kAll ? OptionLine(row, width) : ShortOptionLine(row, width);
  }
  return text;
}

size_t LinesOf(std::string_view text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

std::string OptionsText(const std::vector<Rows>& groups, size_t width,
                        const std::vector<GroupForm>& forms) {
  std::string text;
  for (size_t i = 0; i < groups.size(); ++i) {
    text += GroupText(groups[i], width, forms[i]);
  }
  return text;
}

// All about the options, or as much as fits into `most_lines`: what the verb is asked for first,
// of which each option has a line at least, then the other groups in their order.
std::string OptionsHelp(const std::vector<Option>& rows, HelpExtent extent, size_t most_lines,
                        std::string_view verb) {
  size_t width = 0;
  for (const Option& row : rows) {
    width = std::max(width, OptionSyntax(row).size());
  }
  const std::vector<Rows> groups = GroupsOf(rows);
  std::vector<GroupForm> forms(groups.size(), GroupForm::kAll);
  std::string text = OptionsText(groups, width, forms);
  if (extent == HelpExtent::kAll || LinesOf(text) <= most_lines) {
    return text;
  }
  const std::string more = fmt::format("\nAll about every option: borescope {} --help-all\n", verb);
  forms.assign(groups.size(), GroupForm::kNames);
  std::vector<size_t> order;
  for (size_t i = 0; i < groups.size(); ++i) {
    const bool is_question = groups[i].front().group == OptionGroup::kQuestion;
    order.insert(is_question ? order.begin() : order.end(), i);
  }
  for (const GroupForm better : {GroupForm::kLines, GroupForm::kAll}) {
    for (const size_t i : order) {
      const GroupForm before = std::exchange(forms[i], better);
      if (LinesOf(OptionsText(groups, width, forms)) + LinesOf(more) > most_lines) {
        forms[i] = before;
      }
    }
  }
  return OptionsText(groups, width, forms) + more;
}

// A head with its options; both together take two screens unless all is asked for.
std::string WithOptions(std::string head, const std::vector<Option>& rows, HelpExtent extent,
                        std::string_view verb) {
  constexpr size_t kTwoScreens = 48;
  const size_t rest = kTwoScreens - std::min(kTwoScreens, LinesOf(head));
  return head += OptionsHelp(rows, extent, rest, verb);
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

std::string AnalysisHelp(const VerbInfo& verb, HelpExtent extent) {
  return WithOptions(fmt::format("{}\n"
                                 "Usage: borescope {} [OPTIONS] {}\n"
                                 "Example: {}\n\n{}{}{}{}",
                                 HeadLines(verb.name, verb.summary), verb.name, InputUsage(verb),
                                 verb.example, verb.details, verb.details.empty() ? "" : "\n",
                                 LeadingHelp(verb), verb.takes_two ? kTwoInputsHelp : kInputHelp),
                     OptionsOf(verb), extent, verb.name);
}

std::string VerbHelp(const VerbRow& row, HelpExtent extent) {
  return WithOptions(fmt::format("{}\n"
                                 "Usage: borescope {} {}\n"
                                 "Example: {}\n{}{}",
                                 HeadLines(row.name, row.summary), row.name, row.usage, row.example,
                                 row.details.empty() ? "" : "\n", row.details),
                     ShownOptions(row), extent, row.name);
}

}  // namespace borescope::cli
