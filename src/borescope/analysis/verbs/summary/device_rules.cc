// What it costs that the devices of one process differ or wait for each other, and devices that are
// hardly used.
//
// Of n devices the busiest works for `max`, and one or more of them for `any`. Of the time in which
// one idles while another works, n (any - max) would be gone if all worked at the same time, and n
// max - sum, where `sum` is the busy time of all, if each had as much to do. Only time for which
// another device is the reason counts (device_use.h); it is divided in this proportion.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/analysis/core/keyed_rows.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/idle/idle_causes.h"
#include "borescope/analysis/measures/names/describe.h"
#include "borescope/analysis/verbs/summary/evidence.h"
#include "borescope/analysis/verbs/summary/summary_tables.h"
#include "borescope/analysis/verbs/summary/verdict.h"
#include "borescope/base/saturating.h"

namespace borescope::internal {

namespace {

// Less of the time beside each other is taking turns.
constexpr double kTakingTurns = 0.25;
// What other causes than the end of the recording must have of the time that devices are held.
constexpr int64_t kNotAtTheEnd = 4;

// The devices of one process, without those that are hardly used.
struct ProcessUse {
  std::vector<const DeviceUseRow*> devices;
  int64_t held_ns = 0;
  double turns_ns = 0;   // of held
  double uneven_ns = 0;  // of held
};

void Divide(ProcessUse& process) {
  int64_t at_end_ns = 0;
  int64_t most_ns = 0;
  int64_t sum_ns = 0;
  int64_t any_ns = 0;
  for (const DeviceUseRow* device : process.devices) {
    AddSaturatingTo(process.held_ns, device->held_ns);
    AddSaturatingTo(at_end_ns, device->held_tail_ns);
    most_ns = std::max(most_ns, device->busy_ns);
    AddSaturatingTo(sum_ns, device->busy_ns);
    any_ns = std::max(any_ns, device->any_busy_ns);
  }
  // Who has no more work at the end of a recording may have had its turn once.
  if (SubtractSaturating(process.held_ns, at_end_ns) < process.held_ns / kNotAtTheEnd) {
    return;
  }
  const auto devices = static_cast<double>(process.devices.size());
  const double turns = devices * static_cast<double>(std::max<int64_t>(0, any_ns - most_ns));
  const double uneven =
      std::max(0.0, devices * static_cast<double>(most_ns) - static_cast<double>(sum_ns));
  if (turns + uneven > 0) {
    process.turns_ns = static_cast<double>(process.held_ns) * turns / (turns + uneven);
    process.uneven_ns = static_cast<double>(process.held_ns) * uneven / (turns + uneven);
  }
}

// Processes that drive several devices, by rank, then by number.
std::vector<ProcessUse> FindProcesses(const SummaryTables& tables) {
  std::map<std::pair<int64_t, int64_t>, ProcessUse> processes;
  for (const DeviceUseRow& row : tables.device_use) {
    if (row.process && row.any_busy_ns > 0) {
      processes[{row.rank, *row.process}].devices.push_back(&row);
    }
  }
  std::vector<ProcessUse> found;
  for (auto& [key, process] : processes) {
    Divide(process);
    found.push_back(std::move(process));
  }
  return found;
}

// One of the two parts of all processes.
struct HeldPart {
  double ns = 0;
  const ProcessUse* most = nullptr;  // the process with the largest; nullptr without one
};

HeldPart SumOfPart(const std::vector<ProcessUse>& processes, double ProcessUse::* part) {
  HeldPart sum;
  for (const ProcessUse& process : processes) {
    sum.ns += process.*part;
    if (process.*part > (sum.most == nullptr ? 0 : sum.most->*part)) {
      sum.most = &process;
    }
  }
  return sum;
}

bool IsNotablePart(const SummaryTables& tables, const HeldPart& part) {
  return part.most != nullptr &&
         ShareOf(TruncateSaturating(part.ns), ObservedSpan(tables)) >= kIdleWord;
}

// Where a device is held longest.
FindingPlace PlaceOfHeld(const ProcessUse& process) {
  FindingPlace place{.rank = process.devices.front()->rank};
  int64_t longest_ns = 0;
  for (const DeviceUseRow* device : process.devices) {
    const int64_t ns = SubtractSaturating(device->end_ns, device->begin_ns);
    if (ns > longest_ns) {
      longest_ns = ns;
      place = {.rank = device->rank,
               .gpu = device->gpu.value_or(kMissing),
               .begin_ns = device->begin_ns,
               .end_ns = device->end_ns};
    }
  }
  return place;
}

const DeviceUseRow& BusiestOf(const ProcessUse& process) {
  return **std::max_element(
      process.devices.begin(), process.devices.end(),
      [](const DeviceUseRow* a, const DeviceUseRow* b) { return a->busy_ns < b->busy_ns; });
}

// "GPUs 0, 1 and 2"
std::string WordsOfGpus(const std::vector<int64_t>& gpus) {
  constexpr size_t kMostGpus = 8;
  std::vector<int64_t> shown(
      gpus.begin(), gpus.begin() + static_cast<ptrdiff_t>(std::min(kMostGpus, gpus.size())));
  if (shown.size() < gpus.size()) {
    return fmt::format("GPUs {} and {} more", fmt::join(shown, ", "), gpus.size() - shown.size());
  }
  const int64_t last = shown.back();
  shown.pop_back();
  return shown.empty() ? fmt::format("GPU {}", last)
                       : fmt::format("GPUs {} and {}", fmt::join(shown, ", "), last);
}

std::vector<int64_t> GpusOf(const ProcessUse& process) {
  std::vector<int64_t> gpus;
  gpus.reserve(process.devices.size());
  for (const DeviceUseRow* device : process.devices) {
    gpus.push_back(device->gpu.value_or(0));
  }
  return gpus;
}

// "; so it is in 3 of 4 processes"; nothing where there is one.
std::string OfHowManyProcesses(const std::vector<ProcessUse>& processes,
                               double ProcessUse::* part) {
  const auto count = std::count_if(processes.begin(), processes.end(),
                                   [&](const ProcessUse& one) { return one.*part > 0; });
  return processes.size() < 2
             ? ""
             : fmt::format("; so it is in {} of {} processes", count, processes.size());
}

// ", 32.9 ms of it while the host waited for that device"
std::string WordsOfWaitsForOthers(const ProcessUse& process) {
  int64_t sync_ns = 0;
  for (const DeviceUseRow* device : process.devices) {
    AddSaturatingTo(sync_ns, device->held_sync_ns);
  }
  return sync_ns == 0
             ? ""
             : fmt::format(", {} of it while the host waited for the other", FormatTime(sync_ns));
}

std::optional<Finding> TakingTurns(const SummaryTables& tables) {
  const std::vector<ProcessUse> processes = FindProcesses(tables);
  const HeldPart part = SumOfPart(processes, &ProcessUse::turns_ns);
  if (!IsNotablePart(tables, part)) {
    return std::nullopt;
  }
  const DeviceUseRow& busiest = BusiestOf(*part.most);
  const int64_t stake_ns = TruncateSaturating(part.ns);
  const double share = ShareOf(stake_ns, ObservedSpan(tables));
  const bool is_in_turn = ShareOf(busiest.together_ns, busiest.any_busy_ns) < kTakingTurns;
  return Finding{
      is_in_turn ? "Devices of one process take turns"
                 : "Devices of one process wait for each other",
      SeverityOfShare(share),
      fmt::format("idle while another works: {}{}; {} of rank {}: one or more work for {}, two or "
                  "more at the same time for {}, the busiest for {}{}",
                  PartOf(stake_ns, ObservedSpan(tables)), WordsOfWaitsForOthers(*part.most),
                  WordsOfGpus(GpusOf(*part.most)), busiest.rank, FormatTime(busiest.any_busy_ns),
                  FormatTime(busiest.together_ns), FormatTime(busiest.busy_ns),
                  OfHowManyProcesses(processes, &ProcessUse::turns_ns)),
      share,
      "share",
      AdviceFor(tables,
                "One device works on what another has done before, so that they follow one after "
                "the other: cut each batch into micro-batches, so that one works on the next "
                "while another goes on with the last (torch.distributed.pipelining), or give each "
                "device batches of its own, if the model fits on one (DistributedDataParallel).",
                "One device works on what another has done before, so that they follow one after "
                "the other: cut the work into smaller parts, so that one works on the next while "
                "another goes on with the last.") +
          " Launch to all devices before waiting for one. `borescope timeline` shows them one "
          "below the other.",
      stake_ns,
      Lever::kNone,
      PlaceOfHeld(*part.most)};
}

// "GPU 0 40.0 ms (49.9 %)", those with least first; of many three.
std::string WordsOfOthers(const ProcessUse& process, const DeviceUseRow& busiest) {
  constexpr size_t kShownDevices = 3;
  std::vector<const DeviceUseRow*> others;
  for (const DeviceUseRow* device : process.devices) {
    if (device != &busiest) {
      others.push_back(device);
    }
  }
  std::stable_sort(others.begin(), others.end(), [](const DeviceUseRow* a, const DeviceUseRow* b) {
    return a->busy_ns < b->busy_ns;
  });
  std::vector<std::string> words;
  for (size_t i = 0; i < std::min(kShownDevices, others.size()); ++i) {
    words.push_back(fmt::format("GPU {} {} ({})", others[i]->gpu.value_or(0),
                                FormatTime(others[i]->busy_ns),
                                FormatShare(ShareOf(others[i]->busy_ns, others[i]->span_ns))));
  }
  const size_t rest = others.size() - words.size();
  return fmt::format("{}{}", fmt::join(words, ", "),
                     rest == 0 ? "" : fmt::format(" and {} more", rest));
}

std::optional<Finding> UnevenDevices(const SummaryTables& tables) {
  const std::vector<ProcessUse> processes = FindProcesses(tables);
  const HeldPart part = SumOfPart(processes, &ProcessUse::uneven_ns);
  if (!IsNotablePart(tables, part)) {
    return std::nullopt;
  }
  const DeviceUseRow& busiest = BusiestOf(*part.most);
  const int64_t stake_ns = TruncateSaturating(part.ns);
  const double share = ShareOf(stake_ns, ObservedSpan(tables));
  return Finding{
      "Devices of one process have uneven work",
      SeverityOfShare(share),
      fmt::format("rank {}: GPU {} works for {}, {}; idle while it works: {}{}", busiest.rank,
                  busiest.gpu.value_or(0), PartOf(busiest.busy_ns, busiest.span_ns),
                  WordsOfOthers(*part.most, busiest), PartOf(stake_ns, ObservedSpan(tables)),
                  OfHowManyProcesses(processes, &ProcessUse::uneven_ns)),
      share,
      "share",
      AdviceFor(tables,
                "The device with most work decides how long a step takes, and waiting less does "
                "not change that: give each device as much (batches, layers, experts by what they "
                "cost). nn.DataParallel gathers outputs and computes the loss on the first device: "
                "DistributedDataParallel does not.",
                "The device with most work decides how long all take, and waiting less does not "
                "change that: give each as much.") +
          " `borescope breakdown` has every device, `borescope kernels --gpu N` what one of them "
          "does.",
      stake_ns,
      Lever::kNone,
      PlaceOfHeld(*part.most)};
}

constexpr Rule kDeviceRules[] = {TakingTurns, UnevenDevices};

// The columns of idle_causes, and kLateBegin, in which devices are held by others.
constexpr std::pair<std::string_view, int64_t DeviceUseRow::*> kHeldColumns[] = {
    {"sync_ns", &DeviceUseRow::held_sync_ns},
    {"host_ns", &DeviceUseRow::held_host_ns},
    {"device_ns", &DeviceUseRow::held_device_ns},
    {"unrecorded_ns", &DeviceUseRow::held_unrecorded_ns},
    {kLateBegin, &DeviceUseRow::held_at_begin_ns},
    {"tail_ns", &DeviceUseRow::held_tail_ns}};

}  // namespace

HeldIdle IdleOfDevices(const SummaryTables& tables) {
  HeldIdle held;
  const std::vector<ProcessUse> processes = FindProcesses(tables);
  const bool is_turns = IsNotablePart(tables, SumOfPart(processes, &ProcessUse::turns_ns));
  const bool is_uneven = IsNotablePart(tables, SumOfPart(processes, &ProcessUse::uneven_ns));
  for (const ProcessUse& process : processes) {
    const double said_ns = (is_turns ? process.turns_ns : 0) + (is_uneven ? process.uneven_ns : 0);
    const double part = process.held_ns == 0 ? 0 : said_ns / static_cast<double>(process.held_ns);
    for (const DeviceUseRow* device : process.devices) {
      int64_t& of_host_ns = held.of_host_ns[{device->rank, device->gpu.value_or(kMissing)}];
      for (const auto& [column, member] : kHeldColumns) {
        const int64_t ns = TruncateSaturating(part * static_cast<double>(device->*member));
        AddSaturatingTo(held.by_column[column], ns);
        AddSaturatingTo(of_host_ns, column == "sync_ns" || column == "host_ns" ? ns : 0);
      }
    }
  }
  return held;
}

std::optional<Finding> HardlyUsedDevices(const SummaryTables& tables) {
  std::vector<const DeviceUseRow*> unused;
  std::vector<int64_t> gpus;   // of the rank of the first
  std::vector<int64_t> ranks;  // ascending, each once
  int64_t works = 0;
  int64_t busy_ns = 0;
  for (const DeviceUseRow& row : tables.device_use) {
    if (row.is_hardly_used == 0) {
      continue;
    }
    unused.push_back(&row);
    if (row.rank == unused.front()->rank) {
      gpus.push_back(row.gpu.value_or(0));
    }
    if (ranks.empty() || ranks.back() != row.rank) {
      ranks.push_back(row.rank);
    }
    AddSaturatingTo(works, row.works);
    AddSaturatingTo(busy_ns, row.busy_ns);
  }
  if (unused.empty()) {
    return std::nullopt;
  }
  const std::string others =
      ranks.size() < 2 ? "" : fmt::format(", and others on {} ranks", ranks.size() - 1);
  return Finding{
      unused.size() == 1 ? "A device is hardly used" : "Devices are hardly used",
      "info",
      fmt::format("{} of rank {}{}: {} in all, {}, less than a hundredth of what the busiest of "
                  "the rank works; left out of shares",
                  WordsOfGpus(gpus), ranks.front(), others,
                  FormatCount(works, "kernel or copy", "kernels and copies"), FormatTime(busy_ns)),
      static_cast<double>(unused.size()),
      "count",
      AdviceFor(tables,
                "If it is not meant to work, nothing is lost but the memory of a context: a tensor "
                "or call on the default device made one, before torch.cuda.set_device, or without "
                "device=; CUDA_VISIBLE_DEVICES hides devices. If it is, give it its part: "
                "DistributedDataParallel, one process for each device.",
                "If it is not meant to work, nothing is lost but the memory of a context; "
                "CUDA_VISIBLE_DEVICES hides devices. If it is, give it its part.") +
          " `borescope breakdown` shows what each device does.",
      0,
      Lever::kNone,
      {.rank = ranks.front(), .gpu = gpus.size() == 1 ? gpus.front() : kMissing}};
}

std::span<const Rule> DeviceRules() { return kDeviceRules; }

}  // namespace borescope::internal
