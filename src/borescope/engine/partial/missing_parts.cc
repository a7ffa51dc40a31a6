#include "borescope/engine/partial/missing_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <vector>

#include "borescope/engine/inputs/rank_numbers.h"
#include "borescope/output/units/units.h"

namespace borescope::internal {
namespace {

std::string Grouped(uint64_t number) { return GroupDigits(static_cast<int64_t>(number)); }

struct Division {
  ShardMark first;                // of those that are here
  std::vector<uint32_t> present;  // ascending
};

Error OtherFiles(const ShardMark& a, const ShardMark& b) {
  return UsageError(
      fmt::format("the parts {}/{} and {}/{} are of different files: the run changed between their "
                  "maps ({} and {} files), or parts of another run are among them",
                  a.index, a.count, b.index, b.count, Grouped(a.files), Grouped(b.files)),
      "map all parts again");
}

// By the number of their parts.
Result<std::map<uint32_t, Division>> DivisionsOf(std::span<const ShardMark> shards) {
  std::map<uint32_t, Division> divisions;
  for (const ShardMark& mark : shards) {
    Division& division = divisions.try_emplace(mark.count, Division{mark, {}}).first->second;
    if (mark.files != division.first.files || mark.digest != division.first.digest) {
      return OtherFiles(division.first, mark);
    }
    division.present.push_back(mark.index);
  }
  return divisions;
}

// The numbers below `count` that are not in `present`, as a list of ranges that is cut.
std::string ListAbsent(const std::vector<uint32_t>& present, uint32_t count) {
  constexpr size_t kShown = 8;
  std::vector<std::string> absent;
  uint32_t next = 0;
  const auto skip_to = [&](uint32_t index) {
    if (next < index && absent.size() <= kShown) {
      absent.push_back(absent.size() == kShown ? "…" : RangeText(next, index - 1));
    }
    next = index + 1;
  };
  std::for_each(present.begin(), present.end(), skip_to);
  skip_to(count);
  return fmt::format("{}", fmt::join(absent, ", "));
}

MissingParts MissingShards(const std::map<uint32_t, Division>& divisions) {
  MissingParts fewest;
  for (const auto& [count, division] : divisions) {
    const uint64_t missing = count - division.present.size();
    if (missing == 0) {
      return {};
    }
    if (fewest.count == 0 || missing < fewest.count) {
      fewest = {missing, fmt::format("{} of {} parts; without {}", Grouped(division.present.size()),
                                     Grouped(count), ListAbsent(division.present, count))};
    }
  }
  return fewest;
}

}  // namespace

Result<MissingParts> FindMissingParts(std::span<const ShardMark> shards, uint64_t files,
                                      std::optional<uint64_t> expected_files) {
  BS_ASSIGN(const auto divisions, DivisionsOf(shards));
  MissingParts missing = MissingShards(divisions);
  if (!expected_files.has_value() || files == *expected_files) {
    return missing;
  }
  if (files > *expected_files) {
    return UsageError(fmt::format("the partials hold {} files, more than the {} of `expect`",
                                  Grouped(files), Grouped(*expected_files)),
                      "take those of other runs away, or give the number of this one", "expect");
  }
  const std::string words = fmt::format("{} of {} files", Grouped(files), Grouped(*expected_files));
  missing.words = missing.count == 0 ? words : words + "; " + missing.words;
  missing.count = missing.count == 0 ? *expected_files - files : missing.count;
  return missing;
}

}  // namespace borescope::internal
