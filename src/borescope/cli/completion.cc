#include "borescope/cli/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "borescope/cli/launch/launch_job.h"
#include "borescope/cli/options/options.h"
#include "borescope/cli/usage_error.h"
#include "borescope/cli/verbs.h"

namespace borescope::cli {
namespace {

using Words = std::vector<std::string>;

struct Verb {
  std::string_view name;
  std::string_view summary;
  bool is_analysis;
  std::vector<Option> options;
  Words first = {};          // the words to choose from after the verb; none for most
  bool takes_verbs = false;  // verbs that analyse follow, after one of `first` if there are any
  Words columns = {};        // by which its tables can be sorted
};

std::vector<Table> TablesOf(std::string_view verb) {
  const Result<Answer> answer = DescribeAnswer(verb);
  return answer.ok() ? answer->tables() : std::vector<Table>();
}

// The columns of all tables of a verb, each once, but for those that are several words for a shell.
Words ColumnsOf(std::string_view verb) {
  Words names;
  for (const Table& table : TablesOf(verb)) {
    for (size_t i = 0; i < table.num_columns(); ++i) {
      std::string name(table.column(i).name());
      if (name.find(' ') == std::string::npos &&
          std::find(names.begin(), names.end(), name) == names.end()) {
        names.push_back(std::move(name));
      }
    }
  }
  return names;
}

// The reports of a verb that takes one, which are its tables.
Words ReportsOf(const VerbInfo& verb) {
  Words names;
  if (!verb.word.empty()) {
    names.emplace_back("all");
    for (const Table& table : TablesOf(verb.name)) {
      names.emplace_back(table.name());
    }
  }
  return names;
}

// The words to choose from right after a verb that does not analyse.
Words FirstWordsOf(const VerbRow& row) {
  if (row.name == "completion") {
    return {"bash", "zsh", "fish"};
  }
  if (row.name == "chakra") {
    return {"convert", "check", "dump", "generate", "draw", "timeline"};
  }
  return {row.tasks.begin(), row.tasks.end()};
}

std::vector<Verb> Verbs() {
  std::vector<Verb> verbs;
  for (const VerbInfo& verb : Describe().verbs) {
    verbs.push_back({verb.name, verb.summary, true, OptionsOf(verb), ReportsOf(verb), false,
                     ColumnsOf(verb.name)});
  }
  for (const VerbRow& row : OtherVerbs()) {
    verbs.push_back(
        {row.name, row.summary, false, ShownOptions(row), FirstWordsOf(row), row.takes_verbs});
  }
  return verbs;
}

Words NamesOfAnalyses(const std::vector<Verb>& verbs) {
  Words names;
  for (const Verb& verb : verbs) {
    if (verb.is_analysis) {
      names.emplace_back(verb.name);
    }
  }
  return names;
}

// The values to choose from of an option of a verb; empty where there are none.
std::string ValuesOf(const Verb& verb, const Option& row) {
  return row.long_name == "sort" ? fmt::format("{}", fmt::join(verb.columns, " "))
                                 : fmt::format("{}", fmt::join(row.choices, " "));
}

std::string OptionWords(const Verb& verb) {
  std::string words;
  for (const Option& row : verb.options) {
    words += row.short_name.empty() ? "" : fmt::format("-{} ", row.short_name);
    words += fmt::format("--{} ", row.long_name);
  }
  words.pop_back();
  return words;
}

// One line for each option that has values to choose from, for one verb.
std::string ChoiceCases(const Verb& verb) {
  std::string cases;
  for (const Option& row : verb.options) {
    const std::string values = ValuesOf(verb, row);
    if (values.empty()) {
      continue;
    }
    const std::string also =
        row.short_name.empty() ? "" : fmt::format("|{}:-{}", verb.name, row.short_name);
    cases +=
        fmt::format("      {}:--{}{}) words+=' {}' ;;\n", verb.name, row.long_name, also, values);
  }
  return cases;
}

// The words after a verb, and for those that take verbs these, after the word if there is one.
std::string FirstWordCases(const Verb& verb, const Words& analyses) {
  const Words& words = verb.takes_verbs && verb.first.empty() ? analyses : verb.first;
  std::string cases = words.empty() ? ""
                                    : fmt::format("      {0}:{0}) words+=' {1}' ;;\n", verb.name,
                                                  fmt::join(words, " "));
  if (verb.takes_verbs) {
    for (const std::string& task : verb.first) {
      cases +=
          fmt::format("      {}:{}) words+=' {}' ;;\n", verb.name, task, fmt::join(analyses, " "));
    }
  }
  return cases;
}

// Where the verbs are that follow such a verb: their options are completed, too.
std::string LaterVerbCase(const Verb& verb) {
  const int at = verb.first.empty() ? 2 : 3;
  return verb.takes_verbs
             ? fmt::format("    {}) ((COMP_CWORD > {})) && verbs+=,${{COMP_WORDS[{}]}} ;;\n",
                           verb.name, at, at)
             : "";
}

// Verbs and values can be in a list: what follows the last comma is completed, and the options are
// those of all verbs.
std::string BashScript() {
  const std::vector<Verb> verbs = Verbs();
  const Words analyses = NamesOfAnalyses(verbs);
  std::string choices;
  std::string options;
  std::string later;
  for (const Verb& verb : verbs) {
    choices += ChoiceCases(verb) + FirstWordCases(verb, analyses);
    options += fmt::format("          {}) words+=' {}' ;;\n", verb.name, OptionWords(verb));
    later += LaterVerbCase(verb);
  }
  return fmt::format(
      R"(# bash completion for borescope; made by: borescope completion bash
_borescope() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} verb verbs words=
  COMPREPLY=()
  # --by=rank is three words here.
  [[ $word != = ]] || word=
  [[ $before != = ]] || before=${{COMP_WORDS[COMP_CWORD - 2]}}
  if ((COMP_CWORD == 1)); then
    if [[ $word == *,* ]]; then
      COMPREPLY=($(compgen -P "${{word%,*}}," -W '{}' -- "${{word##*,}}"))
    else
      COMPREPLY=($(compgen -W '{}' -- "$word"))
    fi
    return
  fi
  verbs=${{COMP_WORDS[1]}}
  case $verbs in
{}  esac
  for verb in ${{verbs//,/ }}; do
    case "$verb:$before" in
{}      *)
        [[ $word == -* ]] || continue
        case "$verb" in
{}        esac
        ;;
    esac
  done
  if [[ $word == *,* ]]; then
    COMPREPLY=($(compgen -P "${{word%,*}}," -W "$words" -- "${{word##*,}}"))
  else
    COMPREPLY=($(compgen -W "$words" -- "$word"))
  fi
}}
complete -o default -F _borescope borescope
)",
      fmt::join(analyses, " "), fmt::join(VerbNames(), " "), later, choices, options);
}

bool TakesFile(const Option& row) {
  constexpr std::string_view kFiles[] = {"FILE", "INPUT", "DIR", "PROGRAM"};
  return std::find(std::begin(kFiles), std::end(kFiles), row.value) != std::end(kFiles);
}

// Whether the value of an option may be several, with commas between them.
bool TakesList(const Option& row) { return row.long_name == "by"; }

std::string ZshChoices(std::string_view values, bool is_list) {
  return is_list ? fmt::format("_sequence compadd - {}", values) : fmt::format("({})", values);
}

std::string FishChoices(std::string_view values, bool is_list) {
  return is_list ? fmt::format("(__fish_append , {})", values) : std::string(values);
}

std::string ZshOption(const Verb& verb, const Option& row) {
  // In an _arguments specification, brackets and colons of texts are escaped.
  std::string help;
  for (const char c : row.help) {
    help += c == '[' || c == ']' || c == ':' ? fmt::format("\\{}", c) : std::string(1, c);
  }
  std::string value;
  if (!row.value.empty()) {
    const std::string values = ValuesOf(verb, row);
    value = !values.empty()  ? ":value:" + ZshChoices(values, TakesList(row))
            : TakesFile(row) ? ":file:_files"
                             : ":value:";
  }
  std::string lines = fmt::format(
      "        {} \\\n", SingleQuoted(fmt::format("--{}[{}]{}", row.long_name, help, value)));
  if (!row.short_name.empty()) {
    lines += fmt::format("        {} \\\n",
                         SingleQuoted(fmt::format("-{}[{}]{}", row.short_name, help, value)));
  }
  return lines;
}

// What verbs are given beside options: files, but for a few.
std::string ZshOperands(const Verb& verb, const Words& analyses) {
  std::string operands;
  int at = 0;
  if (!verb.first.empty()) {
    const std::string words = fmt::format("{}", fmt::join(verb.first, " "));
    operands += fmt::format("'{}:word:{}' ", ++at, ZshChoices(words, verb.is_analysis));
  }
  if (verb.takes_verbs) {
    const std::string names = fmt::format("{}", fmt::join(analyses, " "));
    operands += fmt::format("'{}:verb:{}' ", ++at, ZshChoices(names, true));
  }
  const bool is_alone = verb.name == "list" || verb.name == "completion";
  return operands + (is_alone ? "'*: :'" : "'*:file:_files'");
}

// The verbs with their summaries, and for each the arguments it takes.
constexpr char kZshScript[] =
    R"(#compdef borescope
# zsh completion for borescope; made by: borescope completion zsh
_borescope() {{
  local -a verbs
  verbs=(
{}  )
  if ((CURRENT == 2)); then
    if compset -P '*,'; then
      _describe verb verbs
    else
      _describe verb verbs
      _files
    fi
    return
  fi
  local verb=${{words[2]%%,*}}  # of a list, the options of its first
  shift words
  ((CURRENT--))
  case $verb in
{}    *) _files ;;
  esac
}}
if [[ $funcstack[1] == _borescope ]]; then
  _borescope "$@"
else
  compdef _borescope borescope  # by eval
fi
)";

std::string ZshScript() {
  const std::vector<Verb> all = Verbs();
  const Words analyses = NamesOfAnalyses(all);
  std::string verbs;
  std::string cases;
  for (const Verb& verb : all) {
    verbs += fmt::format("    {}\n", SingleQuoted(fmt::format("{}:{}", verb.name, verb.summary)));
    cases += fmt::format("    {})\n      _arguments \\\n", verb.name);
    for (const Option& row : verb.options) {
      cases += ZshOption(verb, row);
    }
    cases += fmt::format("        {}\n", ZshOperands(verb, analyses));
    cases += "      ;;\n";
  }
  return fmt::format(kZshScript, verbs, cases);
}

std::string FishOption(const Verb& verb, const Option& row) {
  std::string line = fmt::format("complete -c borescope -n '__fish_seen_subcommand_from {}' -l {}",
                                 verb.name, row.long_name);
  line += row.short_name.empty() ? "" : fmt::format(" -s {}", row.short_name);
  if (const std::string values = ValuesOf(verb, row); !values.empty()) {
    line += fmt::format(" -x -a '{}'", FishChoices(values, TakesList(row)));
  } else if (!row.value.empty()) {
    line += TakesFile(row) ? " -r -F" : " -x";
  }
  return fmt::format("{} -d {}\n", line, SingleQuoted(row.help));
}

std::string FishScript() {
  std::string script = "# fish completion for borescope; made by: borescope completion fish\n";
  const std::vector<Verb> verbs = Verbs();
  for (const Verb& verb : verbs) {
    script += fmt::format("complete -c borescope -n __fish_use_subcommand -a {} -d {}\n", verb.name,
                          SingleQuoted(verb.summary));
  }
  for (const Verb& verb : verbs) {
    for (const Option& row : verb.options) {
      script += FishOption(verb, row);
    }
  }
  const Words analyses = NamesOfAnalyses(verbs);
  const auto add = [&](const Verb& verb, const Words& words, bool is_list) {
    const std::string values = fmt::format("{}", fmt::join(words, " "));
    script += fmt::format("complete -c borescope -n '__fish_seen_subcommand_from {}' {}-a '{}'\n",
                          verb.name, verb.name == "completion" ? "-f " : "",
                          FishChoices(values, is_list));
  };
  for (const Verb& verb : verbs) {
    if (!verb.first.empty()) {
      add(verb, verb.first, verb.is_analysis);
    }
    if (verb.takes_verbs) {
      add(verb, analyses, true);
    }
  }
  return script;
}

struct ShellRow {
  std::string_view name;
  std::string (*script)();
};
constexpr ShellRow kShells[] = {{"bash", BashScript}, {"zsh", ZshScript}, {"fish", FishScript}};

}  // namespace

Result<std::string> CompletionScript(std::string_view shell) {
  for (const ShellRow& row : kShells) {
    if (row.name == shell) {
      return row.script();
    }
  }
  return UsageError("completion: name a shell: bash, zsh or fish");
}

}  // namespace borescope::cli
