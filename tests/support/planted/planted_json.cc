#include <fmt/format.h>

#include <iterator>
#include <string>

#include "tests/support/planted/planted_run.h"

namespace borescope::scenario {
namespace {

std::string_view CategoryOf(FrameKind kind) {
  constexpr std::string_view kNames[] = {"cpu_op", "user_annotation", "python_function",
                                         "cuda_runtime"};
  return kNames[static_cast<size_t>(kind)];
}

double Us(int64_t ns) { return static_cast<double>(ns) / 1000; }

void AddFrame(const PlantedFrame& frame, std::string& text) {
  fmt::format_to(std::back_inserter(text),
                 R"({{"ph":"X","cat":"{}","name":"{}","pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f})",
                 CategoryOf(frame.kind), frame.name, frame.pid, frame.tid, Us(frame.begin_ns),
                 Us(frame.end_ns - frame.begin_ns));
  if (frame.kind == FrameKind::kCall) {
    text += fmt::format(R"(,"args":{{"correlation":{}}}}})", frame.correlation);
  } else if (!frame.input_dims.empty()) {
    text += fmt::format(R"(,"args":{{"Input Dims":{},"Input type":{}}}}})", frame.input_dims,
                        frame.input_types);
  } else {
    text += R"(,"args":{}})";
  }
}

void AddWork(const PlantedWork& work, std::string& text) {
  fmt::format_to(std::back_inserter(text),
                 R"({{"ph":"X","cat":"{}","name":"{}","pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f},)",
                 work.is_copy ? "gpu_memcpy" : "kernel", work.name, work.gpu, work.stream,
                 Us(work.begin_ns), Us(work.end_ns - work.begin_ns));
  fmt::format_to(std::back_inserter(text),
                 R"("args":{{"device":{},"stream":{},"correlation":{}}}}})", work.gpu, work.stream,
                 work.correlation);
}

}  // namespace

std::string PlantedJson(const PlantedRun& run, int rank) {
  std::string text = fmt::format(
      R"({{"schemaVersion":1,"distributedInfo":{{"backend":"nccl","rank":{},"world_size":{}}},)",
      rank, run.ranks.size());
  text += fmt::format(
      "\"deviceProperties\":[{{\"id\":0,\"name\":\"{}\",\"computeMajor\":{}}}],"
      "\"traceEvents\":[\n",
      kPlantedDevice, kPlantedComputeMajor);
  const PlantedRank& events = run.ranks[static_cast<size_t>(rank)];
  bool is_first = true;
  const auto separate = [&] {
    text += is_first ? "" : ",\n";
    is_first = false;
  };
  for (const PlantedFrame& frame : events.frames) {
    separate();
    AddFrame(frame, text);
  }
  for (const PlantedWork& work : events.work) {
    separate();
    AddWork(work, text);
  }
  return text + "\n]}\n";
}

}  // namespace borescope::scenario
