#include "borescope/engine/inputs/shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace borescope::internal {

Result<void> TakeShard(const ShardMark& shard, std::vector<InputFile>& files) {
  if (shard.count == 0 || shard.count > kMostShards || shard.index >= shard.count) {
    return UsageError(
        fmt::format("--shard {}/{}: there is no such part; parts are numbered from 0 "
                    "to N - 1, and N is at most {}",
                    shard.index, shard.count, kMostShards));
  }
  std::stable_sort(files.begin(), files.end(), [](const InputFile& a, const InputFile& b) {
    return NaturalLess(a.path, b.path);
  });
  std::vector<InputFile> mine;
  for (size_t place = shard.index; place < files.size(); place += shard.count) {
    mine.push_back(std::move(files[place]));
  }
  files = std::move(mine);
  return {};
}

std::string PartFileName(const ShardMark& shard) {
  return fmt::format("{:05}-of-{:05}.part", shard.index, shard.count);
}

}  // namespace borescope::internal
