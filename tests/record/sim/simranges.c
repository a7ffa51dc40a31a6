/* The range profiler of the simulated CUPTI, as of CUDA 12.6 and later: sessions in which kernels are
 * replayed and counted, one after the other. It aborts where a tool breaks its rules. What a kernel
 * counts is planted: its correlation times 1000 plus the length of the metric's name.
 *
 * Faults: refuse35 (the user has no permission), passes (a kernel is not replayed for all metrics),
 * mixed (another thread's kernel runs in the session), decode (the counters cannot be read), reset
 * (the data hold the ranges of the last session alone), start (a session cannot be started). Metrics
 * whose name begins with "unknown" are not known. */
#include "simcupti.h"

#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { kMostRanges = 4096, kConfigBytes = 64, kHeadBytes = 32 };
static const uint64_t kConfigMagic = 0x6769666e6f63, kDataMagic = 0x61746164;

struct session {
  void* context;
  size_t most_ranges, metric_count;
  uint8_t* data;
  size_t data_bytes;
  int is_configured, is_started, is_stopped;
  uint32_t fresh[16]; /* correlations of kernels of the session */
  size_t fresh_count;
};

static int is_initialized;
static struct session sessions[16];
static size_t host_metrics;
static int hosts, ranges_enabled;

static void need(int condition, const char* what) {
  if (!condition) simcupti_misuse(what);
}

static struct session* session_of(void* profiler) {
  struct session* session = profiler;
  need(session >= sessions && session < sessions + 16 && session->context != NULL, "no range profiler");
  return session;
}

EXPORT int simcupti_range_profilers(void) { return ranges_enabled + hosts; }

/* A kernel of the context runs. */
void simranges_run(void* context, uint32_t correlation) {
  for (int i = 0; i < 16; ++i) {
    struct session* session = &sessions[i];
    if (session->context != context || !session->is_started) continue;
    session->fresh[session->fresh_count++ % 16] = correlation;
    if (simcupti_has_fault("mixed") && correlation % 3 == 0) session->fresh[session->fresh_count++ % 16] = 9999;
  }
}

EXPORT int cuptiProfilerInitialize(size_t* params) {
  need(params[0] == 16, "the size of parameters");
  is_initialized = 1;
  return 0;
}

EXPORT int cuptiGetDeviceId(void* context, uint32_t* device) {
  need(context != NULL, "no context");
  *device = 1;
  return 0;
}

struct chip_name {
  size_t bytes;
  void* unused;
  size_t device;
  const char* name;
};

EXPORT int cuptiDeviceGetChipName(struct chip_name* params) {
  need(is_initialized && params->bytes == 32, "the name of a chip");
  params->name = "SIM100";
  return 0;
}

struct range_params {
  size_t bytes;
  void *unused, *profiler, *more;
};

EXPORT int cuptiRangeProfilerEnable(struct range_params* params) {
  need(is_initialized && params->bytes == 32 && params->profiler != NULL, "enabled too early");
  if (simcupti_has_fault("refuse35")) return 35;
  for (int i = 0; i < 16; ++i) need(sessions[i].context != params->profiler, "enabled twice");
  for (int i = 0; i < 16; ++i) {
    if (sessions[i].context != NULL) continue;
    memset(&sessions[i], 0, sizeof(sessions[i]));
    sessions[i].context = params->profiler; /* where the context is */
    params->more = &sessions[i];
    ranges_enabled++;
    return 0;
  }
  return 999;
}

EXPORT int cuptiRangeProfilerDisable(struct range_params* params) {
  struct session* session = session_of(params->profiler);
  need(params->bytes == 24 && !session->is_started, "disabled within a session");
  session->context = NULL;
  ranges_enabled--;
  return 0;
}

struct data_size {
  size_t bytes;
  void *unused, *profiler;
  const char** metrics;
  size_t metric_count, most_ranges;
  uint32_t most_nodes;
  size_t data_bytes;
};

EXPORT int cuptiRangeProfilerGetCounterDataSize(struct data_size* params) {
  struct session* session = session_of(params->profiler);
  need(params->bytes == 64 && params->most_nodes == params->most_ranges && params->most_ranges != 0,
       "the size of counters");
  need(params->most_ranges <= 1000, "more ranges than real ones take");
  session->most_ranges = params->most_ranges;
  session->metric_count = params->metric_count;
  params->data_bytes = kHeadBytes + params->most_ranges * 4;
  return 0;
}

struct data_image {
  size_t bytes;
  void *unused, *profiler;
  size_t data_bytes;
  uint8_t* data;
};

EXPORT int cuptiRangeProfilerCounterDataImageInitialize(struct data_image* params) {
  struct session* session = session_of(params->profiler);
  need(params->bytes == 40 && params->data_bytes == kHeadBytes + session->most_ranges * 4, "the size of data");
  memset(params->data, 0, params->data_bytes);
  memcpy(params->data, &kDataMagic, 8);
  return 0;
}

struct range_config {
  size_t bytes;
  void *unused, *profiler;
  size_t config_bytes;
  const uint8_t* config;
  size_t data_bytes;
  uint8_t* data;
  int range, replay;
  size_t most_ranges;
  uint16_t nesting_levels, least_level;
  size_t pass;
  uint16_t target_level;
};

EXPORT int cuptiRangeProfilerSetConfig(struct range_config* params) {
  struct session* session = session_of(params->profiler);
  need(params->bytes == offsetof(struct range_config, target_level) + 2, "the size of a configuration");
  need(params->config_bytes == kConfigBytes && memcmp(params->config, &kConfigMagic, 8) == 0, "no configuration");
  need(memcmp(params->data, &kDataMagic, 8) == 0, "data that are not prepared");
  need(params->range == 1 && params->replay == 2, "another mode than that of kernels, replayed");
  need(params->most_ranges == session->most_ranges && params->nesting_levels == 1, "other ranges than of the data");
  session->data = params->data;
  session->data_bytes = params->data_bytes;
  session->is_configured = 1;
  return 0;
}

EXPORT int cuptiRangeProfilerStart(struct range_params* params) {
  struct session* session = session_of(params->profiler);
  need(params->bytes == 24 && session->is_configured && !session->is_started, "started too early or twice");
  for (int i = 0; i < 16; ++i) need(!sessions[i].is_started, "two sessions at once");
  if (simcupti_has_fault("start")) return 26;
  session->is_started = 1;
  session->is_stopped = 0;
  session->fresh_count = 0;
  return 0;
}

struct range_stop {
  size_t bytes;
  void *unused, *profiler;
  size_t pass, level;
  uint8_t all;
};

EXPORT int cuptiRangeProfilerStop(struct range_stop* params) {
  struct session* session = session_of(params->profiler);
  need(params->bytes == 41 && session->is_started, "stopped before it was started");
  session->is_started = 0;
  session->is_stopped = 1;
  params->all = !simcupti_has_fault("passes");
  return 0;
}

struct range_count {
  size_t bytes;
  void* unused;
  const uint8_t* data;
  size_t data_bytes, ranges;
};

static uint32_t* ranges_in(const uint8_t* data) {
  need(memcmp(data, &kDataMagic, 8) == 0, "no data of counters");
  return (uint32_t*)(uintptr_t)(data + 8);
}

EXPORT int cuptiRangeProfilerDecodeData(struct range_params* params) {
  struct session* session = session_of(params->profiler);
  need(params->bytes == 32 && session->is_stopped, "decoded before it was stopped");
  if (simcupti_has_fault("decode")) return 999;
  uint32_t* count = ranges_in(session->data);
  if (simcupti_has_fault("reset")) *count = 0;
  size_t lost = 0;
  for (size_t i = 0; i < session->fresh_count; ++i) {
    if (*count == session->most_ranges) {
      lost++;
      continue;
    }
    memcpy(session->data + kHeadBytes + 4 * (*count)++, &session->fresh[i], 4);
  }
  params->more = (void*)lost;
  session->is_stopped = 0;
  return 0;
}

EXPORT int cuptiRangeProfilerGetCounterDataInfo(struct range_count* params) {
  need(params->bytes == 40, "the size of parameters");
  params->ranges = *ranges_in(params->data);
  return 0;
}

/* The side that knows metrics. */

struct host_init {
  size_t bytes;
  void* unused;
  int type;
  const char* chip;
  const uint8_t* availability;
  void* host;
};

EXPORT int cuptiProfilerHostInitialize(struct host_init* params) {
  need(params->bytes == 48 && params->type == 0 && strcmp(params->chip, "SIM100") == 0, "another chip");
  params->host = &host_metrics;
  hosts++;
  return 0;
}

struct host_params {
  size_t bytes;
  void *unused, *host;
};

EXPORT int cuptiProfilerHostDeinitialize(struct host_params* params) {
  need(params->bytes == 24 && params->host == &host_metrics && hosts > 0, "no host");
  hosts--;
  return 0;
}

struct host_metric_names {
  size_t bytes;
  void *unused, *host;
  const char** metrics;
  size_t metric_count;
};

EXPORT int cuptiProfilerHostConfigAddMetrics(struct host_metric_names* params) {
  need(params->bytes == 40 && params->host == &host_metrics, "no host");
  for (size_t i = 0; i < params->metric_count; ++i) {
    if (strncmp(params->metrics[i], "unknown", 7) == 0) return 1;
  }
  host_metrics = params->metric_count;
  return 0;
}

struct host_config {
  size_t bytes;
  void *unused, *host;
  size_t config_bytes;
  uint8_t* config;
};

EXPORT int cuptiProfilerHostGetConfigImageSize(struct host_config* params) {
  need(params->bytes == 32 && host_metrics != 0, "a configuration of no metrics");
  params->config_bytes = kConfigBytes;
  return 0;
}

EXPORT int cuptiProfilerHostGetConfigImage(struct host_config* params) {
  need(params->bytes == 40 && params->config_bytes == kConfigBytes, "the size of a configuration");
  memcpy(params->config, &kConfigMagic, 8);
  return 0;
}

struct host_values {
  size_t bytes;
  void *unused, *host;
  const uint8_t* data;
  size_t data_bytes, range;
  const char** metrics;
  size_t metric_count;
  double* values;
};

EXPORT int cuptiProfilerHostEvaluateToGpuValues(struct host_values* params) {
  need(params->bytes == 72 && params->host == &host_metrics && params->metric_count == host_metrics, "no host");
  need(params->range < *ranges_in(params->data), "a range that is not there");
  uint32_t correlation;
  memcpy(&correlation, params->data + kHeadBytes + 4 * params->range, 4);
  for (size_t i = 0; i < params->metric_count; ++i) {
    params->values[i] = 1000.0 * correlation + (double)strlen(params->metrics[i]);
  }
  return 0;
}
