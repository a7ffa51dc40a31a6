// AnalysisSpec: a question about a run. The verb of the command line, its help,
// its page of documentation and its section of the report follow from it; catalog/catalog.h lists
// all.
//
// An analysis maps one rank to tables and reduces the tables of several ranks to one answer. Both
// are pure functions: they read a finished trace, and neither print, log nor open files. Sorting
// for display and --top are applied afterwards by the engine, never inside a reduce.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "borescope/analysis/core/params.h"
#include "borescope/analysis/core/shared_measures.h"
#include "borescope/base/io/byte_source.h"
#include "borescope/base/result.h"
#include "borescope/index/trace_index.h"
#include "borescope/table/display/view.h"
#include "borescope/table/table.h"
#include "borescope/trace/overlay.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

// One rank, with everything that an analysis needs.
struct RankView {
  int64_t rank = 0;
  const Trace& trace;
  const TraceIndex& index;
  int threads = 1;                       // that an answer may use
  const Steps* matched_steps = nullptr;  // those of --step-pattern
  SharedMeasures* shared = nullptr;      // of the question that this is part of, if of any

  // What `make()` gives; within a question that has several parts, once for each `Measure`.
  template <class Measure, class Make>
  auto Shared(const Make& make) const {
    using Value = const std::invoke_result_t<Make>;
    return shared == nullptr ? std::shared_ptr<Value>(std::make_shared<Value>(make()))
                             : shared->Get<Measure>(make);
  }
  const Steps& steps() const { return matched_steps == nullptr ? index.steps : *matched_steps; }
};

using Tables = std::vector<Table>;

// What a trace must hold for the question to make sense. Checked by the engine before map; the
// message names the profiler option that records it.
enum class Needs : uint8_t {
  kNothing,
  kEvents,  // anything on host or device
  kHostEvents,
  kOps,
  kDeviceEvents,
  kSteps,
  kLaunches,     // device work tied to the call that launched it
  kGraphs,       // launches or captures of graphs, or kernels of their nodes
  kCopies,       // memcpys or memsets
  kAnnotations,  // user annotations, of host or device
  kCollectives,  // communication kernels, or operators with the arguments of a collective
  kCollectiveKernels,
  kMemory,    // allocator events
  kCounters,  // profiler ranges with hardware counters
  kCount
};

// Draws the answer of one rank.
using DrawOverlay = Result<Overlay> (*)(const RankView&, const Params&);

// The functions that answer a question.
struct Pipeline {
  Result<Tables> (*map)(const RankView&, const Params&) = nullptr;
  // Adds to the tables of map what files named by the trace contain, on the machine that maps. The
  // only function here that may read files; the engine calls it only if answers may include what it
  // finds. nullptr: nothing to read.
  Result<Tables> (*read_files)(Tables, const Params&) = nullptr;
  // Adds to the tables of map what of the recording no Trace keeps. `text` yields the text that
  // the trace was read from, inflated, once. nullptr: the trace is enough. Of formats without such
  // a text, and of text that had to be repaired, it is an error of kind kMissingData.
  Result<Tables> (*read_text)(Tables, const RankView&, ByteSource& text, const Params&) = nullptr;
  // Associative, and the order of the tables does not matter: partial results of any split of
  // the ranks, in any order, give the same tables. The tables of one map are a valid input.
  Result<Tables> (*reduce)(std::span<const Tables>, const Params&) = nullptr;
  // Derived columns (mean, share, stddev from sums) are (re)computed here, once, after the last
  // reduce. nullptr: nothing to do.
  Result<Tables> (*finish)(Tables, const Params&) = nullptr;
  // Not nullptr: the verb takes two inputs, each mapped and reduced alone, and this makes the
  // answer of both; there is no finish.
  Result<Tables> (*compare)(Tables base, Tables test, const Params&) = nullptr;
  // What --overlay draws under the --compat of this pipeline, as AnalysisSpec::overlay without one.
  DrawOverlay overlay = nullptr;
  // Of a tool that looks at parts of a rank: --annotation and --instance are allowed.
  bool takes_window = false;
  // Tables that come from a file are held against those that map gives of an empty trace, name by
  // name and column by column, before reduce sees them. With this, columns of numbers with a
  // fraction may follow those, named by what was recorded.
  bool adds_columns = false;
  // What reduce and finish rely on beyond that: an error where the cells are none that map gives.
  // nullptr: any cells will do.
  Result<void> (*check_tables)(const Tables&, const Params&) = nullptr;
};

struct CompatRow;
struct SavedForm;

// The same question by the rules of another tool.
struct CompatPipeline {
  Compat tool = Compat::kNone;
  const Pipeline* pipeline = nullptr;
};

struct AnalysisSpec {
  std::string_view name;     // verb: "kernels"
  std::string_view summary;  // one line of help
  std::string_view example;  // a command line shown by --help
  Needs needs = Needs::kNothing;
  std::span<const std::string_view> by = {};      // accepted --by keys
  std::span<const ParamSpec* const> params = {};  // options of its own
  // --step, --gpu, --stream, --annotation, --instance, --begin, --end.
  bool takes_selection = true;
  // Of these only --step and what says which steps there are: it is about whole steps, and its
  // `check` refuses the others.
  bool is_about_whole_steps = false;
  bool takes_all = false;  // --all is defined
  Pipeline answer;
  // The same by the rules of other tools, at most one each; packs add them (catalog/pack.h).
  std::span<const CompatPipeline> compats = {};
  // A word before INPUT, for verbs that need one: `stats REPORT INPUT`. Its value is that of this
  // option. nullptr: INPUT comes first.
  const ParamSpec* leading = nullptr;
  // What can be known to be wrong with the options before any input is read. nullptr: nothing.
  Result<void> (*check)(const Params&) = nullptr;
  // What --overlay draws on the trace of one rank. nullptr: the option is not defined.
  DrawOverlay overlay = nullptr;
  // The memory it takes besides the trace, as a multiple of the trace's memory; 0 for less than a
  // quarter. Measured (bench/README.md), and used for --memory-limit.
  double memory = 0;
  // The measure, if any, that takes so much time and memory that verbs of one question which need
  // it run one after the other, after which it is freed. nullptr: none.
  MeasureId (*dear)(const Params&) = nullptr;
  // What of its tables is drawn, on the page and in pictures.
  std::span<const ViewSpec> views = {};
  // The tables shown in its section of the report; empty: all.
  std::span<const std::string_view> report_tables = {};
  bool in_report = true;
  // Why the finished tables say nothing that a section could show, and what to record; empty where
  // they do. nullptr: they always do.
  std::string (*lack)(const Tables&) = nullptr;
  bool draws_other_verbs = false;  // its answer holds tables of other verbs, with their views
  // How text shows its tables, which are ready to be shown, as lines for scripts. nullptr: never.
  LineStyle (*lines)(const Params&, std::span<const Table>) = nullptr;
  // --save and --load; nullptr: not defined.
  const SavedForm* saved = nullptr;

  // nullptr where the rules of that tool are not defined for the verb.
  const Pipeline* FindPipeline(Compat compat) const;
  // Whether --all is defined under `compat`.
  bool TakesAll(Compat compat) const;
  // The first tool under whose rules --all is defined; nullptr for none.
  const CompatRow* ToolThatTakesAll() const;
  const Pipeline& PipelineFor(const Params& given) const {
    const Pipeline* found = FindPipeline(given.compat);
    return found == nullptr ? answer : *found;
  }
  // nullptr where --overlay is not defined for what is asked.
  DrawOverlay OverlayFor(const Params& given) const {
    return given.compat == Compat::kNone ? overlay : PipelineFor(given).overlay;
  }
  // Every option of its own: the leading word, then `params`.
  std::vector<const ParamSpec*> AllParams() const;
  // What of its measures is dear for what is asked; nullptr for nothing.
  MeasureId DearMeasure(const Params& given) const {
    return dear == nullptr || given.compat != Compat::kNone ? nullptr : dear(given);
  }
  bool takes_two() const { return answer.compare != nullptr; }
};

// The tools of --compat.
struct CompatRow {
  Compat id;
  std::string_view name;
  std::span<const std::string_view> by = {};  // keys of --by that the tool has, too
  bool takes_all = false;                     // --all is defined
};
inline constexpr std::string_view kKeyAveragesKeys[] = {"shape"};
inline constexpr CompatRow kCompats[] = {
    {.id = Compat::kHta, .name = "hta"},
    {.id = Compat::kRpd, .name = "rpd"},
    {.id = Compat::kInductor, .name = "inductor"},
    {.id = Compat::kKeyAverages, .name = "key_averages", .by = kKeyAveragesKeys, .takes_all = true},
    {.id = Compat::kPyProf, .name = "pyprof"}};

// The value after `compat`, kNone after the last one. The compiler requires a case for each new
// one.
constexpr Compat NextCompat(Compat compat) {
  switch (compat) {
    case Compat::kNone:
      return Compat::kHta;
    case Compat::kHta:
      return Compat::kRpd;
    case Compat::kRpd:
      return Compat::kInductor;
    case Compat::kInductor:
      return Compat::kKeyAverages;
    case Compat::kKeyAverages:
      return Compat::kPyProf;
    case Compat::kPyProf:
      return Compat::kNone;
  }
  return Compat::kNone;
}

// Each value but kNone, in the order of the enum, and so none twice.
constexpr bool HasEveryCompat() {
  Compat compat = Compat::kNone;
  for (const CompatRow& row : kCompats) {
    compat = NextCompat(compat);
    if (compat == Compat::kNone || row.id != compat) {
      return false;
    }
  }
  return NextCompat(compat) == Compat::kNone;
}
static_assert(HasEveryCompat());

const CompatRow* FindCompat(Compat compat);  // nullptr for none
std::string_view CompatName(Compat compat);  // empty for none

}  // namespace borescope::internal
