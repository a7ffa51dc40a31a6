// Every option of every verb: one row each. Parsing, --help and shell completion follow from the
// rows; what an option means is decided in understand.cc. To add one: a member of RawOptions, a row
// in options.cc, its meaning in understand.cc.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/engine/inputs/question_text.h"
#include "borescope/engine/run_analyses.h"

namespace borescope::internal::cli {

// What was typed, not yet understood. Empty = not given.
struct RawOptions : QuestionText {
  std::vector<std::string> inputs;
  std::string format, output, color, load;
  std::string to;                               // of convert
  std::string host, device;                     // of link and chakra
  std::string npus, passes, frequency, linked;  // of chakra
  std::string runtime, tensor_size, comm_size;  // likewise
  std::string against;                          // of report
  std::string threads, memory_limit;
  std::string time_limit, row_limit;
  std::string trace, timeout, python;  // of bench-kernel
  std::string port;                    // of open, as are timeout and against
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

struct VerbRow;  // a verb that is no analysis

// Whether any of the verbs takes the option; no verb stands for one that is no analysis.
bool Applies(const OptionRow& row, Specs specs);
bool Applies(const OptionRow& row, const VerbRow& verb);

// "c" of --columns; empty for most.
std::string_view ShortNameOf(const ParamSpec& param);

// An option as help and completion show it, whichever of the two tables it comes from.
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

}  // namespace borescope::internal::cli
