#include "borescope/engine/analyse_bytes.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/measures/replay/changes.h"
#include "borescope/base/check.h"
#include "borescope/base/io/inflate.h"
#include "borescope/catalog/catalog.h"
#include "borescope/catalog/report_sections.h"
#include "borescope/engine/check_request.h"
#include "borescope/engine/map_files.h"
#include "borescope/engine/run_analyses.h"
#include "borescope/index/trace_index.h"
#include "borescope/ingest/load.h"

namespace borescope::internal {
namespace {

// Texts of options of which just any of their type would lead nowhere, and the content of the files
// they name.
struct ExampleRow {
  const ParamSpec* option;
  std::string_view text;
  std::string_view content = "";
};
constexpr ExampleRow kExamples[] = {
    {&kReportParam, "all"},
    {&kColumnsParam, "idx,op,kernel,params,flops"},
    {&kWidthParam, "150"},
    {&kDeviceParam, "A100 80GB SXM4"},
    {&kDeviceSpecParam, "a.json",
     R"({"name": "a", "tflops": {"bf16_matrix": 1000, "fp32": 50}, "memory_gbps": 2000})"},
    {&kPatternsParam, "a.json", R"({"a": ["a", "^[^b]*$"]})"},
    {&kScaleParam, "host:a=0.5"},
    {&kRemoveParam, "host:e"},
    {&kRoofParam, "80%"},
    {&kSpeedOfLightParam, "80%"},
    {&kLaunchParam, "0.5"},
    {&kSweepParam, "1,0.5"},
    {&kPlanParam, "a.json", R"({"changes": [{"launch": 0}, {"scale": "host:a=2"}]})"},
};

// The first word that is not the default, where there is one.
std::string_view OtherChoice(const ParamSpec& option) {
  std::string_view rest = option.value;
  std::string_view word = rest.substr(0, rest.find('|'));
  while (word == option.default_text && word.size() < rest.size()) {
    rest.remove_prefix(word.size() + 1);
    word = rest.substr(0, rest.find('|'));
  }
  return word;
}

// What any option of this type takes.
std::string ExampleText(const ParamSpec& option) {
  switch (option.type) {
    case ParamType::kCount:
    case ParamType::kNumber:
    case ParamType::kTime:  // of which this is microseconds
      return std::to_string(std::clamp<int64_t>(option.default_number / 2, 2, 50));
    case ParamType::kTimes:
      return "1us,1s";
    case ParamType::kShare:
      return "1%";
    case ParamType::kChoice:
      return std::string(OtherChoice(option));
    case ParamType::kFlag:
    case ParamType::kFile:
    case ParamType::kFolder:
    case ParamType::kText:
    case ParamType::kTexts:
      break;
  }
  return "a";
}

ParamValue ExampleOf(const ParamSpec& option) {
  const auto* row = std::find_if(std::begin(kExamples), std::end(kExamples),
                                 [&](const ExampleRow& one) { return one.option == &option; });
  const bool is_listed = row != std::end(kExamples);
  Result<ParamValue> value =
      ParseParam(option, is_listed ? std::string(row->text) : ExampleText(option));
  BS_CHECK(value.ok());
  value->content = is_listed ? row->content : "";
  return std::move(*value);
}

// Adds modes that are `start` with options of it, as many at once as go together, until each was in
// one that may be.
void AddWith(const AnalysisSpec& spec, const Params& start, std::vector<ParamValue> options,
             std::vector<Params>& modes) {
  for (size_t before = 0; options.size() != before && !options.empty();) {
    before = options.size();
    Params mode = start;
    std::vector<ParamValue> left;
    for (ParamValue& option : options) {
      mode.values.push_back(option);
      if (!CheckOptions(spec, mode).ok()) {
        mode.values.pop_back();
        left.push_back(std::move(option));
      }
    }
    if (left.size() != before) {
      modes.push_back(std::move(mode));
    }
    options = std::move(left);
  }
}

// Modes of one set of rules: as it is, grouped by all its keys, and so with all options.
void AddModes(const AnalysisSpec& spec, const Params& plain, const Params& grouped,
              std::vector<Params>& modes) {
  std::vector<ParamValue> values;
  std::vector<ParamValue> flags;
  for (const ParamSpec* option : spec.AllParams()) {
    (option->type == ParamType::kFlag ? flags : values).push_back(ExampleOf(*option));
  }
  modes.push_back(plain);
  modes.push_back(grouped);
  AddWith(spec, grouped, std::move(values), modes);
  AddWith(spec, grouped, std::move(flags), modes);
}

// With what an analysis reads of the text itself, however damaged that is.
Result<Tables> WithText(Tables tables, const AnalysisSpec& spec, const Params& params,
                        const RankView& view, std::string_view bytes) {
  const auto read_text = spec.PipelineFor(params).read_text;
  if (read_text == nullptr || view.trace.meta().events_end_byte == 0) {
    return tables;
  }
  BS_ASSIGN(const OpenedSource text, InflateIfCompressed(OpenMemory(bytes)));
  return read_text(std::move(tables), view, *text.bytes, params);
}

// Appends what one mode of one analysis reports for a trace that may lack what it needs.
Result<void> AnalyseTrace(const AnalysisSpec& spec, const Params& params, const RankView& view,
                          std::string_view bytes, Document& document) {
  Result<Tables> mapped = MapTrace(spec, params, view);
  if (!mapped.ok()) {
    return {};
  }
  BS_ASSIGN(mapped, WithText(std::move(*mapped), spec, params, view, bytes));
  if (const auto draw = spec.OverlayFor(params); draw != nullptr) {
    static_cast<void>(draw(view, params));
  }
  const Pipeline& pipeline = spec.PipelineFor(params);
  Result<Tables> finished = ReduceAndFinish(pipeline, params, {&*mapped, 1});
  if (!finished.ok() && finished.error().code == ErrorCode::kMissingData) {
    return {};  // it compares ranks
  }
  BS_ASSIGN(Tables findings, std::move(finished));
  if (spec.takes_two()) {
    BS_ASSIGN(findings, pipeline.compare(findings, findings, params));
  }
  std::move(findings.begin(), findings.end(), std::back_inserter(document.tables));
  return {};
}

struct Mode {
  const AnalysisSpec* spec;
  Params params;
};

// Those of all analyses.
const std::vector<Mode>& EveryMode() {
  static const std::vector<Mode> modes = [] {
    std::vector<Mode> all;
    for (const AnalysisSpec* spec : Analyses()) {
      for (Params& params : AllModes(*spec)) {
        all.push_back({spec, std::move(params)});
      }
    }
    return all;
  }();
  return modes;
}

}  // namespace

std::vector<Params> AllModes(const AnalysisSpec& spec) {
  std::vector<Params> modes;
  Params grouped;
  grouped.by.assign(spec.by.begin(), spec.by.end());
  grouped.all = spec.takes_all;
  AddModes(spec, Params(), grouped, modes);
  if (spec.takes_selection) {
    grouped.selection.step_rule = StepRule::kTime;
    modes.push_back(grouped);
  }
  for (const CompatRow& tool : kCompats) {
    if (spec.FindPipeline(tool.id) == nullptr) {
      continue;
    }
    Params plain;
    plain.compat = tool.id;
    Params regrouped = plain;
    if (tool.takes_all) {
      regrouped.by.assign(tool.by.begin(), tool.by.end());
      regrouped.all = true;
    }
    AddModes(spec, plain, regrouped, modes);
  }
  return modes;
}

Result<Document> AnalyseBytes(std::string_view bytes, const std::string& name, int threads,
                              uint64_t which) {
  BS_ASSIGN(const Trace trace, LoadBytes(bytes, name, {threads, {}}));
  const TraceIndex index = BuildIndex(trace, threads);
  Document document;
  AppendDiagnostics(trace.diagnostics(), name, document.diagnostics);
  AppendDiagnostics(index.diagnostics, name, document.diagnostics);
  const RankView view{trace.meta().rank.value_or(0), trace, index, threads};
  const Mode& mode = EveryMode()[which % EveryMode().size()];
  BS_TRY(AnalyseTrace(*mode.spec, mode.params, view, bytes, document));
  document.views = ViewsOf(document.tables);
  document.source = name;
  return document;
}

}  // namespace borescope::internal
