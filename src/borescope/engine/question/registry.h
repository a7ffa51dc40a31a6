// The registry: every parameter that several verbs or tasks share, and every parameter of a task,
// has one row here, which is all that anybody knows about it: its name, type, default and meaning,
// where it applies, how its text becomes typed, and how it is written as text again. The schema,
// the command line with its help and completion, launch scripts, Python, parts and messages follow.
//
// To add a shared parameter: its row in registry.cc, and the code that uses what `read` sets. The
// options of single verbs are ParamSpecs (analysis/core/param_specs.h), which work alike.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/base/result.h"
#include "borescope/engine/inputs/run_options.h"

namespace borescope::internal {

struct ParameterRow {
  std::string_view name;         // with dashes: "step-rule"
  std::string_view type;         // as ParameterInfo::type of the public schema
  std::string_view placeholder;  // what represents the value in help: "LIST"; empty for a flag
  std::string_view doc;
  std::string_view group = "question";  // or "selection", "output"
  std::string_view default_text = {};   // its value where none is given; empty: none
  std::string_view choice = {};         // of tasks: the values to choose from, "|" between them

  // Only for parameters that several share.
  std::string_view tasks = {};  // that take it too, blanks between them: "report check"
  // Whether a verb takes it.
  bool (*applies)(const AnalysisSpec& verb) = nullptr;
  // The values to choose from; nullptr when anything goes.
  std::vector<std::string_view> (*choices)(const AnalysisSpec& verb) = nullptr;
  // Sets what the text means, which is not empty; of a flag "true". Rows are read in their order.
  Result<void> (*read)(const std::string& text, RunOptions& asked) = nullptr;
  // What was set, as a text that `read` takes; empty: nothing. nullptr where what is mapped does
  // not depend on it, so that parts are without it.
  std::string (*text)(const Params& params, const NumberRanges& ranks) = nullptr;
};

// In the order of help, and in which they are read.
std::span<const ParameterRow> SharedParameters();
// nullptr where there is none of the name.
const ParameterRow* FindShared(std::string_view name);
// The names of those that select a part of each rank, as programs write them: `step`, `gpu`, ...;
// in a sentence: "`a`, `b` and `c`", or with a comma after each.
std::vector<std::string> NamesOfSelection();

// A task of the library: what is no verb with tables.
struct TaskRow {
  std::string_view name;
  std::string_view summary;
  std::string_view example;
  std::span<const ParameterRow> own = {};
};
std::span<const TaskRow> TaskRows();
const TaskRow* FindTask(std::string_view name);
// Its shared parameters in their order, then its own.
std::vector<const ParameterRow*> ParametersOf(const TaskRow& task);

}  // namespace borescope::internal
