#include "borescope/engine/inputs/shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace borescope::internal {

namespace {

// How many bytes all paths have in common, up to the end of a folder.
size_t CommonFolder(const std::vector<InputFile>& files) {
  if (files.empty()) {
    return 0;
  }
  const std::string& first = files.front().path;
  size_t common = first.size();
  for (const InputFile& file : files) {
    const auto [end, other] =
        std::mismatch(first.begin(), first.end(), file.path.begin(), file.path.end());
    common = std::min(common, static_cast<size_t>(end - first.begin()));
  }
  const size_t slash = first.substr(0, common).rfind('/');
  return slash == std::string::npos ? 0 : slash + 1;
}

// The same in every process, and on every machine: FNV-1a of 64 bits.
uint64_t DigestOf(const std::vector<InputFile>& files) {
  constexpr uint64_t kBasis = 0xcbf29ce484222325;
  constexpr uint64_t kPrime = 0x100000001b3;
  const size_t common = CommonFolder(files);
  uint64_t digest = kBasis;
  for (const InputFile& file : files) {
    for (size_t i = common; i <= file.path.size(); ++i) {
      const char byte = i < file.path.size() ? file.path[i] : '\0';
      digest = (digest ^ static_cast<unsigned char>(byte)) * kPrime;
    }
  }
  return digest;
}

}  // namespace

Result<ShardMark> TakeShard(uint32_t index, uint32_t count, std::vector<InputFile>& files) {
  if (count == 0 || count > kMostShards || index >= count) {
    return UsageError(
        fmt::format("--shard {}/{}: there is no such part; parts are numbered from 0 to N - 1, and "
                    "N is at most "
                    "{}",
                    index, count, kMostShards));
  }
  std::stable_sort(files.begin(), files.end(), [](const InputFile& a, const InputFile& b) {
    return NaturalLess(a.path, b.path);
  });
  const ShardMark mark{index, count, files.size(), DigestOf(files)};
  std::vector<InputFile> mine;
  for (size_t place = index; place < files.size(); place += count) {
    mine.push_back(std::move(files[place]));
  }
  files = std::move(mine);
  return mark;
}

std::string PartFileName(const ShardMark& shard) {
  return fmt::format("{:05}-of-{:05}.part", shard.index, shard.count);
}

}  // namespace borescope::internal
