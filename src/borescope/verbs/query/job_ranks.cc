#include "borescope/verbs/query/job_ranks.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "borescope/base/parallel.h"
#include "borescope/engine/job_answer.h"
#include "borescope/ingest/load.h"
#include "borescope/ingest/ncu/counter_reports.h"
#include "borescope/postmortem/dump_files.h"
#include "borescope/postmortem/findings.h"
#include "borescope/postmortem/memory/read_snapshot.h"
#include "borescope/table/typed_rows.h"
#include "borescope/trace/trace_builder.h"

namespace borescope::internal {
namespace {

// Nothing where it could not be read, or ends in the middle, which is said in `odd`.
query::JobSource ReadSnapshotFile(const JobFile& file, std::vector<Diagnostic>& odd) {
  query::JobSource source{RowOf(file, "refused")};
  Result<postmortem::SnapshotFile> read = ReadJobFile(file, postmortem::ReadSnapshot);
  if (!read.ok()) {
    odd.push_back(RefusalOf(file, read.error()));
    return source;
  }
  if (read->is_cut) {
    odd.push_back({Severity::kWarning, "truncated-file", 1, file.path, "",
                   "The file ends in the middle; what was complete was read."});
  }
  int64_t events = 0;
  for (const postmortem::DeviceMemory& device : read->snapshot.devices) {
    events += static_cast<int64_t>(device.events.size());
  }
  source.file.records = events;
  source.file.status = read->is_cut ? "truncated" : "read";
  source.snapshot = std::move(read->snapshot);
  return source;
}

// Whether a file may be a log: no trace of any format and no report of counters, which others read.
Result<bool> IsText(const JobFile& file) {
  BS_ASSIGN(const bool may_be_trace, MayBeTrace(file.path));
  BS_ASSIGN(const std::optional<TraceFormat> counters, CounterFormatOfFile(file.path));
  return !may_be_trace && !counters.has_value();
}

}  // namespace

Result<JobRanks> JobRanks::Find(const RunOptions& options) {
  JobRanks found;
  if (NamesToSearch(options.files, false).empty() || options.load) {
    return found;
  }
  BS_ASSIGN(std::vector<JobFile> files, FindJobFilesOf(options, &found.left_out_));
  for (JobFile& file : files) {
    if (file.failure.has_value()) {
      found.unknown_.push_back(std::move(file));
    } else if (IsOfJob(file)) {
      (file.kind == JobFileKind::kFlightRecorder ? found.dumps_ : found.snapshots_)
          .push_back(std::move(file));
    } else if (file.kind == JobFileKind::kOther && !file.is_trace) {
      const Result<bool> is_text = IsText(file);
      if (!is_text.ok()) {
        file.failure = is_text.error();
        found.unknown_.push_back(std::move(file));
      } else if (*is_text) {
        found.texts_.push_back(std::move(file));
      }
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

std::vector<query::JobSource> JobRanks::ReadSources(const RunOptions& options,
                                                    std::vector<Diagnostic>& diagnostics) const {
  std::vector<query::JobSource> sources;
  DumpFiles dumps = ReadDumpFiles(dumps_, options.threads);
  diagnostics.insert(diagnostics.end(), dumps.diagnostics.begin(), dumps.diagnostics.end());
  sources.reserve(dumps.files.size());
  for (DumpFile& dump : dumps.files) {
    sources.push_back({std::move(dump.row), std::move(dump.dump)});
  }
  std::vector<query::JobSource> snapshots(snapshots_.size());
  std::vector<std::vector<Diagnostic>> odd(snapshots_.size());
  ParallelFor(snapshots_.size(), options.threads,
              [&](size_t i) { snapshots[i] = ReadSnapshotFile(snapshots_[i], odd[i]); });
  for (size_t i = 0; i < snapshots.size(); ++i) {
    sources.push_back(std::move(snapshots[i]));
    std::move(odd[i].begin(), odd[i].end(), std::back_inserter(diagnostics));
  }
  return sources;
}

Result<void> JobRanks::Read(const RunOptions& options, std::vector<Diagnostic>& diagnostics) {
  for (Diagnostic& unsearched : DiagnosticsOf(left_out_)) {
    diagnostics.push_back(std::move(unsearched));
  }
  std::map<int64_t, std::vector<query::JobSource>> by_rank;
  for (query::JobSource& source : ReadSources(options, diagnostics)) {
    const int64_t rank = source.file.rank.value_or(kMissing);
    if (options.ranks.empty() || options.ranks.Contains(rank)) {
      by_rank[rank].push_back(std::move(source));
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
      late->diagnostics = std::move(part.diagnostics);
      std::vector<LogFindingRow> rows;
      for (const Table& table : part.tables) {
        rows = ReadRows<LogFindingRow>(table);
      }
      late->has_findings = !rows.empty();
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

bool JobRanks::HasFindings() const {
  if (!texts_.empty()) {
    ranks_.front().data->logs();
  }
  return late_->has_findings;
}

bool JobRanks::HasFindingsOf(const NumberRanges& ranks) const {
  if (texts_.empty()) {
    return false;
  }
  const std::vector<LogFindingRow>& rows = ranks_.front().data->logs();
  return std::any_of(rows.begin(), rows.end(), [&](const LogFindingRow& row) {
    return row.rank.has_value() && ranks.Contains(*row.rank);
  });
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
