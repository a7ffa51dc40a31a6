// The files that a run writes, among them those beside its answer, one for each input: --overlay
// and --save. Looks what is there, and writes nothing.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/session/session.h"

namespace borescope {

// True when both paths lead to one file, whether or not it exists yet.
bool IsSameFile(const std::string& a, const std::string& b);

// All that a run reads, by path: the traces of both runs, and the files that options name.
std::vector<std::string> InputPaths(const RunOptions& options);

// kInvalidArgument where `target`, which `writer` ("--output", "link") is to write, is one of the
// inputs, whether or not it exists yet. Empty inputs and standard input, "-", are none.
Result<void> CheckNoInput(std::span<const std::string> inputs, const std::string& target,
                          std::string_view writer);

// The same for an answer that --output writes to the file `output`, and which may put its tables
// beside it, each in a file of its own.
Result<void> CheckNoInput(std::span<const std::string> inputs, const std::string& output,
                          const TableWriter& writer);

// Whether `path` is what a table would be called beside `output`, which holds one table per file.
bool IsFileOfTable(const std::string& output, const std::string& path);

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
