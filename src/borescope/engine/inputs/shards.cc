#include "borescope/engine/inputs/shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "borescope/base/hash/input_hash.h"

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

uint64_t DigestOf(const std::vector<InputFile>& files) {
  const size_t common = CommonFolder(files);
  StableDigest digest;
  for (const InputFile& file : files) {
    digest.Add(std::string_view(file.path).substr(common));
    digest.Add(std::string_view("\0", 1));
  }
  return digest.value();
}

}  // namespace

Result<ShardMark> TakeShard(uint32_t index, uint32_t count, std::vector<InputFile>& files) {
  if (count == 0 || count > kMostShards || index >= count) {
    return UsageError(
        fmt::format("`shard` {}/{}: there is no such part", index, count),
        fmt::format("parts are numbered from 0 to N - 1, and N is at most {}", kMostShards),
        "shard");
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
