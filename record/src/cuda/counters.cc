#include "cuda/counters.h"

#include <dlfcn.h>
#include <sys/mman.h>

#include <atomic>
#include <cstring>

#include "core/clock.h"
#include "core/fields.h"
#include "core/files.h"
#include "core/options.h"
#include "core/state.h"
#include "core/strings.h"
#include "core/text.h"
#include "core/writer.h"
#include "cuda/abi.h"
#include "cuda/range_abi.h"
#include "cuda/session.h"

namespace borescope::inject::cuda {

namespace {

using recording::StateKind;

constexpr size_t kMostContexts = 8;

// A context in which ranges are profiled, which is set up at its first chosen launch.
struct ProfiledContext {
  void* context;
  void* profiler;
  void* host;
  uint32_t device;
  uint8_t* config;
  size_t config_bytes;
  uint8_t* data;  // the counters of all ranges, as CUPTI decodes them
  size_t data_bytes;
  size_t ranges;  // that are in the data
};

// The launch that is measured; one at a time, as the profiler is the device's.
struct Measured {
  ProfiledContext* place;
  uint64_t begin_ns;
  uint32_t correlation;
  uint32_t context;
  uint32_t name;  // a string of the log
};

RangeProfiler cupti;
// While it is true, launches are looked at. Never true again once it is false.
std::atomic<bool> is_counting;
// Whoever has set it owns all that follows.
std::atomic<bool> is_busy;
ProfiledContext contexts[kMostContexts];
size_t context_count;
Measured measured;
const char* metrics[kMostCounters];
uint32_t metric_ids[kMostCounters];  // strings of the log
size_t metric_count;
char metric_text[sizeof(Options::counters)];
bool has_said_mixed;

// Launches of chosen kernels that were seen; the window is a part of them.
std::atomic<uint64_t> chosen;

// Whether this thread has a launch that is measured, between its two callbacks.
__thread bool t_measures __attribute__((tls_model("initial-exec")));

template <typename Function>
bool Find(void* library, const char* name, Function** function) {
  *function = reinterpret_cast<Function*>(dlsym(library, name));
  return *function != nullptr;
}

bool FindTarget(void* library) {
  return Find(library, "cuptiProfilerInitialize", &cupti.initialize) &&
         Find(library, "cuptiDeviceGetChipName", &cupti.chip_name) &&
         Find(library, "cuptiGetDeviceId", &cupti.device_of) &&
         Find(library, "cuptiRangeProfilerEnable", &cupti.enable) &&
         Find(library, "cuptiRangeProfilerDisable", &cupti.disable) &&
         Find(library, "cuptiRangeProfilerSetConfig", &cupti.set_config) &&
         Find(library, "cuptiRangeProfilerStart", &cupti.start) &&
         Find(library, "cuptiRangeProfilerStop", &cupti.stop) &&
         Find(library, "cuptiRangeProfilerDecodeData", &cupti.decode) &&
         Find(library, "cuptiRangeProfilerGetCounterDataSize", &cupti.data_size) &&
         Find(library, "cuptiRangeProfilerCounterDataImageInitialize", &cupti.prepare_data) &&
         Find(library, "cuptiRangeProfilerGetCounterDataInfo", &cupti.count);
}

bool FindHost(void* library) {
  return Find(library, "cuptiProfilerHostInitialize", &cupti.host_initialize) &&
         Find(library, "cuptiProfilerHostDeinitialize", &cupti.host_end) &&
         Find(library, "cuptiProfilerHostConfigAddMetrics", &cupti.host_add) &&
         Find(library, "cuptiProfilerHostGetConfigImageSize", &cupti.host_config_size) &&
         Find(library, "cuptiProfilerHostGetConfigImage", &cupti.host_config) &&
         Find(library, "cuptiProfilerHostEvaluateToGpuValues", &cupti.host_values);
}

// The names of the options, each as a text of its own.
void SplitMetrics() {
  TextBuilder(metric_text, sizeof(metric_text)).Add(g_options.counters);
  char* name = metric_text;
  while (*name != '\0' && metric_count < kMostCounters) {
    char* const comma = strchr(name, ',');
    if (comma != nullptr) *comma = '\0';
    if (*name != '\0') metrics[metric_count++] = name;
    if (comma == nullptr) break;
    name = comma + 1;
  }
}

// Ends the counters of the process, for a reason. Always false, to be returned.
bool EndCounters(const char* what, int result) {
  if (!is_counting.exchange(false)) return false;
  const bool is_forbidden = result == kInsufficientPrivileges || result == kVirtualPrivileges;
  char text[256];
  TextBuilder builder(text, sizeof(text));
  builder.Add("no counters: ").Add(what);
  if (is_forbidden) {
    builder.Add(" is not permitted: run as root or set NVreg_RestrictProfilingToAdminUsers=0");
  } else if (result != kSuccess) {
    builder.Add(" failed");
  }
  WriteTrouble(StateKind::kBackendMissing, text, result);
  return false;
}

#define BORESCOPE_TRY(function, call)                               \
  do {                                                              \
    const int result = (call);                                      \
    if (result != kSuccess) return EndCounters((function), result); \
  } while (false)

uint8_t* Map(size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<uint8_t*>(memory);
}

bool MakeConfig(ProfiledContext* place, const char* chip) {
  HostInitParams host = {};
  host.bytes = BORESCOPE_PARAMS_SIZE(HostInitParams, host);
  host.type = kRangeProfilerType;
  host.chip = chip;
  BORESCOPE_TRY("cuptiProfilerHostInitialize", cupti.host_initialize(&host));
  place->host = host.host;
  HostMetricsParams add = {};
  add.bytes = BORESCOPE_PARAMS_SIZE(HostMetricsParams, metric_count);
  add.host = place->host;
  add.metrics = metrics;
  add.metric_count = metric_count;
  BORESCOPE_TRY("a metric is not known here: cuptiProfilerHostConfigAddMetrics",
                cupti.host_add(&add));
  HostConfigSizeParams size = {};
  size.bytes = BORESCOPE_PARAMS_SIZE(HostConfigSizeParams, config_bytes);
  size.host = place->host;
  BORESCOPE_TRY("cuptiProfilerHostGetConfigImageSize", cupti.host_config_size(&size));
  place->config_bytes = size.config_bytes;
  place->config = Map(size.config_bytes);
  if (place->config == nullptr) return EndCounters("there is no memory", kSuccess);
  HostConfigParams config = {};
  config.bytes = BORESCOPE_PARAMS_SIZE(HostConfigParams, config);
  config.host = place->host;
  config.config_bytes = place->config_bytes;
  config.config = place->config;
  BORESCOPE_TRY("cuptiProfilerHostGetConfigImage", cupti.host_config(&config));
  return true;
}

bool MakeData(ProfiledContext* place) {
  RangeDataSizeParams size = {};
  size.bytes = BORESCOPE_PARAMS_SIZE(RangeDataSizeParams, data_bytes);
  size.profiler = place->profiler;
  size.metrics = metrics;
  size.metric_count = metric_count;
  size.most_ranges = g_options.counters_count;
  size.most_nodes = g_options.counters_count;
  BORESCOPE_TRY("cuptiRangeProfilerGetCounterDataSize", cupti.data_size(&size));
  place->data_bytes = size.data_bytes;
  place->data = Map(size.data_bytes);
  if (place->data == nullptr) return EndCounters("there is no memory", kSuccess);
  RangeDataParams data = {};
  data.bytes = BORESCOPE_PARAMS_SIZE(RangeDataParams, data);
  data.profiler = place->profiler;
  data.data_bytes = place->data_bytes;
  data.data = place->data;
  BORESCOPE_TRY("cuptiRangeProfilerCounterDataImageInitialize", cupti.prepare_data(&data));
  return true;
}

bool Configure(ProfiledContext* place) {
  RangeConfigParams set = {};
  set.bytes = BORESCOPE_PARAMS_SIZE(RangeConfigParams, target_level);
  set.profiler = place->profiler;
  set.config_bytes = place->config_bytes;
  set.config = place->config;
  set.data_bytes = place->data_bytes;
  set.data = place->data;
  set.range = kAutoRange;
  set.replay = kKernelReplay;
  set.most_ranges = g_options.counters_count;
  set.nesting_levels = 1;
  set.least_level = 1;
  BORESCOPE_TRY("cuptiRangeProfilerSetConfig", cupti.set_config(&set));
  return true;
}

bool SetUp(ProfiledContext* place) {
  ProfilerInitParams init = {sizeof(ProfilerInitParams), nullptr};
  BORESCOPE_TRY("cuptiProfilerInitialize", cupti.initialize(&init));
  BORESCOPE_TRY("cuptiGetDeviceId", cupti.device_of(place->context, &place->device));
  ChipNameParams chip = {};
  chip.bytes = BORESCOPE_PARAMS_SIZE(ChipNameParams, name);
  chip.device = place->device;
  BORESCOPE_TRY("cuptiDeviceGetChipName", cupti.chip_name(&chip));
  RangeEnableParams enable = {};
  enable.bytes = BORESCOPE_PARAMS_SIZE(RangeEnableParams, profiler);
  enable.context = place->context;
  BORESCOPE_TRY("cuptiRangeProfilerEnable", cupti.enable(&enable));
  place->profiler = enable.profiler;
  return MakeConfig(place, chip.name) && MakeData(place) && Configure(place);
}

// Gives back what was set up.
void Release(const ProfiledContext& place) {
  RangeParams range = {BORESCOPE_PARAMS_SIZE(RangeParams, profiler), nullptr, place.profiler};
  HostParams host = {BORESCOPE_PARAMS_SIZE(HostParams, host), nullptr, place.host};
  if (place.profiler != nullptr) cupti.disable(&range);
  if (place.host != nullptr) cupti.host_end(&host);
}

void ReleaseAll() {
  for (size_t i = 0; i < context_count; ++i) Release(contexts[i]);
  context_count = 0;
}

// The context of a launch, set up; a null pointer where that fails, or where there are too many.
ProfiledContext* ContextOf(void* context) {
  for (size_t i = 0; i < context_count; ++i) {
    if (contexts[i].context == context) return &contexts[i];
  }
  if (context == nullptr || context_count == kMostContexts) return nullptr;
  ProfiledContext* const place = &contexts[context_count];
  place->context = context;
  if (!SetUp(place)) {
    Release(*place);
    return nullptr;
  }
  ++context_count;
  return place;
}

// Kernels that wait for those of other devices: replayed, they would wait for ever. By names of
// NCCL, NVSHMEM and of the collectives of PyTorch, vLLM and others.
bool WaitsForOthers(const char* symbol) {
  static constexpr const char* kParts[] = {
      "nccl",           "nvshmem",    "all_reduce", "allreduce", "all_gather", "allgather",
      "reduce_scatter", "all_to_all", "alltoall",   "multimem",  "barrier",    "cross_device"};
  for (const char* part : kParts) {
    if (strcasestr(symbol, part) != nullptr) return true;
  }
  return false;
}

bool IsChosen(const char* symbol) {
  return symbol != nullptr && !WaitsForOthers(symbol) &&
         (g_options.counters_pattern[0] == '\0' ||
          MatchesPattern(g_options.counters_pattern, symbol));
}

bool StartRange(const Fields& call) {
  ProfiledContext* const place = ContextOf(
      reinterpret_cast<void*>(call.U64(call_offset::kContext)));  // NOLINT(*-no-int-to-ptr)
  if (place == nullptr) return false;
  const char* const symbol = call.Text(call_offset::kSymbol);
  const Entry* const name = InternString(symbol, TextLength(symbol));
  measured = {place, Now(), call.U32(call_offset::kCorrelation), call.U32(call_offset::kContextUid),
              name == nullptr ? 0 : name->id};
  RangeParams start = {BORESCOPE_PARAMS_SIZE(RangeParams, profiler), nullptr, place->profiler};
  BORESCOPE_TRY("cuptiRangeProfilerStart", cupti.start(&start));
  return true;
}

void WriteCounters(const double* values, uint64_t end_ns) {
  constexpr size_t kHead = sizeof(recording::CountersBody) / 8;
  recording::CountersBody body = {};
  body.start_ns = measured.begin_ns;
  body.end_ns = end_ns;
  body.device = measured.place->device;
  body.context = measured.context;
  body.name = measured.name;
  body.count = static_cast<uint32_t>(metric_count);
  const size_t words = 1 + kHead + 2 * metric_count;
  uint64_t* record = Reserve(words);
  if (record == nullptr) return;
  memcpy(record + 1, &body, sizeof(body));
  uint64_t* at = record + 1 + kHead;
  for (size_t i = 0; i < metric_count; ++i) {
    *at++ = metric_ids[i];
    memcpy(at++, &values[i], sizeof(double));
  }
  Publish(record, recording::RecordType::kCounters, static_cast<uint32_t>(words), 0,
          measured.correlation);
}

// The number of the range that the launch was, by the ranges in the data; none where other kernels
// ran meanwhile, or none did.
bool FindRange(size_t* range) {
  ProfiledContext* const place = measured.place;
  RangeCountParams count = {};
  count.bytes = BORESCOPE_PARAMS_SIZE(RangeCountParams, ranges);
  count.data = place->data;
  count.data_bytes = place->data_bytes;
  BORESCOPE_TRY("cuptiRangeProfilerGetCounterDataInfo", cupti.count(&count));
  // Either all ranges are kept there, or those of the last session.
  const size_t more = count.ranges > place->ranges ? count.ranges - place->ranges : count.ranges;
  place->ranges = count.ranges;
  if (more == 1) {
    *range = count.ranges - 1;
    return true;
  }
  if (more > 1 && !has_said_mixed) {
    has_said_mixed = true;
    WriteTrouble(StateKind::kGap, "no counters of launches during which other threads launched",
                 kSuccess);
  }
  return false;
}

bool ReadRange() {
  ProfiledContext* const place = measured.place;
  const uint64_t end_ns = Now();
  RangeDecodeParams decode = {};
  decode.bytes = BORESCOPE_PARAMS_SIZE(RangeDecodeParams, dropped);
  decode.profiler = place->profiler;
  BORESCOPE_TRY("cuptiRangeProfilerDecodeData", cupti.decode(&decode));
  size_t range = 0;
  if (!FindRange(&range)) return false;
  double values[kMostCounters] = {};
  HostValuesParams evaluate = {};
  evaluate.bytes = BORESCOPE_PARAMS_SIZE(HostValuesParams, values);
  evaluate.host = place->host;
  evaluate.data = place->data;
  evaluate.data_bytes = place->data_bytes;
  evaluate.range = range;
  evaluate.metrics = metrics;
  evaluate.metric_count = metric_count;
  evaluate.values = values;
  BORESCOPE_TRY("cuptiProfilerHostEvaluateToGpuValues", cupti.host_values(&evaluate));
  WriteCounters(values, end_ns);
  return true;
}

bool StopRange() {
  RangeStopParams stop = {};
  stop.bytes = BORESCOPE_PARAMS_SIZE(RangeStopParams, has_all_submitted);
  stop.profiler = measured.place->profiler;
  BORESCOPE_TRY("cuptiRangeProfilerStop", cupti.stop(&stop));
  if (stop.has_all_submitted == 0) {
    return EndCounters("the kernel was not replayed for all metrics", kSuccess);
  }
  return ReadRange();
}

void BeforeLaunch(const Fields& call) {
  const char* const symbol = call.Text(call_offset::kSymbol);
  if (!IsRecording() || !IsChosen(symbol)) return;
  const uint64_t number = chosen.fetch_add(1);
  const uint64_t end = g_options.counters_skip + g_options.counters_count;
  if (number < g_options.counters_skip || number >= end || is_busy.exchange(true)) return;
  t_measures = is_counting.load() && StartRange(call);
  if (t_measures) return;
  if (!is_counting.load()) ReleaseAll();
  is_busy.store(false);
}

void AfterLaunch() {
  if (!t_measures) return;
  t_measures = false;
  StopRange();
  const bool is_over = chosen.load() >= g_options.counters_skip + g_options.counters_count;
  if (is_over) is_counting.store(false);
  if (is_over || !is_counting.load()) ReleaseAll();
  is_busy.store(false);
}

}  // namespace

bool BeginCounters(void* library) {
  SplitMetrics();
  if (metric_count == 0) return false;
  is_counting.store(true);
  if (!FindTarget(library) || !FindHost(library)) {
    return EndCounters("this version has no range profiler, which CUDA 12.6 and later have",
                       kSuccess);
  }
  for (size_t i = 0; i < metric_count; ++i) {
    const Entry* const name = InternString(metrics[i], strlen(metrics[i]));
    metric_ids[i] = name == nullptr ? 0 : name->id;
  }
  return true;
}

void SeeLaunch(const void* call, bool is_before) {
  if (!is_counting.load(std::memory_order_relaxed) && !t_measures) return;
  const QuietSection quiet;
  if (is_before) {
    BeforeLaunch(Fields(static_cast<const uint8_t*>(call), call_offset::kBytes));
  } else {
    AfterLaunch();
  }
}

}  // namespace borescope::inject::cuda
