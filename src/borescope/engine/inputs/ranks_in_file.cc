#include "borescope/engine/inputs/ranks_in_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "borescope/base/io/paths.h"
#include "borescope/base/sqlite/sqlite.h"
#include "borescope/ingest/events/rank_labels.h"
#include "borescope/ingest/nsys/nsys_ranks.h"

namespace borescope::internal {
namespace {

// "[TP00-DP00] " beside the name of a file: " [TP00-DP00]".
std::string NameOfLabel(const std::string& label) {
  return " " + label.substr(0, label.find_last_not_of(' ') + 1);
}

Result<std::vector<RankInFile>> RanksOf(const std::string& path) {
  std::vector<RankInFile> ranks;
  BS_ASSIGN(const std::string begin, BeginOfFile(path, kSqliteMagic.size()));
  if (begin != kSqliteMagic) {
    BS_ASSIGN(std::vector<std::string> labels, FindRankLabels(path));
    for (std::string& label : labels) {
      std::string name = NameOfLabel(label);
      ranks.push_back({.label = std::move(label), .name = std::move(name)});
    }
  } else {
    BS_ASSIGN(const NsysRanks found, FindNsysRanks(path));
    if (!found.refusal.empty()) {
      return Error{ErrorCode::kUnsupportedFormat, found.refusal, {}, path};
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
  return file.content == nullptr && file.logs.empty() && file.path != "-" &&
         !file.rank_in_file.has_value();
}

// A file whose ranks are not known becomes one that is refused.
std::vector<RankInFile> RanksOrRefusal(const std::string& path) {
  Result<std::vector<RankInFile>> ranks = RanksOf(path);
  return ranks.ok() ? std::move(*ranks)
                    : std::vector<RankInFile>{{.ranks = 1, .refusal = ranks.error()}};
}

}  // namespace

std::vector<InputFile> SplitRanks(std::vector<InputFile> files) {
  std::vector<InputFile> inputs;
  inputs.reserve(files.size());
  for (InputFile& file : files) {
    std::vector<RankInFile> ranks =
        MayHoldRanks(file) ? RanksOrRefusal(file.path) : std::vector<RankInFile>();
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
