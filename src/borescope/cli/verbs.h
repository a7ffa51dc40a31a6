// The verbs: those that are no analyses have a row each, which says what they do and what help
// shows of them. To add one: its file, a row in verbs.cc.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/error.h"
#include "borescope/schema.h"

namespace borescope::cli {

struct Command;

// How other tools spell an option. Dashes and underscores are the same in `from`.
struct AliasRow {
  enum class Use : uint8_t {
    kRename,      // means the option `to`
    kInput,       // its value is an INPUT
    kIgnore,      // has no meaning here, nor does its value
    kIgnoreFlag,  // has no meaning here
  };
  std::string_view from;
  Use use = Use::kRename;
  std::string_view to = {};
};

// An option of other verbs that one does not have, and what to write there in its place.
struct InsteadRow {
  std::string_view option;
  std::string_view write;
};

// What help says about an option that means something of its own to one verb.
struct WordsRow {
  std::string_view option;
  std::string_view value;  // empty for a flag
  std::string_view help;
};

// A verb that is no analysis.
struct VerbRow {
  std::string_view name;
  std::string_view usage;                      // what follows the name
  Result<int> (*run)(const Command& command);  // the exit status
  // Those of the library's task of that name, where there is one.
  std::string_view summary = {};
  std::string_view example = {};
  // Options it has by their long names, beside those of every verb and the parameters of the
  // library's task of its name.
  std::span<const std::string_view> options = {};
  // A task whose parameters it has, too, but for the files that it writes.
  std::string_view like = {};
  std::string_view details = {};  // more lines of help, below the example
  std::span<const AliasRow> aliases = {};
  // Options of every verb that mean nothing here: not shown, and recognised where they are given.
  std::span<const std::string_view> pointless = {};
  std::span<const InsteadRow> instead = {};
  std::span<const WordsRow> words = {};
  // Verbs that analyse follow it, with their options: `map VERB[,VERB...]`.
  bool takes_verbs = false;
  // One of these comes before them.
  std::span<const std::string_view> tasks = {};
  // A program with its arguments follows after --, which are no options of ours.
  bool takes_program = false;
};
std::span<const VerbRow> OtherVerbs();

// The names of all verbs, in the order of --help.
std::vector<std::string_view> VerbNames();

// The verbs of the library as the command line names them: options with dashes.

// Verbs asked for together.
using Verbs = std::span<const VerbInfo* const>;

// nullptr where there is none.
const VerbInfo* FindVerb(std::string_view name);
const TaskInfo* FindTask(std::string_view name);
// The parameter that the option `name` ("kernel-wait") sets; nullptr where the verb has none.
const ParameterInfo* FindParameter(const VerbInfo& verb, std::string_view name);
const ParameterInfo* FindParameter(Verbs verbs, std::string_view name);
const ParameterInfo* FindParameter(const TaskInfo& task, std::string_view name);

// "kernel_wait" -> "kernel-wait"
std::string OptionName(const ParameterInfo& parameter);

// The names of verbs, as the library takes them.
std::vector<std::string_view> NamesOf(Verbs verbs);

}  // namespace borescope::cli
