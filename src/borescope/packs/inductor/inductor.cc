// inductor: where the device time of a compiled PyTorch model goes, by what made the kernel.
//
//   category          by the name of the kernel, and by what its launch recorded (generated_code.h)
//   share_of_device   time / time of all device work; overlapping work counts several times
//   share_of_wall     time / wall time: the selected windows, or --wall x --runs
//   origins           generated kernels: the operators fused into it, from its name; others: the
//                     innermost operator around the launch
//   source            file of the kernel, as the launch of a Triton kernel records it
//   gain              for a kernel twice as fast, by Amdahl's law: half of its share of the wall
//   time
//   --by graph        the compiled graph around the launch
//
// Numbers in names of kernels are only unique within a compiled graph, so that two graphs may have
// different kernels of one name: rows of different files stay separate.
#include "borescope/packs/inductor/inductor.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "borescope/analysis/core/grouper.h"
#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/analysis/measures/flops/roofs.h"
#include "borescope/base/each_row.h"
#include "borescope/base/intervals.h"
#include "borescope/packs/inductor/generated_code.h"
#include "borescope/packs/packs.h"
#include "borescope/table/table_ops.h"

namespace borescope::internal {

namespace {

constexpr std::string_view kCall = "## Call CompiledFxGraph ";
constexpr std::string_view kRegion = "Torch-Compiled Region";

}  // namespace

std::string_view CompiledGraphOf(std::string_view range) {
  if (range.starts_with(kRegion)) return range;
  if (!range.starts_with(kCall)) return {};
  range.remove_prefix(kCall.size());
  return range.substr(0, range.find(' '));
}

CompiledGraphs::CompiledGraphs(const RankView& view)
    : view_(view), range_of_(view.trace.host().all_size()) {
  const HostEvents& host = view.trace.host();
  for (const uint32_t row : EachRow(host.all_size())) {
    const HostId outer = view.index.tree.parent[row];
    if (outer.valid()) range_of_[row] = range_of_[outer.value];
    const bool is_range =
        host.kind[row] == HostKind::kAnnotation || host.kind[row] == HostKind::kOp;
    if (!is_range || CompiledGraphOf(view.trace.Name(HostId{row})).empty()) continue;
    const HostId known = range_of_[row];
    const bool is_region = view.trace.Name(HostId{row}).starts_with(kRegion);
    const bool is_inside_call = known.valid() && view.trace.Name(known).starts_with(kCall);
    if (!is_region || !is_inside_call) range_of_[row] = HostId{row};
  }
}

std::string_view CompiledGraphs::Of(DeviceId id) const {
  const Correlation& links = view_.index.correlation;
  const HostId captured = links.CapturedCallOf(id);
  const HostId launch = links.launch_of[id.value];
  const HostId anchor = launch.valid() ? launch : links.op_of[id.value];
  HostId range = captured.valid() ? range_of_[captured.value] : HostId{};
  if (!range.valid() && anchor.valid()) range = range_of_[anchor.value];
  return range.valid() ? CompiledGraphOf(view_.trace.Name(range)) : std::string_view();
}

namespace {

struct Work {
  int64_t calls = 0;
  int64_t total_ns = 0;
  int64_t bytes = 0;  // kMissing if a call did not record them
};

// By category, name of the kernel, name of the operator (not for generated kernels), file, compiled
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

// The sum of some of the calls would not give the rate of all of them.
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
  for (const uint32_t row : EachRow(device.size())) {
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
  for (const size_t i : EachIndex(kernels.work.size())) {
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

// Step, graph and category; the first two are missing if not asked for.
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
  for (const size_t row : EachIndex(kernels.rows())) {
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

// The gain for a kernel twice as fast, by Amdahl's law.
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
// Long, and of use to programs: in text they would leave no room for the kernels.
constexpr std::string_view kFiles[] = {"hash", "source"};
constexpr ViewSpec kViews[] = {
    {"inductor_categories", ViewKind::kBars, "Device time per category", kCategory, kTotal},
    {"inductor_kernels", ViewKind::kAside, "Files of the kernels", kFiles, {}}};

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

TritonSources::TritonSources(const RankView& view)
    : view_(view), of_name_(view.trace.strings().size()) {
  const HostEvents& host = view.trace.host();
  for (const uint32_t row : EachRow(host.all_size())) {
    const uint32_t launch = DetailOf(HostId{row});
    if (launch != kNoDetail) {
      Learn(host.name[row], launch);
    }
  }
}

void TritonSources::Learn(StringId name, uint32_t launch) {
  const TritonLaunches& launches = view_.trace.triton();
  Common& common = of_name_[name.value];
  if (!common.is_known) {
    common = {launch, launches.bytes[launch], true};
    return;
  }
  if (common.launch != kNoDetail &&
      launches.kernel_file[common.launch] != launches.kernel_file[launch]) {
    common.launch = kNoDetail;
  }
  if (common.bytes != launches.bytes[launch]) {
    common.bytes = kMissing;
  }
}

uint32_t TritonSources::DetailOf(HostId op) const {
  const HostEvents& host = view_.trace.host();
  const uint32_t detail = host.detail[op.value];
  return host.kind[op.value] == HostKind::kOp && detail != kNoDetail
             ? uint32_t{view_.trace.ops().triton[detail]}
             : kNoDetail;
}

uint32_t TritonSources::LaunchOf(DeviceId id) const {
  if (view_.trace.device().kind[id.value] != DeviceKind::kKernel) {
    return kNoDetail;
  }
  const HostId op = view_.index.correlation.op_of[id.value];
  const uint32_t launch = op.valid() ? DetailOf(op) : kNoDetail;
  return launch != kNoDetail ? launch : of_name_[view_.trace.device().name[id.value].value].launch;
}

StringId TritonSources::FileOf(DeviceId id) const {
  const uint32_t launch = LaunchOf(id);
  return launch == kNoDetail ? StringId{0} : view_.trace.triton().kernel_file[launch];
}

// An operator may launch other kernels beside its own, whose name begins with the operator's.
int64_t TritonSources::BytesOf(DeviceId id) const {
  if (view_.trace.device().kind[id.value] != DeviceKind::kKernel) {
    return kMissing;
  }
  const HostId op = view_.index.correlation.op_of[id.value];
  const uint32_t launch = op.valid() ? DetailOf(op) : kNoDetail;
  if (launch == kNoDetail) {
    return of_name_[view_.trace.device().name[id.value].value].bytes;
  }
  const bool is_its_kernel = view_.trace.Name(id).starts_with(view_.trace.Name(op));
  return is_its_kernel ? view_.trace.triton().bytes[launch] : kMissing;
}

InductorCategory TritonSources::CategoryOf(DeviceId id) const {
  if (view_.trace.device().kind[id.value] != DeviceKind::kKernel) {
    return InductorCategory::kCopy;
  }
  const uint32_t launch = LaunchOf(id);
  const bool by_triton =
      launch != kNoDetail && view_.trace.Text(view_.trace.triton().backend[launch]) == "triton";
  return InductorCategoryOf(view_.trace.Name(id), view_.index.ClassOf(view_.trace, id), by_triton);
}

int64_t InductorWallNs(const IntervalSet& selected, const Params& params) {
  const int64_t wall_ns = params.Number(kWallParam);
  if (wall_ns == 0) {
    return Coverage(selected);
  }
  int64_t all_ns = 0;
  const bool is_too_long = __builtin_mul_overflow(wall_ns, params.Number(kRunsParam), &all_ns);
  return is_too_long ? std::numeric_limits<int64_t>::max() : all_ns;
}

// The report of a module that TorchInductor compiled, `python fwd.py -p`: kernels in five
// categories by only the prefix of their names, times and counts per run, percent of the wall time
// of a run. As in that report, annotations of the device count as kernels of the category
// "unknown", although they cover work that is counted already.

namespace {

// In the order of the report.
constexpr std::string_view kCategories[] = {"triton_pointwise", "triton_reduction",
                                            "triton_persistent_reduction", "triton_unknown",
                                            "unknown"};
constexpr size_t kLongestName = 120;

int64_t CategoryOf(std::string_view kernel) {
  constexpr std::string_view kInductorPrefixes[] = {"triton_poi", "triton_red", "triton_per",
                                                    "triton_"};
  const auto* found =
      std::find_if(std::begin(kInductorPrefixes), std::end(kInductorPrefixes),
                   [&](std::string_view prefix) { return kernel.starts_with(prefix); });
  return found - std::begin(kInductorPrefixes);
}

bool IsListed(DeviceKind kind) { return IsDeviceWork(kind) || kind == DeviceKind::kAnnotation; }

double PerRun(int64_t value, const Params& params) {
  return static_cast<double>(value) / static_cast<double>(params.Number(kRunsParam));
}

double PercentOf(double part, double whole) { return whole == 0 ? 0.0 : 100.0 * part / whole; }

double Milliseconds(double ns) { return ns / 1e6; }

Table MapKernelRows(const RankView& view) {
  Table table{"kernels", "Kernels", {}};
  AddInt(table, "category", Unit::kNone, Role::kKey, "Number of the category; becomes its name.");
  AddString(table, "name", Role::kKey, "Name as recorded; cut at the end.");
  AddInt(table, "calls", Unit::kCount, Role::kSum, "Dropped at the end.");
  AddInt(table, "total", Unit::kNone, Role::kSum, "Dropped at the end.");
  const DeviceEvents& device = view.trace.device();
  for (const uint32_t row : EachRow(device.size())) {
    if (IsListed(device.kind[row])) {
      const std::string_view name = view.trace.Name(DeviceId{row});
      Row(table).Int(CategoryOf(name)).Text(name).Int(1).Int(device.dur_ns[row]);
    }
  }
  return MergeByKey(table);
}

Table NewReport(std::string name, std::string title) {
  Table table{std::move(name), std::move(title), {}};
  AddString(table, "category", Role::kKey, "By the prefix of the name.");
  return table;
}

Table KernelReport(const Table& sorted, const Params& params, double wall_ns) {
  Table table = NewReport("kernels", "Kernels by category (as TorchInductor)");
  AddString(table, "Kernel", Role::kKey, "Name, cut to 120 bytes.");
  AddFloat(table, "Self CUDA TIME (ms)", Unit::kNone, Role::kDerived, "Time per run.");
  AddFloat(table, "Count", Unit::kNone, Role::kDerived, "Calls per run.");
  AddFloat(table, "Percent", Unit::kNone, Role::kDerived, "Percent of the wall time of a run.");
  for (size_t category = 0; category < std::size(kCategories); ++category) {
    for (size_t i = 0; i < sorted.rows(); ++i) {
      if (Ints(sorted, "category")[i] == static_cast<int64_t>(category)) {
        const double time_ns = PerRun(Ints(sorted, "total")[i], params);
        Row(table)
            .Text(kCategories[category])
            .Text(Texts(sorted, "name")[i].substr(0, kLongestName))
            .Float(Milliseconds(time_ns))
            .Float(PerRun(Ints(sorted, "calls")[i], params))
            .Float(PercentOf(time_ns, wall_ns));
      }
    }
  }
  return table;
}

// The totals of the categories that occur, and of all ("busy").
Table CategoryReport(const Table& sorted, const Params& params, double wall_ns) {
  Table table = NewReport("categories", "Share of the wall time (as TorchInductor)");
  AddFloat(table, "Self CUDA TIME (ms)", Unit::kNone, Role::kDerived, "Time per run.");
  AddFloat(table, "Percent", Unit::kNone, Role::kDerived,
           "Percent of the wall time of a run; \"busy\" may exceed 100.");
  std::map<int64_t, int64_t> total_ns;
  for (size_t i = 0; i < sorted.rows(); ++i) {
    int64_t& total = total_ns[Ints(sorted, "category")[i]];
    total = AddSaturating(total, Ints(sorted, "total")[i]);
  }
  const auto push = [&](std::string_view name, int64_t ns) {
    const double time_ns = PerRun(ns, params);
    Row(table).Text(name).Float(Milliseconds(time_ns)).Float(PercentOf(time_ns, wall_ns));
  };
  for (const auto& [category, ns] : total_ns) {
    push(kCategories[category], ns);
  }
  push("busy", SumOf(sorted, "total"));
  return table;
}

}  // namespace

Result<Tables> MapInductorReport(const RankView& view, const Params& params) {
  BS_ASSIGN(const Selected all, Selected::Make(view, {}));
  Table wall{"wall", "Wall time", {}};
  AddInt(wall, "wall_ns", Unit::kNanoseconds, Role::kSum, "Of all runs.");
  Row(wall).Int(InductorWallNs(all.windows(), params));
  return Tables{MapKernelRows(view), std::move(wall)};
}

// Categories are numbers here, which become names later, so that they must be in range.
Result<void> CheckInductorReport(const Tables& tables, const Params&) {
  for (const int64_t category : Ints(tables[0], "category")) {
    if (category < 0 || category >= static_cast<int64_t>(std::size(kCategories))) {
      return Error{ErrorCode::kCorrupt, "no category has the number " + std::to_string(category)};
    }
  }
  return {};
}

Result<Tables> FinishInductorReport(Tables tables, const Params& params) {
  const double wall_ns = PerRun(SumOf(tables[1], "wall_ns"), params);
  const Table sorted = Sorted(tables[0], "total");
  Table wall{"wall", "Wall time of a run (as TorchInductor)", {}};
  AddFloat(wall, "Total wall time (ms)", Unit::kNone, Role::kDerived,
           "From --wall, else the recording / --runs.");
  Row(wall).Float(Milliseconds(wall_ns));
  return Tables{CategoryReport(sorted, params, wall_ns), KernelReport(sorted, params, wall_ns),
                std::move(wall)};
}

}  // namespace borescope::internal
