// Small .et files to try a simulator with: those of chakra_generator of MLCommons Chakra, with the
// same names and bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/output/sink/sink.h"

namespace borescope::internal {

struct SampleOptions {
  uint64_t npus = 64;
  uint64_t runtime_us = 5;
  uint64_t tensor_bytes = 1024;
  uint64_t comm_bytes = 65536;
};

// Families of files, in the order in which nodes are numbered.
size_t SampleFamilies();
std::string_view SampleFamilyName(size_t family);

// Writes the file of one family for one device. Every file of a family has the same number of
// nodes, and numbers continue from file to file: `next_id` is that of the first node.
Result<void> WriteSample(size_t family, const SampleOptions& options, uint64_t& next_id,
                         Sink& sink);

}  // namespace borescope::internal
