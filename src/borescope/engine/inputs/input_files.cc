#include "borescope/engine/inputs/input_files.h"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <limits>
#include <map>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include "borescope/base/check.h"
#include "borescope/base/io/paths.h"
#include "borescope/base/sqlite/sqlite.h"
#include "borescope/base/text/text.h"
#include "borescope/ingest/events/rank_labels.h"
#include "borescope/ingest/load.h"
#include "borescope/ingest/ncu/counter_reports.h"
#include "borescope/ingest/ncu/report_trace.h"
#include "borescope/ingest/nsys/nsys_ranks.h"
#include "borescope/ingest/recording/recording.h"
#include "borescope/recording/log_format.h"

namespace borescope::internal {

namespace {

void CountConflict(const RankClaim& claim, Diagnostics& diagnostics) {
  if (claim.recorded.has_value() && claim.named.has_value() && *claim.recorded != *claim.named) {
    diagnostics.Count(Diag::kRankConflict, Diagnostics::kNoByte,
                      "recorded rank " + std::to_string(*claim.recorded) + ", file name says " +
                          std::to_string(*claim.named));
  }
}

// Ranks that are not used yet.
class FreeRanks {
 public:
  explicit FreeRanks(std::set<int64_t>& used) : used_(used) {}

  // The number after the largest, and not below `least`; the smallest free one where there is none.
  int64_t Next(int64_t least) {
    if (used_.empty() || *used_.rbegin() < least) {
      return least;
    }
    if (*used_.rbegin() < std::numeric_limits<int64_t>::max()) {
      return *used_.rbegin() + 1;
    }
    while (used_.contains(smallest_)) {
      ++smallest_;
    }
    return smallest_;
  }

 private:
  std::set<int64_t>& used_;
  int64_t smallest_ = 0;  // none below is free: used ones stay used
};

}  // namespace

std::string RangeText(int64_t first, int64_t last) {
  return std::to_string(first) + (first == last ? "" : ".." + std::to_string(last));
}

std::optional<int64_t> RankFromFileName(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  for (size_t at = name.find("rank"); at != std::string_view::npos;
       at = name.find("rank", at + 1)) {
    size_t digit = at + 4;
    digit += digit < name.size() && (name[digit] == '-' || name[digit] == '_') ? 1 : 0;
    std::optional<int64_t> rank;
    for (; digit < name.size() && IsDigit(name[digit]); ++digit) {
      rank = std::min<int64_t>(rank.value_or(0) * 10 + (name[digit] - '0'), 1 << 30);
    }
    if (rank.has_value()) {
      return rank;
    }
  }
  return std::nullopt;
}

std::vector<int64_t> AssignRanks(std::span<const RankClaim> claims,
                                 std::span<Diagnostics> diagnostics) {
  BS_DCHECK(claims.size() == diagnostics.size());
  std::set<int64_t> used;
  std::vector<int64_t> ranks(claims.size());
  std::vector<size_t> without;
  for (size_t i = 0; i < claims.size(); ++i) {
    CountConflict(claims[i], diagnostics[i]);
    const std::optional<int64_t> claimed = claims[i].best();
    if (claimed.has_value() && used.insert(*claimed).second) {
      ranks[i] = *claimed;
    } else {
      without.push_back(i);
    }
  }
  FreeRanks free(used);
  for (const size_t i : without) {
    const std::optional<int64_t> claimed = claims[i].best();
    const int64_t job = claimed.has_value() ? claims[i].world_size.value_or(0) : 0;
    ranks[i] = free.Next(std::max<int64_t>(0, job));
    used.insert(ranks[i]);
    const std::string given = "now rank " + std::to_string(ranks[i]);
    if (claimed.has_value()) {
      diagnostics[i].Count(Diag::kDuplicateRank, Diagnostics::kNoByte,
                           "another rank " + std::to_string(*claimed) + ", " + given);
    } else if (claims.size() > 1) {
      diagnostics[i].Count(Diag::kUnnamedRank, Diagnostics::kNoByte, given);
    }
  }
  return ranks;
}

MissingRanks FindMissingRanks(std::span<const int64_t> loaded, std::optional<int64_t> world_size) {
  constexpr int kMostRanges = 8;  // named; the rest is counted
  const std::set<int64_t> ranks(loaded.begin(), loaded.end());
  if (ranks.empty() || *ranks.begin() < 0) {
    return {};
  }
  const bool known = world_size.has_value() && *world_size > *ranks.rbegin();
  int64_t next = known ? 0 : *ranks.begin();  // the first not yet looked at
  int ranges = 0;
  MissingRanks missing;
  const auto skip_to = [&](int64_t rank) {
    if (next < rank) {
      missing.count += static_cast<uint64_t>(rank - next);
      if (ranges++ < kMostRanges) {
        missing.text += (ranges == 1 ? "" : ", ") + RangeText(next, rank - 1);
      }
    }
  };
  for (const int64_t rank : ranks) {
    skip_to(rank);
    next = rank == std::numeric_limits<int64_t>::max() ? rank : rank + 1;
  }
  skip_to(known ? *world_size : next);
  if (missing.count > 0) {
    const uint64_t all = missing.count + ranks.size();
    missing.text = std::to_string(ranks.size()) + " of " + std::to_string(all) +
                   " ranks loaded; without " + missing.text + (ranges > kMostRanges ? ", ..." : "");
  }
  return missing;
}

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

// The group that an input belongs to, of which its logs become members; nothing for other files,
// and for logs that may not be read or are damaged.
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
    const fs::path path(files[i].path);
    const bool is_control = path.filename() == recording::kControlName;
    // What lies beside logs belongs to the run. A log that is none is damaged, or may not be read,
    // which the loader says.
    bool is_beside_logs = false;
    if (path.extension() != recording::kLogSuffix && (files[i].from_directory || is_control)) {
      BS_ASSIGN(const std::string folder, FolderOf(files[i].path));
      is_beside_logs = folders.contains(folder);
    }
    if (!is_beside_logs) {
      grouped.push_back(std::move(files[i]));
    }
  }
  return grouped;
}

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kGlobCharacters = "*?[";

// Takes the digits at the start of `text`, without leading zeros.
std::string_view TakeNumber(std::string_view& text) {
  const auto* const end = std::find_if_not(text.begin(), text.end(), IsDigit);
  std::string_view number = text.substr(0, static_cast<size_t>(end - text.begin()));
  text.remove_prefix(number.size());
  number.remove_prefix(std::min(number.find_first_not_of('0'), number.size()));
  return number;
}

Result<InputFile> MakeInput(std::string path, bool from_directory) {
  BS_ASSIGN(const uint64_t bytes, path == "-" ? Result<uint64_t>(0) : SizeOfFile(path));
  return InputFile{std::move(path), from_directory, bytes};
}

Result<std::vector<InputFile>> SortedInputs(std::vector<std::string> paths, bool from_directory) {
  std::sort(paths.begin(), paths.end(),
            [](const std::string& a, const std::string& b) { return NaturalLess(a, b); });
  std::vector<InputFile> files;
  files.reserve(paths.size());
  for (std::string& path : paths) {
    BS_ASSIGN(InputFile file, MakeInput(std::move(path), from_directory));
    files.push_back(std::move(file));
  }
  return files;
}

// Folders of a rank each are a common layout, and an easy one to mistake for a folder of files.
Error NoFileIn(const std::string& path, size_t subfolders) {
  const std::string no_file = path + ": no file in this directory";
  if (subfolders == 0) {
    return {ErrorCode::kInvalidArgument, no_file, "give a directory of trace files, one a rank"};
  }
  const std::string_view stem = std::string_view(path).substr(0, path.find_last_not_of('/') + 1);
  return {ErrorCode::kInvalidArgument,
          subfolders == 1
              ? fmt::format("{}, and its subfolder is not searched; give it as {}/*", no_file, stem)
              : fmt::format(
                    "{}, and its {} subfolders are not searched; if they are one run, give them "
                    "as {}/*",
                    no_file, subfolders, stem)};
}

Result<bool> IsLink(const std::string& path) {
  BS_ASSIGN(const struct stat status, StatusOfLink(path));
  return S_ISLNK(status.st_mode);
}

Result<std::vector<InputFile>> ListDirectory(const std::string& path) {
  BS_ASSIGN(const std::vector<std::string> names, NamesIn(path));
  std::vector<std::string> paths;
  size_t subfolders = 0;
  for (const std::string& name : names) {
    if (name.starts_with('.')) {
      continue;
    }
    std::string inner = (fs::path(path) / name).string();
    const Result<FileKind> kind = KindOf(inner);
    bool leads_nowhere = false;
    if (kind.ok() && *kind == FileKind::kNothing) {
      BS_ASSIGN(leads_nowhere, IsLink(inner));
    }
    subfolders += kind.ok() && *kind == FileKind::kFolder ? 1 : 0;
    // What is there and cannot be read is reported by the loader, as a rank that is missing.
    if (!kind.ok() || *kind == FileKind::kFile || leads_nowhere) {
      paths.push_back(std::move(inner));
    }
  }
  if (paths.empty()) {
    return NoFileIn(path, subfolders);
  }
  return SortedInputs(std::move(paths), true);
}

// There may be folders of logs beside those of ranks: only if none has a file, the first of them is
// reported.
Result<std::vector<InputFile>> ListDirectories(std::vector<std::string> folders) {
  std::sort(folders.begin(), folders.end(), NaturalLess);
  std::vector<InputFile> files;
  std::optional<Error> without;
  for (const std::string& folder : folders) {
    Result<std::vector<InputFile>> found = ListDirectory(folder);
    if (!found.ok() && found.error().code != ErrorCode::kInvalidArgument) {
      return found.error();
    }
    if (found.ok()) {
      files.insert(files.end(), std::make_move_iterator(found->begin()),
                   std::make_move_iterator(found->end()));
    } else if (!without.has_value()) {
      without = found.error();
    }
  }
  if (files.empty()) {
    return *without;
  }
  return files;
}

// What the shell would have found, had the pattern not been quoted. Folders beside files are passed
// over; alone they are what was meant, as RUN/* is where each rank has a folder.
Result<std::vector<InputFile>> ExpandGlob(const std::string& pattern) {
  BS_ASSIGN(const std::vector<std::string> matches, PathsMatching(pattern));
  std::vector<std::string> paths;
  std::vector<std::string> folders;
  for (const std::string& match : matches) {
    const Result<FileKind> kind = KindOf(match);
    (kind.ok() && *kind == FileKind::kFolder ? folders : paths).push_back(match);
  }
  if (paths.empty() && folders.empty()) {
    return Error{ErrorCode::kInvalidArgument, "no file matches this pattern", {}, pattern};
  }
  return paths.empty() ? ListDirectories(std::move(folders))
                       : SortedInputs(std::move(paths), false);
}

Result<std::vector<InputFile>> ExpandOne(const std::string& input) {
  if (input == "-") {
    return SortedInputs({input}, false);
  }
  BS_ASSIGN(const struct stat status, StatusOf(input));
  if (S_ISDIR(status.st_mode)) {
    return ListDirectory(input);
  }
  const bool is_there = status.st_mode != 0;
  if (!is_there && input.find_first_of(kGlobCharacters) != std::string::npos) {
    return ExpandGlob(input);
  }
  // A missing file, or one that is hidden, is for the loader to report, with the others of the run.
  return SortedInputs({input}, false);
}

// The page that starts and stops a run, which is no profile.
Result<bool> IsControlPage(const InputFile& file) {
  if (fs::path(file.path).filename() != recording::kControlName) {
    return false;
  }
  uint32_t magic = 0;
  const Result<std::string> begin = BeginOfFile(file.path, sizeof(magic));
  // A missing file is for the loader to report.
  if (!begin.ok() || begin->size() != sizeof(magic)) {
    return false;
  }
  std::memcpy(&magic, begin->data(), sizeof(magic));
  return magic == recording::kControlMagic;
}

// Without the pages of runs that have no logs, beside which other files may lie. A run in which
// there is nothing is an error, also among others: nothing of it would be in the answer.
Result<std::vector<InputFile>> WithoutControlPages(std::vector<InputFile> files) {
  std::vector<InputFile> others;
  std::set<std::string> pages;
  std::set<std::string> filled;
  for (InputFile& file : files) {
    BS_ASSIGN(const bool is_page, IsControlPage(file));
    const std::string folder = fs::path(file.path).parent_path().string();
    (is_page ? pages : filled).insert(folder.empty() ? "." : folder);
    if (!is_page) {
      others.push_back(std::move(file));
    }
  }
  for (const std::string& page : pages) {
    if (!filled.contains(page)) {
      return Error{ErrorCode::kMissingData, "nothing was recorded in this run, or not yet",
                   "what `borescope record` said at its end has the reason", page};
    }
  }
  return others;
}

}  // namespace

Result<std::vector<InputFile>> ExpandInputs(std::span<const std::string> inputs) {
  std::vector<InputFile> files;
  std::set<std::string> seen;
  for (const std::string& input : inputs) {
    BS_ASSIGN(std::vector<InputFile> found, ExpandOne(input));
    for (InputFile& file : found) {
      // One name for a file, by whatever path it was reached.
      BS_ASSIGN(std::string identity, PathWithoutLinks(file.path));
      if (seen.insert(std::move(identity)).second) {
        files.push_back(std::move(file));
      }
    }
  }
  BS_ASSIGN(std::vector<InputFile> grouped, GroupRecordings(std::move(files)));
  return WithoutControlPages(std::move(grouped));
}

std::string NameOfRun(std::span<const InputFile> files) {
  std::vector<std::string> names;
  names.reserve(files.size());
  for (const InputFile& file : files) {
    names.push_back(file.path == "-" ? "standard input" : fs::path(file.path).filename().string());
  }
  if (files.empty()) {
    return "standard input";
  }
  const bool is_recording = files.front().from_directory && !files.front().logs.empty();
  if (files.size() == 1 && !is_recording) {
    return names.front();
  }
  const auto folder_of = [](const InputFile& file) {
    std::error_code ignored;
    return fs::absolute(file.path, ignored).lexically_normal().parent_path();
  };
  const fs::path folder = folder_of(files.front());
  if (std::all_of(files.begin(), files.end(), [&](const InputFile& file) {
        return file.from_directory && folder_of(file) == folder;
      })) {
    return folder.filename().string();
  }
  return *std::min_element(names.begin(), names.end(), NaturalLess) + " and " +
         std::to_string(files.size() - 1) + " more";
}

bool NaturalLess(std::string_view a, std::string_view b) {
  std::string_view rest_a = a;
  std::string_view rest_b = b;
  while (!rest_a.empty() && !rest_b.empty()) {
    if (IsDigit(rest_a.front()) && IsDigit(rest_b.front())) {
      const std::string_view number_a = TakeNumber(rest_a);
      const std::string_view number_b = TakeNumber(rest_b);
      if (number_a != number_b) {
        return number_a.size() != number_b.size() ? number_a.size() < number_b.size()
                                                  : number_a < number_b;
      }
    } else if (rest_a.front() != rest_b.front()) {
      return static_cast<unsigned char>(rest_a.front()) <
             static_cast<unsigned char>(rest_b.front());
    } else {
      rest_a.remove_prefix(1);
      rest_b.remove_prefix(1);
    }
  }
  // "01" and "1" have equal value: the order must still be total.
  return rest_a.size() != rest_b.size() ? rest_a.size() < rest_b.size() : a < b;
}

namespace {

// "[TP00-DP00] " beside the name of a file: " [TP00-DP00]"; "rank 3": " [rank 3]".
std::string NameOfLabel(const std::string& label) {
  return label.starts_with('[') ? " " + label.substr(0, label.find_last_not_of(' ') + 1)
                                : " [" + label + "]";
}

// "rank 3": 3; nothing for labels that give only an order.
std::optional<int64_t> RankOfLabel(std::string_view label) {
  constexpr std::string_view kRank = "rank ";
  int64_t rank = 0;
  if (!label.starts_with(kRank)) {
    return std::nullopt;
  }
  const std::string_view digits = label.substr(kRank.size());
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), rank);
  return read.ec == std::errc() ? std::optional(rank) : std::nullopt;
}

void AddProcesses(const std::vector<int64_t>& processes, std::vector<RankInFile>& ranks) {
  for (const int64_t process : processes) {
    ranks.push_back({.processes = processes, .name = fmt::format(" [process {}]", process)});
  }
}

Result<std::vector<RankInFile>> RanksOf(const InputFile& file) {
  const std::string& path = file.path;
  std::vector<RankInFile> ranks;
  BS_ASSIGN(const std::string begin, BeginOfFile(path, kSqliteMagic.size()));
  if (begin == kSqliteMagic) {
    BS_ASSIGN(const NsysRanks found, FindNsysRanks(path));
    if (!found.refusal.empty()) {
      return Error{ErrorCode::kUnsupportedFormat, found.refusal, {}, path};
    }
    AddProcesses(found.processes, ranks);
  } else {
    BS_ASSIGN(std::vector<std::string> labels, FindRankLabels(path));
    for (std::string& label : labels) {
      std::string name = NameOfLabel(label);
      ranks.push_back({.label = std::move(label), .name = std::move(name)});
    }
    const bool may_be_counters =
        ranks.empty() && !begin.starts_with('{') && !begin.starts_with('[');
    if (may_be_counters) {
      const std::span<const std::string> files =
          file.passes.empty() ? std::span(&path, 1) : std::span(file.passes);
      BS_ASSIGN(const std::vector<int64_t> processes, FindCountedProcesses(files));
      AddProcesses(processes, ranks);
    }
  }
  for (size_t i = 0; i < ranks.size(); ++i) {
    ranks[i].rank = RankOfLabel(ranks[i].label).value_or(static_cast<int64_t>(i));
    ranks[i].ranks = static_cast<int64_t>(ranks.size());
  }
  return ranks;
}

bool MayHoldRanks(const InputFile& file) {
  return file.content == nullptr && file.logs.empty() && file.path != "-" &&
         !file.rank_in_file.has_value();
}

// Which format of counters it has, if it is a report of them.
Result<std::optional<TraceFormat>> ReportFormat(const InputFile& file) {
  if (!MayHoldRanks(file)) {
    return std::optional<TraceFormat>();
  }
  BS_ASSIGN(const std::string begin, BeginOfFile(file.path, 1));
  if (begin.starts_with('{') || begin.starts_with('[')) {
    return std::optional<TraceFormat>();
  }
  return CounterFormatOfFile(file.path);
}

// What `answer` holds; `otherwise`, and a file that is refused, where it is an error.
template <class T>
T OrRefuse(const Result<T>& answer, T otherwise, InputFile& file) {
  if (!answer.ok()) {
    RefuseFile(answer.error(), file);
    return otherwise;
  }
  return *answer;
}

// The files that rocprofv3 made of one run are one input, at the place of the first.
std::vector<InputFile> JoinPasses(std::vector<InputFile> files,
                                  const std::vector<std::optional<TraceFormat>>& formats) {
  std::vector<InputFile> kept;
  std::optional<size_t> joined;
  for (size_t i = 0; i < files.size(); ++i) {
    const bool is_pass = formats[i] == TraceFormat::kRocprofV3Csv;
    if (!is_pass || !joined.has_value()) {
      joined = is_pass ? kept.size() : joined;
      kept.push_back(std::move(files[i]));
      continue;
    }
    InputFile& first = kept[*joined];
    if (first.passes.empty()) {
      first.passes.push_back(first.path);
    }
    first.passes.push_back(files[i].path);
    first.bytes += files[i].bytes;
  }
  return kept;
}

bool IsRefused(const InputFile& file) {
  return file.rank_in_file.has_value() && file.rank_in_file->refusal.has_value();
}

// Whether it is one; a file of which this cannot be found out is refused.
bool IsTrace(InputFile& file) {
  return !IsRefused(file) && (!MayHoldRanks(file) || OrRefuse(MayBeTrace(file.path), false, file));
}

// A report of counters is a run alone, never a rank beside traces: those found in a folder are
// passed over, as what is given with `counters` is, and those that the user named are refused.
// So is a file of which it cannot be found out whether it is one.
std::vector<InputFile> SetReportsAside(std::vector<InputFile> files) {
  std::vector<std::optional<TraceFormat>> formats(files.size());
  if (files.size() > 1) {
    std::transform(files.begin(), files.end(), formats.begin(),
                   [](InputFile& file) { return OrRefuse(ReportFormat(file), {}, file); });
  }
  const auto is_report = [](const std::optional<TraceFormat>& format) {
    return format.has_value();
  };
  if (std::none_of(formats.begin(), formats.end(), is_report)) {
    return files;
  }
  bool has_trace = false;
  for (size_t i = 0; i < files.size() && !has_trace; ++i) {
    has_trace = !formats[i].has_value() && IsTrace(files[i]);
  }
  if (!has_trace) {
    return JoinPasses(std::move(files), formats);
  }
  std::vector<InputFile> kept;
  for (size_t i = 0; i < files.size(); ++i) {
    if (formats[i].has_value() && files[i].from_directory) {
      continue;
    }
    if (formats[i].has_value()) {
      RefuseFile(
          {ErrorCode::kInvalidArgument, "a report of counters is no rank beside traces",
           "give it with `counters`, and its counters are shown with the kernels of the traces",
           files[i].path},
          files[i]);
    }
    kept.push_back(std::move(files[i]));
  }
  return kept;
}

// A file whose ranks are not known becomes one that is refused.
std::vector<RankInFile> RanksOrRefusal(const InputFile& file) {
  Result<std::vector<RankInFile>> ranks = RanksOf(file);
  return ranks.ok() ? std::move(*ranks)
                    : std::vector<RankInFile>{{.ranks = 1, .refusal = ranks.error()}};
}

}  // namespace

std::vector<InputFile> SplitRanks(std::vector<InputFile> files) {
  files = SetReportsAside(std::move(files));
  std::vector<InputFile> inputs;
  inputs.reserve(files.size());
  for (InputFile& file : files) {
    std::vector<RankInFile> ranks =
        MayHoldRanks(file) ? RanksOrRefusal(file) : std::vector<RankInFile>();
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

void RefuseFile(const Error& reason, InputFile& file) {
  if (!file.rank_in_file.has_value()) {
    file.rank_in_file = RankInFile{.ranks = 1};
  }
  file.rank_in_file->refusal = reason;
}

}  // namespace borescope::internal
