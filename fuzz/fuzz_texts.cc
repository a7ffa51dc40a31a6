// Whatever stands in the small texts that come with a profile or with a command: reading them ends
// in an Error or in a value. The first line of an input names the reader, the rest is its text.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "borescope/analysis/name_patterns.h"
#include "borescope/analysis/params.h"
#include "borescope/analysis/pyprof/markers.h"
#include "borescope/analysis/pyprof/python_literal.h"
#include "borescope/analysis/registry.h"
#include "borescope/analysis/saved_forms.h"
#include "borescope/base/byte_source.h"
#include "borescope/chakra/sim_timeline.h"
#include "borescope/opmodel/device_spec_file.h"
#include "borescope/opmodel/op_model.h"
#include "borescope/session/bench_output.h"
#include "borescope/session/inductor_code.h"

namespace {

using borescope::CallArgs;

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
  static_cast<void>(borescope::CostOf(name, args, {}));
}

void LoadSavedGraph(std::string_view text) {
  const std::unique_ptr<borescope::ByteSource> source = borescope::OpenMemory(text);
  static_cast<void>(borescope::LoadCriticalPath(*source, "fuzz", {}));
}

void DrawSimulation(std::string_view text) {
  borescope::StringSink sink;
  static_cast<void>(borescope::WriteSimTimeline(text, {4, 1000}, sink));
}

void ReadMarkers(std::string_view text) {
  static_cast<void>(borescope::ParsePythonLiteral(text));
  static_cast<void>(borescope::ParsePyProfMarker(text));
}

void ReadCode(std::string_view text) {
  static_cast<void>(borescope::ParseInductorCode(text));
  static_cast<void>(borescope::ParseBenchOutput(text));
  static_cast<void>(borescope::TritonKernelIn(text));
}

void ReadOptions(std::string_view text) {
  static_cast<void>(borescope::NumberRanges::Parse(text));
  for (const borescope::AnalysisSpec& spec : borescope::Analyses()) {
    for (const borescope::ParamSpec* option : spec.params) {
      static_cast<void>(borescope::ParseParam(*option, text));
    }
  }
}

void ReadDeviceSpec(std::string_view text) {
  static_cast<void>(borescope::ParseDeviceSpec(text, "fuzz"));
}

void ReadPatterns(std::string_view text) {
  static_cast<void>(borescope::NamePatterns::Parse(text));
}

constexpr std::pair<std::string_view, void (*)(std::string_view)> kReaders[] = {
    {"operator", ModelOperator}, {"graph", LoadSavedGraph},  {"simulation", DrawSimulation},
    {"marker", ReadMarkers},     {"code", ReadCode},         {"options", ReadOptions},
    {"device", ReadDeviceSpec},  {"patterns", ReadPatterns},
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
