#include "tests/oracle/verb_answers.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "borescope/catalog/catalog.h"

namespace borescope::internal::testkit {
namespace {

std::string CellOf(const Column& column, size_t row) {
  if (column.IsMissing(row)) {
    return "-";
  }
  if (const auto* ints = std::get_if<IntValues>(&column.values)) {
    return Cell((*ints)[row]);
  }
  if (const auto* floats = std::get_if<FloatValues>(&column.values)) {
    return Cell((*floats)[row]);
  }
  return Cell(std::get<StringValues>(column.values)[row]);
}

void Mark(Time time, std::vector<char>& flags) {
  for (int64_t ns = time.begin; ns < time.end; ++ns) {
    flags[static_cast<size_t>(ns)] = 1;
  }
}

// Leaves only the time that some frame of this name covers.
void KeepOnly(const RandomRun& run, std::string_view name, int instance, RunSelection& selection) {
  std::vector<Time> times;
  for (const RunFrame& frame : run.frames) {
    if (frame.kind == HostKind::kAnnotation && frame.name == name) {
      times.push_back(frame.time);
    }
  }
  // Instances are counted by begin; of equal ones the longer comes first.
  std::stable_sort(times.begin(), times.end(), [](Time a, Time b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  std::vector<char> kept(selection.inside.size());
  for (size_t i = 0; i < times.size(); ++i) {
    if (instance < 0 || static_cast<size_t>(instance) == i) {
      Mark(times[i], kept);
    }
  }
  for (size_t ns = 0; ns < kept.size(); ++ns) {
    selection.inside[ns] = selection.inside[ns] != 0 && kept[ns] != 0 ? 1 : 0;
  }
  selection.all_time = false;
}

}  // namespace

Lines LinesOf(const Table& table, std::initializer_list<std::string_view> columns) {
  std::vector<const Column*> chosen;
  for (const std::string_view name : columns) {
    chosen.push_back(table.Find(name));
    if (chosen.back() == nullptr && name != "step") {  // which is there with --by step
      ADD_FAILURE() << table.name << " has no column " << name;
      return {};
    }
  }
  Lines lines;
  for (size_t row = 0; row < table.rows(); ++row) {
    std::string line;
    for (const Column* column : chosen) {
      line += (line.empty() ? "" : " ") + (column == nullptr ? "-" : CellOf(*column, row));
    }
    lines.insert(line);
  }
  return lines;
}

Result<Tables> TryAsk(std::string_view verb, const Trace& trace, const Params& params) {
  const AnalysisSpec* spec = FindAnalysis(verb);
  if (spec == nullptr) {
    return Error{ErrorCode::kInvalidArgument, "no such verb"};
  }
  const Pipeline& pipeline = spec->PipelineFor(params);
  const TraceIndex index = BuildIndex(trace, 1);
  Result<Tables> tables = pipeline.map({0, trace, index}, params);
  if (tables.ok()) {
    tables = pipeline.reduce({&*tables, 1}, params);
  }
  if (tables.ok() && pipeline.finish != nullptr) {
    tables = pipeline.finish(std::move(tables).value(), params);
  }
  return tables;
}

Tables Ask(std::string_view verb, const Trace& trace, const Params& params) {
  Result<Tables> tables = TryAsk(verb, trace, params);
  if (!tables.ok()) {
    ADD_FAILURE() << verb << ": " << tables.error().Sentence();
    return {};
  }
  return std::move(tables).value();
}

const Table& TableOf(const Tables& tables, std::string_view name) {
  static const Table kNone;
  const auto found = std::find_if(tables.begin(), tables.end(),
                                  [name](const Table& table) { return table.name == name; });
  if (found == tables.end()) {
    ADD_FAILURE() << "no table " << name;
    return kNone;
  }
  return *found;
}

RunSelection RandomSelection(Random& random, const RandomRun& run, Params& params) {
  params.selection.step_rule = StepRule::kTime;  // the other rule has a twin of its own
  RunSelection selection;
  selection.inside.assign(static_cast<size_t>(kRunEnd) + 1, 0);
  Mark(run.all(), selection.inside);
  if (random.Chance(0.3)) {
    const int64_t step = random.Between(1, 3);
    params.selection.steps.ranges = {{step, step}};
    KeepOnly(run, "ProfilerStep#" + std::to_string(step), -1, selection);
  }
  if (random.Chance(0.2)) {
    params.selection.annotation = kWindowName;
    const bool one = random.Chance(0.5);
    if (one) {
      params.selection.instances.ranges = {{1, 1}};
    }
    KeepOnly(run, kWindowName, one ? 1 : -1, selection);
  }
  if (!run.work.empty() && random.Chance(0.2)) {
    selection.stream = random.Pick(run.work).stream;
    params.selection.streams.ranges = {{selection.stream, selection.stream}};
  }
  return selection;
}

std::vector<RunWindow> RandomWindows(Random& random, const RandomRun& run,
                                     const RunSelection& selection, Params& params) {
  if (random.Chance(0.6)) {
    return {{kMissing, selection}};
  }
  params.by.emplace_back("step");
  const auto has_time = [](const RunSelection& one) {
    return std::find(one.inside.begin(), one.inside.end(), 1) != one.inside.end();
  };
  std::vector<RunWindow> windows;
  RunSelection rest = selection;
  for (int64_t step = 3; step >= 1; --step) {  // of several a moment is of the one begun last
    if (!params.selection.steps.empty() && !params.selection.steps.Contains(step)) {
      continue;
    }
    RunWindow window{step, selection};
    KeepOnly(run, "ProfilerStep#" + std::to_string(step), -1, window.selection);
    for (size_t ns = 0; ns < rest.inside.size(); ++ns) {
      char& inside = window.selection.inside[ns];
      inside = inside != 0 && rest.inside[ns] != 0 ? 1 : 0;
      rest.inside[ns] = rest.inside[ns] != 0 && inside == 0 ? 1 : 0;
    }
    if (has_time(window.selection)) {
      windows.push_back(window);
    }
  }
  if (has_time(rest)) {
    windows.push_back({kMissing, rest});
  }
  return windows;
}

}  // namespace borescope::internal::testkit
