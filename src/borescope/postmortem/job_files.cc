#include "borescope/postmortem/job_files.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <new>
#include <utility>

#include "borescope/base/io/byte_source.h"
#include "borescope/base/io/inflate.h"
#include "borescope/base/io/paths.h"
#include "borescope/base/parallel.h"
#include "borescope/base/stop.h"
#include "borescope/base/text/text.h"
#include "borescope/ingest/foreign_files.h"
#include "borescope/ingest/pickle/plain_reader.h"
#include "borescope/output/units/units.h"
#include "borescope/postmortem/findings.h"

namespace borescope::internal {
namespace {

void KeepFirst(const std::string& path, std::string& first) {
  if (first.empty()) {
    first = path;
  }
}

class Finder {
 public:
  Result<void> Add(const std::string& path, bool may_be_pattern = true) {
    if (path == "-") {
      return UsageError("a post-mortem reads files more than once, and no standard input",
                        "write it to a file, and name that");
    }
    BS_ASSIGN(const FileKind kind, KindOf(path));
    if (kind == FileKind::kNothing) {
      constexpr std::string_view kGlobCharacters = "*?[";
      if (may_be_pattern && path.find_first_of(kGlobCharacters) != std::string::npos) {
        return AddMatches(path);
      }
      return Error{.code = ErrorCode::kIo, .cause = "no such file or folder", .file = path};
    }
    if (kind != FileKind::kFolder) {
      AddFile(path, "", true);
      return {};
    }
    BS_ASSIGN(root_, PathWithoutLinks(path));
    return Search(path, kJobFolderDepth);
  }

  std::vector<JobFile> Take() {
    std::stable_sort(files_.begin(), files_.end(),
                     [](const JobFile& a, const JobFile& b) { return a.path < b.path; });
    const auto is_same = [](const JobFile& a, const JobFile& b) { return a.path == b.path; };
    files_.erase(std::unique(files_.begin(), files_.end(), is_same), files_.end());
    return std::move(files_);
  }

  const UnsearchedPlaces& left_out() const { return left_out_; }

 private:
  // A name that exists is never taken for a pattern, and what matches one never is one: of a link
  // that leads nowhere the name may hold its characters.
  Result<void> AddMatches(const std::string& pattern) {
    BS_ASSIGN(const std::vector<std::string> paths, PathsMatching(pattern));
    if (paths.empty()) {
      return Error{.code = ErrorCode::kIo, .cause = "nothing has such a name", .file = pattern};
    }
    for (const std::string& path : paths) {
      BS_TRY(Add(path, false));
    }
    return {};
  }

  void AddFile(const std::string& path, const std::string& folder, bool is_named) {
    JobFile file;
    file.path = path;
    file.folder = folder;
    file.is_named = is_named;
    files_.push_back(std::move(file));
  }

  // What a link leads to has to be in the folder that was named.
  Result<bool> IsWithin(const std::string& path) const {
    BS_ASSIGN(const std::string real, PathWithoutLinks(path));
    return real.starts_with(root_ + "/");
  }

  Result<void> Search(const std::string& folder, int depth) {
    BS_ASSIGN(const std::vector<std::string> names,
              depth == kJobFolderDepth ? NamesIn(folder) : NamesIfAny(folder));
    for (const std::string& name : names) {
      CheckStop();
      std::string path = folder;
      path += folder.ends_with('/') ? "" : "/";
      path += name;
      BS_ASSIGN(const struct stat status, StatusOfLink(path));
      const bool is_link = S_ISLNK(status.st_mode);
      BS_ASSIGN(const FileKind kind, KindOf(path));
      if (is_link) {
        BS_ASSIGN(const bool is_within, IsWithin(path));
        if (!is_within || kind == FileKind::kNothing) {
          KeepFirst(path, left_out_.link);
          continue;
        }
      }
      if (kind == FileKind::kFolder && !is_link && depth > 1) {
        BS_TRY(Search(path, depth - 1));
      } else if (kind == FileKind::kFolder && !is_link) {
        KeepFirst(path, left_out_.too_deep);
      } else if (kind == FileKind::kFile) {
        if (files_.size() >= kMostJobFiles) {
          return UsageError(fmt::format("more than {} files are below {}", kMostJobFiles, root_),
                            "name the folder of one job");
        }
        AddFile(path, folder, false);
      }
    }
    return {};
  }

  std::string root_;
  UnsearchedPlaces left_out_;
  std::vector<JobFile> files_;
};

JobFileKind KindOfContent(PlainContent content) {
  switch (content) {
    case PlainContent::kFlightRecorder:
      return JobFileKind::kFlightRecorder;
    case PlainContent::kMemorySnapshot:
      return JobFileKind::kMemorySnapshot;
    case PlainContent::kPickle:
      return JobFileKind::kPickle;
    case PlainContent::kNone:
      break;
  }
  return JobFileKind::kOther;
}

// A profile: JSON of Chrome's kind, or a database of Nsight Systems.
bool IsTrace(std::string_view head) {
  constexpr size_t kEnough = 8192;
  constexpr std::string_view kParts[] = {"\"traceEvents\"", "\"schemaVersion\"", "\"ph\""};
  std::string_view begin = head.substr(0, kEnough);
  begin.remove_prefix(
      std::min(begin.find_first_not_of(" \t\r\n"), begin.size()));  // Kineto's has some
  const bool is_json = begin.starts_with('{') || begin.starts_with('[');
  return begin.starts_with("SQLite format 3") ||
         (is_json && std::any_of(std::begin(kParts), std::end(kParts),
                                 [&](std::string_view part) { return Contains(begin, part); }));
}

// Pickles before protocol 2 have no mark: this is the opcode GLOBAL, a module and a name, in lines.
bool BeginsWithGlobal(std::string_view head) {
  if (!head.starts_with('c')) {
    return false;
  }
  const auto is_name = [](std::string_view line) {
    return !line.empty() && std::all_of(line.begin(), line.end(), [](char c) {
      return c == '_' || c == '.' || IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    });
  };
  const size_t first = head.find('\n');
  const size_t second = first == std::string_view::npos ? first : head.find('\n', first + 1);
  return second != std::string_view::npos && is_name(head.substr(1, first - 1)) &&
         is_name(head.substr(first + 1, second - first - 1));
}

std::string_view OddityOf(std::string_view head) {
  if (head.empty()) {
    return "the file is empty";
  }
  return BeginsWithGlobal(head)
             ? "opcode GLOBAL at byte 0: this file asks to run code; a flight recorder dump or "
               "memory snapshot does not"
             : "the file is neither a pickle nor JSON of a dump";
}

// Reads what the file begins with.
Result<void> Recognise(JobFile& file) {
  BS_ASSIGN(const struct stat status, StatusOf(file.path));
  file.bytes = static_cast<uint64_t>(std::max<off_t>(status.st_size, 0));
  constexpr int64_t kLatest = std::numeric_limits<int64_t>::max() / kSecondNs - 1;
  file.modified_ns =
      std::clamp<int64_t>(status.st_mtim.tv_sec, 0, kLatest) * kSecondNs + status.st_mtim.tv_nsec;
  BS_ASSIGN(const OpenedSource source, OpenInflated(file.path));
  std::string head(kPlainHeadBytes, '\0');
  BS_ASSIGN(const size_t got, ReadFully(*source.bytes, head.data(), head.size()));
  head.resize(got);
  const PlainGuess guess = GuessPlain(head);
  file.kind = KindOfContent(guess.content);
  file.is_json = guess.is_json;
  if (file.kind == JobFileKind::kOther) {
    file.is_trace = IsTrace(head);
    file.oddity = OddityOf(head);
    file.foreign = ForeignJsonName(head);
  } else if (file.kind == JobFileKind::kPickle && IsDumpName(file.path)) {
    file.kind = JobFileKind::kFlightRecorder;  // to say what is wrong with it
  }
  return {};
}

}  // namespace

std::string_view JobFileKindName(JobFileKind kind) {
  constexpr std::string_view kNames[] = {"",       "flight-recorder", "memory-snapshot",
                                         "pickle", "other",           ""};
  return kNames[static_cast<size_t>(kind)];
}

std::vector<JobFile> OfKind(std::span<const JobFile> files, JobFileKind kind) {
  std::vector<JobFile> found;
  std::copy_if(files.begin(), files.end(), std::back_inserter(found),
               [kind](const JobFile& file) { return file.kind == kind; });
  return found;
}

Error TakesTooMuch(uint64_t memory_limit, const std::string& first_file) {
  return Error{.code = ErrorCode::kIo,
               .cause = fmt::format("reading takes more than {}", FormatBytes(memory_limit)),
               .remedy = "raise `memory_limit`, or name fewer files",
               .file = first_file};
}

namespace {

// The digits at the end of a name, before endings such as .pickle.
std::string_view DigitsAtEnd(std::string_view name) {
  constexpr std::string_view kEndings[] = {".gz", ".zst", ".pickle", ".pkl", ".json", ".pt"};
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (const std::string_view ending : kEndings) {
      if (name.ends_with(ending)) {
        name.remove_suffix(ending.size());
        has_changed = true;
      }
    }
  }
  size_t begin = name.size();
  while (begin > 0 && IsDigit(name[begin - 1])) {
    --begin;
  }
  return name.substr(begin);
}

std::optional<int32_t> NumberAfterRank(std::string_view name) {
  const std::string lower = LowerCase(name);
  for (size_t at = lower.rfind("rank"); at != std::string::npos && at < lower.size();
       at = at == 0 ? std::string::npos : lower.rfind("rank", at - 1)) {
    size_t begin = at + 4;
    begin +=
        begin < lower.size() && (lower[begin] == '_' || lower[begin] == '-' || lower[begin] == '=')
            ? 1
            : 0;
    size_t end = begin;
    while (end < lower.size() && IsDigit(lower[end])) {
      ++end;
    }
    if (end > begin) {
      return ParseNumber<int32_t>(std::string_view(lower).substr(begin, end - begin));
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<int32_t> RankOfName(std::string_view name) {
  name = name.substr(name.find_last_of('/') + 1);
  if (const std::optional<int32_t> rank = NumberAfterRank(name); rank.has_value()) return rank;
  const std::string_view digits = DigitsAtEnd(name);
  return digits.empty() ? std::nullopt : ParseNumber<int32_t>(digits);
}

std::optional<int32_t> RankOfSnapshotName(std::string_view name) {
  constexpr size_t kMostDigits = 6;
  name = name.substr(name.find_last_of('/') + 1);
  if (const std::optional<int32_t> rank = NumberAfterRank(name); rank.has_value()) return rank;
  const std::string_view digits = DigitsAtEnd(name);
  const auto before = static_cast<size_t>(digits.data() - name.data());
  const bool is_apart =
      before == 0 || std::string_view("_-.").find(name[before - 1]) != std::string_view::npos;
  const bool is_rank = !digits.empty() && digits.size() <= kMostDigits && is_apart;
  return is_rank ? ParseNumber<int32_t>(digits) : std::nullopt;
}

bool IsDumpName(std::string_view name) {
  const std::string lower = LowerCase(name.substr(name.find_last_of('/') + 1));
  return RankOfName(name).has_value() && (Contains(lower, "trace") || Contains(lower, "dump")) &&
         !Contains(lower, "core") && !Contains(lower, "stack") && !lower.ends_with(".log") &&
         !lower.ends_with(".txt") && !lower.ends_with(".out") && !lower.ends_with(".err");
}

Result<std::vector<JobFile>> FindJobFiles(std::span<const std::string> paths, int threads,
                                          UnsearchedPlaces* left_out) {
  Finder finder;
  for (const std::string& path : paths) {
    BS_TRY(finder.Add(path));
  }
  std::vector<JobFile> files = finder.Take();
  if (left_out != nullptr) {
    *left_out = finder.left_out();
  }
  ParallelFor(files.size(), threads, [&](size_t i) {
    JobFile& file = files[i];
    if (const Result<void> recognised = Recognise(file); !recognised.ok()) {
      file.failure = InFile(file.path, recognised.error());
    }
    file.rank = file.kind == JobFileKind::kMemorySnapshot ? RankOfSnapshotName(file.path)
                                                          : RankOfName(file.path);
  });
  return files;
}

}  // namespace borescope::internal
