#include "borescope/analyse_bytes.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "borescope/analysis/registry.h"
#include "borescope/analysis/report_sections.h"
#include "borescope/index/trace_index.h"
#include "borescope/ingest/load.h"
#include "borescope/run_checks.h"
#include "borescope/run_conclude.h"
#include "borescope/run_files.h"

namespace borescope {
namespace {

// Every mode of an analysis.
std::vector<Params> AllModes(const AnalysisSpec& spec) {
  Params grouped;
  grouped.by.assign(spec.by.begin(), spec.by.end());
  grouped.all = spec.takes_all;
  for (const ParamSpec* param : spec.params) {
    const int64_t number = std::max<int64_t>(2, param->default_number / 2);
    // Any text does for those that are read as text.
    const bool is_list = param->type == ParamType::kTimes;
    grouped.values.push_back(
        {param->name, number, is_list ? "1us,1s" : "a", R"({"a": ["a", "^[^b]*$"]})"});
  }
  std::vector<Params> modes = {Params(), grouped};
  for (const CompatRow& tool : kCompats) {
    modes.emplace_back().compat = tool.id;
    if (tool.takes_all) {
      Params& regrouped = modes.emplace_back();
      regrouped.compat = tool.id;
      regrouped.by.assign(tool.by.begin(), tool.by.end());
      regrouped.all = true;
    }
  }
  return modes;
}

// Appends what one mode of one analysis says of a trace that may lack what it needs.
Result<void> AnalyseTrace(const AnalysisSpec& spec, const Params& params, const RankView& view,
                          Document& document) {
  const Result<Findings> mapped = CheckOptions(spec, params).ok()
                                      ? MapTrace(spec, params, view)
                                      : Error{ErrorCode::kInvalidArgument, ""};
  if (!mapped.ok()) {
    return {};
  }
  if (const auto draw = spec.OverlayFor(params); draw != nullptr) {
    static_cast<void>(draw(view, params));
  }
  const Pipeline& pipeline = spec.PipelineFor(params);
  Result<Findings> finished = ReduceAndFinish(pipeline, params, {&*mapped, 1});
  if (!finished.ok() && finished.error().code == ErrorCode::kMissingData) {
    return {};  // it compares ranks
  }
  BS_ASSIGN(Findings findings, std::move(finished));
  if (spec.takes_two()) {
    BS_ASSIGN(findings, pipeline.compare(findings, findings, params));
  }
  std::move(findings.begin(), findings.end(), std::back_inserter(document.tables));
  return {};
}

}  // namespace

Result<Document> AnalyseBytes(std::string_view bytes, const std::string& name, int threads) {
  BS_ASSIGN(const Trace trace, LoadBytes(bytes, name, {threads, {}}));
  const TraceIndex index = BuildIndex(trace, threads);
  Document document;
  AppendDiagnostics(trace.diagnostics(), name, document.diagnostics);
  AppendDiagnostics(index.diagnostics, name, document.diagnostics);
  const RankView view{trace.meta().rank.value_or(0), trace, index};
  for (const AnalysisSpec& spec : Analyses()) {
    for (const Params& params : AllModes(spec)) {
      BS_TRY(AnalyseTrace(spec, params, view, document));
    }
  }
  document.views = ViewsOf(document.tables);
  document.source = name;
  return document;
}

}  // namespace borescope
