#include "borescope/engine/inputs/ranks_in_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "borescope/base/sqlite/sqlite.h"
#include "borescope/ingest/events/rank_labels.h"
#include "borescope/ingest/nsys/nsys_ranks.h"

namespace borescope::internal {
namespace {

bool IsDatabase(const std::string& path) {
  std::string begin(kSqliteMagic.size(), '\0');
  std::ifstream(path, std::ios::binary)
      .read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return begin == kSqliteMagic;
}

// "[TP00-DP00] " beside the name of a file: " [TP00-DP00]".
std::string NameOfLabel(const std::string& label) {
  return " " + label.substr(0, label.find_last_not_of(' ') + 1);
}

std::vector<RankInFile> RanksOf(const std::string& path) {
  std::vector<RankInFile> ranks;
  if (!IsDatabase(path)) {
    for (std::string& label : FindRankLabels(path)) {
      std::string name = NameOfLabel(label);
      ranks.push_back({.label = std::move(label), .name = std::move(name)});
    }
  } else {
    const NsysRanks found = FindNsysRanks(path);
    if (!found.refusal.empty()) {
      return {{.ranks = 1, .refusal = found.refusal}};
    }
    for (const int64_t process : found.processes) {
      ranks.push_back(
          {.processes = found.processes, .name = fmt::format(" [process {}]", process)});
    }
  }
  for (size_t i = 0; i < ranks.size(); ++i) {
    ranks[i].rank = static_cast<int64_t>(i);
    ranks[i].ranks = static_cast<int64_t>(ranks.size());
  }
  return ranks;
}

bool MayHoldRanks(const InputFile& file) {
  std::error_code ignored;
  return file.content == nullptr && file.logs.empty() && file.path != "-" &&
         !file.rank_in_file.has_value() && std::filesystem::is_regular_file(file.path, ignored);
}

}  // namespace

std::vector<InputFile> SplitRanks(std::vector<InputFile> files) {
  std::vector<InputFile> inputs;
  inputs.reserve(files.size());
  for (InputFile& file : files) {
    std::vector<RankInFile> ranks =
        MayHoldRanks(file) ? RanksOf(file.path) : std::vector<RankInFile>();
    if (ranks.empty()) {
      inputs.push_back(std::move(file));
      continue;
    }
    file.bytes /= ranks.size();
    for (RankInFile& rank : ranks) {
      InputFile input = file;
      input.rank_in_file = std::move(rank);
      inputs.push_back(std::move(input));
    }
  }
  return inputs;
}

}  // namespace borescope::internal
