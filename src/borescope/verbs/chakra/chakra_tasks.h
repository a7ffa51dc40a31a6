// Chakra execution traces (.et): made from linked traces and from workloads, checked, and turned
// into what people and other programs read. What `borescope chakra` is a skin over.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/output/document.h"
#include "borescope/output/sink/sink.h"

namespace borescope::internal {

struct ChakraConvertOptions {
  std::string input;   // a linked trace, a bare execution trace, or a workload of ASTRA-sim 1.0;
  std::string host;    // or instead of it an execution trace
  std::string device;  // and a trace of the profiler, which are linked first
  std::string output;  // the .et; of a workload what stands in front of .0.et, .1.et, ...
  bool as_reference = false;       // as chakra_converter
  std::optional<uint64_t> npus;    // of a workload: devices; 1 where nothing is said
  std::optional<uint64_t> passes;  // of a workload: passes over the layers; likewise
};
// What was written, and what could not be kept. Nothing of the output appears unless all of it was
// written.
Result<Document> RunChakraConvert(const ChakraConvertOptions& options);

// A .et as JSON; `as_reference`: as chakra_jsonizer.
Result<void> RunChakraDump(const std::string& input, bool as_reference, Sink& sink);

enum class DrawFormat : uint8_t { kDot, kGraphml };
// By the ending of a file name; nothing for one that says nothing.
std::optional<DrawFormat> DrawFormatOf(std::string_view path);
Result<void> RunChakraDraw(const std::string& input, DrawFormat format, bool as_reference,
                           Sink& sink);

struct ChakraGenerateOptions {
  std::string folder;  // empty: the current one
  uint64_t npus = 64;
  uint64_t runtime_us = 5;
  uint64_t tensor_bytes = 1024;
  uint64_t comm_bytes = 65536;
};
// Returns how many files were written.
Result<uint64_t> RunChakraGenerate(const ChakraGenerateOptions& options);

struct ChakraTimelineOptions {
  std::string input;  // log of a simulator
  uint64_t npus = 0;
  uint64_t frequency_mhz = 0;
  bool as_reference = false;  // times in milliseconds, as chakra_timeline_visualizer
};
// What was left out is among the diagnostics.
Result<std::vector<Diagnostic>> RunChakraTimeline(const ChakraTimelineOptions& options, Sink& sink);

// The files behind `inputs` (files, folders, globs): of a folder those that are called as a .et.
// kMissingData where there is none; the errors of ExpandInputs.
Result<std::vector<std::string>> FindEtFiles(std::span<const std::string> inputs);

struct ChakraCheckOptions {
  std::vector<std::string> files;  // from FindEtFiles
  std::string linked;              // of a single file: what it was made from; may be empty
  std::string host, device;        // or the two traces that were linked for it
  bool with_order = false;         // also the order in which a simulator starts the nodes
};
struct ChakraVerdict {
  Document document;
  bool passed = true;
};
Result<ChakraVerdict> RunChakraCheck(const ChakraCheckOptions& options);

}  // namespace borescope::internal
