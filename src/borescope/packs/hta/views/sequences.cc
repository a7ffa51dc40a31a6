// HTA's get_frequent_cuda_kernel_sequences: of all rows whose name contains --operator, those that
// are least deep in a call tree. Each is a pattern together with the device rows below it in order
// of start.
//
// HTA puts the thread of the backward pass, if there is one, below the annotation of the main
// thread during which it runs. It stops at traces whose times have fractions; this does not.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/base/each_row.h"
#include "borescope/base/text/text.h"
#include "borescope/index/call_tree.h"
#include "borescope/packs/hta/frame.h"
#include "borescope/packs/hta/hta.h"

namespace borescope::internal {
namespace {

constexpr int32_t kNoTree = -1;

// A root of the backward thread and the annotation it is put below.
struct Adopted {
  HostId parent;
  HostId root;
};

// HTA's call trees: an event that begins during another one is inside it even if it ends later, and
// the backward thread is below the main one.
class Trees {
 public:
  explicit Trees(const HtaFrame& frame);

  int32_t DepthOf(HostId id) const { return depth_[id.value]; }
  // Subtrees below a row, itself included: ranges of host rows.
  std::vector<std::pair<uint32_t, uint32_t>> SubtreesOf(HostId id) const;

 private:
  TrackId OnlyTrack(std::string_view part, TrackId but) const;
  void Adopt(TrackId main, TrackId backward);
  std::vector<HostId> Parents(TrackId main) const;

  const HtaFrame& frame_;
  CallTree tree_;
  std::vector<int32_t> depth_;
  std::vector<Adopted> adopted_;  // by parent
};

CallTree TreeByStart(const RankView& view) {
  Diagnostics counted_before;
  return BuildCallTree(view.trace, view.threads, counted_before, Nesting::kOpenAtStart);
}

Trees::Trees(const HtaFrame& frame)
    : frame_(frame), tree_(TreeByStart(frame.view())), depth_(frame.trace().host().size(), 0) {
  for (size_t row = 0; row < depth_.size(); ++row) {
    const HostId parent = tree_.parent[row];
    depth_[row] = parent.valid() ? depth_[parent.value] + 1 : 0;
  }
  const TrackId main = OnlyTrack("ProfilerStep#", TrackId());
  const TrackId backward = OnlyTrack("autograd::", main);
  if (main.valid() && backward.valid()) {
    Adopt(main, backward);
  }
}

// The track, other than `but`, that has a kept row whose name contains `part`, if there is exactly
// one.
TrackId Trees::OnlyTrack(std::string_view part, TrackId but) const {
  const HostEvents& host = frame_.trace().host();
  TrackId only;
  for (const uint32_t row : EachRow(host.size())) {
    const TrackId track = host.track[row];
    if (track == but || track == only || !frame_.Keeps(HostId{row}) ||
        !Contains(frame_.trace().Name(HostId{row}), part)) {
      continue;
    }
    if (only.valid()) {
      return TrackId();
    }
    only = track;
  }
  return only;
}

// Annotations of the backward pass; if there are none, the steps.
std::vector<HostId> Trees::Parents(TrackId main) const {
  const Tracks& tracks = frame_.trace().tracks();
  for (const std::string_view prefix : {"## backward ##", "ProfilerStep#"}) {
    std::vector<HostId> parents;
    for (const uint32_t row : EachRow(tracks.first_row[main.value], tracks.end_row[main.value])) {
      if (frame_.Keeps(HostId{row}) && frame_.trace().Name(HostId{row}).starts_with(prefix)) {
        parents.push_back(HostId{row});
      }
    }
    if (!parents.empty()) {
      return parents;
    }
  }
  return {};
}

void Trees::Adopt(TrackId main, TrackId backward) {
  const Tracks& tracks = frame_.trace().tracks();
  const std::vector<HostId> parents = Parents(main);
  const auto starts_before = [&](const HtaTimes& times, HostId parent) {
    return times.ts_us < frame_.TimesOf(parent).ts_us;
  };
  for (uint32_t root = tracks.first_row[backward.value]; root < tracks.end_row[backward.value];
       root = tree_.subtree_end[root]) {
    const HtaTimes times = frame_.TimesOf(HostId{root});
    const auto after = std::upper_bound(parents.begin(), parents.end(), times, starts_before);
    if (after == parents.begin() || times.end_us() > frame_.TimesOf(*std::prev(after)).end_us()) {
      continue;
    }
    const HostId parent = *std::prev(after);
    adopted_.push_back({parent, HostId{root}});
    for (uint32_t row = root; row < tree_.subtree_end[root]; ++row) {
      depth_[row] += depth_[parent.value] + 1;
    }
  }
}

std::vector<std::pair<uint32_t, uint32_t>> Trees::SubtreesOf(HostId id) const {
  const uint32_t end = tree_.subtree_end[id.value];
  std::vector<std::pair<uint32_t, uint32_t>> subtrees{{id.value, end}};
  const auto first =
      std::partition_point(adopted_.begin(), adopted_.end(),
                           [&](const Adopted& adopted) { return adopted.parent.value < id.value; });
  for (auto it = first; it != adopted_.end() && it->parent.value < end; ++it) {
    subtrees.emplace_back(it->root.value, tree_.subtree_end[it->root.value]);
  }
  return subtrees;
}

// A device row of a stream above 0 with its kept launch call.
struct Launched {
  HostId launch;
  HtaRow row;
};

// Sorted by launch.
std::vector<Launched> LaunchedRows(const HtaFrame& frame) {
  std::vector<Launched> launched;
  for (const HtaRow& row : HtaDeviceRows(frame)) {
    const HostId launch = row.device.valid() ? frame.LaunchOf(row.device) : HostId();
    if (row.stream > 0 && launch.valid() && frame.Keeps(launch)) {
      launched.push_back({launch, row});
    }
  }
  std::stable_sort(launched.begin(), launched.end(), [](const Launched& a, const Launched& b) {
    return a.launch.value < b.launch.value;
  });
  return launched;
}

class Finder {
 public:
  Finder(const HtaFrame& frame, std::string_view op, int64_t min_length)
      : frame_(frame),
        trees_(frame),
        launched_(LaunchedRows(frame)),
        operator_(op),
        min_length_(min_length) {}

  struct Total {
    int64_t count = 0;
    double device_us = 0;
    double host_us = 0;
  };
  using Patterns = std::map<std::string, Total>;
  Patterns Find() const;

 private:
  bool Matches(StringId name) const { return Contains(frame_.trace().Text(name), operator_); }
  int32_t LeastDepth() const;
  int32_t LeastDeviceDepth() const;
  std::vector<HtaRow> RowsBelow(HostId op) const;

  const HtaFrame& frame_;
  Trees trees_;
  std::vector<Launched> launched_;
  std::string_view operator_;
  int64_t min_length_;
};

// Device rows count, too: below their launch, or in no tree at all.
int32_t Finder::LeastDeviceDepth() const {
  const DeviceEvents& device = frame_.trace().device();
  int32_t least = std::numeric_limits<int32_t>::max();
  for (const uint32_t row : EachRow(device.size())) {
    const DeviceId id{row};
    if (frame_.Repeats(id) > 0 && Matches(device.name[row])) {
      const HostId launch = frame_.StreamOf(id) > 0 ? frame_.LaunchOf(id) : HostId();
      least = std::min(least, launch.valid() ? trees_.DepthOf(launch) + 1 : kNoTree);
    }
  }
  return least;
}

int32_t Finder::LeastDepth() const {
  const HostEvents& host = frame_.trace().host();
  int32_t least = LeastDeviceDepth();
  for (const uint32_t row : EachRow(host.size())) {
    if (frame_.Keeps(HostId{row}) && Matches(host.name[row])) {
      least = std::min(least, trees_.DepthOf(HostId{row}));
    }
  }
  return least;
}

// Sorted by start.
std::vector<HtaRow> Finder::RowsBelow(HostId op) const {
  std::vector<HtaRow> rows;
  for (const std::pair<uint32_t, uint32_t>& subtree : trees_.SubtreesOf(op)) {
    auto it = std::partition_point(
        launched_.begin(), launched_.end(),
        [&](const Launched& launched) { return launched.launch.value < subtree.first; });
    for (; it != launched_.end() && it->launch.value < subtree.second; ++it) {
      rows.push_back(it->row);
    }
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const HtaRow& a, const HtaRow& b) { return a.ts_us < b.ts_us; });
  return rows;
}

Finder::Patterns Finder::Find() const {
  const HostEvents& host = frame_.trace().host();
  const int32_t depth = LeastDepth();
  Patterns patterns;
  for (const uint32_t row : EachRow(host.size())) {
    const HostId op{row};
    if (trees_.DepthOf(op) != depth || !frame_.Keeps(op) || !Matches(host.name[row])) {
      continue;
    }
    const std::vector<HtaRow> rows = RowsBelow(op);
    if (static_cast<int64_t>(rows.size()) < min_length_) {
      continue;
    }
    std::string pattern(frame_.trace().Name(op));
    double device_us = 0;
    for (const HtaRow& kernel : rows) {
      pattern.append("|").append(frame_.trace().Text(kernel.name));
      device_us += kernel.dur_us;
    }
    Total& total = patterns[pattern];
    ++total.count;
    total.device_us += device_us;
    total.host_us += frame_.TimesOf(op).dur_us;
  }
  return patterns;
}

Table NewTable() {
  Table table{"sequences", "Kernel sequences (as HolisticTraceAnalysis)", {}};
  AddRankKey(table);
  AddString(table, "pattern", Role::kKey, "Operator and the device rows below it, joined by |.");
  AddInt(table, "count", Unit::kCount, Role::kSum, "How often.");
  AddInt(table, "gpu_kernel_us", Unit::kMicroseconds, Role::kSum,
         "Summed duration of the device rows.");
  AddInt(table, "cpu_op_us", Unit::kMicroseconds, Role::kSum, "Summed duration of the operators.");
  return table;
}

}  // namespace

Result<Tables> MapHtaSequences(const RankView& view, const Params& params) {
  const HtaFrame frame(view, HtaFrame::StepsOf(params));
  const Finder finder(frame, params.Text(kOperatorParam), params.Number(kMinLengthParam));
  Table table = NewTable();
  for (const auto& [pattern, total] : finder.Find()) {
    Row(table)
        .Int(view.rank)
        .Text(pattern)
        .Int(total.count)
        .Int(std::llround(total.device_us))
        .Int(std::llround(total.host_us));
  }
  return Tables{std::move(table)};
}

Result<Tables> FinishHtaSequences(Tables findings, const Params&) {
  findings[0] = Sorted(findings[0], "count");
  return findings;
}

}  // namespace borescope::internal
