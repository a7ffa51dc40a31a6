#include "borescope/postmortem/dump_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "borescope/base/parallel.h"
#include "borescope/base/text/text.h"
#include "borescope/postmortem/hang_model.h"
#include "borescope/postmortem/logs/error_files.h"

namespace borescope::internal {
namespace {

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

void ReadOne(const JobFile& file, const std::shared_ptr<FlightStore>& store, DumpFile& read) {
  Result<FlightDump> dump =
      ReadJobFile(file, [&](ByteSource& bytes) { return ReadFlightDump(bytes, store); });
  if (!dump.ok()) {
    read.refusal = RefusalOf(file, dump.error());
    return;
  }
  read.row.status = dump->is_cut ? "truncated" : "read";
  read.row.version = dump->version;
  read.row.records = static_cast<int64_t>(dump->entries.size());
  for (const FlightEntry& entry : dump->entries) {
    if (entry.created_ns > 0) {
      read.row.begin_unix_ns =
          std::min(read.row.begin_unix_ns.value_or(entry.created_ns), entry.created_ns);
      read.row.end_unix_ns = std::max(read.row.end_unix_ns.value_or(0), entry.created_ns);
    }
  }
  read.dump = std::move(*dump);
}

// Reads all files and decides which of them count.
class DumpReader {
 public:
  DumpReader(std::span<const JobFile> files, int threads,
             const std::function<void(uint64_t done)>& progress) {
    read_.files.reserve(files.size());
    for (const JobFile& file : files) {
      read_.files.push_back({.file = &file, .row = RowOf(file, "refused")});
      read_.files.back().row.rank.reset();  // until it is known that it can be
    }
    std::mutex mutex;
    uint64_t done = 0;
    Stores stores;
    ParallelFor(files.size(), threads, [&](size_t i) {
      std::shared_ptr<FlightStore> store = stores.Take();
      ReadOne(files[i], store, read_.files[i]);
      stores.Return(std::move(store));
      const std::scoped_lock lock(mutex);
      done += files[i].bytes;
      if (progress) progress(done);
    });
    for (const DumpFile& read : read_.files) {
      if (read.refusal.has_value()) {
        read_.has_failed = true;
        read_.diagnostics.push_back(*read.refusal);
      }
    }
    LeaveOutOlderAttempts();
    GiveRanks();
    LeaveOutDuplicates();
    Note();
  }

  DumpFiles Take() { return std::move(read_); }

 private:
  void Say(Severity severity, std::string_view code, const std::string& file, std::string first,
           std::string_view help, uint64_t count = 1) {
    read_.diagnostics.push_back(
        {severity, std::string(code), count, file, std::move(first), std::string(help)});
  }

  static int64_t Newest(const DumpFile& read) { return read.row.end_unix_ns.value_or(0); }

  void LeaveOut(DumpFile& read) {
    read.row.status = "ignored";
    Say(Severity::kInfo, "older-attempt", read.file->path, "",
        "The folder holds dumps of several attempts of the job; the newest one is answered. Name "
        "the files of another attempt alone to ask about it.");
  }

  // torchrun numbers the attempts of a job in the names of their folders. However soon one follows
  // another: a rank of the newest that left no dump is not the process of an earlier one.
  void LeaveOutNumberedAttempts() {
    std::optional<int32_t> newest;
    for (const DumpFile& read : read_.files) {
      if (read.dump.has_value()) {
        newest = std::max(newest, AttemptOfFolder(read.file->path));
      }
    }
    for (DumpFile& read : read_.files) {
      const std::optional<int32_t> attempt = AttemptOfFolder(read.file->path);
      if (read.dump.has_value() && attempt.has_value() && attempt < newest) {
        LeaveOut(read);
      }
    }
  }

  // Folders of attempts of the job: those whose newest record is more than ten minutes before that
  // of the newest folder.
  void LeaveOutOlderAttempts() {
    LeaveOutNumberedAttempts();
    constexpr int64_t kGapNs = 600 * kSecondNs;
    std::map<std::string, int64_t> newest;
    int64_t last = 0;
    for (const DumpFile& read : read_.files) {
      if (read.Counts()) {
        int64_t& of_folder = newest[read.file->folder];
        of_folder = std::max(of_folder, Newest(read));
        last = std::max(last, Newest(read));
      }
    }
    for (DumpFile& read : read_.files) {
      const int64_t of_folder = read.Counts() ? newest[read.file->folder] : 0;
      if (of_folder > 0 && of_folder < last - kGapNs) {
        LeaveOut(read);
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

  // The rank that its own sends and receives name: "nccl:send 1->2" and "nccl:recv 1<-0" are of the
  // second member of their group.
  static std::optional<int32_t> OwnRank(const FlightDump& dump) {
    for (const FlightEntry& entry : dump.entries) {
      std::string_view name = dump.Name(entry);
      name.remove_prefix(name.find(':') == std::string_view::npos ? 0 : name.find(':') + 1);
      const std::string_view arrow = name.starts_with("send ")   ? "->"
                                     : name.starts_with("recv ") ? "<-"
                                                                 : "";
      if (!entry.is_p2p || arrow.empty() || entry.group == FlightEntry::kNothing) {
        continue;
      }
      const std::string_view from = name.substr(name.find(' ') + 1);
      const auto place = ParseNumber<int32_t>(from.substr(0, from.find(arrow)));
      const FlightGroupName& named = dump.named_groups[entry.group];
      const auto group =
          std::find_if(dump.groups.begin(), dump.groups.end(), [&](const FlightGroup& one) {
            return one.name == named.name && one.description == named.description;
          });
      if (place.has_value() && *place >= 0 && group != dump.groups.end() &&
          static_cast<size_t>(*place) < group->ranks.size()) {
        return group->ranks[static_cast<size_t>(*place)];
      }
    }
    return std::nullopt;
  }

  // Whether one record of both was made at two times, at most a minute apart: then they are of two
  // processes of one job. Two dumps of one process have the same record, and an attempt that
  // follows another one begins later.
  static bool AreOfTwoProcesses(const FlightDump& a, const FlightDump& b) {
    auto other = b.entries.begin();
    for (const FlightEntry& entry : a.entries) {
      while (other != b.entries.end() && other->record_id < entry.record_id) ++other;
      if (other == b.entries.end()) break;
      if (other->record_id == entry.record_id && other->created_ns > 0 && entry.created_ns > 0) {
        constexpr int64_t kMostApartNs = 60 * kSecondNs;
        const int64_t apart_ns = other->created_ns > entry.created_ns
                                     ? other->created_ns - entry.created_ns
                                     : entry.created_ns - other->created_ns;
        return apart_ns > 0 && apart_ns <= kMostApartNs;
      }
    }
    return false;
  }

  // Dumps by their folder, each folder by the number in the name.
  using Nodes = std::map<std::string, std::map<int32_t, DumpFile*>>;

  // Folders that each hold the numbers from 0 on, which are of other processes in each, and
  // together no more than the job has ranks: a number is the place of the rank on its node.
  Nodes FoldersOfNodes() {
    Nodes nodes;
    size_t dumps = 0;
    int32_t world = 0;
    for (DumpFile& read : read_.files) {
      if (!read.Counts()) {
        continue;
      }
      if (!read.file->rank.has_value() ||
          !nodes[read.file->folder].try_emplace(*read.file->rank, &read).second) {
        return {};
      }
      ++dumps;
      for (const FlightGroup& group : read.dump->groups) {
        world = std::max(world, group.ranks.empty() ? 0 : group.ranks.back() + 1);
      }
    }
    if (nodes.size() < 2 || dumps > static_cast<size_t>(world)) {
      return {};
    }
    const std::map<int32_t, DumpFile*>& first = nodes.begin()->second;
    for (const auto& [folder, places] : nodes) {
      const bool is_complete = places.begin()->first == 0 &&
                               places.rbegin()->first == static_cast<int32_t>(places.size()) - 1;
      const bool is_apart =
          &places == &first || std::all_of(places.begin(), places.end(), [&](const auto& place) {
            const auto alike = first.find(place.first);
            return alike == first.end() ||
                   AreOfTwoProcesses(*alike->second->dump, *place.second->dump);
          });
      if (!is_complete || !is_apart) {
        return {};
      }
    }
    return nodes;
  }

  // The rank of the first place of a node, if the groups of all its dumps leave only one.
  static std::optional<int32_t> FirstRankOf(const std::map<int32_t, DumpFile*>& places) {
    constexpr size_t kMostTried = 1 << 16;
    const std::span<const int32_t> among = SmallestList(*places.begin()->second->dump);
    if (among.size() * places.size() > kMostTried) {
      return std::nullopt;
    }
    std::optional<int32_t> found;
    for (const int32_t first : among) {
      const bool can_be = std::all_of(places.begin(), places.end(), [&](const auto& place) {
        const int32_t rank = first + place.first;
        const std::optional<int32_t> own = OwnRank(*place.second->dump);
        return MayBe(*place.second->dump, rank) && own.value_or(rank) == rank;
      });
      if (can_be && found.has_value()) {
        return std::nullopt;
      }
      found = can_be ? first : found;
    }
    return found;
  }

  // Gives ranks to dumps whose names are places on their nodes, where the groups say which.
  void GiveRanksOfNodes(std::set<int32_t>& taken) {
    const Nodes nodes = FoldersOfNodes();
    std::set<int32_t> ranks;
    std::map<std::string, int32_t> first_of;
    size_t dumps = 0;
    for (const auto& [folder, places] : nodes) {
      dumps += places.size();
      if (const std::optional<int32_t> first = FirstRankOf(places); first.has_value()) {
        first_of[folder] = *first;
        for (const auto& [place, read] : places) ranks.insert(*first + place);
      }
    }
    read_.are_names_local = !nodes.empty();
    const bool is_known = first_of.size() == nodes.size() && ranks.size() == dumps;
    for (const auto& [folder, places] : nodes) {
      for (const auto& [place, read] : places) {
        if (is_known) {
          read->row.rank = first_of[folder] + place;
          taken.insert(first_of[folder] + place);
        }
      }
    }
    if (nodes.empty()) {
      return;
    }
    Say(is_known ? Severity::kInfo : Severity::kWarning, "local-ranks",
        nodes.begin()->second.begin()->second->file->path,
        fmt::format("{} folders each hold dumps from 0 on", nodes.size()),
        is_known ? "The numbers in the names are places of ranks on their nodes; which ranks these "
                   "are follows from their groups."
                 : "The numbers in the names are places of ranks on their nodes, and nothing says "
                   "which ranks of the job these are: name each dump by its rank in the job.",
        dumps);
  }

  // The folder of a dump that is named by a rank, "job/rank_5" of "job/rank_5/dumps/trace", and
  // that rank.
  static std::optional<std::pair<std::string, int32_t>> FolderOfRank(const std::string& path) {
    for (size_t end = path.rfind('/'); end != std::string::npos && end > 0;
         end = path.rfind('/', end - 1)) {
      const std::string_view whole = std::string_view(path).substr(0, end);
      std::string_view name = whole.substr(whole.rfind('/') + 1);
      constexpr std::string_view kWord = "rank";
      if (!LowerCase(name).starts_with(kWord)) continue;
      name.remove_prefix(kWord.size());
      name.remove_prefix(name.starts_with('_') || name.starts_with('-') || name.starts_with('='));
      const auto rank = ParseNumber<int32_t>(name);
      if (rank.has_value() && *rank >= 0) return std::pair(std::string(whole), *rank);
    }
    return std::nullopt;
  }

  // Where each dump is alone in a folder that is named by another rank, and no name of a file says
  // a rank of its own (all say none, or the same number), these are the ranks.
  void GiveRanksOfFolders(std::set<int32_t>& taken) {
    std::map<int32_t, DumpFile*> by_rank;
    std::set<std::optional<int32_t>> named;
    size_t dumps = 0;
    for (DumpFile& read : read_.files) {
      if (!read.Counts()) continue;
      ++dumps;
      named.insert(read.file->rank);
      const auto folder = FolderOfRank(read.file->path);
      if (folder.has_value() && MayBe(*read.dump, folder->second)) {
        by_rank[folder->second] = &read;
      }
    }
    const bool is_said =
        by_rank.size() == dumps && named.size() == 1 && (dumps > 1 || !named.begin()->has_value());
    for (const auto& [rank, read] : by_rank) {
      if (is_said && rank < FlightDump::kMostRanks) {
        read->row.rank = rank;
        taken.insert(rank);
      }
    }
  }

  void GiveRanks() {
    std::set<int32_t> taken;
    GiveRanksOfFolders(taken);
    if (taken.empty()) {
      GiveRanksOfNodes(taken);
    }
    for (DumpFile& read : read_.files) {
      if (read_.are_names_local) {
        break;
      }
      if (read.row.rank.has_value()) {
        continue;
      }
      const std::optional<int32_t> named = read.file->rank;
      const bool may_be = read.dump.has_value() && named.has_value() &&
                          *named < FlightDump::kMostRanks && MayBe(*read.dump, *named);
      if (may_be) {
        read.row.rank = named;
        if (read.Counts()) taken.insert(*named);
      }
    }
    for (DumpFile& read : read_.files) {
      if (!read.Counts() || read.row.rank.has_value()) {
        continue;
      }
      if (const std::optional<int32_t> own = OwnRank(*read.dump);
          own.has_value() && !taken.contains(*own) && MayBe(*read.dump, *own)) {
        read.row.rank = own;
        taken.insert(*own);
        continue;
      }
      std::vector<int32_t> free;
      for (const int32_t rank : SmallestList(*read.dump)) {
        if (!taken.contains(rank) && MayBe(*read.dump, rank)) {
          free.push_back(rank);
        }
      }
      if (free.size() == 1) {
        read.row.rank = free.front();
        taken.insert(free.front());
        continue;
      }
      if (read_.are_names_local) {
        continue;
      }
      Say(Severity::kWarning, "rank-unclear", read.file->path,
          read.file->rank.has_value()
              ? fmt::format("the name says rank {}, which is not in all of its groups",
                            *read.file->rank)
              : "the name has no number",
          "A dump does not hold its rank: end its name in it, as in trace_3.pickle, or name its "
          "folder by it, as rank_3.");
    }
  }

  // How far the process had come when it wrote a dump. A rank that stopped issuing has the same
  // newest record in dumps of different times: what it finished since distinguishes them.
  static auto Progress(const DumpFile& read) {
    int64_t last_record = -1;
    int64_t newest_seen_ns = 0;
    int64_t finished = 0;
    for (const FlightEntry& entry : read.dump->entries) {
      last_record = std::max(last_record, entry.record_id);
      newest_seen_ns =
          std::max({newest_seen_ns, entry.discovered_started_ns, entry.discovered_finished_ns});
      finished += IsOutstanding(*read.dump, entry) ? 0 : 1;
    }
    for (const FlightStatus& status : read.dump->status) {
      finished += std::max<int64_t>(status.completed, 0);
    }
    return std::tuple(Newest(read), last_record, newest_seen_ns, finished);
  }

  // Whether `a` counts rather than `b`, which is of the same rank: the later dump; of two that say
  // the same the whole one, and the pickle, which has stacks. Never by the order of files.
  static bool IsBetter(const DumpFile& a, const DumpFile& b) {
    const auto facts = [](const DumpFile& read) {
      return std::tuple(Progress(read), !read.dump->is_cut, !read.file->is_json,
                        read.file->modified_ns);
    };
    const auto left = facts(a);
    const auto right = facts(b);
    return left != right ? left > right : a.file->path < b.file->path;
  }

  void LeaveOutDuplicates() {
    std::map<int64_t, DumpFile*> best;
    for (DumpFile& read : read_.files) {
      if (!read.Counts() || !read.row.rank.has_value()) {
        continue;
      }
      DumpFile*& other = best[*read.row.rank];
      if (other == nullptr) {
        other = &read;
        continue;
      }
      DumpFile* const worse = IsBetter(read, *other) ? std::exchange(other, &read) : &read;
      worse->row.status = "ignored";
      Say(Severity::kInfo, "duplicate-rank", worse->file->path,
          fmt::format("rank {}, as {}", *read.row.rank, other->file->path),
          "Two dumps are of one rank; the later one counts.");
    }
  }

  void Note() {
    for (const DumpFile& read : read_.files) {
      if (!read.Counts()) {
        continue;
      }
      const std::string& path = read.file->path;
      if (read.dump->is_cut && read.dump->entries.empty()) {
        read_.has_failed = true;
        Say(Severity::kError, "truncated-file", path, "no entry is complete",
            "The file ends in the middle, before anything that could be used.");
      } else if (read.dump->is_cut) {
        Say(Severity::kWarning, "truncated-file", path,
            fmt::format("{} complete",
                        read.dump->entries.size() == 1
                            ? std::string("1 entry is")
                            : fmt::format("{} entries are", read.dump->entries.size())),
            "The file ends in the middle; everything before the end was read.");
      }
      if (!IsKnownFlightVersion(read.dump->version)) {
        Say(Severity::kWarning, "unknown-version", path,
            fmt::format("version '{}'", read.dump->version),
            "Dumps of versions 1.x and 2.0 to 2.10 are known; this one was read like the newest.");
      }
      if (read.dump->lost_entries > 0) {
        Say(Severity::kWarning, "entries-left-out", path, "",
            "An entry has no name, state, number or group that can be read, and was left out: the "
            "answer is about the others. The dump is damaged, or something other than PyTorch "
            "wrote it: collect it again.",
            read.dump->lost_entries);
      }
      if (read.dump->bad_fields > 0) {
        Say(Severity::kWarning, "bad-field-type", path, "",
            "A field holds a value that it cannot have; a number in a text counts as that number, "
            "anything else as not recorded.",
            read.dump->bad_fields);
      }
    }
  }

  DumpFiles read_;
};

}  // namespace

DumpFiles ReadDumpFiles(std::span<const JobFile> files, int threads,
                        const std::function<void(uint64_t done)>& progress) {
  return DumpReader(files, threads, progress).Take();
}

}  // namespace borescope::internal
