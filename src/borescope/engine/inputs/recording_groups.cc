#include "borescope/engine/inputs/recording_groups.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "borescope/base/io/paths.h"
#include "borescope/ingest/recording/recording.h"
#include "borescope/recording/log_format.h"

namespace borescope::internal {
namespace {

namespace fs = std::filesystem;

constexpr int32_t kNoRank = -1;

struct FoundLog {
  std::string path;
  bool from_directory;
  uint64_t start_ns;
  bool is_launcher;
};

// Folder, host and rank.
using GroupKey = std::tuple<std::string, uint64_t, int32_t>;
using Groups = std::map<GroupKey, std::vector<FoundLog>>;

Result<std::string> FolderOf(const std::string& path) {
  BS_ASSIGN(const std::string real, PathWithoutLinks(path));
  return fs::path(real).parent_path().string();
}

// The paths of an input: those of its logs if it is a group of them already.
std::vector<std::string> PathsOf(const InputFile& file) {
  return file.logs.empty() ? std::vector{file.path} : file.logs;
}

// The group that an input belongs to, of which its logs become members; nothing for other files.
Result<std::optional<GroupKey>> Join(const InputFile& file, Groups& groups) {
  if (file.path == "-" || file.content != nullptr) {
    return std::optional<GroupKey>();
  }
  std::optional<GroupKey> key;
  for (const std::string& path : PathsOf(file)) {
    BS_ASSIGN(const std::optional<recording::LogHeader> header, RecordingHeaderOf(path));
    if (header.has_value()) {
      BS_ASSIGN(std::string folder, FolderOf(path));
      const GroupKey own{std::move(folder), header->host_hash, std::max(header->rank, kNoRank)};
      key = key.has_value() ? key : own;
      groups[*key].push_back({path, file.from_directory, header->mono_ns,
                              (header->flags & recording::kIsLauncher) != 0});
    }
  }
  return key;
}

bool IsLaunchersAlone(const std::vector<FoundLog>& logs) {
  return std::all_of(logs.begin(), logs.end(), [](const FoundLog& log) { return log.is_launcher; });
}

// The key of the group that a launcher's log goes to where no process is without a rank.
GroupKey HomeOf(const GroupKey& key, const Groups& groups) {
  const auto next = groups.upper_bound(key);
  const bool is_of_host = next != groups.end() && std::get<0>(next->first) == std::get<0>(key) &&
                          std::get<1>(next->first) == std::get<1>(key);
  return std::get<2>(key) == kNoRank && IsLaunchersAlone(groups.at(key)) && is_of_host ? next->first
                                                                                       : key;
}

Result<std::string> Identity(const FoundLog& log) {
  BS_ASSIGN(const std::string folder, FolderOf(log.path));
  return (fs::path(folder) / fs::path(log.path).filename()).string();
}

Result<InputFile> MakeGroup(std::vector<FoundLog> logs) {
  std::sort(logs.begin(), logs.end(), [](const FoundLog& a, const FoundLog& b) {
    return std::tuple(a.is_launcher, a.start_ns, a.path) <
           std::tuple(b.is_launcher, b.start_ns, b.path);
  });
  InputFile group;
  std::set<std::string> seen;
  for (FoundLog& log : logs) {
    BS_ASSIGN(std::string identity, Identity(log));
    if (seen.insert(std::move(identity)).second) {
      BS_ASSIGN(const uint64_t bytes, SizeOfFile(log.path));
      group.bytes += bytes;
      group.logs.push_back(std::move(log.path));
    }
  }
  group.path = group.logs.front();
  group.from_directory = logs.front().from_directory;
  return group;
}

}  // namespace

Result<std::vector<InputFile>> GroupRecordings(std::vector<InputFile> files) {
  Groups groups;
  std::vector<std::optional<GroupKey>> keys;
  keys.reserve(files.size());
  for (const InputFile& file : files) {
    BS_ASSIGN(std::optional<GroupKey> key, Join(file, groups));
    keys.push_back(std::move(key));
  }
  if (groups.empty()) {
    return files;
  }
  std::set<std::string> folders;
  Groups homes;
  for (const auto& [key, logs] : groups) {
    folders.insert(std::get<0>(key));
    std::vector<FoundLog>& home = homes[HomeOf(key, groups)];
    home.insert(home.end(), logs.begin(), logs.end());
  }
  std::vector<InputFile> grouped;
  for (size_t i = 0; i < files.size(); ++i) {
    if (keys[i].has_value()) {
      const auto home = homes.find(HomeOf(*keys[i], groups));
      if (home != homes.end()) {
        BS_ASSIGN(InputFile group, MakeGroup(std::move(home->second)));
        grouped.push_back(std::move(group));
        homes.erase(home);
      }
      continue;
    }
    const bool is_control = fs::path(files[i].path).filename() == recording::kControlName;
    // What lies beside logs belongs to the run.
    bool is_beside_logs = false;
    if (files[i].from_directory || is_control) {
      BS_ASSIGN(const std::string folder, FolderOf(files[i].path));
      is_beside_logs = folders.contains(folder);
    }
    if (!is_beside_logs) {
      grouped.push_back(std::move(files[i]));
    }
  }
  return grouped;
}

}  // namespace borescope::internal
