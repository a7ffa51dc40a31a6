// inductor: where the device time of a compiled PyTorch model goes, by what made the kernel.
//
//   category          by the name of the kernel, and by what its launch says (inductor_names.h)
//   share_of_device   time / time of all device work; work that runs at once counts as often
//   share_of_wall     time / wall time: the selected windows, or --wall x --runs
//   origins           generated kernels: the operators fused into it, from its name; others: the
//                     innermost operator behind the launch
//   source            file of the kernel, as the launch of a Triton kernel records it
//   gain              of a kernel twice as fast, by Amdahl's law: half of its share of wall
//   --by graph        the compiled graph around the launch (compiled_graphs.h)
//
// Numbers in names of kernels count within a compiled graph, so that two graphs may have different
// kernels of one name: rows of different files stay apart.
#include "borescope/packs/inductor/inductor.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "borescope/analysis/core/finish.h"
#include "borescope/analysis/core/group_keys.h"
#include "borescope/analysis/core/grouper.h"
#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/analysis/measures/flops/roofs.h"
#include "borescope/base/stop.h"
#include "borescope/packs/inductor/compiled_graphs.h"
#include "borescope/packs/inductor/generated_code.h"
#include "borescope/packs/packs.h"
#include "borescope/table/table_ops.h"

namespace borescope::internal {
namespace {

struct Work {
  int64_t calls = 0;
  int64_t total_ns = 0;
  int64_t bytes = 0;  // kMissing once a call does not tell them
};

// By category, name of the kernel, name of the operator (not of generated kernels), file, compiled
// graph and step (if asked for).
struct WorkByKernel {
  Grouper groups{6};
  std::vector<Work> work;
};

// The compiled graphs of a rank by number.
class GraphNumbers {
 public:
  GraphNumbers(const RankView& view, bool is_wanted) {
    if (is_wanted) graphs_.emplace(view);
  }

  int64_t Of(DeviceId id) {
    if (!graphs_.has_value()) return 0;
    const auto [found, is_new] = numbers_.try_emplace(graphs_->Of(id), names_.size());
    if (is_new) names_.push_back(found->first);
    return static_cast<int64_t>(found->second);
  }
  std::string_view NameOf(int64_t number) const { return names_[static_cast<size_t>(number)]; }

 private:
  std::optional<CompiledGraphs> graphs_;
  std::map<std::string_view, size_t> numbers_;
  std::vector<std::string_view> names_;
};

int64_t OpNameOf(const RankView& view, DeviceId id) {
  const HostId op = view.index.correlation.op_of[id.value];
  return op.valid() ? int64_t{view.trace.host().name[op.value].value} : 0;
}

// A sum of some calls would be no rate of all of them.
void AddBytes(int64_t bytes, Work& work) {
  const bool is_told = bytes != kMissing && work.bytes != kMissing;
  work.bytes = is_told ? AddSaturating(work.bytes, bytes) : kMissing;
}

WorkByKernel GroupKernels(const RankView& view, const Selected& selected, GraphNumbers& graphs,
                          bool by_step) {
  const DeviceEvents& device = view.trace.device();
  const std::string step_key[] = {"step"};
  const GroupKeys steps(view, step_key, selected.step_rule());
  std::vector<int64_t> step;
  const TritonSources sources(view);
  WorkByKernel result;
  for (uint32_t row = 0; row < device.size(); ++row) {
    CheckStopAt(row);
    const DeviceId id{row};
    if (!selected.Keeps(id)) {
      continue;
    }
    const InductorCategory category = sources.CategoryOf(id);
    const int64_t op = IsGenerated(category) ? 0 : OpNameOf(view, id);
    step.assign(1, kMissing);
    if (by_step) {
      step.clear();
      steps.Append(id, step);
    }
    const int64_t key[] = {static_cast<int64_t>(category), device.name[row].value, op,
                           sources.FileOf(id).value,       graphs.Of(id),          step.front()};
    const uint32_t group = result.groups.Find(key);
    result.work.resize(result.groups.size());
    Work& work = result.work[group];
    ++work.calls;
    work.total_ns = AddSaturating(work.total_ns, device.dur_ns[row]);
    AddBytes(sources.BytesOf(id), work);
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

// "cab" of "/tmp/torchinductor_me/ab/cab.py".
std::string_view HashOf(std::string_view file) {
  file.remove_prefix(file.rfind('/') == std::string_view::npos ? 0 : file.rfind('/') + 1);
  return file.substr(0, file.rfind('.'));
}

Table NewKernelTable(bool by_graph, bool by_step) {
  Table table{"inductor_kernels", "Device time by category and kernel", {}};
  if (by_step) AddStepKeyOrNone(table);
  if (by_graph) {
    AddString(table, "graph", Role::kKey,
              "Compiled graph around the launch, by its hash or region; missing without one.");
  }
  AddString(table, "category", Role::kKey, "What made the kernel, or what it is for.")
      .hints.palette = Palette::kWork;
  AddString(table, "kernel", Role::kKey, "Name of the kernel, memcpy or memset as recorded.");
  AddInt(table, "calls", Unit::kCount, Role::kSum, "How often it ran.");
  AddInt(table, "total_ns", Unit::kNanoseconds, Role::kSum, "Sum of its durations.");
  AddInt(table, "moved_bytes", Unit::kBytes, Role::kSum,
         "Bytes its calls read and write at least, where every launch recorded them.");
  AddFloat(table, "share_of_wall", Unit::kShare, Role::kDerived, "Total / wall time.");
  AddFloat(table, "gain", Unit::kShare, Role::kDerived,
           "What a kernel twice as fast would save of the wall time: half of its share.");
  AddString(table, "origins", Role::kKey,
            "Generated kernels: the operators fused into it, from its name; others: the operator "
            "that launched it.");
  AddString(table, "hash", Role::kKey, "Hash of the Triton kernel: the name of its file.");
  AddString(table, "source", Role::kKey,
            "File the Triton kernel was compiled from, as recorded; missing for any other.");
  return table;
}

Table KernelTable(const RankView& view, const Selected& selected, const Params& params) {
  const bool by_graph = HasKey(params.by, "graph");
  const bool by_step = HasKey(params.by, "step");
  GraphNumbers graphs(view, by_graph);
  const WorkByKernel kernels = GroupKernels(view, selected, graphs, by_step);
  Table table = NewKernelTable(by_graph, by_step);
  for (size_t i = 0; i < kernels.work.size(); ++i) {
    CheckStopAt(i);
    const std::span<const int64_t> key = kernels.groups.key(i);
    const std::string_view file = view.trace.Text(StringId{static_cast<uint32_t>(key[3])});
    Row row(table);
    if (by_step) row.MaybeInt(key[5]);
    if (by_graph) row.MaybeText(graphs.NameOf(key[4]));
    row.Text(InductorCategoryName(static_cast<InductorCategory>(key[0])));
    row.Text(view.trace.Text(StringId{static_cast<uint32_t>(key[1])}));
    row.Int(kernels.work[i].calls).Int(kernels.work[i].total_ns);
    row.MaybeInt(kernels.work[i].bytes).Missing().Missing();
    row.MaybeText(Origins(view, key)).MaybeText(HashOf(file)).MaybeText(file);
  }
  return table;
}

// One row for each rank and device, which the reduce adds up.
Table TimeTable(const RankView& view, const Selected& selected, const Params& params,
                const Roofs& roofs) {
  Table table{"inductor_time", "What the shares are of", {}};
  AddInt(table, "wall_ns", Unit::kNanoseconds, Role::kSum,
         "Wall time of all devices: the recording, the selected windows, or --wall x --runs.");
  AddInt(table, "busy_ns", Unit::kNanoseconds, Role::kSum,
         "Time in the recording or the selected windows in which a device works (union).");
  AddInt(table, "work_ns", Unit::kNanoseconds, Role::kSum,
         "Sum of the durations of all work: time shared by several counts as often.");
  AddFloat(table, "busy_share", Unit::kShare, Role::kDerived, "Busy time / wall time.");
  AddFloat(table, "memory_gbps", Unit::kGigabytesPerSecond, Role::kMin,
           "Bandwidth of the memory of the device, of several kinds the lowest; missing if none is "
           "known.");
  const SharedDeviceTimes times = DeviceTimes(view, selected, PerTrack::kGpu);
  for (const DeviceTime& time : *times) {
    const IntervalSet windows = selected.TimeOf(time.tracks);
    const int64_t busy_ns = SplitTime(time, windows).busy_ns;
    const DeviceSpec* spec = roofs.SpecOf(time.gpu);
    const std::optional<double> bandwidth = spec == nullptr ? std::nullopt : BandwidthOf(*spec);
    Row row(table);
    row.Int(InductorWallNs(windows, params)).Int(busy_ns).Int(0).Missing();
    bandwidth.has_value() ? row.Float(*bandwidth) : row.Missing();
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

// Of step, graph and category; the first two missing if not asked for.
using CategoryKey =
    std::tuple<std::optional<int64_t>, std::optional<std::string_view>, std::string_view>;

CategoryKey CategoryKeyOf(const Table& kernels, size_t row) {
  CategoryKey key{std::nullopt, std::nullopt, Texts(kernels, "category")[row]};
  const Column* step = kernels.Find("step");
  const Column* graph = kernels.Find("graph");
  if (step != nullptr && !step->IsMissing(row)) std::get<0>(key) = Ints(kernels, "step")[row];
  if (graph != nullptr && !graph->IsMissing(row)) std::get<1>(key) = Texts(kernels, "graph")[row];
  return key;
}

Table NewCategoryTable(const Table& kernels) {
  Table table{"inductor_categories", "Device time by category of kernels", {}};
  if (kernels.Find("step") != nullptr) {
    AddStepKeyOrNone(table);
  }
  if (kernels.Find("graph") != nullptr) {
    AddString(table, "graph", Role::kKey, "Compiled graph around the launch; missing without one.");
  }
  AddString(table, "category", Role::kKey, "What made the kernels, or what they are for.")
      .hints.palette = Palette::kWork;
  AddInt(table, "kernels", Unit::kCount, Role::kDerived, "Distinct names.");
  AddInt(table, "calls", Unit::kCount, Role::kSum, "How often they ran.");
  AddInt(table, "total_ns", Unit::kNanoseconds, Role::kSum, "Sum of their durations.");
  AddFloat(table, "share_of_device", Unit::kShare, Role::kDerived,
           "Total / time of all device work.");
  AddFloat(table, "share_of_wall", Unit::kShare, Role::kDerived, "Total / wall time.");
  return table;
}

Table CategoryTable(const Table& kernels, int64_t wall_ns) {
  std::map<CategoryKey, CategoryWork> categories;
  for (size_t row = 0; row < kernels.rows(); ++row) {
    CheckStopAt(row);
    CategoryWork& category = categories[CategoryKeyOf(kernels, row)];
    category.kernels.insert(Texts(kernels, "kernel")[row]);
    AddSaturatingTo(category.work.calls, Ints(kernels, "calls")[row]);
    AddSaturatingTo(category.work.total_ns, Ints(kernels, "total_ns")[row]);
  }
  Table table = NewCategoryTable(kernels);
  for (const auto& [key, category] : categories) {
    const auto& [step, graph, name] = key;
    Row row(table);
    if (kernels.Find("step") != nullptr) row.MaybeInt(step.value_or(kMissing));
    if (kernels.Find("graph") != nullptr) row.MaybeText(graph.value_or(""));
    row.Text(name).Count(category.kernels.size()).Int(category.work.calls);
    row.Int(category.work.total_ns).Missing().Missing();
  }
  FillShare(table, "total_ns", "share_of_device");
  FillShareOf(table, wall_ns, "share_of_wall");
  return Sorted(table, "total_ns");
}

// By Amdahl's law, of a kernel twice as fast.
void FillGain(Table& kernels) {
  FloatValues& gains = FillFloats(kernels, "gain");
  const FloatValues& shares = std::get<FloatValues>(kernels.Find("share_of_wall")->values);
  for (size_t row = 0; row < gains.size(); ++row) {
    gains[row] = shares[row] / 2;
  }
}

Result<void> CheckInductor(const Params& params) {
  BS_TRY(GivenDevice(params));
  return {};
}

Result<Tables> MapInductor(const RankView& view, const Params& params) {
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  BS_ASSIGN(const Roofs roofs, Roofs::Make(view, params));
  return Tables{KernelTable(view, selected, params), TimeTable(view, selected, params, roofs)};
}

// The reduce leaves one row of times.
Result<Tables> FinishInductor(Tables tables, const Params&) {
  Table& kernels = tables[0];
  Table& time = tables[1];
  const int64_t wall_ns = SumOf(time, "wall_ns");
  FillShareOf(kernels, wall_ns, "share_of_wall");
  FillGain(kernels);
  Table categories = CategoryTable(kernels, wall_ns);
  IntValues& work = std::get<IntValues>(time.Find("work_ns")->values);
  FloatValues& share = FillFloats(time, "busy_share");
  for (size_t row = 0; row < time.rows(); ++row) {
    work[row] = SumOf(kernels, "total_ns");
    share[row] = ShareOf(Ints(time, "busy_ns")[row], wall_ns);
  }
  kernels = Sorted(kernels, "total_ns");
  UseKernelFiles(kernels, time);
  return Tables{std::move(categories), std::move(kernels), std::move(time)};
}

constexpr std::string_view kInductorKeys[] = {"step", "graph"};
constexpr const ParamSpec* kInductorParams[] = {&kWallParam, &kRunsParam, &kInductorCacheParam,
                                                &kDeviceParam, &kDeviceSpecParam};
constexpr Pipeline kInductorReport{.map = MapInductorReport,
                                   .reduce = MergeTables,
                                   .finish = FinishInductorReport,
                                   .check_tables = CheckInductorReport};
constexpr std::string_view kCategory[] = {"category"};
constexpr std::string_view kTotal[] = {"total_ns"};
constexpr ViewSpec kViews[] = {
    {"inductor_categories", ViewKind::kBars, "Device time per category", kCategory, kTotal}};

constexpr AnalysisSpec kInductorVerb{
    .name = "inductor",
    .summary = "device time of a compiled PyTorch model by what made the kernels",
    .example = "borescope inductor trace.json.gz --top 20",
    .needs = Needs::kDeviceEvents,
    .by = kInductorKeys,
    .params = kInductorParams,
    .answer = {.map = MapInductor,
               .read_files = ReadKernelFiles,
               .reduce = MergeTables,
               .finish = FinishInductor},
    .check = CheckInductor,
    .views = kViews};
constexpr PackPipeline kPipelines[] = {{"inductor", &kInductorReport}};
constexpr PackVerb kVerbs[] = {
    {.spec = &kInductorVerb, .after = "variability", .section_after = "memory", .pane = "kernels"}};

}  // namespace

const Pack kInductorPack{.tool = Compat::kInductor, .pipelines = kPipelines, .verbs = kVerbs};

}  // namespace borescope::internal
