// Every option of every verb: one row each. Parsing, --help and shell completion follow from the
// rows; what an option means is decided in arguments.cc. To add one: a member of RawOptions, a row
// in options.cc, its meaning in arguments.cc.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/session.h"

namespace borescope::cli {

// What was typed, not yet understood. Empty = not given.
struct RawOptions {
  std::vector<std::string> inputs;
  std::string format, output, color, sort, top;
  std::string rank, step, gpu, stream, annotation, instance;
  std::string by, compat, overlay, save, load;
  std::string base_rank, test_rank, base_step, test_step;
  std::string begin, end;
  std::string to;                               // of convert
  std::string host, device;                     // of link and chakra
  std::string npus, passes, frequency, linked;  // of chakra
  std::string runtime, tensor_size, comm_size;  // likewise
  std::string against;                          // of report
  std::string threads, memory_limit;
  std::map<std::string_view, std::string> params;  // by ParamSpec::name; "" behind a flag
  std::string time_limit, row_limit;
  std::string trace, timeout, python;  // of bench-kernel
  std::string port;                    // of open, as are timeout and against
  bool all = false;
  bool no_progress = false;
  bool quiet = false;
  bool verbose = false;
  bool schema = false;
  bool order = false;
  bool report = false;
  bool no_browser = false;
  bool help = false;
};

enum class OptionGroup { kSelection, kQuestion, kOutput, kRun };
std::string_view GroupTitle(OptionGroup group);

struct OptionRow {
  OptionGroup group;
  std::string_view short_name;  // "f", or empty
  std::string_view long_name;   // "format"
  std::string_view value;       // what stands for the value in help: "FORMAT"; empty for a flag
  std::string_view help;
  std::string RawOptions::* text;  // where the value goes; nullptr for a flag
  bool RawOptions::* flag;         // set by a flag; nullptr otherwise
  // Whether a verb takes it; a verb that is no analysis passes nullptr.
  bool (*applies)(const AnalysisSpec* spec);
  // The values to choose from, for help and completion; nullptr when anything goes.
  std::vector<std::string_view> (*choices)(const AnalysisSpec* spec);
};

std::span<const OptionRow> Options();

// Analyses asked for together; none stands for a verb that is no analysis.
using Specs = std::span<const AnalysisSpec* const>;

// Whether any of the verbs takes the option.
bool Applies(const OptionRow& row, Specs specs);

// The options that belong to these verbs only, in order, each once.
std::vector<const ParamSpec*> ParamsOf(Specs specs);

// "c" of --columns; empty for most.
std::string_view ShortNameOf(const ParamSpec& param);

// An option as help and completion show it, whichever of the two tables it comes from.
struct VerbRow;

struct OptionView {
  OptionGroup group;
  std::string_view short_name;
  std::string_view long_name;
  std::string_view value;
  std::string help;
  std::vector<std::string_view> choices;
};

// Every option of one verb, in the order of --help.
std::vector<OptionView> OptionViews(const AnalysisSpec& spec);
std::vector<OptionView> OptionViews(const VerbRow& verb);

// "-f, --format FORMAT", or "    --top N" in line with it.
std::string OptionSyntax(const OptionView& row);

// How other tools spell an option. Dashes and underscores are the same in `from`.
struct AliasRow {
  enum class Use : uint8_t {
    kRename,      // means the option `to`
    kInput,       // its value stands as INPUT
    kIgnore,      // has no meaning here, nor does its value
    kIgnoreFlag,  // has no meaning here
  };
  std::string_view from;
  Use use = Use::kRename;
  std::string_view to = {};
};

// A verb that is no analysis.
struct VerbRow {
  std::string_view name;
  std::string_view summary;
  std::string_view usage;  // what follows the name
  std::string_view example;
  // The options it has beside those of every verb, by their long names.
  std::span<const std::string_view> options = {};
  std::string_view details = {};  // more lines of help, below the example
  std::span<const AliasRow> aliases = {};
  // Options of every verb that mean nothing here: not shown, and told apart where they are given.
  std::span<const std::string_view> pointless = {};
};
// Whether the verb, which is no analysis, takes the option.
bool Applies(const OptionRow& row, const VerbRow& verb);
std::span<const VerbRow> OtherVerbs();

// The names of all verbs, in the order of --help.
std::vector<std::string_view> VerbNames();

}  // namespace borescope::cli
