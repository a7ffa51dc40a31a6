// Compressed files for borescope-synth. Apart from the scenario library, which needs no codec.
#pragma once

#include <memory>
#include <string>

#include "tests/support/writing/scenario_sink.h"

namespace borescope::scenario {

enum class Codec : uint8_t { kNone, kGzip, kZstd };

// ".json", ".json.gz" or ".json.zst".
std::string FileSuffix(Codec codec);

// A sink that compresses into `inner`, which it owns and closes.
std::unique_ptr<Sink> Compress(Codec codec, std::unique_ptr<Sink> inner);

}  // namespace borescope::scenario
