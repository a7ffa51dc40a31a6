#include "borescope/postmortem/hang_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "borescope/base/io/inflate.h"
#include "borescope/base/parallel.h"
#include "borescope/ingest/flight_recorder/flight_dump.h"
#include "borescope/postmortem/hang_analysis.h"
#include "borescope/postmortem/hang_model.h"
#include "borescope/postmortem/hang_report.h"

namespace borescope::internal {
namespace {

// A dump, and what is known of its file.
struct ReadFile {
  const JobFile* file = nullptr;
  std::optional<FlightDump> dump;
  std::optional<Error> failure;
  std::optional<int32_t> rank;
  int64_t newest_ns = 0;
  std::string status = "read";
};

// Stores for so many threads as read at a time: what equal dumps have in common is kept once in
// each.
class Stores {
 public:
  std::shared_ptr<FlightStore> Take() {
    const std::scoped_lock lock(mutex_);
    if (free_.empty()) {
      return std::make_shared<FlightStore>();
    }
    std::shared_ptr<FlightStore> store = std::move(free_.back());
    free_.pop_back();
    return store;
  }
  void Return(std::shared_ptr<FlightStore> store) {
    const std::scoped_lock lock(mutex_);
    free_.push_back(std::move(store));
  }

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<FlightStore>> free_;
};

void ReadOne(const JobFile& file, const std::shared_ptr<FlightStore>& store, ReadFile& read) {
  read.file = &file;
  const auto fail = [&](const Error& error) {
    read.failure = InFile(file.path, error);
    read.status = "refused";
  };
  if (file.failure.has_value()) {
    fail(*file.failure);
    return;
  }
  Result<OpenedSource> source = OpenInflated(file.path);
  if (!source.ok()) {
    fail(source.error());
    return;
  }
  Result<FlightDump> dump = ReadFlightDump(*source->bytes, store);
  if (!dump.ok()) {
    fail(dump.error());
    return;
  }
  const bool is_damaged = source->inflating != nullptr && !source->inflating->damage().empty();
  read.dump = std::move(*dump);
  read.dump->is_cut = read.dump->is_cut || is_damaged;
  read.status = read.dump->is_cut ? "truncated" : "read";
  for (const FlightEntry& entry : read.dump->entries) {
    read.newest_ns = std::max(read.newest_ns, entry.created_ns);
  }
}

// Reads all files and decides which of them count.
class DumpReader {
 public:
  DumpReader(std::span<const JobFile> files, const HangRequest& request) : reads_(files.size()) {
    std::mutex mutex;
    uint64_t done = 0;
    Stores stores;
    ParallelFor(files.size(), request.threads, [&](size_t i) {
      std::shared_ptr<FlightStore> store = stores.Take();
      ReadOne(files[i], store, reads_[i]);
      stores.Return(std::move(store));
      const std::scoped_lock lock(mutex);
      done += files[i].bytes;
      if (request.progress) request.progress(done);
    });
    for (const ReadFile& read : reads_) {
      if (read.failure.has_value()) {
        has_failed_ = true;
        const bool runs_code = read.failure->code == ErrorCode::kUnsupportedFormat;
        Say(Severity::kError, runs_code ? "unsafe-pickle" : "unreadable-file", read.file->path,
            read.failure->cause,
            runs_code ? "The file is no dump as PyTorch writes them; nothing in it was run."
                      : "The file could not be read; the answer is about the others.");
      }
    }
    LeaveOutOlderAttempts();
    GiveRanks();
    LeaveOutDuplicates();
    Note();
  }

  std::vector<RankDump> Dumps() const {
    std::vector<RankDump> dumps;
    for (const ReadFile& read : reads_) {
      if (Counts(read) && read.rank.has_value()) {
        dumps.push_back({*read.rank, &*read.dump, read.file->modified_ns});
      }
    }
    return dumps;
  }

  std::vector<JobFileRow> Rows() const {
    std::vector<JobFileRow> rows;
    for (const ReadFile& read : reads_) {
      JobFileRow row;
      row.file = read.file->path;
      row.kind = JobFileKindName(read.file->kind);
      row.bytes = static_cast<int64_t>(read.file->bytes);
      row.status = read.status;
      if (read.rank.has_value()) row.rank = *read.rank;
      if (read.dump.has_value()) {
        row.version = read.dump->version;
        row.records = static_cast<int64_t>(read.dump->entries.size());
        if (read.newest_ns > 0) {
          row.begin_unix_ns = OldestOf(*read.dump);
          row.end_unix_ns = read.newest_ns;
        }
      }
      rows.push_back(std::move(row));
    }
    return rows;
  }

  // Dumps that could be read, but nothing says whose they are.
  size_t WithoutRank() const {
    return static_cast<size_t>(
        std::count_if(reads_.begin(), reads_.end(),
                      [](const ReadFile& read) { return Counts(read) && !read.rank.has_value(); }));
  }

  bool has_failed() const { return has_failed_; }
  std::vector<Diagnostic> TakeDiagnostics() { return std::move(diagnostics_); }

 private:
  static bool Counts(const ReadFile& read) {
    return read.dump.has_value() && read.status != "ignored";
  }

  static int64_t OldestOf(const FlightDump& dump) {
    int64_t oldest = 0;
    for (const FlightEntry& entry : dump.entries) {
      oldest = entry.created_ns > 0 && (oldest == 0 || entry.created_ns < oldest) ? entry.created_ns
                                                                                  : oldest;
    }
    return oldest;
  }

  void Say(Severity severity, std::string_view code, const std::string& file, std::string first,
           std::string_view help, uint64_t count = 1) {
    diagnostics_.push_back(
        {severity, std::string(code), count, file, std::move(first), std::string(help)});
  }

  // Folders of attempts of the job: those whose newest record is more than ten minutes before that
  // of the newest folder.
  void LeaveOutOlderAttempts() {
    constexpr int64_t kGapNs = 600 * kSecondNs;
    std::map<std::string, int64_t> newest;
    int64_t last = 0;
    for (const ReadFile& read : reads_) {
      if (read.dump.has_value()) {
        int64_t& of_folder = newest[read.file->folder];
        of_folder = std::max(of_folder, read.newest_ns);
        last = std::max(last, read.newest_ns);
      }
    }
    for (ReadFile& read : reads_) {
      const int64_t of_folder = read.dump.has_value() ? newest[read.file->folder] : 0;
      if (of_folder > 0 && of_folder < last - kGapNs) {
        read.status = "ignored";
        Say(Severity::kInfo, "older-attempt", read.file->path, "",
            "The folder holds dumps of several attempts of the job; the newest one is answered.");
      }
    }
  }

  // The ranks that all groups of a dump have.
  static bool MayBe(const FlightDump& dump, int32_t rank) {
    return std::all_of(dump.groups.begin(), dump.groups.end(), [&](const FlightGroup& group) {
      return group.ranks.empty() ||
             std::binary_search(group.ranks.begin(), group.ranks.end(), rank);
    });
  }

  // The members of the smallest group that lists any: a rank that all groups have is one of these.
  static std::span<const int32_t> SmallestList(const FlightDump& dump) {
    std::span<const int32_t> smallest;
    for (const FlightGroup& group : dump.groups) {
      if (!group.ranks.empty() && (smallest.empty() || group.ranks.size() < smallest.size())) {
        smallest = group.ranks;
      }
    }
    return smallest;
  }

  void GiveRanks() {
    std::set<int32_t> taken;
    for (ReadFile& read : reads_) {
      const std::optional<int32_t> named = read.file->rank;
      if (Counts(read) && named.has_value() && *named < FlightDump::kMostRanks &&
          MayBe(*read.dump, *named)) {
        read.rank = named;
        taken.insert(*named);
      }
    }
    for (ReadFile& read : reads_) {
      if (!Counts(read) || read.rank.has_value()) {
        continue;
      }
      std::vector<int32_t> free;
      for (const int32_t rank : SmallestList(*read.dump)) {
        if (!taken.contains(rank) && MayBe(*read.dump, rank)) {
          free.push_back(rank);
        }
      }
      if (free.size() == 1) {
        read.rank = free.front();
        taken.insert(free.front());
        continue;
      }
      Say(Severity::kWarning, "rank-unclear", read.file->path,
          read.file->rank.has_value()
              ? fmt::format("the name says rank {}, which is not in all of its groups",
                            *read.file->rank)
              : "the name has no number",
          "A dump does not hold its rank: end its name in it, as in trace_3.pickle.");
    }
  }

  // Whether `a` counts rather than `b`, which is of the same rank.
  static bool IsBetter(const ReadFile& a, const ReadFile& b) {
    return a.newest_ns != b.newest_ns ? a.newest_ns > b.newest_ns
                                      : !a.file->is_json && b.file->is_json;
  }

  void LeaveOutDuplicates() {
    std::map<int32_t, ReadFile*> best;
    for (ReadFile& read : reads_) {
      if (!Counts(read) || !read.rank.has_value()) {
        continue;
      }
      ReadFile*& other = best[*read.rank];
      if (other == nullptr) {
        other = &read;
        continue;
      }
      ReadFile* const worse = IsBetter(read, *other) ? std::exchange(other, &read) : &read;
      worse->status = "ignored";
      Say(Severity::kInfo, "duplicate-rank", worse->file->path,
          fmt::format("rank {}, as {}", *read.rank, other->file->path),
          "Two dumps are of one rank; the one with the newest record counts.");
    }
  }

  void Note() {
    for (const ReadFile& read : reads_) {
      if (!Counts(read)) {
        continue;
      }
      const std::string& path = read.file->path;
      if (read.dump->is_cut && read.dump->entries.empty()) {
        has_failed_ = true;
        Say(Severity::kError, "truncated-file", path, "no entry is complete",
            "The file ends in the middle, before anything that could be used.");
      } else if (read.dump->is_cut) {
        Say(Severity::kWarning, "truncated-file", path,
            fmt::format("{} entries are complete", read.dump->entries.size()),
            "The file ends in the middle; everything before the end was read.");
      }
      if (!IsKnownFlightVersion(read.dump->version)) {
        Say(Severity::kWarning, "unknown-version", path,
            fmt::format("version '{}'", read.dump->version),
            "Dumps of versions 1.x and 2.0 to 2.10 are known; this one was read like the newest.");
      }
      if (read.dump->bad_fields > 0) {
        Say(Severity::kWarning, "bad-field-type", path, "",
            "A field holds a value of the wrong type; the field counts as not recorded.",
            read.dump->bad_fields);
      }
    }
  }

  std::vector<ReadFile> reads_;
  std::vector<Diagnostic> diagnostics_;
  bool has_failed_ = false;
};

// What the model itself has to say.
void NoteModel(const HangModel& model, const std::string& where,
               std::vector<Diagnostic>& diagnostics) {
  const auto say = [&](Severity severity, std::string_view code, size_t count, std::string first,
                       std::string_view help) {
    if (count > 0) {
      diagnostics.push_back(
          {severity, std::string(code), count, where, std::move(first), std::string(help)});
    }
  };
  std::vector<int32_t> missing;
  std::vector<int32_t> small;
  std::vector<int32_t> active;
  bool any_frames = false;
  bool any_entry = false;
  for (int32_t rank = 0; rank < model.world; ++rank) {
    const HangRank* const at = model.Of(rank);
    if (at == nullptr) {
      missing.push_back(rank);
      continue;
    }
    if (at->may_lack_older) small.push_back(rank);
    if (at->is_active_only && !at->IsUnknown()) active.push_back(rank);
    any_entry = any_entry || !at->dump->entries.empty();
    any_frames = any_frames || std::any_of(at->dump->entries.begin(), at->dump->entries.end(),
                                           [](const FlightEntry& entry) {
                                             return entry.frames != FlightEntry::kNothing;
                                           });
  }
  const auto inferred =
      static_cast<size_t>(std::count_if(model.groups.begin(), model.groups.end(),
                                        [](const HangGroup& group) { return group.is_inferred; }));
  say(Severity::kWarning, "missing-dumps", missing.size(), RankWords(missing),
      "Ranks of the job left no dump, or it was not given.");
  say(Severity::kWarning, "ring-too-small", small.size(), RankWords(small),
      "The ring begins with outstanding operations, and older ones may have left it: a larger "
      "TORCH_FR_BUFFER_SIZE keeps them.");
  say(Severity::kInfo, "active-only", active.size(), RankWords(active),
      "The dump holds no completed operation: what the rank finished is concluded from numbers.");
  say(Severity::kInfo, "inferred-members", inferred, "",
      "The dumps do not list the members of a group: it has the ranks that recorded it.");
  say(Severity::kWarning, "group-disagrees", model.disagreements, "",
      "Ranks list different members for one group.");
  say(Severity::kInfo, "no-stacks", any_entry && !any_frames ? 1 : 0, "",
      "No entry has a stack: TORCH_INCLUDE_STACK_TRACE=1 records lines, which pickles hold and "
      "JSON does not.");
}

// Dumps that were written so far apart that what they say is not of one time.
void NoteApart(const HangModel& model, const std::string& where,
               std::vector<Diagnostic>& diagnostics) {
  std::vector<int32_t> early;
  for (const HangRank& rank : model.ranks) {
    const int64_t behind = model.newest_created_ns - rank.newest_created_ns;
    if (behind < kSecondNs || rank.newest_created_ns == 0 || rank.head.empty() ||
        rank.dump->is_cut) {
      continue;
    }
    int64_t timeout_ns = 0;
    for (const FlightEntry& entry : rank.dump->entries) {
      timeout_ns = std::max(timeout_ns, int64_t{entry.timeout_ms} * kMillisecondNs);
    }
    if (timeout_ns > 0 && behind > timeout_ns) {
      early.push_back(rank.rank);
    }
  }
  if (!early.empty()) {
    diagnostics.push_back({Severity::kInfo, "dumps-apart", early.size(), where, RankWords(early),
                           "Other ranks issued work more than the timeout later: the dumps may "
                           "not be of one time."});
  }
}

JobFinding NoRanks(size_t dumps) {
  JobFinding finding;
  finding.order = CauseRank::kNothing;
  finding.finding = "The dumps do not say their ranks";
  finding.severity = Severity::kWarning;
  finding.certainty = Certainty::kCannotTell;
  finding.evidence =
      fmt::format("{} there, but a dump does not hold its rank, and no name says one.",
                  dumps == 1 ? "1 dump is" : fmt::format("{} dumps are", dumps));
  finding.help = dumps == 1
                     ? std::string("Rename it so that it ends in its rank: trace_0 for rank 0.")
                     : fmt::format("Rename them so that each ends in its rank: trace_0 … trace_{}.",
                                   dumps - 1);
  return finding;
}

}  // namespace

Result<HangPart> FindHang(std::span<const JobFile> files, const HangRequest& request,
                          const LineFinder& lines) {
  DumpReader reader(files, request);
  HangPart part;
  part.files = reader.Rows();
  part.has_failed = reader.has_failed();
  std::vector<Diagnostic> diagnostics = reader.TakeDiagnostics();
  const std::vector<RankDump> dumps = reader.Dumps();
  if (!dumps.empty()) {
    const HangModel model = BuildHangModel(dumps, request.world, request.threads);
    part.found = ReportHang(model, AnalyseHang(model, request.threads), lines);
    const std::string& where =
        files.front().folder.empty() ? files.front().path : files.front().folder;
    NoteModel(model, where, diagnostics);
    NoteApart(model, where, diagnostics);
  } else if (const size_t count = reader.WithoutRank(); count > 0) {
    part.found.findings.push_back(NoRanks(count));
    part.found.is_unclear = true;
  }
  part.found.diagnostics = std::move(diagnostics);
  return part;
}

}  // namespace borescope::internal
