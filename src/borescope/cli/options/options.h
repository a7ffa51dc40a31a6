// The options of every verb: the parameters of the library's schema, and the rows of options.cc for
// what only a command line has. Parsing, --help, completion and launch scripts follow from them. A
// parameter of the library needs nothing here.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/cli/verbs.h"

namespace borescope::cli {

// What was typed, not yet understood: texts by the long names of options.
struct RawOptions {
  std::vector<std::string> inputs;
  std::vector<std::string> program;  // of record: what follows --
  std::string whole;  // of map and launch: "report" or "check", where that is in place of the verbs
  std::map<std::string, std::string, std::less<>> values;  // "true" for a flag

  // The text of an option; empty where it was not given.
  const std::string& Get(std::string_view option) const;
  bool Has(std::string_view option) const { return values.contains(option); }
};

enum class OptionGroup { kSelection, kQuestion, kOutput, kRun };
std::string_view GroupTitle(OptionGroup group);

// An option of a verb, as it is parsed and as help and completion show it.
struct Option {
  OptionGroup group;
  std::string short_name;  // "f", or empty
  std::string long_name;   // "format"
  std::string value;       // what represents the value in help: "FORMAT"; empty for a flag
  std::string help;
  std::vector<std::string> choices;  // empty when anything goes
  std::string sets;                  // the option whose value it is: itself, or another
  bool is_parameter = false;         // of the library
  bool may_repeat = false;           // given several times: texts with line ends between them

  bool is_flag() const { return value.empty(); }
  // Takes several words, up to the next option.
  bool is_many() const { return value.ends_with("..."); }
  bool is_list() const { return value == "LIST" || value == "KEYS" || value.ends_with("[,...]"); }
};

struct VerbRow;  // a verb that is no analysis

// Every option of one verb, in the order of --help; those that mean nothing to the verb, and are
// recognised all the same, are not among the shown ones.
std::vector<Option> OptionsOf(const VerbInfo& verb);
std::vector<Option> OptionsOf(const VerbRow& verb);
std::vector<Option> ShownOptions(const VerbRow& verb);
// The options of verbs that are asked together, and of the verb before them, if any; each once.
std::vector<Option> OptionsOf(Verbs verbs, const VerbRow* before);

// Whether any verb has an option of this name.
bool IsOptionOfAny(std::string_view name);

// "-f, --format FORMAT", or "    --top N" in line with it.
std::string OptionSyntax(const Option& option);

}  // namespace borescope::cli
