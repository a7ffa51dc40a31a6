// Whatever the small texts that come with a profile or with a command hold: reading them ends
// in an Error or in a value. The first line of an input names the reader, the rest is its text.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/params.h"
#include "borescope/analysis/core/saved_form.h"
#include "borescope/analysis/measures/names/kernel_categories.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/base/io/byte_source.h"
#include "borescope/catalog/catalog.h"
#include "borescope/check/budget.h"
#include "borescope/check/check_reports.h"
#include "borescope/check/saved_runs.h"
#include "borescope/opmodel/devices/device_specs.h"
#include "borescope/opmodel/op_model.h"
#include "borescope/packs/chakra/convert/sim_timeline.h"
#include "borescope/packs/inductor/bench_output.h"
#include "borescope/packs/inductor/generated_code.h"
#include "borescope/packs/pyprof/markers.h"

namespace {

using borescope::internal::CallArgs;

std::string_view TakeLine(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

// Name of the operator, shapes, types, strides and values of its arguments, a line each.
void ModelOperator(std::string_view text) {
  const std::string_view name = TakeLine(text);
  std::array<std::string_view, 4> lines;
  std::generate(lines.begin(), lines.end(), [&] { return TakeLine(text); });
  const CallArgs args = CallArgs::Parse({lines[0], lines[1], lines[2], lines[3]});
  static_cast<void>(borescope::internal::CostOf(name, args, {}));
}

void LoadSavedGraph(std::string_view text) {
  const std::unique_ptr<borescope::internal::ByteSource> source =
      borescope::internal::OpenMemory(text);
  static_cast<void>(borescope::internal::kCriticalPathVerb.saved->load(*source, "fuzz", {}));
}

void DrawSimulation(std::string_view text) {
  borescope::internal::StringSink sink;
  static_cast<void>(borescope::internal::WriteSimTimeline(text, {4, 1000}, sink));
}

void ReadMarkers(std::string_view text) {
  static_cast<void>(borescope::internal::ParsePythonLiteral(text));
  static_cast<void>(borescope::internal::ParsePyProfMarker(text));
}

void ReadCode(std::string_view text) {
  static_cast<void>(borescope::internal::ParseInductorCode(text));
  static_cast<void>(borescope::internal::ParseBenchOutput(text));
  static_cast<void>(borescope::internal::TritonKernelIn(text));
}

void ReadOptions(std::string_view text) {
  static_cast<void>(borescope::internal::NumberRanges::Parse(text));
  for (const borescope::internal::AnalysisSpec* spec : borescope::internal::Analyses()) {
    for (const borescope::internal::ParamSpec* option : spec->params) {
      static_cast<void>(borescope::internal::ParseParam(*option, text));
    }
  }
}

void ReadDeviceSpec(std::string_view text) {
  static_cast<void>(borescope::internal::ParseDeviceSpec(text, "fuzz"));
}

void ReadPatterns(std::string_view text) {
  static_cast<void>(borescope::internal::NamePatterns::Parse(text));
}

// The budgets of a file, and the rows that they keep of a table.
void ReadBudgets(std::string_view text) {
  using borescope::internal::Push;
  using borescope::internal::Role;
  using borescope::internal::Unit;
  borescope::internal::Table table{"steps", "", {}};
  Push(AddInt(table, "step", Unit::kNone, Role::kKey, ""), int64_t{3});
  Push(AddInt(table, "span_ns", Unit::kNanoseconds, Role::kSum, ""), int64_t{1000});
  Push(AddString(table, "name", Role::kKey, ""), "ProfilerStep#3");
  const auto file = borescope::internal::ReadBudgetFile(text, "fuzz.toml");
  for (const borescope::internal::Budget& budget :
       file.ok() ? file->budgets : std::vector<borescope::internal::Budget>()) {
    if (!budget.table.empty()) {
      static_cast<void>(borescope::internal::ValueInTable(budget, table));
    }
  }
}

// Runs that were saved, compared with themselves.
void ReadBaseline(std::string_view text) {
  constexpr size_t kFew = 8;
  auto runs = borescope::internal::ReadSavedRuns(text);
  if (runs.ok() && runs->size() <= kFew) {
    const borescope::internal::JudgedRuns judged{*runs, *runs, {*runs}};
    static_cast<void>(borescope::internal::WhyNotComparable(*runs, *runs));
    static_cast<void>(CheckTables(judged, Judge(judged, {}, {})));
  }
}

constexpr std::pair<std::string_view, void (*)(std::string_view)> kReaders[] = {
    {"operator", ModelOperator}, {"graph", LoadSavedGraph},  {"simulation", DrawSimulation},
    {"marker", ReadMarkers},     {"code", ReadCode},         {"options", ReadOptions},
    {"device", ReadDeviceSpec},  {"patterns", ReadPatterns}, {"budget", ReadBudgets},
    {"baseline", ReadBaseline},
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string_view wanted = TakeLine(text);
  for (const auto& [name, read] : kReaders) {
    if (name == wanted) {
      read(text);
    }
  }
  return 0;
}
