// inductor: where the device time of a compiled PyTorch model goes, by what made the kernel.
//
//   category          by the name of the kernel, and by what its launch says (inductor_names.h)
//   share_of_device   time / time of all device work; work that runs at once counts as often
//   share_of_wall     time / wall time: the selected windows, or --wall x --runs
//   origins           generated kernels: the operators fused into it, from its name; others: the
//                     innermost operator behind the launch
//   source            file of the kernel, as the launch of a Triton kernel records it
//
// Numbers in names of kernels count within a compiled graph, so that two graphs may have different
// kernels of one name: rows of different files stay apart.
#include "borescope/analysis/inductor.h"

#include <map>
#include <set>
#include <string>
#include <utility>

#include "borescope/analysis/analyses.h"
#include "borescope/analysis/device_time.h"
#include "borescope/analysis/finish.h"
#include "borescope/analysis/grouper.h"
#include "borescope/analysis/row.h"
#include "borescope/table/table_ops.h"

namespace borescope {
namespace {

struct Work {
  int64_t calls = 0;
  int64_t total_ns = 0;
};

// By category, name of the kernel, name of the operator (not of generated kernels), file.
struct WorkByKernel {
  Grouper groups{4};
  std::vector<Work> work;
};

int64_t OpNameOf(const RankView& view, DeviceId id) {
  const HostId op = view.index.correlation.op_of[id.value];
  return op.valid() ? int64_t{view.trace.host().name[op.value].value} : 0;
}

WorkByKernel GroupKernels(const RankView& view, const Selected& selected) {
  const DeviceEvents& device = view.trace.device();
  const TritonSources sources(view);
  WorkByKernel result;
  for (uint32_t row = 0; row < device.size(); ++row) {
    const DeviceId id{row};
    if (!selected.Keeps(id)) {
      continue;
    }
    const InductorCategory category = sources.CategoryOf(id);
    const int64_t op = IsGenerated(category) ? 0 : OpNameOf(view, id);
    const int64_t key[] = {static_cast<int64_t>(category), device.name[row].value, op,
                           sources.FileOf(id).value};
    const uint32_t group = result.groups.Find(key);
    result.work.resize(result.groups.size());
    Work& work = result.work[group];
    ++work.calls;
    work.total_ns = AddSaturating(work.total_ns, device.dur_ns[row]);
  }
  return result;
}

std::string Origins(const RankView& view, std::span<const int64_t> key) {
  const auto text = [&](int64_t id) {
    return view.trace.Text(StringId{static_cast<uint32_t>(id)});
  };
  if (!IsGenerated(static_cast<InductorCategory>(key[0]))) {
    return std::string(text(key[2]));
  }
  std::string origins;
  for (const std::string_view op : FusedOps(text(key[1]))) {
    origins += origins.empty() ? "" : ", ";
    origins += op;
  }
  return origins;
}

Table KernelTable(const RankView& view, const Selected& selected) {
  Table table{"inductor_kernels", "Device time by category and kernel", {}};
  AddString(table, "category", Role::kKey, "What made the kernel, or what it is for.");
  AddString(table, "kernel", Role::kKey, "Name of the kernel, memcpy or memset as recorded.");
  AddInt(table, "calls", Unit::kCount, Role::kSum, "How often it ran.");
  AddInt(table, "total_ns", Unit::kNanoseconds, Role::kSum, "Sum of its durations.");
  AddFloat(table, "share_of_wall", Unit::kShare, Role::kDerived, "Total / wall time.");
  AddString(table, "origins", Role::kKey,
            "Generated kernels: the operators fused into it, from its name; others: the operator "
            "that launched it.");
  AddString(table, "source", Role::kKey,
            "File the Triton kernel was compiled from, as recorded; missing for any other.");
  const WorkByKernel kernels = GroupKernels(view, selected);
  for (size_t i = 0; i < kernels.work.size(); ++i) {
    const std::span<const int64_t> key = kernels.groups.key(i);
    Row(table)
        .Text(InductorCategoryName(static_cast<InductorCategory>(key[0])))
        .Text(view.trace.Text(StringId{static_cast<uint32_t>(key[1])}))
        .Int(kernels.work[i].calls)
        .Int(kernels.work[i].total_ns)
        .Missing()
        .MaybeText(Origins(view, key))
        .MaybeText(view.trace.Text(StringId{static_cast<uint32_t>(key[3])}));
  }
  return table;
}

// One row for each rank and device, which the reduce adds up.
Table TimeTable(const RankView& view, const Selected& selected, const Params& params) {
  Table table{"inductor_time", "What the shares are of", {}};
  AddInt(table, "wall_ns", Unit::kNanoseconds, Role::kSum,
         "Wall time of all devices: the recording, the selected windows, or --wall x --runs.");
  AddInt(table, "busy_ns", Unit::kNanoseconds, Role::kSum,
         "Time in the recording or the selected windows in which a device works (union).");
  AddInt(table, "work_ns", Unit::kNanoseconds, Role::kSum,
         "Sum of the durations of all work: time shared by several counts as often.");
  AddFloat(table, "busy_share", Unit::kShare, Role::kDerived, "Busy time / wall time.");
  for (const DeviceTime& time : DeviceTimes(view, selected, PerTrack::kGpu)) {
    const int64_t busy_ns = SplitTime(time, selected.windows()).busy_ns;
    Row(table).Int(InductorWallNs(selected, params)).Int(busy_ns).Int(0).Missing();
  }
  return table;
}

void FillShareOf(Table& table, int64_t whole, std::string_view share) {
  const IntValues& totals = Ints(table, "total_ns");
  FloatValues& shares = FillFloats(table, share);
  for (size_t row = 0; row < totals.size(); ++row) {
    shares[row] = ShareOf(totals[row], whole);
  }
}

struct CategoryWork {
  std::set<std::string_view> kernels;
  Work work;
};

Table CategoryTable(const Table& kernels, int64_t wall_ns) {
  std::map<std::string_view, CategoryWork> categories;
  for (size_t row = 0; row < kernels.rows(); ++row) {
    CategoryWork& category = categories[Texts(kernels, "category")[row]];
    category.kernels.insert(Texts(kernels, "kernel")[row]);
    category.work.calls += Ints(kernels, "calls")[row];
    category.work.total_ns = AddSaturating(category.work.total_ns, Ints(kernels, "total_ns")[row]);
  }
  Table table{"inductor_categories", "Device time by category of kernels", {}};
  AddString(table, "category", Role::kKey, "What made the kernels, or what they are for.");
  AddInt(table, "kernels", Unit::kCount, Role::kDerived, "Distinct names.");
  AddInt(table, "calls", Unit::kCount, Role::kSum, "How often they ran.");
  AddInt(table, "total_ns", Unit::kNanoseconds, Role::kSum, "Sum of their durations.");
  AddFloat(table, "share_of_device", Unit::kShare, Role::kDerived,
           "Total / time of all device work.");
  AddFloat(table, "share_of_wall", Unit::kShare, Role::kDerived, "Total / wall time.");
  for (const auto& [name, category] : categories) {
    Row row(table);
    row.Text(name).Count(category.kernels.size()).Int(category.work.calls);
    row.Int(category.work.total_ns).Missing().Missing();
  }
  FillShare(table, "total_ns", "share_of_device");
  FillShareOf(table, wall_ns, "share_of_wall");
  return Sorted(table, "total_ns");
}

}  // namespace

Result<Findings> MapInductor(const RankView& view, const Params& params) {
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  return Findings{KernelTable(view, selected), TimeTable(view, selected, params)};
}

// The reduce leaves one row of times.
Result<Findings> FinishInductor(Findings findings, const Params&) {
  Table& kernels = findings[0];
  Table& time = findings[1];
  const int64_t wall_ns = SumOf(time, "wall_ns");
  FillShareOf(kernels, wall_ns, "share_of_wall");
  Table categories = CategoryTable(kernels, wall_ns);
  IntValues& work = std::get<IntValues>(time.Find("work_ns")->values);
  FloatValues& share = FillFloats(time, "busy_share");
  for (size_t row = 0; row < time.rows(); ++row) {
    work[row] = SumOf(kernels, "total_ns");
    share[row] = ShareOf(Ints(time, "busy_ns")[row], wall_ns);
  }
  return Findings{std::move(categories), Sorted(kernels, "total_ns"), std::move(time)};
}

}  // namespace borescope
