#include "borescope/cli/launch/shard_count.h"

#include <algorithm>
#include <string_view>

namespace borescope::cli {
namespace {

constexpr double kSecondsPerByte = 2.9e-9;  // of text, with what inflating it takes
constexpr double kTextPerCompressed = 15;   // traces become 10 to 18 times smaller
constexpr double kLeastSeconds = 10;
constexpr double kShardsPerNode = 4;

bool IsCompressed(std::string_view path) { return path.ends_with(".gz") || path.ends_with(".zst"); }

}  // namespace

double EstimateSeconds(std::span<const FileSize> files) {
  double text = 0;
  for (const FileSize& file : files) {
    text += static_cast<double>(file.bytes) * (IsCompressed(file.path) ? kTextPerCompressed : 1);
  }
  return text * kSecondsPerByte;
}

int DefaultShards(std::span<const FileSize> files, int nodes) {
  const double most = std::min({static_cast<double>(files.size()), kShardsPerNode * nodes,
                                EstimateSeconds(files) / kLeastSeconds});
  return std::max(1, static_cast<int>(most));
}

}  // namespace borescope::cli
