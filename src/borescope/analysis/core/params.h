// The parameters of an analysis: which part of a rank, grouped by what, with which thresholds.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/base/diagnostics.h"
#include "borescope/base/result.h"
#include "borescope/index/steps/steps.h"
#include "borescope/index/time_window.h"

namespace borescope::internal {

// Inclusive ranges of numbers: "0", "0,3", "2..5". Empty = everything.
struct NumberRanges {
  std::vector<std::pair<int64_t, int64_t>> ranges;

  bool empty() const { return ranges.empty(); }
  bool Contains(int64_t number) const;
  static Result<NumberRanges> Parse(std::string_view text);
};

// What part of a rank a question is about, where AnalysisSpec::takes_selection. Ranks are selected
// before map, for every analysis.
struct Selection {
  NumberRanges steps;
  NumberRanges gpus;
  NumberRanges streams;
  std::string annotation;  // host annotation name; empty = no window
  NumberRanges instances;  // which occurrences of it, counted from 0 by start; empty = all
  TimeRange range;         // of time
  StepRule step_rule = StepRule::kLaunch;
  std::string step_pattern;  // the annotations that are steps; empty: as recorded by profilers

  bool empty() const { return !has_time() && gpus.empty() && streams.empty() && instances.empty(); }
  // Whether steps are other than by default.
  bool redefines_steps() const { return step_rule != StepRule::kLaunch || !step_pattern.empty(); }
  // Whether some time of the recording may be left out.
  bool has_time() const { return !steps.empty() || !annotation.empty() || !range.is_open(); }
};

enum class Compat : uint8_t { kNone, kHta, kRpd, kInductor, kKeyAverages, kPyProf };

enum class ParamType : uint8_t {
  kFlag,    // given or not
  kCount,   // an integer >= 1; a default of 0 means none
  kNumber,  // an integer >= 0
  kTime,    // a length of time, kept in nanoseconds: "30us", "1.5ms"; a bare number is microseconds
  kTimes,   // lengths of time above 0, each longer than the one before, with commas between them
  kShare,   // a part of the whole, "1%" or "0.01"; read by Params::Share
  kChoice,  // one of the words in ParamSpec::value, which have "|" between them
  kFile,    // a path, whose text the engine reads before anything asks for it
  kFolder,  // a path, which the engine finds to be that of a folder
  kText,
  kTexts,  // an option that may be given several times; the texts have newlines between them
};

// An option of one analysis. Declared once, in param_specs.h; AnalysisSpec::params lists those of
// a verb, and parsing, --help and completion follow. The default is part of the declaration, so
// that an analysis asked without a command line behaves the same.
struct ParamSpec {
  std::string_view name;        // "kernel-wait": --kernel-wait
  std::string_view value = {};  // the placeholder of the value in help: "TIME"; empty for a flag
  std::string_view help;
  ParamType type = ParamType::kFlag;
  int64_t default_number = 0;  // count, or ns; a time below 0: none
  std::string_view default_text = {};
  bool names_events = false;         // an error where nothing recorded has such a name
  Compat only_with = Compat::kNone;  // an error under any other rules than those of this tool
};

// The value of one option as given.
struct ParamValue {
  std::string_view name;  // ParamSpec::name
  int64_t number = 0;     // 1 for a flag
  std::string text;
  std::string content = {};  // of the file `text`; kFile only
  ParamType type = ParamType::kText;
};

// Reads the value of an option; kInvalidArgument says what it should be.
Result<ParamValue> ParseParam(const ParamSpec& spec, std::string_view text);

// "30us", "1ms": the shortest exact way to write a time, for help.
std::string FormatParamTime(int64_t ns);

// What a run of several files lacks as a whole: files that could not be read, ranks that are
// missing or claimed twice.
struct RunFault {
  Diag what;
  int64_t count = 0;
  std::string words;      // which: "2 of 128 ranks loaded; without 2..127"
  bool is_error = false;  // the files cannot be one run, so that no sum of them is of use
};

// The options of one invocation that change an answer; and, when it is concluded, what the run
// lacks.
struct Params {
  Selection selection;
  std::vector<std::string> by;  // extra group keys, checked against AnalysisSpec::by
  Compat compat = Compat::kNone;
  bool all = false;  // kernels: copies and memsets too
  std::vector<ParamValue> values;
  std::vector<RunFault> run_faults;
  // How many ranks share what an answer may take; less than there are where not all are known yet.
  size_t sharing = 1;
  // Asked for the page alone: a table that it does not show (AnalysisSpec::report_tables) may be
  // left without rows, which spares most of the cost where it has a row for every event.
  bool for_page = false;
  // Asked for the tables that there can be: those that are left out where they say nothing stay.
  bool keeps_empty = false;

  // The value given for an option, else its default.
  int64_t Number(const ParamSpec& spec) const;
  std::string_view Text(const ParamSpec& spec) const;
  bool Flag(const ParamSpec& spec) const { return Number(spec) != 0; }
  // REQUIRES: kTimes.
  std::vector<int64_t> Times(const ParamSpec& spec) const;
  // In the order in which they were given. REQUIRES: kTexts.
  std::vector<std::string_view> Texts(const ParamSpec& spec) const;
  // From 0 to 1; 0 if nothing was given. REQUIRES: kShare.
  double Share(const ParamSpec& spec) const;
  // The content of the given file; nullptr without one. REQUIRES: kFile.
  const std::string* Content(const ParamSpec& spec) const;
};

}  // namespace borescope::internal
