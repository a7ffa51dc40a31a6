// The files that a run writes, among them those beside its answer, one for each input: --overlay
// and --save. Looks what is there, and writes nothing.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/session.h"

namespace borescope {

// True when both paths lead to one file, whether or not it exists yet.
bool IsSameFile(const std::string& a, const std::string& b);

// kInvalidArgument where `target`, which `writer` ("--output", "link") is to write, is one of the
// inputs. Of files, which ExpandInputs found: one that is there. Of paths, the empty ones passed
// over: also one that does not exist yet.
Result<void> CheckNoInput(std::span<const InputFile> inputs, const std::string& target,
                          std::string_view writer);
Result<void> CheckNoInput(std::span<const std::string> inputs, const std::string& target,
                          std::string_view writer);

// Where the overlay of `input` is written: to `overlay` itself or, when that is a folder or has to
// be one for several files, under the name of the input into it. Nothing is written as zstd there.
std::string OverlayPath(std::span<const InputFile> files, const std::string& overlay,
                        const InputFile& input);

// The same for what --save keeps: in a folder under the name of the input with .graph in place of
// what it ends in.
std::string SavePath(std::span<const InputFile> files, const std::string& save,
                     const InputFile& input);

struct Target {
  std::string_view option;  // "--overlay"
  std::string path;
};

// In the order of the inputs, those of --overlay first.
std::vector<Target> TargetsOf(const RunOptions& options);

// kInvalidArgument, or kIo for a folder that is not there, where one would overwrite an input or
// another, or cannot be written.
Result<void> CheckTargets(const RunOptions& options);

}  // namespace borescope
