// HTA's get_aten_op_kernels_and_delay: each kernel launch belongs to the aten operator around it
// that starts last, on whatever thread. Operators are the same if name, thread and start are.
//
// HTA stops at a launch that no device row, or several, belong to; such launches are left out here.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "borescope/analysis/core/finish.h"
#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/row.h"
#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/stop.h"
#include "borescope/base/text/text.h"
#include "borescope/packs/hta/numbers.h"
#include "borescope/packs/hta/rows.h"
#include "borescope/packs/hta/tables.h"

namespace borescope::internal {
namespace {

// (cuda.*LaunchKernel)|(cuLaunchKernel)|(^runFunction), from the start of the name.
bool IsKernelLaunch(std::string_view name) {
  return (name.starts_with("cuda") && Contains(name, "LaunchKernel")) ||
         name.starts_with("cuLaunchKernel") || name.starts_with("runFunction");
}

struct HostRow {
  HtaTimes times;
  HostId id;
};

bool StartsBefore(const HostRow& a, const HostRow& b) { return a.times.ts_us < b.times.ts_us; }

// Kept host rows that `is_wanted`, in the order of the file.
template <class IsWanted>
std::vector<HostRow> HostRows(const HtaFrame& frame, const IsWanted& is_wanted) {
  std::vector<HostRow> rows;
  for (uint32_t row = 0; row < frame.trace().host().size(); ++row) {
    CheckStopAt(row);
    if (frame.Keeps(HostId{row}) && is_wanted(frame.trace().Name(HostId{row}))) {
      rows.push_back({frame.TimesOf(HostId{row}), HostId{row}});
    }
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const HostRow& a, const HostRow& b) { return frame.IsBefore(a.id, b.id); });
  return rows;
}

// Finds the operator around a launch that starts last. A tree of the largest end over operators in
// order of start answers in O(log n), also where many end early.
class Operators {
 public:
  explicit Operators(const HtaFrame& frame)
      : rows_(HostRows(frame, [](std::string_view name) { return name.starts_with("aten::"); })) {
    // Of operators that start together HTA takes the first of the file.
    std::reverse(rows_.begin(), rows_.end());
    std::stable_sort(rows_.begin(), rows_.end(), StartsBefore);
    while (leaves_ < rows_.size()) {
      leaves_ *= 2;
    }
    last_end_.assign(2 * leaves_, -std::numeric_limits<double>::infinity());
    for (size_t i = 0; i < rows_.size(); ++i) {
      last_end_[leaves_ + i] = rows_[i].times.end_us();
    }
    for (size_t node = leaves_; --node > 0;) {
      last_end_[node] = std::max(last_end_[2 * node], last_end_[2 * node + 1]);
    }
  }

  // nullptr if there is none.
  const HostRow* Around(const HtaTimes& launch) const {
    const auto after =
        std::upper_bound(rows_.begin(), rows_.end(), launch.ts_us,
                         [](double ts, const HostRow& row) { return ts < row.times.ts_us; });
    const auto count = static_cast<size_t>(after - rows_.begin());
    const size_t found = LastBefore(count, launch.end_us());
    return found == kNone ? nullptr : &rows_[found];
  }

 private:
  static constexpr size_t kNone = std::numeric_limits<size_t>::max();

  // The last of the first `count` rows that ends at `end` or later.
  size_t LastBefore(size_t count, double end) const {
    if (count == 0) {
      return kNone;
    }
    size_t node = leaves_ + count - 1;
    while (last_end_[node] < end) {
      while (node % 2 == 0) {  // nothing to the left below this parent
        node /= 2;
      }
      if (node <= 1) {
        return kNone;
      }
      --node;
    }
    while (node < leaves_) {
      node = last_end_[2 * node + 1] >= end ? 2 * node + 1 : 2 * node;
    }
    return node - leaves_;
  }

  std::vector<HostRow> rows_;
  size_t leaves_ = 1;
  std::vector<double> last_end_;  // per node
};

// The only device row of every launch call that has only one.
HashMap<uint32_t, HtaRow> KernelsByLaunch(const HtaFrame& frame) {
  HashMap<uint32_t, HtaRow> kernels;
  for (const HtaRow& row : HtaDeviceRows(frame)) {
    const HostId launch = row.device.valid() ? frame.LaunchOf(row.device) : HostId();
    if (launch.valid()) {
      const auto [found, is_new] = kernels.try_emplace(launch.value, row);
      found->second.times = is_new ? row.times : 2;
    }
  }
  std::erase_if(kernels.InAnyOrder(), [](const auto& entry) { return entry.second.times != 1; });
  return kernels;
}

// One call of an operator.
struct Call {
  std::string kernels;
  double launch_delay_us = 0;  // of the first launch
  double runtime_delay_us = 0;
};
using CallKey = std::tuple<uint32_t, uint32_t, double>;  // track, name, start

std::map<CallKey, Call> FindCalls(const HtaFrame& frame) {
  const Operators operators(frame);
  const HashMap<uint32_t, HtaRow> kernels = KernelsByLaunch(frame);
  const HostEvents& host = frame.trace().host();
  std::map<CallKey, Call> calls;
  for (const HostRow& launch : HostRows(frame, IsKernelLaunch)) {
    const HostRow* op = operators.Around(launch.times);
    const auto kernel = kernels.find(launch.id.value);
    if (op == nullptr || kernel == kernels.end()) {
      continue;
    }
    Call& call =
        calls[{host.track[op->id.value].value, host.name[op->id.value].value, op->times.ts_us}];
    if (call.kernels.empty()) {
      call.launch_delay_us = launch.times.ts_us - op->times.ts_us;
      call.runtime_delay_us = kernel->second.ts_us - launch.times.ts_us;
    } else {
      call.kernels += " -> ";
    }
    call.kernels += frame.trace().Text(kernel->second.name);
  }
  return calls;
}

Table NewTable() {
  Table table{"delays", "Delays of operators (as HolisticTraceAnalysis)", {}};
  AddRankKey(table);
  AddString(table, "aten_op_name", Role::kKey, "Operator.");
  AddString(table, "kernel_sequence", Role::kKey, "What one call launched, in order.");
  AddInt(table, "occurrence_count", Unit::kCount, Role::kSum, "Calls.");
  AddFloat(table, "avg_aten_op_launch_delay_us", Unit::kMicroseconds, Role::kDerived,
           "Mean time from the start of the operator to its first launch, to three decimals.");
  AddFloat(table, "avg_runtime_delay_us", Unit::kMicroseconds, Role::kDerived,
           "Mean time from the start of that launch to that of its kernel, to three decimals.");
  return table;
}

struct Group {
  int64_t count = 0;
  double launch_delay_us = 0;
  double runtime_delay_us = 0;
};

}  // namespace

Result<Tables> MapHtaDelays(const RankView& view, const Params& params) {
  const HtaFrame frame(view, HtaFrame::StepsOf(params));
  std::map<std::pair<std::string, std::string>, Group> groups;
  for (const auto& [key, call] : FindCalls(frame)) {
    Group& group = groups[{std::string(view.trace.Text(StringId{std::get<1>(key)})), call.kernels}];
    ++group.count;
    group.launch_delay_us += call.launch_delay_us;
    group.runtime_delay_us += call.runtime_delay_us;
  }
  Table table = NewTable();
  for (const auto& [key, group] : groups) {
    const auto count = static_cast<double>(group.count);
    Row(table)
        .Int(view.rank)
        .Text(key.first)
        .Text(key.second)
        .Int(group.count)
        .Float(HtaRound(group.launch_delay_us / count, 3))
        .Float(HtaRound(group.runtime_delay_us / count, 3));
  }
  return Tables{std::move(table)};
}

Result<Tables> FinishHtaDelays(Tables findings, const Params&) {
  findings[0] = Sorted(findings[0], "occurrence_count");
  return findings;
}

}  // namespace borescope::internal
