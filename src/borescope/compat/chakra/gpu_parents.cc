#include "borescope/compat/chakra/gpu_parents.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "borescope/base/hash/hash_tables.h"

namespace borescope::internal::chakra::compat {
namespace {

bool NamesNccl(std::string_view name) {
  constexpr std::string_view kWord = "nccl";
  return std::search(name.begin(), name.end(), kWord.begin(), kWord.end(), [](char a, char b) {
           return std::tolower(static_cast<unsigned char>(a)) == b;
         }) != name.end();
}

class ParentFinder {
 public:
  ParentFinder(const DeviceTrace& trace, const SortedOps& ops) : of_thread_(trace.threads) {
    AddAnnotations(trace, ops);
    for (const CpuOp& op : ops.cpu) {
      const bool is_group = trace.events[op.event].name == "nccl:coalesced";
      Add({op.begin, op.external_id, is_group}, op.thread);
    }
    if (trace.thread_zero.has_value()) {
      SortThread(*trace.thread_zero);
    }
  }

  // The external id of the operator, if there is one.
  std::optional<int64_t> Find(const DeviceEvent& gpu, const DeviceEvent& launch) const {
    const bool skips_groups = NamesNccl(gpu.name);
    const Thread& thread = of_thread_[launch.thread];
    if (const auto own = thread.by_id.find(gpu.external_id); own != thread.by_id.end()) {
      const auto found = LastBefore(thread, own->second, launch.begin, skips_groups);
      if (found.has_value()) {
        return found;
      }
    }
    return LastBefore(thread, thread.all, launch.begin, skips_groups);
  }

 private:
  struct Candidate {
    Number begin;
    int64_t external_id = kNone;
    bool is_group = false;
  };
  struct Thread {
    std::vector<Candidate> ops;
    std::vector<uint32_t> all;  // rows of `ops` in time order, as in `by_id`
    HashMap<int64_t, std::vector<uint32_t>> by_id;
  };

  void Add(const Candidate& candidate, uint32_t thread) {
    Thread& owner = of_thread_[thread];
    const auto row = static_cast<uint32_t>(owner.ops.size());
    owner.ops.push_back(candidate);
    owner.all.push_back(row);
    owner.by_id[candidate.external_id].push_back(row);
  }

  // The reference adds an operator for the process and one for each thread, from their first event
  // on; all of them belong to tid 0.
  void AddAnnotations(const DeviceTrace& trace, const SortedOps& ops) {
    if (!trace.thread_zero.has_value()) {
      return;
    }
    std::vector<char> is_seen(trace.threads, 0);
    for (const uint32_t row : ops.by_time) {
      const DeviceEvent& event = trace.events[row];
      if (is_seen[event.thread] == 0) {
        is_seen[event.thread] = 1;
        Add({event.begin, kNone, false}, *trace.thread_zero);
      }
    }
  }

  void SortThread(uint32_t thread) {
    Thread& owner = of_thread_[thread];
    const auto by_begin = [&](uint32_t a, uint32_t b) {
      return owner.ops[a].begin < owner.ops[b].begin;
    };
    std::stable_sort(owner.all.begin(), owner.all.end(), by_begin);
    for (auto& [id, rows] : owner.by_id.InAnyOrder()) {  // each list by itself
      std::stable_sort(rows.begin(), rows.end(), by_begin);
    }
  }

  static std::optional<int64_t> LastBefore(const Thread& thread, const std::vector<uint32_t>& rows,
                                           Number time, bool skips_groups) {
    auto at = std::partition_point(rows.begin(), rows.end(),
                                   [&](uint32_t row) { return thread.ops[row].begin < time; });
    while (at != rows.begin()) {
      --at;
      if (!skips_groups || !thread.ops[*at].is_group) {
        return thread.ops[*at].external_id;
      }
    }
    return std::nullopt;
  }

  std::vector<Thread> of_thread_;
};

}  // namespace

GpuOfOp GroupGpuOps(const DeviceTrace& trace, const SortedOps& ops) {
  const ParentFinder finder(trace, ops);
  GpuOfOp groups;
  for (const uint32_t row : ops.gpu) {
    const DeviceEvent& gpu = trace.events[row];
    const auto launch = ops.launch_of.find(gpu.correlation);
    if (launch == ops.launch_of.end()) {
      continue;
    }
    if (const std::optional<int64_t> parent = finder.Find(gpu, trace.events[launch->second])) {
      groups[*parent].push_back(row);
    }
  }
  return groups;
}

}  // namespace borescope::internal::chakra::compat
