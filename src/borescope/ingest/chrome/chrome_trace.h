// Chrome traces of other profilers than PyTorch's: which profiler wrote one, and its reader. Each
// fills TraceParts by what its producer's names mean; docs/formats/chrome.md.
#pragma once

#include <string>
#include <string_view>

#include "borescope/base/result.h"
#include "borescope/ingest/events/text_reader.h"
#include "borescope/ingest/load.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

// Whether the text begins as a Chrome trace of the profiler does. `text` is the first part of the
// file. O(text), and O(1) of a trace of Kineto.
bool IsXlaTrace(std::string_view text);
bool IsAscendTrace(std::string_view text);
bool IsOnnxRuntimeTrace(std::string_view text);
bool IsAutogradTrace(std::string_view text);

Result<Trace> LoadXlaTrace(TextReader& reader, const std::string& name, const LoadOptions& options);
Result<Trace> LoadAscendTrace(TextReader& reader, const std::string& name,
                              const LoadOptions& options);
Result<Trace> LoadOnnxRuntimeTrace(TextReader& reader, const std::string& name,
                                   const LoadOptions& options);
Result<Trace> LoadAutogradTrace(TextReader& reader, const std::string& name,
                                const LoadOptions& options);

// Of a Chrome trace that some other program wrote: what it is, in the words of an error ("a trace
// of the Triton inference server"), and what to give instead. Empty for what may be Kineto's.
struct ForeignChrome {
  std::string_view what;
  std::string_view remedy;
};
ForeignChrome ForeignChromeOf(std::string_view text);

std::string_view XlaRemedy(MissingData lack);
std::string_view AscendRemedy(MissingData lack);
std::string_view OnnxRuntimeRemedy(MissingData lack);
std::string_view AutogradRemedy(MissingData lack);

}  // namespace borescope::internal
