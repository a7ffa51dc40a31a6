// launches: every call that started device work, beside that work.
//
//   host     length of the call
//   device   duration of the work
//   delay    end of the call to start of the work, 0 if it starts earlier
//
// A graph launch has a row for each piece of its work, numbered by their start. Its length and how
// late it started are one fact, not one per work: sums and counts of calls and delays take its
// first selected work alone, and a work is held against its part of the call, length / works. Calls
// are selected by their start. What has no counterpart is counted in launch_links.

#include "borescope/analysis/core/grouper.h"
#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/idle/host_time.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/base/stop.h"
#include "borescope/table/typed_rows.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {
namespace {

constexpr size_t kPreviewRows = 20;
constexpr size_t kDeviceKinds = 8;  // at least

struct Limits {
  int64_t long_call_ns;
  int64_t long_delay_ns;
  int64_t long_kernel_ns;
};

// A piece of device work, and the call that started it.
struct Launched {
  HostId call;
  DeviceId work;
  size_t ordinal;  // among the work of the call
  size_t works;
  bool stands_for_call;  // the first selected work of the call
  int64_t host_ns;
  int64_t device_ns;
  int64_t delay_ns;
};

// The launches of one kernel, memcpy or memset.
struct KernelRow {
  std::string_view kernel = {};
  int64_t count = 0;
  int64_t calls = 0;
  int64_t short_kernels = 0;
  int64_t long_kernels = 0;
  int64_t long_calls = 0;
  int64_t long_delays = 0;
  int64_t host_ns = 0;
  int64_t device_ns = 0;
  int64_t delay_ns = 0;
  std::optional<double> mean_host_ns = {};
  std::optional<double> mean_device_ns = {};
  std::optional<double> mean_delay_ns = {};

  void Add(const Launched& one, const Limits& limits);

  static constexpr TableNames kTable{"launch_summary", "Launches per kernel"};
  static constexpr ColumnOf<KernelRow> kColumns[] = {
      {"kernel", &KernelRow::kernel, Role::kKey,
       "Name of the kernel, memcpy or memset as recorded.", AsNames(Palette::kWork)},
      {"count", &KernelRow::count, Unit::kCount, Role::kSum, "Launched works of that name."},
      {"calls", &KernelRow::calls, Unit::kCount, Role::kSum,
       "Launch calls; a graph launch counts with the first of its selected works."},
      {"short_kernels", &KernelRow::short_kernels, Unit::kCount, Role::kSum,
       "Works shorter than their launch call; in a graph, than its length / its works."},
      {"long_kernels", &KernelRow::long_kernels, Unit::kCount, Role::kSum,
       "Works longer than --long-kernel."},
      {"long_calls", &KernelRow::long_calls, Unit::kCount, Role::kSum,
       "Calls longer than --long-call."},
      {"long_delays", &KernelRow::long_delays, Unit::kCount, Role::kSum,
       "Calls whose work started later than --long-delay after their end."},
      {"host_ns", &KernelRow::host_ns, Unit::kNanoseconds, Role::kSum,
       "Sum of the lengths of the calls."},
      {"device_ns", &KernelRow::device_ns, Unit::kNanoseconds, Role::kSum,
       "Sum of the durations of the works."},
      {"delay_ns", &KernelRow::delay_ns, Unit::kNanoseconds, Role::kSum,
       "Sum of the delays of the calls.", InTone(Tone::kHost)},
      {"mean_host_ns", &KernelRow::mean_host_ns, Unit::kNanoseconds, Role::kDerived,
       "Mean length of a call; missing where no call counts."},
      {"mean_device_ns", &KernelRow::mean_device_ns, Unit::kNanoseconds, Role::kDerived,
       "Mean duration of a work."},
      {"mean_delay_ns", &KernelRow::mean_delay_ns, Unit::kNanoseconds, Role::kDerived,
       "Mean delay of a call; missing where no call counts."}};
};

void KernelRow::Add(const Launched& one, const Limits& limits) {
  // device x works < host, without the product.
  const auto works = static_cast<int64_t>(one.works);
  const int64_t part_of_call_ns = one.host_ns / works + (one.host_ns % works == 0 ? 0 : 1);
  ++count;
  short_kernels += one.device_ns < part_of_call_ns ? 1 : 0;
  long_kernels += one.device_ns > limits.long_kernel_ns ? 1 : 0;
  device_ns = AddSaturating(device_ns, one.device_ns);
  if (one.stands_for_call) {
    ++calls;
    long_calls += one.host_ns > limits.long_call_ns ? 1 : 0;
    long_delays += one.delay_ns > limits.long_delay_ns ? 1 : 0;
    host_ns = AddSaturating(host_ns, one.host_ns);
    delay_ns = AddSaturating(delay_ns, one.delay_ns);
  }
}

Table NewLaunchTable() {
  Table table{"launches", "Launch calls and the device work they started", {}, kPreviewRows};
  const auto ns = [&](std::string_view name, std::string_view doc) {
    AddInt(table, name, Unit::kNanoseconds, Role::kDerived, doc);
  };
  AddRankKey(table);
  AddGpuKey(table);
  AddStreamKey(table);
  AddInt(table, "correlation", Unit::kNone, Role::kKey,
         "Number that ties the call to its work, as recorded.");
  AddString(table, "api", Role::kDerived, "Name of the launch call.");
  ns("host_ns", "Length of the call; the same on all rows of a graph launch.");
  ns("device_ns", "Duration of the work.");
  ns("delay_ns", "End of the call to start of the work; 0 if it started earlier.");
  AddString(table, "kernel", Role::kKey, "Name of the work as recorded.");
  AddString(table, "kind", Role::kDerived, "kernel, memcpy or memset.");
  AddInt(table, "ordinal", Unit::kNone, Role::kKey,
         "Place among the works of the call in order of their start, from 0.");
  AddInt(table, "works", Unit::kCount, Role::kDerived,
         "Works the call started: 1, or more for a graph launch.");
  ns("begin_ns", "When the call begins, on the clock of the file.");
  return table;
}

class LaunchTables {
 public:
  // `lists`: with a row for every launched work, not only sums.
  LaunchTables(const RankView& view, const Selected& selected, const Limits& limits, bool lists)
      : view_(view),
        selected_(selected),
        limits_(limits),
        lists_(lists),
        launches_(NewLaunchTable()),
        calls_(*launches_.Find("api"), view.trace.strings().size()),
        kernels_(*launches_.Find("kernel"), view.trace.strings().size()),
        kinds_(*launches_.Find("kind"), kDeviceKinds),
        names_(1) {}

  Tables Build();

 private:
  void AddCall(HostId call);
  void AddLaunched(const Launched& one);
  void PushLaunched(const Launched& one);
  Table Summary() const;
  Table Links() const;

  const RankView& view_;
  const Selected& selected_;
  const Limits limits_;
  const bool lists_;
  Table launches_;
  NumberedTexts calls_;
  NumberedTexts kernels_;
  NumberedTexts kinds_;
  int64_t linked_calls_ = 0;
  int64_t linked_works_ = 0;
  Grouper names_;  // of the kernels
  std::vector<KernelRow> sums_;
  std::vector<DeviceId> works_;  // of the current call
};

void LaunchTables::AddCall(HostId call) {
  FindWorks(view_, call, works_);
  bool linked = false;
  for (size_t ordinal = 0; ordinal < works_.size(); ++ordinal) {
    const DeviceId work = works_[ordinal];
    if (selected_.Keeps(work)) {
      AddLaunched({call, work, ordinal, works_.size(), !linked,
                   view_.trace.host().dur_ns[call.value], view_.trace.device().dur_ns[work.value],
                   LaunchDelay(view_, call, work)});
      linked = true;
    }
  }
  linked_calls_ += linked ? 1 : 0;
}

void LaunchTables::AddLaunched(const Launched& one) {
  const int64_t name = view_.trace.device().name[one.work.value].value;
  const uint32_t group = names_.Find({&name, 1});
  sums_.resize(names_.size());
  sums_[group].Add(one, limits_);
  ++linked_works_;
  if (lists_) {
    PushLaunched(one);
  }
}

void LaunchTables::PushLaunched(const Launched& one) {
  const Trace& trace = view_.trace;
  const DeviceEvents& device = trace.device();
  const StringId call = trace.host().name[one.call.value];
  const StringId kernel = device.name[one.work.value];
  const DeviceKind kind = device.kind[one.work.value];
  Row row(launches_);
  row.Int(view_.rank).Int(trace.DeviceOf(one.work)).Int(trace.StreamOf(one.work));
  row.MaybeInt(device.correlation[one.work.value]);
  row.Numbered(calls_, call.value, [&] { return trace.Text(call); });
  row.Int(one.host_ns).Int(one.device_ns).Int(one.delay_ns);
  row.Numbered(kernels_, kernel.value, [&] { return trace.Text(kernel); });
  row.Numbered(kinds_, static_cast<size_t>(kind), [&] { return DeviceKindName(kind); });
  row.Count(one.ordinal).Count(one.works).Int(trace.host().ts_ns[one.call.value]);
}

Table LaunchTables::Summary() const {
  std::vector<KernelRow> rows = sums_;
  for (size_t i = 0; i < rows.size(); ++i) {
    const StringId name{static_cast<uint32_t>(names_.key(i).front())};
    rows[i].kernel = view_.trace.Text(name);
  }
  return MakeTable(rows);
}

struct LinkRow {
  int64_t rank = 0;
  int64_t launches = 0;
  int64_t linked = 0;
  int64_t launches_without_work = 0;
  int64_t works = 0;
  int64_t linked_works = 0;
  int64_t works_without_launch = 0;

  static constexpr TableNames kTable{"launch_links",
                                     "Launch calls and device work, tied and untied"};
  static constexpr ColumnOf<LinkRow> kColumns[] = {
      {"rank", &LinkRow::rank, Role::kKey, kRankDoc},
      {"launches", &LinkRow::launches, Unit::kCount, Role::kSum,
       "Launch calls: linked, and without work."},
      {"linked", &LinkRow::linked, Unit::kCount, Role::kSum,
       "Calls with device work: --gpu and --stream select by that work."},
      {"launches_without_work", &LinkRow::launches_without_work, Unit::kCount, Role::kSum,
       "Calls named as a launch whose work was not recorded, or that started none (an empty "
       "memset, graph capture), on any device."},
      {"works", &LinkRow::works, Unit::kCount, Role::kSum,
       "Kernels, memcpys and memsets: linked, and without launch."},
      {"linked_works", &LinkRow::linked_works, Unit::kCount, Role::kSum,
       "Device work tied to its call: the rows of launches."},
      {"works_without_launch", &LinkRow::works_without_launch, Unit::kCount, Role::kSum,
       "Device work whose launch call was not recorded."}};
};

Table LaunchTables::Links() const {
  const DeviceEvents& device = view_.trace.device();
  int64_t works = 0;
  for (uint32_t row = 0; row < device.size(); ++row) {
    works += selected_.Keeps(DeviceId{row}) ? 1 : 0;
  }
  const int64_t without_work = CountCallsWithoutWork(view_, selected_);
  return MakeTable<LinkRow>({{.rank = view_.rank,
                              .launches = linked_calls_ + without_work,
                              .linked = linked_calls_,
                              .launches_without_work = without_work,
                              .works = works,
                              .linked_works = linked_works_,
                              .works_without_launch = works - linked_works_}});
}

Tables LaunchTables::Build() {
  size_t calls = 0;
  for (const HostId call : CallsWithWork(view_)) {
    CheckStopAt(calls++);
    AddCall(call);
  }
  Table links = Links();
  Tables tables;  // not as a list in braces, which would copy every table
  tables.push_back(std::move(launches_));
  tables.push_back(Summary());
  tables.push_back(std::move(links));
  return tables;
}

Result<Tables> MapLaunches(const RankView& view, const Params& params) {
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  const Limits limits{params.Number(kLongCallParam), params.Number(kLongDelayParam),
                      params.Number(kLongKernelParam)};
  return LaunchTables(view, selected, limits, !params.for_page).Build();
}

// Missing of nothing.
std::optional<double> MeanOf(int64_t total_ns, int64_t count) {
  return count == 0 ? std::nullopt : std::optional(ShareOf(total_ns, count));
}

Result<Tables> FinishLaunches(Tables findings, const Params&) {
  Table& summary = TableOf<KernelRow>(findings);
  UpdateRows<KernelRow>(summary, [](KernelRow& row) {
    row.mean_host_ns = MeanOf(row.host_ns, row.calls);
    row.mean_device_ns = MeanOf(row.device_ns, row.count);
    row.mean_delay_ns = MeanOf(row.delay_ns, row.calls);
  });
  summary = Sorted(summary, "host_ns");
  return findings;
}

constexpr const ParamSpec* kLaunchParams[] = {&kLongCallParam, &kLongDelayParam, &kLongKernelParam,
                                              &kNoMemoryEventsParam, &kIncludeLastStepParam};
constexpr std::string_view kKernel[] = {"kernel"};
constexpr std::string_view kDelay[] = {"delay_ns"};
// What has a row for every launch is for the verb alone.
constexpr std::string_view kPageTables[] = {"launch_summary", "launch_links"};
constexpr ViewSpec kViews[] = {
    {"launch_summary", ViewKind::kBars, "Time between launch and start", kKernel, kDelay}};

}  // namespace

const AnalysisSpec kLaunchesVerb{
    .name = "launches",
    .summary = "launch calls: short and long kernels, long calls, late starts",
    .example = "borescope launches trace.json.gz --sort delay",
    .needs = Needs::kLaunches,
    .params = kLaunchParams,
    .answer = {.map = MapLaunches, .reduce = ReduceByRank, .finish = FinishLaunches},
    .views = kViews,
    .report_tables = kPageTables};

}  // namespace borescope::internal
