#include "borescope/cli/options/arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "borescope/cli/options/values.h"
#include "borescope/text.h"

namespace borescope::cli {

namespace {

const AliasRow* FindAlias(const VerbRow& verb, std::string_view option) {
  std::string name(option);
  std::replace(name.begin(), name.end(), '_', '-');
  const auto found = std::find_if(verb.aliases.begin(), verb.aliases.end(),
                                  [&](const AliasRow& row) { return row.from == name; });
  return found == verb.aliases.end() ? nullptr : &*found;
}

}  // namespace

std::vector<std::string> Translate(std::span<const std::string> words, const VerbRow* verb) {
  std::vector<std::string> out;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const size_t equals = std::min(word.find('='), word.size());
    const AliasRow* const row =
        verb == nullptr ? nullptr : FindAlias(*verb, std::string_view(word).substr(0, equals));
    if (row == nullptr) {
      out.push_back(word);
    } else if (row->use == AliasRow::Use::kRename) {
      out.push_back(std::string(row->to) + word.substr(equals));
    } else if (row->use == AliasRow::Use::kInput && equals < word.size()) {
      out.push_back(word.substr(equals + 1));
    } else if (row->use == AliasRow::Use::kIgnore && equals == word.size()) {
      i += 1;  // its value
    }
  }
  return out;
}

namespace {

std::string DidYouMean(std::string_view word, std::span<const std::string_view> candidates) {
  const std::string_view nearest = Nearest(word, candidates);
  return nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest);
}

// As CLI11 wants them: "-f,--format".
std::string OptionNames(const Option& option) {
  return option.short_name.empty() ? fmt::format("--{}", option.long_name)
                                   : fmt::format("-{},--{}", option.short_name, option.long_name);
}

void AddOption(CLI::App& app, const Option& option, RawOptions& raw) {
  const std::string names = OptionNames(option);
  const auto set = [&raw, sets = option.sets](const std::string& text) { raw.values[sets] = text; };
  if (option.is_flag()) {
    app.add_flag_callback(names, [set] { set("true"); });
    return;
  }
  if (option.may_repeat) {
    app.add_option_function<std::vector<std::string>>(
           names,
           [set](const std::vector<std::string>& texts) {
             set(fmt::format("{}", fmt::join(texts, "\n")));
           })
        ->allow_extra_args(false)
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    return;
  }
  CLI::Option* const added = app.add_option_function<std::string>(names, set);
  // Lists grow; of all else the last one counts, as with most tools.
  if (option.is_many()) {
    added->expected(1, CLI::detail::expected_max_vector_size)->allow_extra_args()->delimiter('\n');
  }
  added->multi_option_policy(option.is_list() || option.is_many()
                                 ? CLI::MultiOptionPolicy::Join
                                 : CLI::MultiOptionPolicy::TakeLast);
}

// CLI11 puts a newline between the values of an option that was given several times.
void JoinLists(std::span<const Option> options, RawOptions& raw) {
  for (const Option& option : options) {
    const auto given = raw.values.find(option.sets);
    if (option.is_list() && given != raw.values.end()) {
      std::replace(given->second.begin(), given->second.end(), '\n', ',');
    }
  }
}

void AddOptions(CLI::App& app, std::span<const Option> options, RawOptions& raw) {
  app.set_help_flag();  // ours is a row like any other, and needs no INPUT
  for (const Option& option : options) {
    AddOption(app, option, raw);
  }
  app.add_option("inputs", raw.inputs);
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
  for (const VerbInfo* analysis : command.analyses) {
    verbs.push_back(analysis->name);
  }
  if (command.verb != nullptr) {
    verbs.push_back(command.verb->name);
  }
  return UsageError(fmt::format("{}: --{} is not defined for {}{}", fmt::join(verbs, ", "), name,
                                verbs.size() == 1 ? "it" : "any of them",
                                Instead(command.verb, name)));
}

Error UnknownOption(std::string_view word, std::span<const Option> options,
                    const Command& command) {
  word = word.substr(0, word.find('='));
  // Without its dashes, which are no letters that two names could have in common.
  const std::string_view name = word.substr(std::min(word.find_first_not_of('-'), word.size()));
  if (word.starts_with("--") && IsOptionOfAny(name)) {
    return MisplacedOption(name, command);
  }
  std::vector<std::string_view> names;
  for (const Option& option : options) {
    names.push_back(option.long_name);
  }
  const std::string_view nearest = Nearest(name, names);
  return UsageError(
      fmt::format("unknown option '{}'{}", word,
                  nearest.empty() ? "" : fmt::format("; did you mean '--{}'?", nearest)));
}

// An option whose value may be left out: the next word is an input, or the program.
struct OptionalValue {
  std::string_view verb;  // empty: of every one
  std::string_view option;
  std::string_view filled;
};
constexpr OptionalValue kOptionalValues[] = {{"", "--scrub", "--scrub=secrets"},
                                             {"record", "--ops", "--ops=nvtx"},
                                             {"record", "--python", "--python=calls"},
                                             {"record", "--repeat", "--repeat=always"}};

void FillOptionalValues(const VerbRow* verb, std::vector<std::string>& words) {
  for (const OptionalValue& row : kOptionalValues) {
    if (row.verb.empty() || (verb != nullptr && verb->name == row.verb)) {
      std::replace(words.begin(), words.end(), std::string(row.option), std::string(row.filled));
    }
  }
}

// CLI11 reports by exception; nothing else in Borescope throws or catches on purpose. Its messages
// differ between versions, so ours are made from the few cases that can happen.
Result<void> ParseOptions(std::span<const std::string> words, Command& command) {
  CLI::App app;
  const std::vector<Option> options = OptionsOf(command.analyses, command.verb);
  AddOptions(app, options, command.raw);
  std::vector<std::string> reversed = Translate(words, command.verb);
  FillOptionalValues(command.verb, reversed);
  std::reverse(reversed.begin(), reversed.end());  // the order CLI11 wants
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::ExtrasError&) {
    const std::vector<std::string> extras = app.remaining();
    return UnknownOption(extras.empty() ? "" : extras.front(), options, command);
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string_view message = error.what();
    return UsageError(fmt::format("{} needs a value", message.substr(0, message.find(':'))));
  } catch (const CLI::ParseError& error) {
    return UsageError(error.what());
  }
  JoinLists(options, command.raw);
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
  for (const VerbInfo* verb : command.analyses) {
    if (verb->word.empty() || command.raw.Has("help") || command.raw.Has("help-all")) {
      continue;
    }
    const std::string& name = verb->name;
    const std::string& placeholder = FindParameter(*verb, verb->word)->placeholder;
    if (command.analyses.size() > 1) {
      return UsageError(fmt::format("{} takes a word of its own; ask for it alone", name));
    }
    std::vector<std::string>& inputs = command.raw.inputs;
    if (inputs.empty()) {
      return UsageError(fmt::format("{}: no {} and no INPUT", name, placeholder));
    }
    BS_ASSIGN(const bool is_input, Exists(inputs.front()));
    if (inputs.size() == 1 && is_input) {
      return UsageError(fmt::format("{}: no {} in front of '{}'; name one first", name, placeholder,
                                    inputs.front()));
    }
    command.raw.values[verb->word] = inputs.front();
    inputs.erase(inputs.begin());
  }
  return {};
}

// Verbs that the Python package adds to the command (python/borescope/cli.py).
bool IsOfPackage(std::string_view word) { return word == "mcp" || word == "evidence"; }

std::string OfPackage(std::string_view word) {
  return fmt::format(
      "'{}' comes with the Python package; `pip install .` in a checkout installs it, and its "
      "command",
      word);
}

// The first word is no verb: perhaps a file, else a slip of the pen.
Error UnknownVerb(const std::string& word) {
  const std::vector<std::string_view> verbs = VerbNames();
  if (word.starts_with('-')) {
    return UsageError(fmt::format("'{}' must follow a verb: borescope VERB {} ...", word, word));
  }
  if (word.find_first_of("/.*?") != std::string::npos) {
    if (std::error_code hidden = WhatHides(word); hidden) {
      return {ErrorCode::kIo, hidden.message(), "check the name and its permissions", word};
    }
    return {.code = ErrorCode::kIo, .cause = word + ": no such file, and no verb of this name"};
  }
  // The first word of the list that is no verb; the list itself if all are.
  for (const std::string& item : SplitList(word)) {
    if (std::find(verbs.begin(), verbs.end(), item) == verbs.end()) {
      return UsageError(IsOfPackage(item)
                            ? OfPackage(item)
                            : fmt::format("unknown verb '{}'{}", item, DidYouMean(item, verbs)));
    }
  }
  return UsageError(fmt::format("'{}': only verbs that analyse a trace can stand in a list", word));
}

// The word before the verbs, which says what is done with them.
Result<void> TakeTask(std::span<const std::string>& rest, Command& command) {
  if (command.verb == nullptr || command.verb->tasks.empty() || rest.empty() ||
      rest.front().starts_with('-')) {
    return {};
  }
  const std::span<const std::string_view> tasks = command.verb->tasks;
  if (std::find(tasks.begin(), tasks.end(), rest.front()) == tasks.end()) {
    return UsageError(fmt::format("{}: '{}' is none of {}", command.verb->name, rest.front(),
                                  fmt::join(tasks, ", ")));
  }
  command.task = rest.front();
  rest = rest.subspan(1);
  return {};
}

// The word in the place of the verbs is none, and often the run.
Error NoVerbToMap(const std::string& word, std::string_view verb) {
  const Result<bool> is_input = Exists(word);
  if (!is_input.ok()) {
    return is_input.error();
  }
  return *is_input ? UsageError(fmt::format(
                         "{}: '{}' is no verb that analyses; verbs come before INPUT", verb, word))
                   : UnknownVerb(word);
}

// The verbs that follow one which takes verbs.
Result<void> TakeVerbs(std::span<const std::string>& rest, Command& command) {
  if (command.verb == nullptr || !command.verb->takes_verbs || rest.empty() ||
      rest.front().starts_with('-')) {
    return {};
  }
  // The report and a check are asked with the options that the summary has.
  command.raw.whole = rest.front() == "report" || rest.front() == "check" ? rest.front() : "";
  Command inner;
  const std::string_view name =
      command.raw.whole.empty() ? std::string_view(rest.front()) : "summary";
  if (!SetVerb(name, inner) || inner.analyses.empty()) {
    return NoVerbToMap(rest.front(), command.verb->name);
  }
  command.analyses = std::move(inner.analyses);
  rest = rest.subspan(1);
  return {};
}

// What follows --, for a verb that runs it.
void TakeProgram(std::span<const std::string>& rest, Command& command) {
  if (command.verb == nullptr || !command.verb->takes_program) return;
  const auto dashes = std::find(rest.begin(), rest.end(), "--");
  if (dashes == rest.end()) return;
  command.raw.program.assign(dashes + 1, rest.end());
  rest = rest.first(static_cast<size_t>(dashes - rest.begin()));
}

bool IsHelp(std::string_view word) {
  return word == "-h" || word == "--help" || word == "help" || word == "--help-all";
}

}  // namespace

bool SetVerb(std::string_view name, Command& command) {
  for (const VerbRow& row : OtherVerbs()) {
    if (row.name == name) {
      command.verb = &row;
      return true;
    }
  }
  for (const std::string& item : SplitList(name)) {
    const VerbInfo* verb = FindVerb(item);
    if (verb == nullptr) {
      command.analyses.clear();
      return false;
    }
    command.analyses.push_back(verb);
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
    command.raw.values[words[0] == "--help-all" ? "help-all" : "help"] = "true";
    if (words.size() > 1 && !SetVerb(words[1], command)) {
      return UnknownVerb(words[1]);
    }
    return command;
  }
  std::span<const std::string> rest = words.subspan(1);
  if (!SetVerb(words[0], command)) {
    BS_ASSIGN(const bool is_input, Exists(words[0]));
    if (!(is_input || words[0] == "-") || !SetVerb("summary", command)) {
      return UnknownVerb(words[0]);
    }
    rest = words;
  }
  BS_TRY(TakeTask(rest, command));
  BS_TRY(TakeVerbs(rest, command));
  TakeProgram(rest, command);
  BS_TRY(ParseOptions(rest, command));
  BS_TRY(CheckColour(command.raw.Get("color")));
  BS_TRY(TakeLeadingWord(command));
  return command;
}

}  // namespace borescope::cli
