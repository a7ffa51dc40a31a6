#include "borescope/verbs/check/find_parts.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <tuple>
#include <utility>

#include "borescope/base/stop.h"
#include "borescope/engine/inputs/input_files.h"
#include "borescope/engine/partial/part_source.h"
#include "borescope/engine/partial/wire/partial_bytes.h"

namespace borescope::internal {
namespace {

// Files of parts that an input leads to; none where it leads to recordings.
Result<std::vector<std::string>> PartFiles(const std::string& input) {
  const Result<std::vector<InputFile>> files = ExpandInputs({&input, 1});
  std::vector<std::string> paths;
  if (!files.ok()) {
    return paths;  // what is wrong with an input is said where it is read as recordings
  }
  bool has_parts = false;
  for (const InputFile& file : *files) {
    BS_ASSIGN(const bool is_part, IsPartialFile(file.path));
    BS_ASSIGN(const bool may_be_part, MayBePartial(file));
    has_parts |= is_part;
    if (may_be_part) {
      paths.push_back(file.path);
    }
  }
  return has_parts ? paths : std::vector<std::string>();
}

Result<std::vector<PartialData>> ReadParts(const std::vector<std::string>& paths) {
  std::vector<PartialData> parts;
  parts.reserve(paths.size());
  for (const std::string& path : paths) {
    CheckStop();
    BS_ASSIGN(const std::string bytes, ReadPartialFile(path));
    BS_ASSIGN(PartialData part, ParsePartial(bytes, path));
    parts.push_back(std::move(part));
  }
  return parts;
}

// The folder of a part and its division; nothing where it is no part of one.
using Division = std::tuple<std::string, uint32_t, uint64_t, uint64_t>;
std::optional<Division> DivisionOf(const std::string& input, const std::vector<std::string>& files,
                                   const std::vector<PartialData>& parts) {
  if (files.size() != 1 || files.front() != input || parts.front().shards.size() != 1 ||
      parts.front().shards.front().count == 1) {
    return std::nullopt;
  }
  const ShardMark& mark = parts.front().shards.front();
  return Division{std::filesystem::path(input).parent_path().string(), mark.count, mark.files,
                  mark.digest};
}

// Parts that are joined, in the place of the first.
struct Pool {
  std::string name;
  std::vector<PartialData> parts;
};

void Append(std::vector<PartialData> parts, Pool& pool) {
  std::move(parts.begin(), parts.end(), std::back_inserter(pool.parts));
}

}  // namespace

Result<std::vector<RunInput>> FindRunInputs(const std::vector<std::string>& inputs) {
  std::vector<Pool> pools;
  std::map<Division, size_t> pool_of;
  for (const std::string& input : inputs) {
    BS_ASSIGN(const std::vector<std::string> files, PartFiles(input));
    BS_ASSIGN(std::vector<PartialData> parts, ReadParts(files));
    const std::optional<Division> division =
        parts.empty() ? std::nullopt : DivisionOf(input, files, parts);
    const auto [place, is_new] = division.has_value() ? pool_of.try_emplace(*division, pools.size())
                                                      : std::pair(pool_of.end(), true);
    if (is_new) {
      pools.push_back({input, {}});
    }
    Append(std::move(parts), is_new ? pools.back() : pools[place->second]);
  }
  std::vector<RunInput> found;
  found.reserve(pools.size());
  for (Pool& pool : pools) {
    found.push_back({pool.name, std::nullopt});
    if (!pool.parts.empty()) {
      BS_ASSIGN(found.back().parts, PartsOfRuns::Join(std::move(pool.parts), pool.name));
    }
  }
  return found;
}

}  // namespace borescope::internal
