#include "borescope/engine/partial/kept_part.h"

#include <algorithm>
#include <vector>

#include "borescope/base/io/unchanged.h"
#include "borescope/base/version.h"
#include "borescope/engine/partial/part_source.h"
#include "borescope/engine/partial/questions.h"
#include "borescope/engine/partial/wire/partial_bytes.h"

namespace borescope::internal {
namespace {

bool IsOlder(const std::string& file, int64_t written_ns) {
  const std::optional<FileState> state = FileState::Of(file);
  return state.has_value() && state->written_ns < written_ns;
}

bool AreOlder(const std::vector<std::string>& files, int64_t written_ns) {
  return std::all_of(files.begin(), files.end(),
                     [&](const std::string& file) { return IsOlder(file, written_ns); });
}

bool Holds(const std::vector<std::string>& texts, const std::string& text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

// Whether the graphs that a file launches were searched in the same files. Those that capture
// graphs among the files of the part are searched, too.
bool SearchedTheSame(const GraphRoles& roles, const InputFile& file, const PartialData& partial) {
  if (!roles.may_replay) {
    return true;
  }
  const auto is_of_part = [&](const std::string& path) {
    return std::any_of(partial.files.begin(), partial.files.end(),
                       [&](const PartialFile& other) { return other.path == path; });
  };
  return std::all_of(file.captures.begin(), file.captures.end(),
                     [&](const std::string& path) { return Holds(roles.searched, path); }) &&
         std::all_of(roles.searched.begin(), roles.searched.end(), [&](const std::string& path) {
           return Holds(file.captures, path) || is_of_part(path);
         });
}

// A file that was passed over, or failed, has no size in the partial.
bool IsAsMapped(const PartialFile& mapped, const InputFile& file, int64_t written_ns) {
  const bool has_size = !mapped.load_error.has_value();
  const bool was_opened = has_size || mapped.load_error->code != ErrorCode::kIo;
  return was_opened && !file.content && mapped.path == file.path &&
         (!has_size || mapped.file_bytes == file.bytes) && IsOlder(file.path, written_ns) &&
         AreOlder(file.captures, written_ns) && AreOlder(file.logs, written_ns);
}

// Those that are mapped are in the natural order of their paths, each once.
std::vector<const InputFile*> InOrder(std::span<const InputFile> files) {
  std::vector<const InputFile*> ordered;
  for (const InputFile& file : files) {
    ordered.push_back(&file);
  }
  std::stable_sort(ordered.begin(), ordered.end(), [](const InputFile* a, const InputFile* b) {
    return NaturalLess(a->path, b->path);
  });
  return ordered;
}

bool HoldsQuestion(const PartialData& partial, const Question& question,
                   const std::optional<ShardMark>& shard) {
  const std::vector<ShardMark> marks =
      shard.has_value() ? std::vector{*shard} : std::vector<ShardMark>();
  return partial.major == kPartialMajor && partial.minor == kPartialMinor &&
         partial.program_version == Version() && partial.shards == marks &&
         DifferenceOf(partial.question, question).empty();
}

}  // namespace

bool IsStillTheAnswer(const std::string& path, const Question& question,
                      std::span<const InputFile> files, const std::optional<ShardMark>& shard) {
  const std::optional<FileState> state = FileState::Of(path);
  if (!state.has_value()) {
    return false;
  }
  // All of it: a damaged one is none.
  const Result<std::string> bytes = ReadPartialFile(path);
  const Result<PartialData> partial =
      bytes.ok() ? ParsePartial(*bytes, path) : Result<PartialData>(bytes.error());
  if (!partial.ok() || !HoldsQuestion(*partial, question, shard)) {
    return false;
  }
  const std::vector<const InputFile*> ordered = InOrder(files);
  return std::equal(partial->files.begin(), partial->files.end(), ordered.begin(), ordered.end(),
                    [&](const PartialFile& mapped, const InputFile* file) {
                      return IsAsMapped(mapped, *file, state->written_ns) &&
                             SearchedTheSame(mapped.graphs, *file, *partial);
                    });
}

}  // namespace borescope::internal
