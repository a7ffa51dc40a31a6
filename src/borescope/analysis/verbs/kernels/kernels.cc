// kernels: device time per kernel name, and per class of kernels (index/names/kernel_class.h).
// Every kernel counts, whether or not its launch was recorded; --all adds memcpys and memsets.
// `share` is a part of all device time listed, so overlapping streams count twice here but not in
// the breakdown. Work from before the recording has no step, phase, module or operator;
// `aligned_ns` has its time once more where those are inferred. With --patterns kernel_categories
// sums up by the user's own categories.
#include "borescope/analysis/verbs/kernels/kernels.h"

#include <fmt/format.h>

#include <utility>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/measures/names/kernel_categories.h"
#include "borescope/analysis/measures/work_groups.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/table/table_ops.h"

namespace borescope::internal {
namespace {

int64_t ClassOf(const RankView& view, DeviceId id) {
  return static_cast<int64_t>(WorkClassOf(view, id));
}

std::string_view ClassName(int64_t label) {
  return KernelClassName(static_cast<KernelClass>(label));
}

constexpr WorkLabel kClassLabel{"class",
                                "What the kernel is for, judged by its name.",
                                "Name of the kernel as recorded.",
                                "launched kernels",
                                ClassOf,
                                ClassName};

struct ClassGroups {
  explicit ClassGroups(const GroupKeys& keys) : groups(keys.size() + 1), instances(keys) {}

  Grouper groups;  // key values, then the class
  std::vector<DurationStats> stats;
  std::vector<int64_t> aligned_ns;
  InstanceCounts instances;
};

ClassGroups GroupByClass(const WorkGroups& kernels, const GroupKeys& keys) {
  ClassGroups classes(keys);
  std::vector<uint32_t> class_of;  // per group of kernels
  std::vector<int64_t> key;
  for (uint32_t i = 0; i < kernels.stats.size(); ++i) {
    const std::span<const int64_t> of_kernel = kernels.groups.key(i);
    key.assign(of_kernel.begin(), of_kernel.begin() + static_cast<std::ptrdiff_t>(keys.size()));
    key.push_back(kernels.label(i));
    class_of.push_back(classes.groups.Find(key));
    classes.stats.resize(classes.groups.size());
    classes.aligned_ns.resize(classes.groups.size(), 0);
    AddSaturatingTo(classes.aligned_ns[class_of.back()], kernels.aligned(i));
    AddSaturatingTo(classes.stats[class_of.back()].count, kernels.stats[i].count);
    AddSaturatingTo(classes.stats[class_of.back()].total_ns, kernels.stats[i].total_ns);
  }
  for (size_t i = 0; i < kernels.instances.pairs(); ++i) {
    const std::span<const int64_t> pair = kernels.instances.pair(i);
    classes.instances.Add(class_of[static_cast<size_t>(pair[0])], pair[1]);
  }
  return classes;
}

Table ClassTable(const WorkGroups& kernels, const GroupKeys& keys, bool has_inferred) {
  const ClassGroups classes = GroupByClass(kernels, keys);
  Table table{"kernel_classes", "Device time per class of kernels", {}};
  keys.AddColumnsBeforeName(table);
  AddString(table, "class", Role::kKey, "What the kernels are for, judged by their names.")
      .hints.palette = Palette::kWork;
  classes.instances.AddColumn(table);
  AddInt(table, "count", Unit::kCount, Role::kSum, "Number of launched kernels.");
  AddInt(table, "total_ns", Unit::kNanoseconds, Role::kSum, "Sum of their durations.");
  AddFloat(table, "share", Unit::kShare, Role::kDerived,
           "Total / total of all rows of this table.");
  if (has_inferred) {
    AddAlignedColumn(table);
  }
  for (uint32_t i = 0; i < classes.stats.size(); ++i) {
    Row row(table);
    keys.PushBeforeName(row, classes.groups.key(i));
    row.Text(ClassName(classes.groups.key(i).back()));
    classes.instances.Push(row, i);
    row.Int(classes.stats[i].count).Int(classes.stats[i].total_ns).Missing();
    if (has_inferred) {
      row.Int(classes.aligned_ns[i]);
    }
  }
  return MergeByKey(table);
}

Result<void> CheckKernels(const Params& params) {
  if (HasPatterns(params) && params.compat != Compat::kNone) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .cause = fmt::format("kernels: `patterns` is not defined with `compat` {}",
                                      CompatName(params.compat)),
                 .parameter = "patterns"};
  }
  return CheckPatterns(params);
}

Result<Tables> MapWork(const RankView& view, const Params& params, WorkKinds kinds) {
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  const GroupKeys keys(view, params.by, params.selection.step_rule);
  WorkGroups kernels = GroupWork(view, selected, keys, kinds, kClassLabel);
  const bool has_inferred = HasInferredKey(params.by);
  if (has_inferred) {
    GroupAligned(view, selected, keys, kinds, kClassLabel, kernels);
  }
  Table table =
      WorkTable({"kernels", "Device time per kernel", {}}, view, kernels, keys, kClassLabel);
  if (has_inferred) {
    PushAligned(table, kernels);
  }
  return Tables{std::move(table), ClassTable(kernels, keys, has_inferred)};
}

Result<Tables> MapKernels(const RankView& view, const Params& params) {
  return MapWork(view, params, params.all ? WorkKinds::kAll : WorkKinds::kKernels);
}

Result<Tables> FinishKernels(Tables findings, const Params& params) {
  findings[0] = FinishStatsTable(std::move(findings[0]));
  FillShare(findings[1], "total_ns", "share");
  findings[1] = Sorted(findings[1], "total_ns");
  if (HasPatterns(params)) {
    BS_ASSIGN(const NamePatterns patterns, PatternsOf(params));
    findings.push_back(CategoryTable(findings[0], patterns));
  }
  return findings;
}

constexpr std::string_view kKernelKeys[] = {
    "rank", "step", "gpu", "stream", "phase", "domain", "module", "module-instance", "op"};
constexpr const ParamSpec* kKernelParams[] = {&kPatternsParam, &kNumKernelsParam,
                                              &kDurationRatioParam, &kNoMemoryKernelsParam,
                                              &kIncludeLastStepParam};
constexpr std::string_view kClass[] = {"class"};
constexpr std::string_view kTotal[] = {"total_ns"};
constexpr std::string_view kName[] = {"name"};
constexpr std::string_view kAligned[] = {"aligned_ns"};
constexpr ViewSpec kViews[] = {
    {"kernel_classes", ViewKind::kBars, "Device time per class", kClass, kTotal},
    {"kernels", ViewKind::kBars, "Kernels that take most of it", kName, kTotal},
    {"kernel_classes", ViewKind::kAside, "Work from before the recording", {}, kAligned},
    {"kernels", ViewKind::kAside, "Work from before the recording", {}, kAligned}};

}  // namespace

Result<Tables> MapCopiesOfKernels(const RankView& view, const Params& params) {
  BS_ASSIGN(Tables tables, MapWork(view, params, WorkKinds::kCopies));
  tables.resize(1);
  tables[0].name = "copies";
  return tables;
}

const AnalysisSpec kKernelsVerb{
    .name = "kernels",
    .summary = "device time per kernel and per class of kernels",
    .example = "borescope kernels trace.json.gz --top 20",
    .needs = Needs::kDeviceEvents,
    .by = kKernelKeys,
    .params = kKernelParams,
    .takes_all = true,
    .answer = {.map = MapOnce<MapKernels>, .reduce = MergeTables, .finish = FinishKernels},
    .check = CheckKernels,
    .views = kViews};

}  // namespace borescope::internal
