#include "borescope/postmortem/logs/job_logs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "borescope/base/io/byte_source.h"
#include "borescope/base/io/inflate.h"
#include "borescope/base/parallel.h"
#include "borescope/base/text/text.h"
#include "borescope/postmortem/logs/error_files.h"
#include "borescope/postmortem/logs/log_envelopes.h"
#include "borescope/postmortem/logs/ras_reports.h"

namespace borescope::internal {
namespace {

constexpr size_t kTextHead = size_t{64} << 10U;
constexpr size_t kErrorFileBytes = size_t{16} << 20U;
constexpr uint64_t kUnnamedBytes = uint64_t{64} << 20U;

// A source whose first bytes were looked at.
class Rejoined : public ByteSource {
 public:
  Rejoined(std::string head, ByteSource& rest) : head_(std::move(head)), rest_(&rest) {}

  Result<size_t> Read(char* out, size_t capacity) override {
    if (at_ == head_.size()) {
      return rest_->Read(out, capacity);
    }
    const size_t count = std::min(capacity, head_.size() - at_);
    std::copy_n(head_.data() + at_, count, out);
    at_ += count;
    return count;
  }
  uint64_t stored_bytes() const override { return rest_->stored_bytes(); }
  uint64_t stored_total() const override { return rest_->stored_total(); }

 private:
  std::string head_;
  size_t at_ = 0;
  ByteSource* rest_;
};

struct ReadText {
  std::string kind;  // empty: no log
  std::vector<LogEvent> events;
  std::string failure;
  std::string damage;     // of its compressed form, which ends the text too early; else empty
  bool is_older = false;  // of an attempt before the newest
  EndOfLog end = {};
};

// Keeps how a log begins and ends, line by line.
class EndKeeper {
 public:
  void Take(std::string_view line, int64_t number) {
    constexpr size_t kBegins = 20;  // lines in which the first time is looked for
    constexpr size_t kKept = 1000;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) {
      return;
    }
    if (number <= static_cast<int64_t>(kBegins) && !HasFirst()) {
      const LogLine clean = CleanLogLine(ToValidUtf8(line.substr(0, kKept)), kept_);
      end_.first_unix_ns = clean.unix_ns;
      end_.first_year_ns = clean.year_ns;
    }
    if (Contains(line, "ut of memory") && Contains(line, "etry")) {
      retry_line_ = number;
    }
    Last& last = last_[next_++ % last_.size()];
    last.text.assign(line.substr(0, kKept));
    last.number = number;
  }

  // `events`: of this log.
  EndOfLog Finish(std::span<const LogEvent> events) {
    constexpr std::string_view kFinished[] = {"raining finished", "inished training",
                                              "raining complete", "raining done"};
    for (size_t i = 0; i < std::min(next_, last_.size()); ++i) {
      const Last& last = last_[(next_ - 1 - i) % last_.size()];
      const std::string text = ToValidUtf8(last.text);
      if (end_.last_unix_ns == 0 && end_.last_year_ns == 0) {
        const LogLine clean = CleanLogLine(text, kept_);
        end_.last_unix_ns = clean.unix_ns;
        end_.last_year_ns = clean.year_ns;
      }
      const bool is_event = std::any_of(events.begin(), events.end(), [&](const LogEvent& event) {
        return event.line == last.number;
      });
      if (end_.line == 0 && !is_event) {
        end_.line = last.number;
        end_.text = WithoutSecrets(text);
      }
      end_.has_finished = end_.has_finished ||
                          std::any_of(std::begin(kFinished), std::end(kFinished),
                                      [&](std::string_view word) { return Contains(text, word); });
    }
    end_.retry_line = retry_line_ > 0 && end_.line > retry_line_ + 1 ? retry_line_ : 0;
    return std::move(end_);
  }

 private:
  struct Last {
    std::string text;
    int64_t number = 0;
  };
  bool HasFirst() const { return end_.first_unix_ns != 0 || end_.first_year_ns != 0; }

  EndOfLog end_;
  std::array<Last, 8> last_;  // as a ring
  size_t next_ = 0;
  int64_t retry_line_ = 0;
  std::string kept_;
};

std::string_view WithoutPacking(std::string_view path) {
  for (const std::string_view packed : {".gz", ".zst"}) {
    path.remove_suffix(path.ends_with(packed) ? packed.size() : 0);
  }
  return path;
}

bool HasNameOfLog(std::string_view path) {
  constexpr std::string_view kEndings[] = {".log", ".out", ".err", ".txt"};
  path = WithoutPacking(path);
  return std::any_of(std::begin(kEndings), std::end(kEndings),
                     [&](std::string_view ending) { return path.ends_with(ending); });
}

bool HasNameOfErrorFile(std::string_view path) {
  path = WithoutPacking(path);
  return path.ends_with("/error.json") || path == "error.json";
}

std::string_view DamageOf(const OpenedSource& source) {
  return source.inflating == nullptr ? std::string_view() : source.inflating->damage();
}

// A list of JSON begins with a value; a bracket before a rank, a place or a time is that of a log.
bool BeginsAsJson(std::string_view head) {
  if (!head.starts_with('[')) {
    return head.starts_with('{');
  }
  const size_t value = head.find_first_not_of(" \t\r\n", 1);
  return value == std::string_view::npos || Contains("{[\"]", head.substr(value, 1));
}

// Why a file that begins as such a one is none; nothing where it may be another kind of JSON.
std::string_view WhyNoErrorFile(ErrorFileKind kind, std::string_view path, std::string_view text) {
  if (HasNameOfErrorFile(path)) {
    return "the error file ends in the middle, or is none as torchrun writes it";
  }
  if (kind == ErrorFileKind::kRas) {
    return "the report of NCCL's RAS ends in the middle, or is none as ncclras writes it";
  }
  // A whole list that names threads and processes may be anybody's.
  const bool is_cut = kind == ErrorFileKind::kPySpy && !Trimmed(text).ends_with(']');
  return is_cut ? "the stacks of py-spy end in the middle" : "";
}

Result<void> ReadAsErrorFile(ErrorFileKind kind, std::string_view path, std::string head,
                             ByteSource& rest, const LineFinder& lines, ReadText& read) {
  Rejoined all(std::move(head), rest);
  BS_ASSIGN(const std::string text, ReadUpTo(all, kErrorFileBytes));
  if (std::optional<std::vector<LogEvent>> events = ReadErrorFile(kind, text, lines)) {
    read.kind = kind == ErrorFileKind::kElastic ? "elastic-error"
                : kind == ErrorFileKind::kRas   ? "nccl-ras"
                                                : "py-spy";
    read.events = std::move(*events);
  } else if (const std::string_view why = WhyNoErrorFile(kind, path, text); !why.empty()) {
    return Error{.code = ErrorCode::kCorrupt, .cause = std::string(why), .file = std::string(path)};
  }
  return {};
}

Result<void> ReadAsText(const JobFile& file, const LineFinder& lines, ReadText& read) {
  BS_ASSIGN(const OpenedSource source, OpenInflated(file.path));
  std::string head(kTextHead, '\0');
  BS_ASSIGN(const size_t got, ReadFully(*source.bytes, head.data(), head.size()));
  head.resize(got);
  const std::string_view early = DamageOf(source);
  if (got == 0 && !early.empty() && !IsDumpName(file.path)) {  // of a dump, its reader says it
    return Error{ErrorCode::kCorrupt, fmt::format("the {} and nothing could be inflated", early),
                 "copy the file again", file.path};
  }
  const bool is_named_so = HasNameOfLog(file.path);
  if (const ErrorFileKind kind = GuessErrorFile(head); kind != ErrorFileKind::kNone) {
    BS_TRY(ReadAsErrorFile(kind, file.path, std::move(head), *source.bytes, lines, read));
    read.damage = DamageOf(source);
    return {};
  }
  if (!early.empty() && HasNameOfErrorFile(file.path)) {
    return Error{ErrorCode::kCorrupt, fmt::format("the {}", early), "copy the file again",
                 file.path};
  }
  const bool is_json = BeginsAsJson(head) && !IsLineOfDocker(head);
  const bool is_wide = head.starts_with("\xFF\xFE") || head.starts_with("\xFE\xFF");
  const bool is_text = is_wide || !Contains(head, std::string_view("\0", 1));
  if (!is_named_so && (!is_text || is_json)) {
    return {};
  }
  Rejoined all(std::move(head), *source.bytes);
  LogScanner scanner(lines);
  RasReader ras;
  EndKeeper end;
  BS_TRY(ForEachLogLine(all, is_named_so ? UINT64_MAX : kUnnamedBytes,
                        [&](std::string_view line, int64_t number) {
                          scanner.Take(line, number);
                          ras.Take(line, number);
                          end.Take(line, number);
                        }));
  read.events = scanner.Finish();
  for (LogEvent& event : ras.Finish()) {
    read.events.push_back(std::move(event));
  }
  std::stable_sort(read.events.begin(), read.events.end(),
                   [](const LogEvent& a, const LogEvent& b) { return a.line < b.line; });
  read.damage = DamageOf(source);
  // What is lost of a text may be what would have shown that it is a log.
  read.kind = is_named_so || !read.events.empty() || !read.damage.empty() ? "log" : "";
  read.end = end.Finish(read.events);
  if (!read.damage.empty()) {  // the last line that is left is not the last one
    read.end.line = 0;
    read.end.text.clear();
    read.end.has_finished = false;
  }
  return {};
}

// What a scheduler ended, and what follows from its end, is no cause of its own.
class ConsequenceMarker {
 public:
  explicit ConsequenceMarker(std::vector<JobEvent>& events) : events_(events) {
    for (const JobEvent& event : events_) {
      const bool is_cancel = event.kind == LogKind::kCancelled;
      if (is_cancel && HasReason(event)) {
        has_reason_ = true;
        reason_year_ns_ = event.year_ns;
      }
      has_kill_ = has_kill_ || event.kind == LogKind::kKilled || IsTask(event, "Out Of Memory");
      if (event.kind == LogKind::kTimeout || IsReport(event)) reporting_.insert(event.rank);
    }
  }

  void Mark() {
    for (JobEvent& event : events_) {
      event.is_consequence = event.is_consequence || Follows(event);
      // Events are by file and line.
      if (event.file != file_) {
        file_ = event.file;
        cancel_ = nullptr;
        has_failed_task_ = false;
        has_named_ = false;
      }
      if (event.kind == LogKind::kCancelled && !event.is_consequence &&
          (cancel_ == nullptr || HasReason(event))) {
        cancel_ = &event;
      }
      has_named_ = has_named_ || (event.is_named_first && event.kind == LogKind::kExit);
      has_failed_task_ =
          has_failed_task_ || (event.kind == LogKind::kTaskFailed && !event.is_consequence);
    }
  }

 private:
  // A limit, another job or a node; else somebody cancelled it, or srun because a task failed.
  static bool HasReason(const JobEvent& cancel) { return cancel.text != "cancelled"; }
  static bool IsTask(const JobEvent& event, std::string_view state) {
    return event.kind == LogKind::kTaskFailed && event.text.ends_with(state);
  }

  // An exception that only says that another rank failed or did not come.
  static bool IsReport(const JobEvent& event) {
    return event.is_consequence &&
           (event.kind == LogKind::kException || event.kind == LogKind::kOutOfMemory);
  }

  // How a process ends that gave up waiting for others, or whose launcher ends all of them.
  bool FollowsByItself(const JobEvent& event) const {
    constexpr int kKilled = -9;
    if (IsAbort(event) && !event.is_named_first) {
      return event.rank.has_value()
                 ? reporting_.contains(event.rank) || reporting_.contains(std::nullopt)
                 : !reporting_.empty();
    }
    return event.is_of_shell && event.exit_code == kKilled && event.file == file_ && has_named_;
  }

  // Its time is after that of the end, and near enough to be of one zone.
  bool IsLater(const JobEvent& event) const {
    constexpr int64_t kZoneNs = 900 * kSecondNs;
    const int64_t later_ns = YearNsBetween(reason_year_ns_, event.year_ns);
    return reason_year_ns_ != 0 && event.year_ns != 0 && later_ns > 0 && later_ns < kZoneNs;
  }

  bool Follows(const JobEvent& event) const {
    const bool is_here = event.file == file_;
    const bool is_after = is_here && cancel_ != nullptr;
    const bool is_after_task = is_here && has_failed_task_;
    if (FollowsByItself(event)) {
      return true;
    }
    switch (event.kind) {
      case LogKind::kCancelled:
        return !HasReason(event) && is_after_task;
      case LogKind::kTaskFailed:
        return is_after || (IsTask(event, "Killed") && (has_reason_ || has_kill_ || is_after_task));
      case LogKind::kExit: {
        constexpr int kKilled = -9;
        return (is_after && HasReason(*cancel_)) || IsLater(event) ||
               (event.exit_code == kKilled && has_reason_ && !has_kill_);
      }
      case LogKind::kException:
      case LogKind::kFatal:
        return (is_after && HasReason(*cancel_)) || IsLater(event);
      default:
        return false;
    }
  }

  std::vector<JobEvent>& events_;
  bool has_reason_ = false;  // somewhere in the job
  int64_t reason_year_ns_ = 0;
  bool has_kill_ = false;
  std::string file_;
  const JobEvent* cancel_ = nullptr;  // earlier in the file
  bool has_failed_task_ = false;
  bool has_named_ = false;  // a launcher says in the file which process ended first
  // Ranks that waited in vain, or only report others; nothing: one that is not known.
  std::set<std::optional<int32_t>> reporting_;
};

void MarkConsequences(std::vector<JobEvent>& events) { ConsequenceMarker(events).Mark(); }

// Reads all files, and decides which rank each event is about.
class LogReader {
 public:
  LogReader(std::span<const JobFile> files, const LogRequest& request, const LineFinder& lines) {
    std::copy_if(files.begin(), files.end(), std::back_inserter(files_), [](const JobFile& file) {
      return file.kind == JobFileKind::kOther && !file.failure.has_value();
    });
    for (const JobFile& file : files) {
      if (file.kind == JobFileKind::kFlightRecorder) ranks_of_dumps_.push_back(file.rank);
    }
    reads_.resize(files_.size());
    std::mutex mutex;
    uint64_t done = 0;
    ParallelFor(files_.size(), request.threads, [&](size_t i) {
      if (const Result<void> read = ReadAsText(files_[i], lines, reads_[i]); !read.ok()) {
        reads_[i].kind = "log";
        reads_[i].failure = read.error().cause;
      }
      const std::scoped_lock lock(mutex);
      done += files_[i].bytes;
      if (request.progress) request.progress(done);
    });
  }

  LogPart Take() {
    LeaveOutOlderAttempts();
    LearnNumberedNames();
    LeaveOutLocalRanks();
    LearnProcesses();
    LogPart part;
    for (size_t i = 0; i < files_.size(); ++i) {
      if (reads_[i].kind.empty()) {
        continue;
      }
      if (!reads_[i].failure.empty()) {
        part.diagnostics.push_back({Severity::kWarning, "unreadable-file", 1, files_[i].path,
                                    reads_[i].failure,
                                    "The file could not be read; the answer is about the others."});
      } else if (!reads_[i].damage.empty()) {
        part.diagnostics.push_back(
            {Severity::kWarning, "truncated-file", 1, files_[i].path, "the " + reads_[i].damage,
             "Everything before that was read; how the file ends is not known."});
      }
      part.files.push_back(RowOf(i));
      if (reads_[i].kind == "log" && !reads_[i].is_older) {
        EndOfLog& end = part.ends.emplace_back(std::move(reads_[i].end));
        end.file = files_[i].path;
        if (part.files.back().rank.has_value()) {
          end.rank = static_cast<int32_t>(*part.files.back().rank);
        }
      }
      for (LogEvent& event : reads_[i].events) {
        GiveRank(i, event);
        JobEvent of_job;
        static_cast<LogEvent&>(of_job) = std::move(event);
        of_job.file = files_[i].path;
        part.events.push_back(std::move(of_job));
      }
    }
    MarkConsequences(part.events);
    std::vector<LogFindingRow> rows;
    rows.reserve(part.events.size());
    for (const JobEvent& event : part.events) {
      rows.push_back(FindingOf(event));
    }
    part.tables.push_back(MakeTable(rows));
    return part;
  }

 private:
  // The rank by the place of the file: of error files its folder, of logs the name.
  std::optional<int32_t> RankOfPlace(size_t i) const {
    const std::optional<int32_t> of_folder = RankOfFolder(files_[i].path);
    if (reads_[i].kind == "elastic-error" && of_folder.has_value()) {
      return of_folder;
    }
    const std::string_view path = files_[i].path;
    const std::string_view name = path.substr(path.rfind('/') + 1);
    const bool is_of_torchrun =
        name == "stdout.log" || name == "stderr.log" || name == "stdout" || name == "stderr";
    if (is_of_torchrun) {
      return of_folder;
    }
    const std::string lower = LowerCase(name);
    if (Contains(lower, "rank") && !Contains(lower, "local_rank") &&
        !Contains(lower, "local-rank") && !Contains(lower, "localrank")) {
      return files_[i].rank;
    }
    // Any other number of a log may be that of the job or the day, unless there is one for each.
    const auto numbered = rank_of_file_.find(i);
    return numbered != rank_of_file_.end() ? std::optional(numbered->second)
           : reads_[i].kind != "log"       ? files_[i].rank
                                           : std::nullopt;
  }

  // The path with '#' for the last number of its name, or else of its folder, and that number.
  static std::optional<std::pair<std::string, int32_t>> NumberedName(const std::string& path) {
    const size_t slash = path.rfind('/');
    const size_t name = slash == std::string::npos ? 0 : slash + 1;
    const size_t folder =
        slash == std::string::npos || slash == 0 ? 0 : path.rfind('/', slash - 1) + 1;
    size_t end = path.find_last_of("0123456789");
    if (end == std::string::npos || end < folder) {
      return std::nullopt;
    }
    size_t begin = end++;
    while (begin > (end > name ? name : folder) && IsDigit(path[begin - 1])) --begin;
    const auto number = ParseNumber<int32_t>(std::string_view(path).substr(begin, end - begin));
    // Nodes, pods, attempts and places on a node are counted as well; a first worker may be rank 1.
    constexpr std::string_view kOthers[] = {"local",  "node",    "host", "pod",
                                            "worker", "attempt", "run",  "try"};
    const std::string before = LowerCase(std::string_view(path).substr(folder, begin - folder));
    const bool is_other =
        std::any_of(std::begin(kOthers), std::end(kOthers),
                    [&](std::string_view word) { return Contains(before, word); });
    if (!number.has_value() || is_other) {
      return std::nullopt;
    }
    return std::pair(path.substr(0, begin) + "#" + path.substr(end), *number);
  }

  // Logs whose names differ in one number, which counts from 0 without a gap, are one of each rank,
  // unless anything says that there are more ranks, or which of them wrote a line.
  void LearnNumberedNames() {
    std::map<std::string, std::map<int32_t, size_t>> sets;
    std::set<std::string> refused;
    for (size_t i = 0; i < files_.size(); ++i) {
      const auto numbered = NumberedName(files_[i].path);
      if (reads_[i].kind != "log" || reads_[i].is_older || !numbered.has_value()) {
        continue;
      }
      const bool says_other =
          std::any_of(reads_[i].events.begin(), reads_[i].events.end(), [&](const LogEvent& event) {
            return event.rank.has_value() && event.rank != numbered->second;
          });
      const bool is_new = sets[numbered->first].try_emplace(numbered->second, i).second;
      if (says_other || !is_new) {
        refused.insert(numbered->first);
      }
    }
    int32_t ranks = 0;  // by the names of dumps
    for (const std::optional<int32_t>& rank : ranks_of_dumps_) {
      ranks = std::max(ranks, rank.value_or(-1) + 1);
    }
    for (const auto& [name, files] : sets) {
      const auto count = static_cast<int32_t>(files.size());
      const bool is_complete =
          count > 1 && files.begin()->first == 0 && files.rbegin()->first == count - 1;
      if (!is_complete || refused.contains(name) || count < ranks) {
        continue;
      }
      for (const auto& [rank, file] : files) rank_of_file_[file] = rank;
    }
  }

  // What ended an attempt before the newest one is not what ended the job.
  void LeaveOutOlderAttempts() {
    std::optional<int32_t> newest;
    for (size_t i = 0; i < files_.size(); ++i) {
      if (!reads_[i].kind.empty()) {
        newest = std::max(newest, AttemptOfFolder(files_[i].path));
      }
    }
    for (size_t i = 0; i < files_.size(); ++i) {
      const std::optional<int32_t> attempt = AttemptOfFolder(files_[i].path);
      reads_[i].is_older = attempt.has_value() && attempt < newest;
      if (reads_[i].is_older) {
        reads_[i].events.clear();
      }
    }
  }

  // Places on a node are ranks only where there is one node: no two files are of one place.
  void LeaveOutLocalRanks() {
    std::map<std::pair<std::string, int32_t>, size_t> files_of;
    for (size_t i = 0; i < files_.size(); ++i) {
      const std::optional<int32_t> rank = RankOfPlace(i);
      if (reads_[i].kind.empty() || reads_[i].is_older || !rank.has_value()) {
        continue;
      }
      const std::string_view path = files_[i].path;
      ++files_of[{std::string(path.substr(path.rfind('/') + 1)), *rank}];
    }
    has_many_nodes_ = std::any_of(files_of.begin(), files_of.end(),
                                  [](const auto& entry) { return entry.second > 1; });
    size_t with_local = 0;
    for (const ReadText& read : reads_) {
      with_local += std::any_of(read.events.begin(), read.events.end(), [](const LogEvent& event) {
        return event.basis == LogRankBasis::kLocal;
      });
    }
    has_many_launchers_ = with_local > 1;
  }

  // Which process is which rank, from events that know both. Hosts may have equal numbers of
  // processes: those of two ranks tell nothing.
  void LearnProcesses() {
    const auto learn = [&](int64_t pid, int32_t rank) {
      const auto [place, is_new] = rank_of_process_.try_emplace(pid, rank);
      if (!is_new && place->second != rank) {
        place->second = -1;
      }
    };
    for (const ReadText& read : reads_) {
      for (const LogEvent& event : read.events) {
        const bool is_sure = event.rank.has_value() && event.basis == LogRankBasis::kRank;
        if (is_sure && event.pid.has_value()) learn(*event.pid, *event.rank);
        if (!event.ras.has_value()) {
          continue;
        }
        for (const auto& [pid, rank] : event.ras->processes) learn(pid, rank);
      }
    }
  }

  void GiveRank(size_t i, LogEvent& event) const {
    // A process of which the rank is sure is surer than a place on some node.
    const auto sure =
        event.pid.has_value() ? rank_of_process_.find(*event.pid) : rank_of_process_.end();
    const bool is_sure = sure != rank_of_process_.end() && sure->second >= 0;
    const bool is_place = event.basis == LogRankBasis::kLocal;
    if (is_place && (has_many_launchers_ || is_sure)) {
      event.rank.reset();
    }
    if (!event.rank.has_value() && is_sure) {
      event.rank = sure->second;
    }
    const bool is_of_file = event.kind != LogKind::kXid && event.kind != LogKind::kKilled &&
                            event.kind != LogKind::kCancelled &&
                            event.kind != LogKind::kTaskFailed && event.kind != LogKind::kRas &&
                            event.kind != LogKind::kMachine &&
                            (event.kind != LogKind::kExit || event.is_of_shell);
    if (!event.rank.has_value() && is_of_file && !has_many_nodes_) {
      event.rank = RankOfPlace(i);
    }
  }

  JobFileRow RowOf(size_t i) const {
    const ReadText& read = reads_[i];
    JobFileRow row;
    row.file = files_[i].path;
    row.kind = read.kind;
    row.bytes = static_cast<int64_t>(files_[i].bytes);
    row.records = static_cast<int64_t>(read.events.size());
    row.status = !read.failure.empty()  ? "refused"
                 : read.is_older        ? "ignored"
                 : !read.damage.empty() ? "truncated"
                                        : "read";
    if (const std::optional<int32_t> rank = RankOfPlace(i); rank.has_value() && !has_many_nodes_) {
      row.rank = *rank;
    }
    for (const LogEvent& event : read.events) {
      if (event.unix_ns != 0) {
        row.begin_unix_ns = std::min(row.begin_unix_ns.value_or(event.unix_ns), event.unix_ns);
        row.end_unix_ns = std::max(row.end_unix_ns.value_or(event.unix_ns), event.unix_ns);
      }
    }
    return row;
  }

  static LogFindingRow FindingOf(const JobEvent& event) {
    LogFindingRow row;
    row.file = event.file;
    row.kind = LogKindName(event.kind);
    row.text = event.text;
    row.program_line = IfAny(event.program_line);
    row.consequence = event.is_consequence;
    row.count = static_cast<int64_t>(event.count);
    row.pid = event.pid;
    if (event.rank.has_value()) row.rank = *event.rank;
    if (event.line > 0) row.line = event.line;
    if (event.unix_ns != 0) row.unix_ns = event.unix_ns;
    return row;
  }

  std::vector<JobFile> files_;
  std::vector<ReadText> reads_;
  std::vector<std::optional<int32_t>> ranks_of_dumps_;
  std::map<size_t, int32_t> rank_of_file_;  // of logs that are numbered, by place in files_
  std::map<int64_t, int32_t> rank_of_process_;
  bool has_many_nodes_ = false;
  bool has_many_launchers_ = false;
};

}  // namespace

LogPart FindLogs(std::span<const JobFile> files, const LogRequest& request,
                 const LineFinder& lines) {
  return LogReader(files, request, lines).Take();
}

}  // namespace borescope::internal
