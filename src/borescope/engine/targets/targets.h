// The files that a run writes, among them those beside its answer, one for each input: --overlay
// and --save. Looks what is there, and writes nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/engine/inputs/run_options.h"

namespace borescope::internal {

// Files by what their paths lead to. Each path is looked at once, so that asking for one takes the
// same time of two files and of thousands. Pure but for looking at files.
class FileLookup {
 public:
  // Knows no files.
  FileLookup() = default;
  // Empty paths lead to no file; standard input, "-", to that which it comes from (FILE < x). kIo
  // if the system cannot tell where one leads.
  static Result<FileLookup> Of(std::span<const std::string> paths);

  // Which of the paths, counted from 0, leads to the file that `path` leads to, whether or not it
  // exists yet. Errors as of `Of`.
  Result<std::optional<size_t>> Find(const std::string& path) const;

 private:
  std::map<std::string, size_t> places_;
  std::map<std::pair<uint64_t, uint64_t>, size_t> numbers_;  // of those that exist: hard links
};

// All that a run reads, by path: the traces of both runs, and the files that options name.
std::vector<std::string> InputPaths(const RunOptions& options);

// The files behind what the user named, as ExpandInputs finds them. A word that leads to none is
// passed over: who reads it says why. kIo if the system cannot tell.
Result<std::vector<std::string>> PathsBehind(std::span<const std::string> words);

// kInvalidArgument where `target`, which `writer` ("--output", "link") is to write, is one of the
// inputs, whether or not it exists yet. No target, "", is none.
Result<void> CheckNoInput(const FileLookup& inputs, const std::string& target,
                          std::string_view writer);
Result<void> CheckNoInput(std::span<const std::string> inputs, const std::string& target,
                          std::string_view writer);

// Where the overlay of `input` is written: to `overlay` itself or, when that is a folder or has to
// be one for several files, under the name of the input into it. Nothing is written as zstd there.
// kIo if the system cannot tell whether it is a folder.
Result<std::string> OverlayPath(std::span<const InputFile> files, const std::string& overlay,
                                const InputFile& input);

// The same for what --save keeps: in a folder under the name of the input with .graph in place of
// what it ends in.
Result<std::string> SavePath(std::span<const InputFile> files, const std::string& save,
                             const InputFile& input);

struct Target {
  std::string_view option;  // "--overlay"
  std::string path;
};

// In the order of the inputs, those of --overlay first. Errors as of OverlayPath.
Result<std::vector<Target>> TargetsOf(const RunOptions& options);

// kInvalidArgument where one of these is among `files`, which --output writes.
Result<void> CheckNoTarget(const RunOptions& options, std::span<const std::string> files);

// kInvalidArgument, or kIo for a folder that is not there, where one would overwrite an input or
// another, or cannot be written.
Result<void> CheckTargets(const RunOptions& options);

}  // namespace borescope::internal
