// The registry of analyses: one row per question. The CLI verb, its help, the documentation page
// and (later) the Python method and the report section follow from the row.
//
// An analysis maps one rank to tables and reduces the tables of several ranks to one answer. Both
// are pure functions: they read a finished trace, and neither print, log nor open files. Sorting
// for display and --top are applied afterwards by the session, never inside a reduce.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/index/trace_index.h"
#include "borescope/table/table.h"
#include "borescope/trace/trace.h"

namespace borescope {

// One rank, ready to be asked.
struct RankView {
  int64_t rank = 0;
  const Trace& trace;
  const TraceIndex& index;
};

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

  bool empty() const {
    return steps.empty() && gpus.empty() && streams.empty() && annotation.empty() &&
           instances.empty();
  }
};

enum class Compat : uint8_t { kNone, kHta };

// The options of one invocation that change an answer.
struct Params {
  Selection selection;
  std::vector<std::string> by;  // extra group keys, checked against AnalysisSpec::by
  Compat compat = Compat::kNone;
  bool all = false;  // kernels: copies and memsets too
};

using Findings = std::vector<Table>;

// What a trace must hold for the question to make sense. Checked by the session before map; the
// message names the profiler option that records it.
enum class Needs : uint8_t { kNothing, kHostEvents, kOps, kDeviceEvents, kSteps };

struct AnalysisSpec {
  std::string_view name;     // verb: "kernels"
  std::string_view summary;  // one line of help
  std::string_view example;  // a command line shown by --help
  Needs needs;
  std::span<const std::string_view> by;  // accepted --by keys
  bool takes_selection;                  // --step, --gpu, --stream, --annotation are defined
  bool compat_hta;                       // --compat hta is defined
  bool takes_all;                        // --all is defined
  Result<Findings> (*map)(const RankView&, const Params&);
  // Associative; findings come in rank order. The tables of one map are a valid input.
  Result<Findings> (*reduce)(std::span<const Findings>, const Params&);
  // Derived columns (mean, share, stddev from sums) are (re)computed here, once, after the last
  // reduce.
  Result<Findings> (*finish)(Findings, const Params&);  // nullptr: nothing to do
};

std::span<const AnalysisSpec> Analyses();
const AnalysisSpec* FindAnalysis(std::string_view name);  // nullptr when there is none

}  // namespace borescope
