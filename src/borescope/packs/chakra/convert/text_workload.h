// Workloads of ASTRA-sim 1.0: a text file with a line for every layer of a model and how it is
// distributed over devices. It becomes one .et for every device.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/output/sink/sink.h"

namespace borescope::internal {

enum class Parallelism : uint8_t { kMicro, kData, kModel, kDataModel, kModelData, kDlrm };

struct TextPhase {
  uint64_t compute_us = 0;
  std::string comm_type;  // "ALLREDUCE", "NONE"
  int64_t comm_bytes = 0;
};

struct TextLayer {
  std::string name;
  TextPhase forward;
  TextPhase input_grad;
  TextPhase weight_grad;
};

struct TextWorkload {
  Parallelism parallelism = Parallelism::kMicro;
  uint64_t last_bottom_layer = 0;  // of kDlrm
  uint64_t declared_layers = 0;    // as the second line says; the file may have another number
  std::vector<TextLayer> layers;
  std::string text;  // the whole file
};

// Whether a text may be such a file: its first word is one of the ways to distribute a model.
bool LooksLikeTextWorkload(std::string_view text);

// Reads the file; errors name it `name`. kCorrupt, with the line and the cause.
Result<TextWorkload> ParseTextWorkload(std::string text, const std::string& name);

// Writes the trace of one device. Numbers of nodes begin at `next_id` and continue from device to
// device, as those of the reference do. Returns the number of nodes.
Result<uint64_t> WriteTextWorkload(const TextWorkload& workload, uint64_t passes, uint64_t& next_id,
                                   Sink& sink);

}  // namespace borescope::internal
