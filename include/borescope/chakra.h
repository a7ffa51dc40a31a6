// Chakra execution traces (.et): made from linked traces and from workloads, checked, and turned
// into what people and other programs read (docs/use/chakra.md). All functions are thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "borescope/answer.h"
#include "borescope/error.h"
#include "borescope/export.h"
#include "borescope/output.h"
#include "borescope/progress.h"

namespace borescope {

struct ChakraConvertOptions {
  std::string input = {};     // a linked trace, an execution trace, or a workload of ASTRA-sim 1.0;
  std::string host = {};      // or instead of it an execution trace
  std::string device = {};    // and a trace of the profiler, which are linked first
  std::string output = {};    // the .et; of a workload what precedes .0.et, .1.et, ...
  bool as_reference = false;  // as chakra_converter
  std::optional<uint64_t> npus = {};    // of a workload: devices; 1 if not given
  std::optional<uint64_t> passes = {};  // of a workload: passes over the layers; likewise
  StopToken stop = {};  // ends with kCancelled, and without an output, once it is requested
};
// The answer says what was written, and what could not be kept. Nothing of the output appears
// unless all of it was written.
BORESCOPE_EXPORT Result<Answer> ChakraConvert(const ChakraConvertOptions& options);

// A .et as JSON; `as_reference`: as chakra_jsonizer.
BORESCOPE_EXPORT Result<void> ChakraDump(const std::string& input, bool as_reference,
                                         const Output& output);

// Its dependencies as "dot" or "graphml". kInvalidArgument for another format.
BORESCOPE_EXPORT Result<void> ChakraDraw(const std::string& input, const std::string& format,
                                         bool as_reference, const Output& output);

struct ChakraGenerateOptions {
  std::string folder = {};  // empty: the current one
  uint64_t npus = 64;
  uint64_t runtime_us = 5;
  uint64_t tensor_bytes = 1024;
  uint64_t comm_bytes = 65536;
};
// Writes small .et files to try a simulator with. Returns how many.
BORESCOPE_EXPORT Result<uint64_t> ChakraGenerate(const ChakraGenerateOptions& options);

struct ChakraTimelineOptions {
  std::string input = {};  // log of a simulator
  uint64_t npus = 0;
  uint64_t frequency_mhz = 0;
  bool as_reference = false;  // times in milliseconds, as chakra_timeline_visualizer
};
// Writes the log as a Chrome trace. Returns what was left out.
BORESCOPE_EXPORT Result<std::vector<Diagnostic>> ChakraTimeline(
    const ChakraTimelineOptions& options, const Output& output);

// The files that `inputs` (files, folders, globs) lead to: of a folder those that are named like a
// .et. kMissingData where there is none.
BORESCOPE_EXPORT Result<std::vector<std::string>> FindEtFiles(std::span<const std::string> inputs);

struct ChakraCheckOptions {
  std::vector<std::string> files = {};  // from FindEtFiles
  std::string linked = {};              // of a single file: what it was made from; may be empty
  std::string host = {}, device = {};   // or the two traces that were linked for it
  bool with_order = false;              // also the order in which a simulator starts the nodes
  StopToken stop = {};                  // ends with kCancelled once it is requested
};
struct ChakraVerdict {
  Answer answer;
  bool passed = true;
};
// Whether simulators can rely on the files.
BORESCOPE_EXPORT Result<ChakraVerdict> ChakraCheck(const ChakraCheckOptions& options);

}  // namespace borescope
