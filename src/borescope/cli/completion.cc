#include "borescope/cli/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "borescope/cli/launch/shell_words.h"
#include "borescope/cli/options/options.h"
#include "borescope/cli/result_macros.h"
#include "borescope/cli/verbs.h"

namespace borescope::cli {
namespace {

using Words = std::vector<std::string_view>;

struct Verb {
  std::string_view name;
  std::string_view summary;
  bool is_analysis;
  std::vector<OptionView> options;
};

std::vector<Verb> Verbs() {
  std::vector<Verb> verbs;
  for (const VerbInfo& verb : Describe().verbs) {
    verbs.push_back({verb.name, verb.summary, true, OptionViews(verb)});
  }
  for (const VerbRow& row : OtherVerbs()) {
    verbs.push_back({row.name, row.summary, false, OptionViews(row)});
  }
  return verbs;
}

std::string OptionWords(const Verb& verb) {
  std::string words;
  for (const OptionView& row : verb.options) {
    words += row.short_name.empty() ? "" : fmt::format("-{} ", row.short_name);
    words += fmt::format("--{} ", row.long_name);
  }
  words.pop_back();
  return words;
}

// One line for each option that has values to choose from, for one verb.
std::string ChoiceCases(const Verb& verb) {
  std::string cases;
  for (const OptionView& row : verb.options) {
    if (row.choices.empty()) {
      continue;
    }
    const std::string also =
        row.short_name.empty() ? "" : fmt::format("|{}:-{}", verb.name, row.short_name);
    cases += fmt::format("      {}:--{}{}) words+=' {}' ;;\n", verb.name, row.long_name, also,
                         fmt::join(row.choices, " "));
  }
  return cases;
}

// The words to choose from right behind the verb; empty for most.
std::string_view FirstWordsOf(std::string_view verb) {
  return verb == "completion" ? "bash zsh fish"
         : verb == "launch"   ? "slurm k8s"
         : verb == "chakra"   ? "convert check dump generate draw timeline"
                              : "";
}

std::string FirstWordCase(std::string_view verb) {
  const std::string_view words = FirstWordsOf(verb);
  return words.empty() ? "" : fmt::format("      {0}:{0}) words+=' {1}' ;;\n", verb, words);
}

// Verbs can be in a list: what follows the last comma is completed, and the options are
// those of all its verbs.
std::string BashScript() {
  std::string choices;
  std::string options;
  std::vector<std::string_view> analyses;
  for (const Verb& verb : Verbs()) {
    choices += ChoiceCases(verb) + FirstWordCase(verb.name);
    options += fmt::format("          {}) words+=' {}' ;;\n", verb.name, OptionWords(verb));
    if (verb.is_analysis) {
      analyses.push_back(verb.name);
    }
  }
  return fmt::format(
      R"(# bash completion for borescope; made by: borescope completion bash
_borescope() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} verb words=
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    if [[ $word == *,* ]]; then
      COMPREPLY=($(compgen -P "${{word%,*}}," -W '{}' -- "${{word##*,}}"))
    else
      COMPREPLY=($(compgen -W '{}' -- "$word"))
    fi
    return
  fi
  for verb in ${{COMP_WORDS[1]//,/ }}; do
    case "$verb:${{COMP_WORDS[COMP_CWORD - 1]}}" in
{}      *)
        [[ $word == -* ]] || continue
        case "$verb" in
{}        esac
        ;;
    esac
  done
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _borescope borescope
)",
      fmt::join(analyses, " "), fmt::join(VerbNames(), " "), choices, options);
}

bool TakesFile(const OptionView& row) {
  constexpr std::string_view kFiles[] = {"FILE", "INPUT", "DIR", "PROGRAM"};
  return std::find(std::begin(kFiles), std::end(kFiles), row.value) != std::end(kFiles);
}

std::string ZshOption(const OptionView& row) {
  // In an _arguments specification, brackets and colons of texts are escaped.
  std::string help;
  for (const char c : row.help) {
    help += c == '[' || c == ']' || c == ':' ? fmt::format("\\{}", c) : std::string(1, c);
  }
  std::string value;
  if (!row.value.empty()) {
    value = !row.choices.empty() ? fmt::format(":value:({})", fmt::join(row.choices, " "))
            : TakesFile(row)     ? ":file:_files"
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
std::string ZshOperands(std::string_view verb) {
  const std::string_view words = FirstWordsOf(verb);
  const std::string_view files =
      verb == "list" || verb == "completion" ? "'*: :'" : "'*:file:_files'";
  const std::string first = words.empty() ? "" : fmt::format("'1:word:({})'", words);
  return fmt::format("{}{}{}", first, first.empty() ? "" : " ", files);
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
  std::string verbs;
  std::string cases;
  for (const Verb& verb : Verbs()) {
    verbs += fmt::format("    {}\n", SingleQuoted(fmt::format("{}:{}", verb.name, verb.summary)));
    cases += fmt::format("    {})\n      _arguments \\\n", verb.name);
    for (const OptionView& row : verb.options) {
      cases += ZshOption(row);
    }
    cases += fmt::format("        {}\n", ZshOperands(verb.name));
    cases += "      ;;\n";
  }
  return fmt::format(kZshScript, verbs, cases);
}

std::string FishOption(const Verb& verb, const OptionView& row) {
  std::string line = fmt::format("complete -c borescope -n '__fish_seen_subcommand_from {}' -l {}",
                                 verb.name, row.long_name);
  line += row.short_name.empty() ? "" : fmt::format(" -s {}", row.short_name);
  if (!row.choices.empty()) {
    line += fmt::format(" -x -a '{}'", fmt::join(row.choices, " "));
  } else if (!row.value.empty()) {
    line += TakesFile(row) ? " -r -F" : " -x";
  }
  return fmt::format("{} -d {}\n", line, SingleQuoted(row.help));
}

std::string FishScript() {
  std::string script = "# fish completion for borescope; made by: borescope completion fish\n";
  for (const Verb& verb : Verbs()) {
    script += fmt::format("complete -c borescope -n __fish_use_subcommand -a {} -d {}\n", verb.name,
                          SingleQuoted(verb.summary));
  }
  for (const Verb& verb : Verbs()) {
    for (const OptionView& row : verb.options) {
      script += FishOption(verb, row);
    }
  }
  for (const std::string_view verb : {"chakra", "completion", "launch"}) {
    script += fmt::format("complete -c borescope -n '__fish_seen_subcommand_from {}' {}-a '{}'\n",
                          verb, verb == "completion" ? "-f " : "", FirstWordsOf(verb));
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
