#include "borescope/analysis/measures/graphs/captured_launches.h"

#include <algorithm>
#include <map>
#include <utility>

#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/graphs/captured_names.h"
#include "borescope/analysis/measures/graphs/graph_captures.h"
#include "borescope/analysis/measures/graphs/graph_launches.h"
#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

constexpr uint32_t kNothing = ~uint32_t{0};  // no capture

// The calls of one capture that asked for kernels.
struct Capture {
  int64_t process = kMissing;
  int64_t end_ns = 0;
  bool is_used = false;
  std::vector<HostId> calls = {};    // by start
  std::vector<uint32_t> names = {};  // of the kernels requested: NamesOfCaptured
};

class Pairing {
 public:
  explicit Pairing(const RankView& view)
      : view_(view), host_(view.trace.host()), device_(view.trace.device()) {}

  Result<CapturedLaunches> Build();

 private:
  using Pairs = std::vector<HostId>;  // by kernel of a launch; empty: no match

  void TakeCaptures(const std::vector<GraphCapture>& captures);
  void NameCalls();
  bool TakeKnown(const GraphLaunches& launches, uint32_t number);
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
  CapturedLaunches found_;
};

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

void Pairing::NameCalls() {
  std::vector<std::vector<HostId>> calls;
  calls.reserve(captures_.size());
  for (const Capture& capture : captures_) {
    calls.push_back(capture.calls);
  }
  std::vector<std::vector<uint32_t>> names = NamesOfCaptured(view_, calls);
  for (size_t i = 0; i < captures_.size(); ++i) {
    captures_[i].names = std::move(names[i]);
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
    if (capture.names[i] == kUnknownName) continue;
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

// Whether the index has calls of a capture in another file for kernels of this launch.
bool Pairing::TakeKnown(const GraphLaunches& launches, uint32_t number) {
  bool is_known = false;
  for (const DeviceId id : launches.WorksOf(launches.launches[number])) {
    const HostId call = view_.index.correlation.CapturedCallOf(id);
    if (!call.valid()) continue;
    found_.launch_of[id.value] = call;
    found_.replay_of[id.value] = number;
    is_known = true;
  }
  return is_known;
}

Result<CapturedLaunches> Pairing::Build() {
  if (!HasGraphs(view_)) return CapturedLaunches{};
  BS_ASSIGN(const Selected everything, Selected::Make(view_, Selection{}));
  TakeCaptures(FindGraphCaptures(view_, everything));
  if (captures_.empty() && view_.trace.captured().empty()) return CapturedLaunches{};
  NameCalls();
  found_.launch_of.resize(device_.size());
  found_.replay_of.resize(device_.size());
  const GraphLaunches launches = FindGraphLaunches(view_, everything);
  std::vector<uint32_t> chosen(launches.graphs.size(), kNothing);
  for (uint32_t i = 0; i < launches.launches.size(); ++i) {
    if (!TakeKnown(launches, i)) PairLaunch(launches, i, chosen[launches.launches[i].graph]);
  }
  return std::move(found_);
}

}  // namespace

Result<CapturedLaunches> FindCapturedLaunches(const RankView& view) {
  return Pairing(view).Build();
}

}  // namespace borescope::internal
