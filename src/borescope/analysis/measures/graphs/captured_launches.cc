#include "borescope/analysis/measures/graphs/captured_launches.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/graphs/graph_captures.h"
#include "borescope/analysis/measures/graphs/graph_launches.h"
#include "borescope/base/stop.h"
#include "borescope/base/text/text.h"

namespace borescope::internal {
namespace {

constexpr uint32_t kNothing = ~uint32_t{0};  // no name, no capture

bool IsCopyName(std::string_view call) {
  return Contains(call, "Memcpy") || Contains(call, "Memset");
}

// The calls of one capture that asked for kernels.
struct Capture {
  int64_t process = kMissing;
  int64_t end_ns = 0;
  bool is_used = false;
  std::vector<HostId> calls = {};    // by start
  std::vector<uint32_t> names = {};  // of the kernels asked for: StringId, or kNothing
};

class Pairing {
 public:
  explicit Pairing(const RankView& view)
      : view_(view), host_(view.trace.host()), device_(view.trace.device()) {}

  Result<CapturedLaunches> Build();

 private:
  // Name, shapes and types of an operator, and which of its launches.
  using Slot = std::array<uint32_t, 4>;
  using Pairs = std::vector<HostId>;  // by kernel of a launch; empty: no match

  void TakeCaptures(const std::vector<GraphCapture>& captures);
  void LearnNames();
  void NameCalls(Capture& capture);
  HostId OperatorAround(HostId row) const;
  std::optional<Slot> SlotOf(HostId op, uint32_t number) const;
  void PairLaunch(const GraphLaunches& launches, uint32_t number, uint32_t& chosen);
  std::vector<DeviceId> KernelsOf(std::span<const DeviceId> works) const;
  uint32_t FindCapture(const GraphLaunch& launch, std::span<const DeviceId> kernels, Pairs& pairs);
  Pairs Match(const Capture& capture, std::span<const DeviceId> kernels) const;
  bool AgreesInOrder(const Capture& capture, std::span<const DeviceId> kernels) const;

  const RankView& view_;
  const HostEvents& host_;
  const DeviceEvents& device_;
  // Captures of one process and number of calls, by start.
  struct Candidates {
    std::vector<uint32_t> captures;
    size_t first_unused = 0;
  };

  std::vector<Capture> captures_;  // by start
  std::map<std::pair<int64_t, size_t>, Candidates> by_length_;
  std::map<Slot, uint32_t> learnt_;  // slots of captures: the name of their eager kernels
  CapturedLaunches found_;
};

HostId Pairing::OperatorAround(HostId row) const {
  while (row.valid() && host_.kind[row.value] != HostKind::kOp) {
    row = view_.index.tree.parent[row.value];
  }
  return row;
}

std::optional<Pairing::Slot> Pairing::SlotOf(HostId op, uint32_t number) const {
  const uint32_t detail = op.valid() ? host_.detail[op.value] : kNoDetail;
  if (detail == kNoDetail) return std::nullopt;
  const Ops& ops = view_.trace.ops();
  return Slot{host_.name[op.value].value, ops.input_dims[detail].value,
              ops.input_types[detail].value, number};
}

void Pairing::TakeCaptures(const std::vector<GraphCapture>& captures) {
  for (const GraphCapture& found : captures) {
    if (found.capture_ns == kMissing) continue;
    Capture capture{.process = view_.trace.tracks().pid[found.track.value],
                    .end_ns = found.begin_ns + found.capture_ns};
    std::copy_if(found.calls.begin(), found.calls.end(), std::back_inserter(capture.calls),
                 [&](HostId call) { return !IsCopyName(view_.trace.Name(call)); });
    if (capture.calls.empty()) continue;
    by_length_[{capture.process, capture.calls.size()}].captures.push_back(
        static_cast<uint32_t>(captures_.size()));
    captures_.push_back(std::move(capture));
  }
}

// Sets the names of the calls, and marks the slots whose names are still to be learnt.
void Pairing::NameCalls(Capture& capture) {
  std::map<uint32_t, uint32_t> launches;  // per operator
  capture.names.clear();
  capture.names.reserve(capture.calls.size());
  for (const HostId call : capture.calls) {
    const HostId op = OperatorAround(call);
    const std::optional<Slot> slot = SlotOf(op, op.valid() ? launches[op.value]++ : 0);
    uint32_t name = kNothing;
    if (slot.has_value() && view_.trace.ops().triton[host_.detail[op.value]] != kNoDetail) {
      name = host_.name[op.value].value;
    } else if (slot.has_value()) {
      name = learnt_.try_emplace(*slot, kNothing).first->second;
    }
    capture.names.push_back(name);
  }
}

// From the kernels that were launched eagerly.
void Pairing::LearnNames() {
  std::vector<std::pair<HostId, DeviceId>> launches;
  for (uint32_t row = 0; row < device_.size(); ++row) {
    CheckStopAt(row);
    const HostId launch = view_.index.correlation.launch_of[row];
    if (launch.valid() && device_.kind[row] == DeviceKind::kKernel) {
      launches.emplace_back(launch, DeviceId{row});
    }
  }
  std::sort(launches.begin(), launches.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first.value, a.second.value) < std::pair(b.first.value, b.second.value);
  });
  std::map<uint32_t, uint32_t> numbers;  // per operator
  std::set<Slot> differing;
  for (const auto& [launch, kernel] : launches) {
    const HostId op = OperatorAround(launch);
    const std::optional<Slot> slot = SlotOf(op, op.valid() ? numbers[op.value]++ : 0);
    const auto known = slot.has_value() ? learnt_.find(*slot) : learnt_.end();
    if (known == learnt_.end()) continue;
    const uint32_t name = device_.name[kernel.value].value;
    const bool differs = known->second != kNothing && known->second != name;
    if (differs || differing.count(*slot) != 0) {
      differing.insert(*slot);
      known->second = kNothing;
    } else {
      known->second = name;
    }
  }
}

std::vector<DeviceId> Pairing::KernelsOf(std::span<const DeviceId> works) const {
  std::vector<DeviceId> kernels;
  std::copy_if(works.begin(), works.end(), std::back_inserter(kernels),
               [&](DeviceId id) { return device_.kind[id.value] == DeviceKind::kKernel; });
  return kernels;
}

bool Pairing::AgreesInOrder(const Capture& capture, std::span<const DeviceId> kernels) const {
  bool has_name = false;
  for (size_t i = 0; i < kernels.size(); ++i) {
    CheckStopAt(i);
    if (capture.names[i] == kNothing) continue;
    has_name = true;
    if (capture.names[i] != device_.name[kernels[i].value].value) return false;
  }
  return has_name;
}

// REQUIRES: as many calls as kernels.
Pairing::Pairs Pairing::Match(const Capture& capture, std::span<const DeviceId> kernels) const {
  if (AgreesInOrder(capture, kernels)) return capture.calls;
  std::vector<std::pair<uint32_t, uint32_t>> calls;  // name, number
  std::vector<std::pair<uint32_t, uint32_t>> works;
  calls.reserve(kernels.size());
  works.reserve(kernels.size());
  for (uint32_t i = 0; i < kernels.size(); ++i) {
    calls.emplace_back(capture.names[i], i);
    works.emplace_back(device_.name[kernels[i].value].value, i);
  }
  std::sort(calls.begin(), calls.end());
  std::sort(works.begin(), works.end());
  Pairs pairs(kernels.size());
  for (size_t i = 0; i < calls.size(); ++i) {
    if (calls[i].first != works[i].first) return {};
    pairs[works[i].second] = capture.calls[calls[i].second];
  }
  return pairs;
}

// A capture that fits, unused ones first; kNothing for none. Sets `pairs`. Of very many captures of
// one length some are not looked at.
uint32_t Pairing::FindCapture(const GraphLaunch& launch, std::span<const DeviceId> kernels,
                              Pairs& pairs) {
  constexpr size_t kMostTries = 64;
  const int64_t process = view_.trace.tracks().pid[host_.track[launch.call.value].value];
  const auto found = by_length_.find({process, kernels.size()});
  if (found == by_length_.end()) return kNothing;
  auto& [captures, first_unused] = found->second;
  while (first_unused < captures.size() && captures_[captures[first_unused]].is_used) {
    ++first_unused;
  }
  for (const size_t begin : {first_unused, size_t{0}}) {
    for (size_t i = begin; i < std::min(captures.size(), begin + kMostTries); ++i) {
      const Capture& capture = captures_[captures[i]];
      const bool is_unwanted = begin != 0 && capture.is_used;
      if (is_unwanted || capture.end_ns > host_.ts_ns[launch.call.value]) continue;
      pairs = Match(capture, kernels);
      if (!pairs.empty()) return captures[i];
    }
  }
  return kNothing;
}

// `chosen` is the capture of the launch's graph: kNothing until one fits.
void Pairing::PairLaunch(const GraphLaunches& launches, uint32_t number, uint32_t& chosen) {
  const GraphLaunch& launch = launches.launches[number];
  const std::vector<DeviceId> kernels = KernelsOf(launches.WorksOf(launch));
  if (!launch.call.valid() || kernels.empty()) return;
  Pairs pairs;
  if (chosen == kNothing) {
    chosen = FindCapture(launch, kernels, pairs);
  } else if (captures_[chosen].calls.size() == kernels.size()) {
    pairs = Match(captures_[chosen], kernels);
  }
  if (pairs.empty()) return;
  captures_[chosen].is_used = true;
  for (size_t i = 0; i < kernels.size(); ++i) {
    found_.launch_of[kernels[i].value] = pairs[i];
    found_.replay_of[kernels[i].value] = number;
  }
}

Result<CapturedLaunches> Pairing::Build() {
  if (!HasGraphs(view_)) return CapturedLaunches{};
  BS_ASSIGN(const Selected everything, Selected::Make(view_, Selection{}));
  TakeCaptures(FindGraphCaptures(view_, everything));
  if (captures_.empty()) return CapturedLaunches{};
  for (Capture& capture : captures_) {
    NameCalls(capture);
  }
  LearnNames();
  for (Capture& capture : captures_) {
    NameCalls(capture);
  }
  found_.launch_of.resize(device_.size());
  found_.replay_of.resize(device_.size());
  const GraphLaunches launches = FindGraphLaunches(view_, everything);
  std::vector<uint32_t> chosen(launches.graphs.size(), kNothing);
  for (uint32_t i = 0; i < launches.launches.size(); ++i) {
    PairLaunch(launches, i, chosen[launches.launches[i].graph]);
  }
  return std::move(found_);
}

}  // namespace

Result<CapturedLaunches> FindCapturedLaunches(const RankView& view) {
  return Pairing(view).Build();
}

}  // namespace borescope::internal
