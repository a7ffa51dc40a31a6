#include "borescope/postmortem/logs/ras_reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "borescope/base/io/byte_source.h"
#include "borescope/base/text/text.h"
#include "borescope/ingest/pickle/plain_reader.h"
#include "borescope/postmortem/logs/log_pattern.h"

namespace borescope::internal {
namespace {

// group, communicators, nodes, ranks per node, ranks of each, ranks in all, status, errors
const LogPattern kGroupRow{
    "^ *([0-9]+) +([0-9]+) +[0-9-]+ +[0-9-]+ +([0-9]+) +[0-9]+ +[A-Z,]+ +[A-Z,]+ *$"};
// nodes, processes per node, GPUs per process, processes and GPUs in all
const LogPattern kTotals{"^ *[0-9]+ +[0-9-]+ +[0-9-]+ +[0-9]+ +([0-9]+) *$"};
const LogPattern kCommunicator{"^ *#([0-9]+)-[0-9]+ \\(([0-9a-f]+)\\) [A-Z]+"};
const LogPattern kKind{"Communicator ranks have different (\\w+) operation counts"};
const LogPattern kOthersDiffer{"Communicator ranks have different "};
const LogPattern kSeveral{
    "^ *([0-9]+) ranks have (?:launched up to operation ([0-9]+)|not launched any operations)"};
const LogPattern kOne{
    "^ *Rank ([0-9]+) has (?:launched up to operation ([0-9]+)|not launched any operations)"};
const LogPattern kNamed{"^ *Rank ([0-9]+) (?:--|has )"};
const LogPattern kProcess{"-- GPU ([^ ]+) managed by process ([0-9]+) on node ([^ ]+)"};
const LogPattern kMissing{"The missing ranks?: ([0-9][0-9, ]*)"};

constexpr size_t kMostRanks = size_t{1} << 16U;

using Process = std::tuple<std::string, int64_t, std::string>;
Process ProcessOf(const RasCommunicator::Rank& rank) { return {rank.host, rank.pid, rank.gpu}; }

// "rank 7", or "its rank 3 (process 77 on node a)" where the rank of the job is not known.
std::string Words(const RasCommunicator::Rank& rank, std::optional<int32_t> of_job) {
  if (of_job.has_value()) {
    return fmt::format("rank {}", *of_job);
  }
  return rank.pid == 0 ? fmt::format("its rank {}", rank.place)
                       : fmt::format("its rank {} (process {} on node {})", rank.place, rank.pid,
                                     WithoutSecrets(rank.host));
}

// Makes the events of one report: where a communicator has all ranks of the job, its places are the
// ranks of PyTorch, and its processes tell which ranks those of the others are.
class RasEvents {
 public:
  explicit RasEvents(std::span<const RasCommunicator> communicators) {
    for (const RasCommunicator& one : communicators) {
      if (whole_ == nullptr || one.size > whole_->size) whole_ = &one;
    }
    if (whole_ != nullptr && !whole_->is_only) {
      whole_ = nullptr;
    }
    if (whole_ == nullptr) {
      return;
    }
    for (const auto& [kind, launched] : whole_->launched) {
      for (const RasCommunicator::Launched& part : launched) {
        for (const RasCommunicator::Rank& rank : part.named) Learn(rank);
      }
    }
    for (const RasCommunicator::Rank& rank : whole_->missing) Learn(rank);
  }

  std::optional<LogEvent> EventOf(const RasCommunicator& one) const {
    LogEvent event;
    event.kind = LogKind::kRas;
    event.line = one.line;
    event.ras = RasText{};
    std::set<int32_t> behind;
    std::set<int32_t> few_behind;  // of a kind in which most are not
    std::set<int32_t> few_ahead;
    std::vector<std::string> sentences;
    for (const auto& [kind, launched] : one.launched) {
      AddKind(one, kind, launched, {behind, few_behind, few_ahead}, sentences);
    }
    std::set_intersection(few_behind.begin(), few_behind.end(), few_ahead.begin(), few_ahead.end(),
                          std::back_inserter(event.ras->behind));
    event.ras->has_other_kinds = !event.ras->behind.empty();
    if (!event.ras->has_other_kinds) {
      event.ras->behind.assign(behind.begin(), behind.end());
    }
    event.ras->is_behind = !sentences.empty();
    if (!one.missing.empty()) {
      std::set<int32_t> missing;
      std::string words;
      constexpr size_t kMostNamed = 8;
      for (size_t i = 0; i < one.missing.size(); ++i) {
        const std::optional<int32_t> of_job = RankOf(one, one.missing[i]);
        if (of_job.has_value()) missing.insert(*of_job);
        if (i < kMostNamed) words += (i == 0 ? "" : ", ") + Words(one.missing[i], of_job);
      }
      words += one.missing.size() > kMostNamed
                   ? fmt::format(" and {} more", one.missing.size() - kMostNamed)
                   : "";
      event.ras->missing.assign(missing.begin(), missing.end());
      event.ras->is_missing = true;
      const std::string_view dead = !one.is_dead              ? ""
                                    : one.missing.size() == 1 ? ", and counts as dead"
                                                              : ", and some of these count as dead";
      sentences.push_back(fmt::format("{} did not answer{}", words, dead));
    }
    if (sentences.empty()) {
      return std::nullopt;
    }
    event.text = fmt::format("RAS, communicator {}{}: ", one.hash,
                             one.size == 0 ? "" : fmt::format(" of {} ranks", one.size));
    for (size_t i = 0; i < sentences.size(); ++i) {
      event.text += (i == 0 ? "" : "; ") + sentences[i];
    }
    event.text = WithoutSecrets(event.text);
    return event;
  }

  // Numbers of processes, with their ranks.
  std::vector<std::pair<int64_t, int32_t>> Processes() const {
    std::vector<std::pair<int64_t, int32_t>> processes;
    processes.reserve(rank_of_.size());
    for (const auto& [process, rank] : rank_of_) {
      processes.emplace_back(std::get<int64_t>(process), rank);
    }
    return processes;
  }

 private:
  void Learn(const RasCommunicator::Rank& rank) {
    if (rank.pid != 0) rank_of_[ProcessOf(rank)] = rank.place;
  }

  std::optional<int32_t> RankOf(const RasCommunicator& one,
                                const RasCommunicator::Rank& rank) const {
    if (&one == whole_) {
      return rank.place;
    }
    const auto found = rank_of_.find(ProcessOf(rank));
    return found == rank_of_.end() ? std::nullopt : std::optional(found->second);
  }

  struct Differing {
    std::set<int32_t>& behind;
    std::set<int32_t>& few_behind;
    std::set<int32_t>& few_ahead;
  };

  void AddKind(const RasCommunicator& one, const std::string& kind,
               std::span<const RasCommunicator::Launched> launched, const Differing& differing,
               std::vector<std::string>& sentences) const {
    int64_t most = 0;
    int64_t ranks = 0;
    int64_t at_most = 0;
    for (const RasCommunicator::Launched& part : launched) {
      most = std::max(most, part.count);
      ranks += part.ranks;
    }
    for (const RasCommunicator::Launched& part : launched) {
      at_most += part.count == most ? part.ranks : 0;
    }
    if (at_most == ranks) {
      return;
    }
    std::string words;
    for (const RasCommunicator::Launched& part : launched) {
      words += fmt::format("{}{} launched {} {}", words.empty() ? "" : ", ", PartWords(one, part),
                           part.count, kind);
      for (const RasCommunicator::Rank& rank : part.named) {
        const std::optional<int32_t> of_job = RankOf(one, rank);
        if (!of_job.has_value()) {
          continue;
        }
        if (part.count < most) {
          differing.behind.insert(*of_job);
          if (at_most * 2 > ranks) differing.few_behind.insert(*of_job);
        } else if (at_most * 2 < ranks) {
          differing.few_ahead.insert(*of_job);
        }
      }
    }
    sentences.push_back(std::move(words));
  }

  // "rank 7", "ranks 3 and 7", "26 ranks": few ranks by their names.
  std::string PartWords(const RasCommunicator& one, const RasCommunicator::Launched& part) const {
    constexpr int64_t kMostNamed = 4;
    const bool is_all = part.ranks == static_cast<int64_t>(part.named.size());
    if (!is_all || part.ranks > kMostNamed) {
      return part.ranks == 1 ? std::string("1 rank") : fmt::format("{} ranks", part.ranks);
    }
    std::string words;
    for (const RasCommunicator::Rank& rank : part.named) {
      words += (words.empty() ? "" : ", ") + Words(rank, RankOf(one, rank));
    }
    return words;
  }

  const RasCommunicator* whole_ = nullptr;  // of all ranks of the job
  std::map<Process, int32_t> rank_of_;
};

std::vector<LogEvent> EventsOf(std::span<const RasCommunicator> communicators) {
  const RasEvents made(communicators);
  std::vector<LogEvent> events;
  for (const RasCommunicator& one : communicators) {
    if (std::optional<LogEvent> event = made.EventOf(one)) {
      events.push_back(std::move(*event));
    }
  }
  if (!events.empty()) {
    events.front().ras->processes = made.Processes();
  }
  return events;
}

// ---- JSON ----

class JsonReader {
 public:
  std::optional<std::vector<LogEvent>> Read(std::string_view text) {
    const std::unique_ptr<ByteSource> source = OpenMemory(text);
    const Result<PlainRead> read = ReadPlainJson(*source, store_, folder_);
    if (!read.ok() || read->is_cut) {
      return std::nullopt;
    }
    const PlainValue list = Of(read->root, "communicators");
    if (list.kind != PlainKind::kList) {
      return std::nullopt;
    }
    std::vector<RasCommunicator> communicators;
    std::map<int32_t, size_t> of_size;
    for (const PlainValue value : Items(list)) {
      communicators.push_back(Communicator(value));
      ++of_size[communicators.back().size];
    }
    for (RasCommunicator& one : communicators) {
      one.is_only = of_size[one.size] == 1 && processes_.size() <= static_cast<size_t>(one.size);
    }
    return EventsOf(communicators);
  }

 private:
  PlainValue Of(PlainValue dictionary, std::string_view key) const {
    return dictionary.kind == PlainKind::kDict ? store_.Find(dictionary, key) : PlainValue();
  }
  std::vector<PlainValue> Items(PlainValue list) const {
    const std::span<const PlainValue> kept =
        list.kind == PlainKind::kList ? store_.Items(list) : std::span<const PlainValue>();
    return {kept.begin(), kept.end()};
  }

  RasCommunicator::Rank RankOf(PlainValue value) {
    RasCommunicator::Rank rank = {
        .place = static_cast<int32_t>(
            std::clamp<int64_t>(store_.Int(Of(value, "rank")).value_or(0), 0, kMostRanks)),
        .pid = store_.Int(Of(value, "pid")).value_or(0),
        .host = ToValidUtf8(store_.Text(Of(value, "host"))),
        .gpu = fmt::format("{}", store_.Int(Of(value, "nvml_dev")).value_or(-1))};
    processes_.insert(ProcessOf(rank));
    return rank;
  }

  RasCommunicator Communicator(PlainValue value) {
    RasCommunicator one;
    one.hash = ToValidUtf8(store_.Text(Of(value, "hash")));
    one.size = static_cast<int32_t>(
        std::clamp<int64_t>(store_.Int(Of(value, "size")).value_or(0), 0, kMostRanks));
    constexpr std::string_view kKinds[] = {"Broadcast", "Reduce", "AllGather", "ReduceScatter",
                                           "AllReduce"};
    std::map<std::string, std::map<int64_t, RasCommunicator::Launched>> by_kind;
    for (const PlainValue rank : Items(Of(value, "ranks"))) {
      const PlainValue counts = Of(rank, "collective_counts");
      for (const std::string_view kind : kKinds) {
        if (const std::optional<int64_t> count = store_.Int(Of(counts, kind))) {
          RasCommunicator::Launched& launched = by_kind[std::string(kind)][*count];
          launched.count = *count;
          ++launched.ranks;
          launched.named.push_back(RankOf(rank));
        }
      }
    }
    for (auto& [kind, by_count] : by_kind) {
      for (auto& [count, launched] : by_count) one.launched[kind].push_back(std::move(launched));
    }
    for (const PlainValue rank : Items(Of(value, "missing_ranks"))) {
      const PlainValue status = Of(rank, "status");
      const auto is = [&](std::string_view key) {
        return store_.Int(Of(status, key)).value_or(0) != 0;
      };
      one.is_dead = one.is_dead || is("considered_dead");
      if (is("unresponsive") || is("considered_dead")) one.missing.push_back(RankOf(rank));
    }
    return one;
  }

  PlainStore store_;
  KeepAll folder_;
  std::set<Process> processes_;  // of all communicators
};

}  // namespace

bool RasReader::Take(std::string_view text, int64_t number) {
  int32_t group = 0;
  int32_t count = 0;
  int32_t size = 0;
  std::string hash;
  const std::string_view words = Trimmed(text);
  // Most logs have none of these.
  if (!is_inside_ && !words.starts_with("Job summary") && !words.starts_with("Group ") &&
      !words.starts_with('#')) {
    return false;
  }
  if (words.starts_with("Group ")) {
    is_inside_ = true;
    return true;
  }
  if (words == "Job summary") {
    EndReport();
    is_inside_ = true;
    return true;
  }
  if (Finds(text, kGroupRow, &group, &count, &size)) {
    groups_[group] = {size, count};
    return true;
  }
  if (is_inside_ && groups_.empty() && Finds(text, kTotals, &size)) {
    gpus_ = size;
    return true;
  }
  if (Finds(text, kCommunicator, &group, &hash)) {
    RasCommunicator one;
    one.hash = hash;
    one.line = number;
    const auto found = groups_.find(group);
    if (found != groups_.end()) {
      one.size = found->second.first;
      one.is_only = found->second.second == 1 && (gpus_ == 0 || gpus_ == one.size) &&
                    std::count_if(groups_.begin(), groups_.end(), [&](const auto& other) {
                      return other.second.first >= one.size;
                    }) == 1;
    } else {
      one.is_only = false;
    }
    constexpr size_t kMostCommunicators = 10'000;
    // One may be named again, for another reason.
    const bool is_known = !communicators_.empty() && communicators_.back().hash == hash;
    if (!is_known && communicators_.size() < kMostCommunicators) {
      communicators_.push_back(std::move(one));
    }
    kind_.clear();
    is_inside_ = true;
    return true;
  }
  return is_inside_ && !communicators_.empty() && TakeCounts(text);
}

bool RasReader::TakeCounts(std::string_view text) {
  RasCommunicator& one = communicators_.back();
  std::string word;
  if (Finds(text, kKind, &word)) {
    kind_ = word == "collective" ? "collectives" : word;
    return true;
  }
  if (Finds(text, kOthersDiffer)) {
    kind_.clear();  // in their status, for example
    return true;
  }
  if (Finds(text, kMissing, &word)) {
    for (std::string_view rest = word; !rest.empty();) {
      const size_t end = std::min(rest.find(','), rest.size());
      const auto place = ParseNumber<int32_t>(Trimmed(rest.substr(0, end)));
      if (place.has_value() && one.missing.size() < kMostRanks) {
        one.missing.push_back({.place = *place});
      }
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return true;
  }
  if (kind_.empty()) {
    return false;
  }
  std::vector<RasCommunicator::Launched>& launched = one.launched[kind_];
  std::string ranks;
  std::string count;
  if (Finds(text, kSeveral, &ranks, &count)) {
    launched.push_back({.count = ParseNumber<int64_t>(count).value_or(0),
                        .ranks = ParseNumber<int64_t>(ranks).value_or(0),
                        .named = {}});
    return true;
  }
  RasCommunicator::Rank rank;
  std::string place;
  std::string pid;
  if (!Finds(text, kNamed, &place) || launched.size() >= kMostRanks) {
    return false;
  }
  rank.place = ParseNumber<int32_t>(place).value_or(0);
  if (Finds(text, kProcess, &rank.gpu, &pid, &rank.host)) {
    rank.pid = ParseNumber<int64_t>(pid).value_or(0);
  }
  if (Finds(text, kOne, &place, &count)) {
    launched.push_back(
        {.count = ParseNumber<int64_t>(count).value_or(0), .ranks = 1, .named = {rank}});
  } else if (!launched.empty() &&
             static_cast<int64_t>(launched.back().named.size()) < launched.back().ranks) {
    launched.back().named.push_back(std::move(rank));
  }
  return true;
}

void RasReader::EndReport() {
  constexpr size_t kMostEvents = 10'000;
  for (LogEvent& event : EventsOf(communicators_)) {
    const auto same = std::find_if(events_.begin(), events_.end(),
                                   [&](const LogEvent& known) { return known.text == event.text; });
    if (same != events_.end()) {
      ++same->count;  // a later report says the same
    } else if (events_.size() < kMostEvents) {
      events_.push_back(std::move(event));
    }
  }
  communicators_.clear();
  groups_.clear();
  gpus_ = 0;
  kind_.clear();
}

std::vector<LogEvent> RasReader::Finish() {
  EndReport();
  return std::move(events_);
}

std::optional<std::vector<LogEvent>> ReadRasJson(std::string_view text) {
  return JsonReader().Read(text);
}

}  // namespace borescope::internal
