#include "borescope/verbs/query/job_ranks.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "borescope/base/io/inflate.h"
#include "borescope/base/parallel.h"
#include "borescope/ingest/flight_recorder/flight_dump.h"
#include "borescope/ingest/load.h"
#include "borescope/ingest/ncu/counter_reports.h"
#include "borescope/postmortem/hang_findings.h"
#include "borescope/postmortem/memory/read_snapshot.h"
#include "borescope/table/typed_rows.h"
#include "borescope/trace/trace_builder.h"

namespace borescope::internal {
namespace {

// A file, read, and what was wrong with it.
struct ReadSource {
  query::JobSource source;
  std::optional<Diagnostic> odd;
};

JobFileRow RowOf(const JobFile& file) {
  JobFileRow row;
  row.file = file.path;
  row.kind = JobFileKindName(file.kind);
  row.bytes = static_cast<int64_t>(file.bytes);
  row.status = "refused";
  if (file.rank.has_value()) row.rank = *file.rank;
  return row;
}

Result<void> ReadInto(const JobFile& file, query::JobSource& source) {
  if (file.failure.has_value()) {
    return *file.failure;
  }
  BS_ASSIGN(const OpenedSource opened, OpenInflated(file.path));
  bool is_cut = false;
  if (file.kind == JobFileKind::kFlightRecorder) {
    BS_ASSIGN(FlightDump dump, ReadFlightDump(*opened.bytes));
    is_cut = dump.is_cut;
    source.file.version = dump.version;
    source.file.records = static_cast<int64_t>(dump.entries.size());
    source.dump = std::move(dump);
  } else {
    BS_ASSIGN(postmortem::SnapshotFile read, postmortem::ReadSnapshot(*opened.bytes));
    is_cut = read.is_cut;
    int64_t events = 0;
    for (const postmortem::DeviceMemory& device : read.snapshot.devices) {
      events += static_cast<int64_t>(device.events.size());
    }
    source.file.records = events;
    source.snapshot = std::move(read.snapshot);
  }
  is_cut = is_cut || (opened.inflating != nullptr && !opened.inflating->damage().empty());
  source.file.status = is_cut ? "truncated" : "read";
  return {};
}

ReadSource ReadOne(const JobFile& file) {
  ReadSource read;
  read.source.file = RowOf(file);
  if (const Result<void> done = ReadInto(file, read.source); !done.ok()) {
    const bool runs_code = done.error().code == ErrorCode::kUnsupportedFormat;
    read.odd = Diagnostic{Severity::kError,
                          runs_code ? "unsafe-pickle" : "unreadable-file",
                          1,
                          file.path,
                          done.error().cause,
                          "The file could not be read; the answer is about the others."};
  } else if (read.source.file.status == "truncated") {
    read.odd = Diagnostic{Severity::kWarning,
                          "truncated-file",
                          1,
                          file.path,
                          "",
                          "The file ends in the middle; what was complete was read."};
  }
  return read;
}

// Whether the rank that a dump's name says is in all of its groups.
bool IsRankSure(const query::JobSource& source) {
  const std::optional<int64_t>& rank = source.file.rank;
  return rank.has_value() &&
         std::all_of(source.dump->groups.begin(), source.dump->groups.end(),
                     [&](const FlightGroup& group) {
                       return group.ranks.empty() ||
                              std::binary_search(group.ranks.begin(), group.ranks.end(), *rank);
                     });
}

// Where names do not say the ranks of all dumps, those that the post-mortem gives them.
Result<void> CorrectRanks(std::span<const JobFile> files, int threads,
                          std::vector<ReadSource>& read) {
  const bool is_sure = std::all_of(read.begin(), read.end(), [](const ReadSource& one) {
    return !one.source.dump.has_value() || IsRankSure(one.source);
  });
  if (is_sure) {
    return {};
  }
  BS_ASSIGN(const LineFinder lines, LineFinder::Make(""));
  BS_ASSIGN(const HangPart part, FindHang(files, {.world = 0, .threads = threads}, lines));
  std::map<std::string, std::optional<int64_t>> ranks;
  for (const JobFileRow& row : part.files) {
    ranks[row.file] = row.rank;
  }
  for (ReadSource& one : read) {
    if (one.source.dump.has_value() && !IsRankSure(one.source)) {
      one.source.file.rank = ranks[one.source.file.file];
    }
  }
  return {};
}

// The files of the run, each once; of those that were found in folders these folders.
std::vector<std::string> NamesOf(std::span<const InputFile> files, bool as_folders) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const InputFile& file : files) {
    const bool is_file = file.content == nullptr && file.path != "-" && file.logs.empty();
    std::string name = file.from_directory && as_folders
                           ? std::filesystem::path(file.path).parent_path().string()
                           : file.path;
    if (is_file && seen.insert(name).second) {
      names.push_back(std::move(name));
    }
  }
  return names;
}

bool IsOfJob(const JobFile& file) {
  return file.kind == JobFileKind::kFlightRecorder || file.kind == JobFileKind::kMemorySnapshot;
}

// Whether a file may be a log: no trace of any format and no report of counters, which others read.
Result<bool> IsText(const JobFile& file) {
  if (file.failure.has_value()) {
    return true;  // to say so
  }
  BS_ASSIGN(const bool may_be_trace, MayBeTrace(file.path));
  BS_ASSIGN(const std::optional<TraceFormat> counters, CounterFormatOfFile(file.path));
  return !may_be_trace && !counters.has_value();
}

}  // namespace

Result<JobRanks> JobRanks::Find(const RunOptions& options) {
  JobRanks found;
  const std::vector<std::string> names = NamesOf(options.files, false);
  if (names.empty() || options.load) {
    return found;
  }
  Result<std::vector<JobFile>> files = FindJobFiles(names, options.threads);
  if (!files.ok()) {
    return found;  // who loads traces says what is wrong
  }
  if (std::any_of(files->begin(), files->end(), IsOfJob)) {
    BS_ASSIGN(files, FindJobFiles(NamesOf(options.files, true), options.threads));
  }
  for (JobFile& file : *files) {
    if (IsOfJob(file)) {
      (file.kind == JobFileKind::kFlightRecorder ? found.dumps_ : found.snapshots_)
          .push_back(std::move(file));
    } else if (file.kind == JobFileKind::kOther && !file.is_trace) {
      BS_ASSIGN(const bool is_text, IsText(file));
      if (is_text) found.texts_.push_back(std::move(file));
    }
  }
  return found;
}

bool JobRanks::Holds(const std::string& path) const {
  const auto is_it = [&](const JobFile& file) { return file.path == path; };
  return std::any_of(dumps_.begin(), dumps_.end(), is_it) ||
         std::any_of(snapshots_.begin(), snapshots_.end(), is_it) ||
         std::any_of(texts_.begin(), texts_.end(), is_it);
}

Result<void> JobRanks::Read(const RunOptions& options, std::vector<Diagnostic>& diagnostics) {
  std::vector<JobFile> files = dumps_;
  files.insert(files.end(), snapshots_.begin(), snapshots_.end());
  std::vector<ReadSource> read(files.size());
  ParallelFor(files.size(), options.threads, [&](size_t i) { read[i] = ReadOne(files[i]); });
  BS_TRY(CorrectRanks(dumps_, options.threads, read));
  std::map<int64_t, std::vector<query::JobSource>> by_rank;
  for (ReadSource& one : read) {
    if (one.odd.has_value()) {
      diagnostics.push_back(std::move(*one.odd));
    }
    const int64_t rank = one.source.file.rank.value_or(kMissing);
    if (options.ranks.empty() || options.ranks.Contains(rank)) {
      by_rank[rank].push_back(std::move(one.source));
    }
  }
  if (!texts_.empty()) {
    by_rank[kMissing];  // has the logs
  }
  for (auto& [rank, sources] : by_rank) {
    std::stable_sort(sources.begin(), sources.end(),
                     [](const query::JobSource& a, const query::JobSource& b) {
                       return a.file.file < b.file.file;
                     });
    std::string first = sources.empty() ? std::string() : sources.front().file.file;
    ranks_.push_back(
        {rank, std::move(first), std::make_unique<query::JobData>(std::move(sources))});
  }
  if (!texts_.empty()) {
    // Logs may be long, and are read once a statement asks; what is odd about them is said then.
    BS_ASSIGN(LineFinder finder, LineFinder::Make(""));
    ranks_.front().data->SetLogs([files = texts_, threads = options.threads, ranks = options.ranks,
                                  late = late_,
                                  lines = std::make_shared<const LineFinder>(std::move(finder))] {
      LogPart part = FindLogs(files, {.threads = threads, .progress = {}}, *lines);
      *late = std::move(part.diagnostics);
      std::vector<LogFindingRow> rows;
      for (const Table& table : part.tables) {
        rows = ReadRows<LogFindingRow>(table);
      }
      std::erase_if(rows, [&](const LogFindingRow& row) {
        return !ranks.empty() && row.rank.has_value() && !ranks.Contains(*row.rank);
      });
      return rows;
    });
  }
  no_trace_ = std::make_unique<Trace>(TraceBuilder().Finish({}, 0, 1));
  no_index_ = std::make_unique<TraceIndex>(BuildIndex(*no_trace_, 1));
  nothing_odd_ = std::make_unique<Diagnostics>();
  return {};
}

void JobRanks::AddTo(std::vector<query::RankData>& ranks) {
  std::vector<query::RankData> all;
  size_t next = 0;
  const auto add_job = [&](const OfRank& one) {
    all.push_back({one.rank, one.first_file, *no_trace_, *no_index_, *nothing_odd_, one.data.get(),
                   /*has_trace=*/false});
  };
  for (query::RankData& rank : ranks) {
    for (; next < ranks_.size() && ranks_[next].rank < rank.rank; ++next) {
      add_job(ranks_[next]);
    }
    query::RankData with_job = rank;
    if (next < ranks_.size() && ranks_[next].rank == rank.rank) {
      with_job.job = ranks_[next++].data.get();
    }
    all.push_back(with_job);
  }
  for (; next < ranks_.size(); ++next) {
    add_job(ranks_[next]);
  }
  ranks.swap(all);
}

}  // namespace borescope::internal
