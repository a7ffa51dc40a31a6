#include "borescope/engine/partial/missing_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <vector>

#include "borescope/output/units/units.h"

namespace borescope::internal {
namespace {

std::string Grouped(uint64_t number) { return GroupDigits(static_cast<int64_t>(number)); }

// The parts that are here of each division, ascending, by the number of its parts.
std::map<uint32_t, std::vector<uint32_t>> Divisions(std::span<const ShardMark> shards) {
  std::map<uint32_t, std::vector<uint32_t>> divisions;
  for (const ShardMark& mark : shards) {
    divisions[mark.count].push_back(mark.index);
  }
  return divisions;
}

// The first numbers below `count` that are not in `present`, as a list.
std::string ListAbsent(const std::vector<uint32_t>& present, uint32_t count) {
  constexpr size_t kShown = 16;
  std::vector<std::string> absent;
  size_t next = 0;
  for (uint32_t index = 0; index < count && absent.size() <= kShown; ++index) {
    if (next < present.size() && present[next] == index) {
      ++next;
    } else {
      absent.push_back(absent.size() == kShown ? "…" : std::to_string(index));
    }
  }
  return fmt::format("{}", fmt::join(absent, ", "));
}

MissingParts MissingShards(std::span<const ShardMark> shards) {
  MissingParts fewest;
  for (const auto& [count, present] : Divisions(shards)) {
    const uint64_t missing = count - present.size();
    if (missing == 0) {
      return {};
    }
    if (fewest.count == 0 || missing < fewest.count) {
      fewest = {missing, fmt::format("{} of {} parts; without {}", Grouped(present.size()),
                                     Grouped(count), ListAbsent(present, count))};
    }
  }
  return fewest;
}

}  // namespace

Result<MissingParts> FindMissingParts(std::span<const ShardMark> shards, uint64_t files,
                                      std::optional<uint64_t> expected_files) {
  MissingParts missing = MissingShards(shards);
  if (!expected_files.has_value() || files == *expected_files) {
    return missing;
  }
  if (files > *expected_files) {
    return UsageError(
        fmt::format("the partials hold {} files, more than the {} of --expect; take those of other "
                    "runs away, or give the number of this one",
                    Grouped(files), Grouped(*expected_files)));
  }
  const std::string words = fmt::format("{} of {} files", Grouped(files), Grouped(*expected_files));
  missing.words = missing.count == 0 ? words : words + "; " + missing.words;
  missing.count = missing.count == 0 ? *expected_files - files : missing.count;
  return missing;
}

}  // namespace borescope::internal
