#include "borescope/cli/help.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace borescope::cli {
namespace {

constexpr std::string_view kInputHelp =
    "INPUT is a trace file (plain, .gz or .zst), a glob, - for standard input, or a\n"
    "directory: one run, in which every trace file is one rank.\n";

constexpr size_t kWidth = 80;
constexpr size_t kVerbWidth = 12;

// `term` and, from cell `width` on, its explanation, wrapped.
std::string DefinitionLines(std::string_view term, size_t width, std::string_view explanation) {
  std::string lines;
  for (const std::string& line : WrapText(explanation, kWidth - width)) {
    lines += fmt::format("{:<{}}{}\n", lines.empty() ? term : "", width, line);
  }
  return lines;
}

std::string VerbLines(std::string_view name, std::string_view summary) {
  return DefinitionLines(fmt::format("  {}", name), kVerbWidth + 2, summary);
}

size_t SyntaxWidth(const AnalysisSpec* spec) {
  size_t width = 0;
  for (const OptionRow& row : Options()) {
    width = std::max(width, row.applies(spec) ? OptionSyntax(row).size() : 0);
  }
  return width;
}

std::string OptionLine(const OptionRow& row, const AnalysisSpec* spec, size_t width) {
  std::string help(row.help);
  if (row.choices != nullptr) {
    help += fmt::format(": {}", fmt::join(row.choices(spec), ", "));
  }
  return DefinitionLines(fmt::format("  {}", OptionSyntax(row)), width + 4, help);
}

std::string OptionsHelp(const AnalysisSpec* spec) {
  const size_t width = SyntaxWidth(spec);
  std::string text;
  for (const OptionGroup group :
       {OptionGroup::kSelection, OptionGroup::kQuestion, OptionGroup::kOutput, OptionGroup::kRun}) {
    std::string lines;
    for (const OptionRow& row : Options()) {
      if (row.group == group && row.applies(spec)) {
        lines += OptionLine(row, spec, width);
      }
    }
    if (!lines.empty()) {
      text += fmt::format("\n{}\n{}", GroupTitle(group), lines);
    }
  }
  return text;
}

}  // namespace

std::string MainHelp() {
  std::string text = fmt::format(
      "borescope {}: finds out where the time of a GPU program goes\n\n"
      "Usage: borescope VERB [OPTIONS] INPUT...\n"
      "       borescope INPUT...                 the same as borescope summary INPUT...\n\n"
      "{}\nVerbs\n",
      Version(), kInputHelp);
  for (const AnalysisSpec& spec : Analyses()) {
    text += VerbLines(spec.name, spec.summary);
  }
  text += '\n';
  for (const VerbRow& row : OtherVerbs()) {
    text += VerbLines(row.name, row.summary);
  }
  text +=
      "\nEvery verb has its options and an example: borescope VERB --help\n"
      "The version: borescope --version\n";
  return text;
}

std::string AnalysisHelp(const AnalysisSpec& spec) {
  return fmt::format(
             "borescope {}: {}\n\n"
             "Usage: borescope {} [OPTIONS] INPUT...\n"
             "Example: {}\n\n{}",
             spec.name, spec.summary, spec.name, spec.example, kInputHelp) +
         OptionsHelp(&spec);
}

std::string VerbHelp(const VerbRow& row) {
  return fmt::format(
             "borescope {}: {}\n\n"
             "Usage: borescope {} {}\n"
             "Example: {}\n",
             row.name, row.summary, row.name, row.usage, row.example) +
         OptionsHelp(nullptr);
}

}  // namespace borescope::cli
