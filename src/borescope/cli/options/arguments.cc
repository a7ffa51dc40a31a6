#include "borescope/cli/options/arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <functional>

#include "borescope/base/nearest.h"
#include "borescope/catalog/catalog.h"
#include "borescope/cli/options/aliases.h"
#include "borescope/cli/options/output_options.h"

namespace borescope::internal::cli {
namespace {

std::string DidYouMean(std::string_view word, std::span<const std::string_view> candidates) {
  const std::string_view nearest = Nearest(word, candidates);
  return nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest);
}

// Whether what was asked for, verbs or the other kind of verb, takes the option.
bool Applies(const OptionRow& row, const Command& command) {
  return command.analyses.empty() && command.verb != nullptr ? Applies(row, *command.verb)
                                                             : Applies(row, command.analyses);
}

// As CLI11 wants them: "-f,--format".
std::string OptionNames(std::string_view short_name, std::string_view long_name) {
  return short_name.empty() ? fmt::format("--{}", long_name)
                            : fmt::format("-{},--{}", short_name, long_name);
}

bool IsList(const OptionRow& row) { return row.value == "LIST" || row.value == "KEYS"; }

// CLI11 puts a newline between the values of an option that was given several times.
void JoinLists(RawOptions& raw) {
  for (const OptionRow& row : Options()) {
    if (row.text != nullptr && IsList(row)) {
      std::replace((raw.*row.text).begin(), (raw.*row.text).end(), '\n', ',');
    }
  }
}

void AddOptions(CLI::App& app, Command& command) {
  RawOptions& raw = command.raw;
  app.set_help_flag();  // ours is a row like any other, and needs no INPUT
  for (const OptionRow& row : Options()) {
    if (!Applies(row, command)) {
      continue;
    }
    const std::string names = OptionNames(row.short_name, row.long_name);
    if (row.text != nullptr) {
      // Lists grow; of all else the last one counts, as with most tools.
      const bool is_list = IsList(row);
      app.add_option(names, raw.*row.text)
          ->multi_option_policy(is_list ? CLI::MultiOptionPolicy::Join
                                        : CLI::MultiOptionPolicy::TakeLast);
    } else {
      app.add_flag(names, raw.*row.flag);
    }
  }
  for (const ParamSpec* param : ParamsOf(command.analyses)) {
    const std::string name = OptionNames(ShortNameOf(*param), param->name);
    if (param->type == ParamType::kFlag) {
      app.add_flag_callback(name, [&raw, param] { raw.params[param->name] = ""; });
    } else {
      app.add_option_function<std::string>(
             name, [&raw, param](const std::string& text) { raw.params[param->name] = text; })
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    }
  }
  app.add_option("inputs", raw.inputs);
}

// Whether some verb has the option, though not these.
bool IsOptionElsewhere(std::string_view name) {
  const auto has = [name](const auto& rows, auto member) {
    return std::any_of(rows.begin(), rows.end(),
                       [&](const auto& row) { return std::invoke(member, row) == name; });
  };
  return has(Options(), &OptionRow::long_name) ||
         std::any_of(Analyses().begin(), Analyses().end(), [&](const AnalysisSpec* spec) {
           return has(spec->params, [](const ParamSpec* param) { return param->name; });
         });
}

// The long names of the options that the command has.
std::vector<std::string_view> OptionNamesOf(const Command& command) {
  std::vector<std::string_view> names;
  for (const OptionRow& row : Options()) {
    if (Applies(row, command)) {
      names.push_back(row.long_name);
    }
  }
  for (const ParamSpec* param : ParamsOf(command.analyses)) {
    names.push_back(param->name);
  }
  return names;
}

std::string Instead(const VerbRow* verb, std::string_view name) {
  if (verb != nullptr) {
    for (const InsteadRow& row : verb->instead) {
      if (row.option == name) {
        return fmt::format("; write {}", row.write);
      }
    }
  }
  return "";
}

// An option of other verbs.
Error MisplacedOption(std::string_view name, const Command& command) {
  std::vector<std::string_view> verbs;
  verbs.reserve(command.analyses.size() + 1);
  for (const AnalysisSpec* spec : command.analyses) {
    verbs.push_back(spec->name);
  }
  if (command.verb != nullptr) {
    verbs.push_back(command.verb->name);
  }
  return UsageError(fmt::format("{}: --{} is not defined for {}{}", fmt::join(verbs, ", "), name,
                                verbs.size() == 1 ? "it" : "any of them",
                                Instead(command.verb, name)));
}

Error UnknownOption(std::string_view word, const Command& command) {
  word = word.substr(0, word.find('='));
  // Without its dashes, which are no letters that two names could have in common.
  const std::string_view name = word.substr(std::min(word.find_first_not_of('-'), word.size()));
  if (word.starts_with("--") && IsOptionElsewhere(name)) {
    return MisplacedOption(name, command);
  }
  const std::string_view nearest = Nearest(name, OptionNamesOf(command));
  return UsageError(
      fmt::format("unknown option '{}'{}", word,
                  nearest.empty() ? "" : fmt::format("; did you mean '--{}'?", nearest)));
}

// CLI11 reports by exception; nothing else in Borescope throws or catches on purpose. Its messages
// differ between versions, so ours are made from the few cases that can happen.
Result<void> ParseOptions(std::span<const std::string> words, Command& command) {
  CLI::App app;
  AddOptions(app, command);
  std::vector<std::string> reversed = Translate(words, command.verb);
  std::reverse(reversed.begin(), reversed.end());  // the order CLI11 wants
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::ExtrasError&) {
    const std::vector<std::string> extras = app.remaining();
    return UnknownOption(extras.empty() ? "" : extras.front(), command);
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string_view message = error.what();
    return UsageError(fmt::format("{} needs a value", message.substr(0, message.find(':'))));
  } catch (const CLI::ParseError& error) {
    return UsageError(error.what());
  }
  JoinLists(command.raw);
  // An unset variable of a script must not select everything silently.
  for (const CLI::Option* option : app.get_options()) {
    const std::vector<std::string>& values = option->results();
    if (option->get_expected_max() != 0 &&
        std::find(values.begin(), values.end(), "") != values.end()) {
      return UsageError(fmt::format("{} needs a value", option->get_name()));
    }
  }
  return {};
}

// The word before INPUT is an option like any other from here on.
Result<void> TakeLeadingWord(Command& command) {
  for (const AnalysisSpec* spec : command.analyses) {
    if (spec->leading == nullptr || command.raw.help) {
      continue;
    }
    if (command.analyses.size() > 1) {
      return UsageError(fmt::format("{} takes a word of its own; ask for it alone", spec->name));
    }
    std::vector<std::string>& inputs = command.raw.inputs;
    if (inputs.empty()) {
      return UsageError(fmt::format("{}: no {} and no INPUT", spec->name, spec->leading->value));
    }
    std::error_code ignored;
    if (inputs.size() == 1 && std::filesystem::exists(inputs.front(), ignored)) {
      return UsageError(fmt::format("{}: no {} in front of '{}'; name one first", spec->name,
                                    spec->leading->value, inputs.front()));
    }
    command.raw.params[spec->leading->name] = inputs.front();
    inputs.erase(inputs.begin());
  }
  return {};
}

// The first word is no verb: perhaps a file, else a slip of the pen.
Error UnknownVerb(const std::string& word) {
  const std::vector<std::string_view> verbs = VerbNames();
  if (word.starts_with('-')) {
    return UsageError(fmt::format("'{}' must follow a verb: borescope VERB {} ...", word, word));
  }
  if (word.find_first_of("/.*?") != std::string::npos) {
    return {ErrorCode::kIo, word + ": no such file, and no verb of this name"};
  }
  // Of several verbs the one that is none; the list itself when all are.
  for (const std::string& item : SplitList(word)) {
    if (std::find(verbs.begin(), verbs.end(), item) == verbs.end()) {
      return UsageError(fmt::format("unknown verb '{}'{}", item, DidYouMean(item, verbs)));
    }
  }
  return UsageError(fmt::format("'{}': only verbs that analyse a trace can stand in a list", word));
}

// The verbs that follow one which takes verbs.
Result<void> TakeVerbs(std::span<const std::string>& rest, Command& command) {
  if (command.verb == nullptr || !command.verb->takes_verbs || rest.empty() ||
      rest.front().starts_with('-')) {
    return {};
  }
  Command inner;
  if (!SetVerb(rest.front(), inner) || inner.analyses.empty()) {
    return UnknownVerb(rest.front());
  }
  command.analyses = std::move(inner.analyses);
  rest = rest.subspan(1);
  return {};
}

bool IsHelp(std::string_view word) { return word == "-h" || word == "--help" || word == "help"; }

}  // namespace

bool SetVerb(std::string_view name, Command& command) {
  for (const VerbRow& row : OtherVerbs()) {
    if (row.name == name) {
      command.verb = &row;
      return true;
    }
  }
  for (const std::string& item : SplitList(name)) {
    const AnalysisSpec* spec = FindAnalysis(item);
    if (spec == nullptr) {
      command.analyses.clear();
      return false;
    }
    command.analyses.push_back(spec);
  }
  return !command.analyses.empty();
}

Result<Command> Parse(std::span<const std::string> words) {
  Command command;
  if (words.empty()) {
    return UsageError("no verb; usage: borescope VERB [OPTIONS] INPUT...");
  }
  if (words[0] == "-V" || words[0] == "--version") {
    command.version = true;
    return command;
  }
  if (IsHelp(words[0])) {
    command.raw.help = true;
    if (words.size() > 1 && !SetVerb(words[1], command)) {
      return UnknownVerb(words[1]);
    }
    return command;
  }
  std::span<const std::string> rest = words.subspan(1);
  if (!SetVerb(words[0], command)) {
    std::error_code ignored;
    const bool is_input = words[0] == "-" || std::filesystem::exists(words[0], ignored);
    if (!is_input || !SetVerb("summary", command)) {
      return UnknownVerb(words[0]);
    }
    rest = words;
  }
  BS_TRY(TakeVerbs(rest, command));
  BS_TRY(ParseOptions(rest, command));
  BS_TRY(CheckColour(command.raw.color));
  BS_TRY(TakeLeadingWord(command));
  return command;
}

}  // namespace borescope::internal::cli
