#include "borescope/analysis/measures/graphs/captured_names.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "borescope/base/stop.h"
#include "borescope/base/text/text.h"

namespace borescope::internal {
namespace {

class NameFinder {
 public:
  explicit NameFinder(const RankView& view)
      : view_(view), host_(view.trace.host()), device_(view.trace.device()) {}

  // Names the calls by what is known so far, and marks the slots whose names are to be learnt.
  std::vector<uint32_t> NamesOf(std::span<const HostId> calls);
  // From the kernels that were launched eagerly.
  void LearnNames();

 private:
  // Name, shapes and types of an operator, and which of its launches.
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

// By the call itself or a Triton operator around it.
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

}  // namespace borescope::internal
