// Every option of every verb: one row each, or a parameter of the library's schema. Parsing, --help
// and shell completion follow from them. To add an option of a single analysis: its ParamSpec, and
// nothing here. To add another: a member of RawOptions and a row in options.cc.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/cli/verb_schema.h"
#include "borescope/params.h"

namespace borescope::cli {

// What was typed, not yet understood. Empty = not given.
struct RawOptions {
  std::vector<std::string> inputs;
  std::vector<std::string> program;  // of record: what follows --
  // Parameters of the library by the names of their options ("kernel-wait"); "true" for a flag.
  std::map<std::string, std::string, std::less<>> params;
  std::string format, output, color, load;
  std::string to, align;                        // of convert
  std::string host, device;                     // of link and chakra
  std::string npus, passes, frequency, linked;  // of chakra
  std::string runtime, tensor_size, comm_size;  // likewise
  std::string against, timeline, card;          // of report
  std::string shard;                            // of map
  std::string expect, partial;                  // of reduce
  // Of check, and `markdown` of report; runs with line ends between them.
  std::string budget, baseline, history, fail, save_baseline, junit, sarif, markdown, html;
  std::string captures;
  std::string scrub, scrub_key, scrub_map;
  std::string cache, cache_size;
  std::string threads, memory_limit;
  std::string time_limit, row_limit, temp_limit;
  std::string trace, timeout, python;  // of bench-kernel
  std::string as;                      // of open: the form of the trace
  std::string port;                    // of open, as are timeout and against
  // Of launch.
  std::string shards, nodes, job_name, cpus, memory;
  std::string partition, account, time, sbatch;  // for Slurm
  std::string image, volumes, user;              // for Kubernetes
  bool no_progress = false;
  bool quiet = false;
  bool csv_safe = false;
  bool verbose = false;
  bool schema = false;
  bool order = false;
  bool no_context = false;  // of convert
  bool report = false;      // of open, and of map for the verb report
  bool check = false;       // of map for the verb check
  bool force = false;       // of map, record and check
  bool strict = false;      // of reduce and check
  bool no_browser = false;
  bool help = false;

  // The value of the option of a parameter; empty where it was not given.
  std::string Param(std::string_view name) const;
  // All of them, as the library takes them.
  Params ToParams() const;
};

enum class OptionGroup { kSelection, kQuestion, kOutput, kRun };
std::string_view GroupTitle(OptionGroup group);

struct OptionRow {
  OptionGroup group;
  std::string_view short_name;  // "f", or empty
  std::string_view long_name;   // "format"
  std::string_view value;       // what represents the value in help: "FORMAT"; empty for a flag
  std::string_view help;
  std::string RawOptions::* text;  // where the value goes; nullptr for a flag and a parameter
  bool RawOptions::* flag;         // set by a flag; nullptr otherwise
  // Whether a verb takes it; nullptr for a verb that is no analysis. No function: as the verb has
  // a parameter of the name.
  bool (*applies)(const VerbInfo* verb);
  // The values to choose from, for help and completion; nullptr when anything goes.
  std::vector<std::string_view> (*choices)(const VerbInfo* verb);
  // Of the library, whose words are shown; nullptr for a row with words of its own.
  const ParameterInfo* parameter = nullptr;

  bool is_parameter() const { return text == nullptr && flag == nullptr; }
  // Takes several words, up to the next option.
  bool is_many() const { return value.ends_with("..."); }
  bool is_list() const { return value == "LIST" || value == "KEYS" || value.ends_with("[,...]"); }
};

std::span<const OptionRow> Options();

struct VerbRow;  // a verb that is no analysis

// Whether any of the verbs takes the option; no verb represents one that is no analysis.
bool Applies(const OptionRow& row, Verbs verbs);
bool Applies(const OptionRow& row, const VerbRow& verb);
// Whether it was typed.
bool IsGiven(const OptionRow& row, const RawOptions& raw);

// The parameters that belong to these verbs and have no row, in order, each once.
std::vector<const ParameterInfo*> OwnParameters(Verbs verbs);

// "c" of --columns; empty for most.
std::string_view ShortNameOf(const ParameterInfo& parameter);

// An option as help and completion show it, whichever of the two it comes from.
struct OptionView {
  OptionGroup group;
  std::string_view short_name;
  std::string long_name;
  std::string_view value;
  std::string help;
  std::vector<std::string_view> choices;
};

// Every option of one verb, in the order of --help.
std::vector<OptionView> OptionViews(const VerbInfo& verb);
std::vector<OptionView> OptionViews(const VerbRow& verb);

// "-f, --format FORMAT", or "    --top N" in line with it.
std::string OptionSyntax(const OptionView& row);

}  // namespace borescope::cli
