#include "borescope/analysis/measures/graphs/captured_work.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/graphs/graph_launches.h"
#include "borescope/base/each_row.h"
#include "borescope/base/stop.h"
#include "borescope/base/text/text.h"

namespace borescope::internal {

namespace {

class NameFinder {
 public:
  explicit NameFinder(const RankView& view)
      : view_(view), host_(view.trace.host()), device_(view.trace.device()) {}

  // Names the calls as far as known, and marks the slots whose names are still to be found.
  std::vector<uint32_t> NamesOf(std::span<const HostId> calls);
  // Finds names from the kernels that were launched outside of captures.
  void LearnNames();

 private:
  // Name, shapes and types of an operator, and the number of its launch.
  using Slot = std::array<uint32_t, 4>;

  HostId OperatorAround(HostId row) const;
  std::optional<Slot> SlotOf(HostId op, uint32_t number) const;
  uint32_t RecordedName(HostId call, HostId op) const;
  std::vector<std::pair<HostId, DeviceId>> EagerLaunches() const;

  const RankView& view_;
  const HostEvents& host_;
  const DeviceEvents& device_;
  std::map<Slot, uint32_t> learnt_;  // slots of captures: the name of their eager kernels
};

HostId NameFinder::OperatorAround(HostId row) const {
  while (row.valid() && host_.kind[row.value] != HostKind::kOp) {
    row = view_.index.tree.parent[row.value];
  }
  return row;
}

std::optional<NameFinder::Slot> NameFinder::SlotOf(HostId op, uint32_t number) const {
  const uint32_t detail = op.valid() ? host_.detail[op.value] : kNoDetail;
  if (detail == kNoDetail) return std::nullopt;
  const Ops& ops = view_.trace.ops();
  return Slot{host_.name[op.value].value, ops.input_dims[detail].value,
              ops.input_types[detail].value, number};
}

// The name that the call itself or a Triton operator around it records.
uint32_t NameFinder::RecordedName(HostId call, HostId op) const {
  const uint32_t detail = host_.detail[call.value];
  const StringId kernel =
      detail == kNoDetail ? StringId{} : view_.trace.runtime_calls().kernel[detail];
  if (!view_.trace.Text(kernel).empty()) return kernel.value;
  const uint32_t arguments = op.valid() ? host_.detail[op.value] : kNoDetail;
  const bool is_triton = arguments != kNoDetail && view_.trace.ops().triton[arguments] != kNoDetail;
  return is_triton ? host_.name[op.value].value : kUnknownName;
}

std::vector<uint32_t> NameFinder::NamesOf(std::span<const HostId> calls) {
  std::map<uint32_t, uint32_t> launches;  // per operator
  std::vector<uint32_t> names;
  names.reserve(calls.size());
  for (const HostId call : calls) {
    const HostId op = OperatorAround(call);
    const std::optional<Slot> slot = SlotOf(op, op.valid() ? launches[op.value]++ : 0);
    uint32_t name = RecordedName(call, op);
    if (name == kUnknownName && slot.has_value()) {
      name = learnt_.try_emplace(*slot, kUnknownName).first->second;
    }
    names.push_back(name);
  }
  return names;
}

std::vector<std::pair<HostId, DeviceId>> NameFinder::EagerLaunches() const {
  std::vector<std::pair<HostId, DeviceId>> launches;
  for (const uint32_t row : EachRow(device_.size())) {
    const HostId launch = view_.index.correlation.launch_of[row];
    if (launch.valid() && device_.kind[row] == DeviceKind::kKernel) {
      launches.emplace_back(launch, DeviceId{row});
    }
  }
  std::sort(launches.begin(), launches.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first.value, a.second.value) < std::pair(b.first.value, b.second.value);
  });
  return launches;
}

void NameFinder::LearnNames() {
  if (learnt_.empty()) return;
  std::map<uint32_t, uint32_t> numbers;  // per operator
  std::set<Slot> differing;
  for (const auto& [launch, kernel] : EagerLaunches()) {
    const HostId op = OperatorAround(launch);
    const std::optional<Slot> slot = SlotOf(op, op.valid() ? numbers[op.value]++ : 0);
    const auto known = slot.has_value() ? learnt_.find(*slot) : learnt_.end();
    if (known == learnt_.end()) continue;
    const uint32_t name = device_.name[kernel.value].value;
    const bool differs = known->second != kUnknownName && known->second != name;
    if (differs || differing.count(*slot) != 0) {
      differing.insert(*slot);
      known->second = kUnknownName;
    } else {
      known->second = name;
    }
  }
}

}  // namespace

std::vector<std::vector<uint32_t>> NamesOfCaptured(const RankView& view,
                                                   std::span<const std::vector<HostId>> captures) {
  NameFinder finder(view);
  for (const std::vector<HostId>& calls : captures) {
    finder.NamesOf(calls);
  }
  finder.LearnNames();
  std::vector<std::vector<uint32_t>> names;
  names.reserve(captures.size());
  for (const std::vector<HostId>& calls : captures) {
    names.push_back(finder.NamesOf(calls));
  }
  return names;
}

bool IsCopyName(std::string_view call) {
  return Contains(call, "Memcpy") || Contains(call, "Memset");
}

namespace {

// For each number of edits: the furthest place in `a` on each diagonal (place in `a` minus place in
// `b`).
class Alignment {
 public:
  Alignment(std::span<const uint32_t> a, std::span<const uint32_t> b)
      : a_(a),
        b_(b),
        size_a_(static_cast<int64_t>(a.size())),
        size_b_(static_cast<int64_t>(b.size())) {}

  // Whether the ends can be reached with this many edits.
  bool Reach(int64_t edits);
  std::vector<NamePair> Pairs() const;

 private:
  int64_t FurthestBefore(int64_t edits, int64_t diagonal) const;
  bool ComesFromAbove(int64_t edits, int64_t diagonal) const;
  int64_t& At(int64_t edits, int64_t diagonal) {
    return furthest_[static_cast<size_t>(edits)][static_cast<size_t>(diagonal + edits)];
  }
  int64_t At(int64_t edits, int64_t diagonal) const {
    const bool is_inside = diagonal >= -edits && diagonal <= edits;
    return is_inside ? furthest_[static_cast<size_t>(edits)][static_cast<size_t>(diagonal + edits)]
                     : -1;
  }

  std::span<const uint32_t> a_;
  std::span<const uint32_t> b_;
  int64_t size_a_;
  int64_t size_b_;
  std::vector<std::vector<int64_t>> furthest_;  // by edits, then by diagonal; -1: not reached
};

// Whether the last edit before this diagonal left out a name of `b`.
bool Alignment::ComesFromAbove(int64_t edits, int64_t diagonal) const {
  return At(edits - 1, diagonal - 1) < At(edits - 1, diagonal + 1);
}

// Where the last edit enters the diagonal; outside of the sequences if it does not.
int64_t Alignment::FurthestBefore(int64_t edits, int64_t diagonal) const {
  if (edits == 0) return 0;
  const bool from_above = ComesFromAbove(edits, diagonal);
  const int64_t before = At(edits - 1, from_above ? diagonal + 1 : diagonal - 1);
  const int64_t place = before < 0 ? -1 : before + (from_above ? 0 : 1);
  return place > size_a_ || place - diagonal > size_b_ ? -1 : place;
}

bool Alignment::Reach(int64_t edits) {
  furthest_.emplace_back(static_cast<size_t>(2 * edits + 1), -1);
  for (int64_t diagonal = -edits; diagonal <= edits; diagonal += 2) {
    int64_t place = FurthestBefore(edits, diagonal);
    if (place < 0 || place < diagonal) continue;
    while (place < size_a_ && place - diagonal < size_b_ &&
           a_[static_cast<size_t>(place)] == b_[static_cast<size_t>(place - diagonal)]) {
      ++place;
    }
    At(edits, diagonal) = place;
    if (place == size_a_ && place - diagonal == size_b_) return true;
  }
  return false;
}

// Follows the edits from the ends back to the begins.
std::vector<NamePair> Alignment::Pairs() const {
  std::vector<NamePair> pairs;
  int64_t place = size_a_;
  int64_t diagonal = size_a_ - size_b_;
  for (auto edits = static_cast<int64_t>(furthest_.size()) - 1; edits >= 0; --edits) {
    for (const int64_t begin = FurthestBefore(edits, diagonal); place > begin; --place) {
      pairs.emplace_back(static_cast<uint32_t>(place - 1),
                         static_cast<uint32_t>(place - 1 - diagonal));
    }
    if (edits == 0) break;
    const bool from_above = ComesFromAbove(edits, diagonal);
    place -= from_above ? 0 : 1;
    diagonal += from_above ? 1 : -1;
  }
  std::reverse(pairs.begin(), pairs.end());
  return pairs;
}

}  // namespace

std::optional<std::vector<NamePair>> AlignNames(std::span<const uint32_t> a,
                                                std::span<const uint32_t> b, size_t most_edits) {
  Alignment alignment(a, b);
  for (size_t edits = 0; edits <= most_edits; ++edits) {
    CheckStop();
    if (alignment.Reach(static_cast<int64_t>(edits))) return alignment.Pairs();
  }
  return std::nullopt;
}

namespace {

// Whether all known names agree, and at least half are known.
bool Agrees(const std::vector<uint32_t>& names, const std::vector<uint32_t>& captured) {
  size_t known = 0;
  for (size_t i = 0; i < names.size(); ++i) {
    if (captured[i] == kUnknownName) continue;
    if (captured[i] != names[i]) return false;
    ++known;
  }
  return 2 * known >= names.size();
}

// The least number of edits that turn one sequence into the other, whatever the order.
size_t LeastEdits(std::vector<uint32_t> a, std::vector<uint32_t> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  std::vector<uint32_t> differing;
  std::set_symmetric_difference(a.begin(), a.end(), b.begin(), b.end(),
                                std::back_inserter(differing));
  return differing.size();
}

std::vector<NamePair> InOrder(size_t size) {
  std::vector<NamePair> pairs;
  pairs.reserve(size);
  for (uint32_t i = 0; i < size; ++i) {
    pairs.emplace_back(i, i);
  }
  return pairs;
}

}  // namespace

size_t MostEdits(size_t kernels) {
  constexpr size_t kOneIn = 20;
  constexpr size_t kLeastKernels = 4;  // in fewer, one name is too large a part
  constexpr size_t kMost = 1000;       // limits time and memory
  if (kernels < kLeastKernels) return 0;
  return std::clamp<size_t>(kernels / kOneIn, 1, kMost);
}

CaptureMatcher::CaptureMatcher(std::span<const CapturedSequence> captures) : captures_(captures) {
  for (uint32_t i = 0; i < captures.size(); ++i) {
    if (captures[i].names.empty()) continue;
    Family& family = families_[captures[i].names];
    if (!family.captures.empty()) {
      Compare(captures[family.captures.front()], captures[i], family);
    }
    family.captures.push_back(i);
  }
}

void CaptureMatcher::Compare(const CapturedSequence& first, const CapturedSequence& other,
                             Family& family) const {
  family.has_operators = family.has_operators && first.operators == other.operators;
  family.has_arguments = family.has_arguments && first.arguments == other.arguments;
}

// nullptr if none or several families with unknown names agree.
const CaptureMatcher::Family* CaptureMatcher::FindExact(const std::vector<uint32_t>& names) const {
  if (const auto found = families_.find(names); found != families_.end()) return &found->second;
  const Family* fitting = nullptr;
  for (const auto& [captured, family] : families_) {
    CheckStop();
    if (captured.size() != names.size() || !Agrees(names, captured)) continue;
    if (fitting != nullptr) return nullptr;
    fitting = &family;
  }
  return fitting;
}

// If two families are equally close, neither is taken.
void CaptureMatcher::Align(const std::vector<uint32_t>& names, Known& known) const {
  const size_t most_edits = MostEdits(names.size());
  size_t best = most_edits + 1;
  for (const auto& [captured, family] : families_) {
    CheckStop();
    if (LeastEdits(names, captured) > most_edits) continue;
    std::optional<std::vector<NamePair>> pairs =
        AlignNames(names, captured, std::min(best, most_edits));
    if (!pairs.has_value()) continue;
    const size_t edits = names.size() + captured.size() - 2 * pairs->size();
    known.fit = CaptureFit::kAligned;
    known.family = edits == best ? nullptr : &family;
    known.pairs = std::move(*pairs);
    best = edits;
  }
}

CaptureMatcher::Known CaptureMatcher::Search(const std::vector<uint32_t>& names) const {
  Known known;
  known.family = FindExact(names);
  if (known.family != nullptr) {
    known.fit = CaptureFit::kExact;
    known.pairs = InOrder(names.size());
  } else {
    Align(names, known);
  }
  const bool is_usable = known.family != nullptr && known.family->has_operators;
  return is_usable ? std::move(known) : Known{};
}

SequenceMatch CaptureMatcher::Match(const std::vector<uint32_t>& names) {
  const auto [place, is_new] = known_.try_emplace(names);
  Known& known = place->second;
  if (is_new) known = Search(names);
  if (known.family == nullptr) return {};
  const std::vector<uint32_t>& captures = known.family->captures;
  return {known.fit, known.family->has_arguments, captures[known.next++ % captures.size()],
          known.pairs};
}

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
  for (const size_t i : EachIndex(kernels.size())) {
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

// A capture that fits, unused ones first, or kNothing. Sets `pairs`. If very many captures have the
// same length, only some are compared.
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

// Takes the calls that the index has for kernels of this launch, from a capture in another file;
// false if it has none.
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
