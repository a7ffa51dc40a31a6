#define _GNU_SOURCE
#include "simrocprofiler.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { kMostRecords = 1 << 16, kKinds = 32 };

struct handle {
  uint64_t value;
};
struct header {
  uint32_t category;
  uint32_t kind;
  void* payload;
};
struct result {
  size_t bytes;
  int (*initialize)(void (*)(struct handle), void*);
  void (*finalize)(void*);
  void* data;
};
struct client {
  size_t bytes;
  const char* name;
  uint32_t handle;
};
typedef void (*buffer_function)(struct handle, struct handle, struct header**, size_t, void*,
                                uint64_t);
// The long form; of the short one the tool gets what is in front.
struct callback_record {
  uint64_t words[8];
};
typedef void (*callback_function)(struct callback_record, void*, void*);

static struct result* tool;
static buffer_function deliver;
static callback_function see_code;
static int is_traced[kKinds];
static int is_started[8];
static uint64_t contexts;
static struct header records[kMostRecords];
static size_t record_count;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static int has_fault(const char* name) {
  const char* fault = getenv("SIMROCPROFILER_FAULT");
  return fault != NULL && strcmp(fault, name) == 0;
}

static int is_long(void) {
  const char* version = getenv("SIMROCPROFILER_VERSION");
  return version != NULL && strcmp(version, "1") == 0;
}

// Since 1.0 a kind before it is gone; its place there has calls of OpenMP.
static uint32_t rccl_kind(int is_from_1) { return is_from_1 ? 14 : 15; }

uint64_t simrocprofiler_now(void) {
  struct timespec now;
  clock_gettime(has_fault("clock") ? CLOCK_REALTIME : CLOCK_BOOTTIME, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int rocprofiler_get_timestamp(uint64_t* now) {
  *now = simrocprofiler_now();
  return 0;
}

int rocprofiler_create_context(struct handle* context) {
  context->value = ++contexts;
  return 0;
}

int rocprofiler_start_context(struct handle context) {
  if (context.value == 2 && has_fault("slow")) usleep(300000);
  is_started[context.value] = 1;
  return 0;
}

int rocprofiler_stop_context(struct handle context) {
  is_started[context.value] = 0;
  return 0;
}

int rocprofiler_create_buffer(struct handle context, size_t bytes, size_t watermark, int policy,
                              buffer_function function, void* data, struct handle* buffer) {
  if (watermark > bytes || policy != 2 || context.value == 0 || data != NULL) return 1;
  deliver = function;
  buffer->value = 7;
  return 0;
}

int rocprofiler_configure_buffer_tracing_service(struct handle context, uint32_t kind,
                                                 const int32_t* operations, size_t count,
                                                 struct handle buffer) {
  if (context.value == 0 || operations != NULL || count != 0 || buffer.value != 7) return 1;
  if (has_fault("service") && kind == 11) return 17;
  if (kind == rccl_kind(!is_long())) return 4;  // calls of OpenMP, or none
  if (has_fault("rccl") && kind == rccl_kind(is_long())) return 4;
  is_traced[kind] = 1;
  return 0;
}

int rocprofiler_configure_callback_tracing_service(struct handle context, uint32_t kind,
                                                   const int32_t* operations, size_t count,
                                                   callback_function function, void* data) {
  if (context.value == 0 || kind != 10 || operations != NULL || count != 0 || data != NULL)
    return 1;
  see_code = function;
  return 0;
}

int rocprofiler_query_buffer_tracing_kind_operation_name(uint32_t kind, int32_t operation,
                                                         const char** name, uint64_t* length) {
  static const char* const names[] = {"hipInit", "hipLaunchKernel", "hipMemcpyAsync"};
  if (kind == rccl_kind(is_long()) && operation == 1) {
    *name = "ncclAllReduce";
    *length = strlen(*name);
    return 0;
  }
  if (kind != 5 || operation < 0 || operation > 2) return 5;
  *name = names[operation];
  *length = strlen(*name);
  return 0;
}

int rocprofiler_query_available_agents(uint32_t version,
                                       int (*function)(uint32_t, const void**, size_t, void*),
                                       size_t bytes, void* data) {
  static uint64_t agents[3][40];
  const void* all[3];
  if (version != 1 || bytes > sizeof(agents[0])) return 1;
  for (uint32_t i = 0; i < 3; ++i) {
    uint8_t* agent = (uint8_t*)agents[i];
    const uint64_t id = 100 + i;
    const uint32_t type = i == 0 ? 1 : 2;
    const uint32_t warp = 64;
    const uint32_t units = 304;
    const uint32_t target = i == 1 ? 90402 : 90010;
    agents[i][0] = sizeof(agents[i]);
    memcpy(agent + 8, &id, sizeof(id));
    memcpy(agent + 16, &type, sizeof(type));
    memcpy(agent + 64, &warp, sizeof(warp));
    memcpy(agent + 72, &units, sizeof(units));
    memcpy(agent + 100, &target, sizeof(target));
    all[i] = agent;
  }
  return function(version, all, 3, data);
}

// On a thread of its own, as the real one.
static void* deliver_all(void* unused) {
  (void)unused;
  pthread_mutex_lock(&mutex);
  struct header** headers = malloc((record_count + 1) * sizeof(*headers));
  for (size_t i = 0; i < record_count; ++i) headers[i] = &records[i];
  if (record_count != 0) {
    const struct handle context = {2};
    const struct handle buffer = {7};
    deliver(context, buffer, headers, record_count, NULL, has_fault("drop") ? 3 : 0);
  }
  for (size_t i = 0; i < record_count; ++i) free(records[i].payload);
  record_count = 0;
  free(headers);
  pthread_mutex_unlock(&mutex);
  return NULL;
}

int rocprofiler_flush_buffer(struct handle buffer) {
  static int flushes;
  pthread_t thread;
  if (buffer.value != 7) return 3;
  if (has_fault("busy") && __atomic_fetch_add(&flushes, 1, __ATOMIC_RELAXED) % 2 == 0) return 14;
  pthread_create(&thread, NULL, deliver_all, NULL);
  pthread_join(thread, NULL);
  return 0;
}

// The words of a record after its size, kind and operation.
static void add(uint32_t kind, int32_t operation, const uint64_t* words, size_t count) {
  // The second context: names are in the first.
  if (!is_traced[kind] || !is_started[2]) return;
  uint64_t* payload = calloc(count + 2, 8);
  payload[0] = (count + 2) * 8;
  payload[1] = kind | (uint64_t)(uint32_t)operation << 32;
  memcpy(payload + 2, words, count * 8);
  pthread_mutex_lock(&mutex);
  if (record_count < kMostRecords) {
    const struct header header = {1, kind, payload};
    records[record_count++] = header;
  }
  pthread_mutex_unlock(&mutex);
}

static void add_call(uint32_t kind, uint64_t correlation, int32_t operation, uint64_t start,
                     uint64_t end) {
  const uint64_t thread = (uint64_t)gettid();
  const uint64_t words[] = {correlation, 0, start, end, thread};
  const uint64_t longer[] = {correlation, 0, 0, start, end, thread};
  if (is_long()) {
    add(kind, operation, longer, 6);
  } else {
    add(kind, operation, words, 5);
  }
}

void simrocprofiler_call(uint64_t correlation, int32_t operation, uint64_t start, uint64_t end) {
  add_call(5, correlation, operation, start, end);
}

void simrocprofiler_rccl_call(uint64_t correlation, uint64_t start, uint64_t end) {
  add_call(rccl_kind(is_long()), correlation, 1, start, end);
}

void simrocprofiler_kernel(uint64_t correlation, uint64_t kernel, uint64_t start, uint64_t end) {
  const uint64_t words[] = {correlation,
                            0,
                            (uint64_t)gettid(),
                            start,
                            end,
                            72,
                            101 + kernel % 2,
                            40 + kernel % 2,
                            kernel,
                            correlation,
                            16 | (uint64_t)1024 << 32,
                            64 | (uint64_t)2 << 32,
                            1 | (uint64_t)1000 << 32,
                            4 | (uint64_t)1 << 32,
                            0};
  add(11, 2, words, 15);
}

void simrocprofiler_copy(uint64_t correlation, int32_t operation, uint64_t bytes, uint64_t start,
                         uint64_t end) {
  const uint64_t to_host = operation == 3;
  const uint64_t words[] = {correlation,
                            0,
                            (uint64_t)gettid(),
                            start,
                            end,
                            to_host ? 100 : 102,
                            to_host ? 102 : 100,
                            bytes,
                            0,
                            0};
  add(10, operation, words, 10);
}

void simrocprofiler_load_kernel(uint64_t kernel, const char* name) {
  const uint64_t payload[] = {64, kernel, 1, (uint64_t)(uintptr_t)name, 0, 0, 0, 0};
  struct callback_record record = {{0}};
  const size_t kind = is_long() ? 5 : 4;
  if (see_code == NULL) return;
  record.words[kind] = 10 | (uint64_t)2 << 32;
  record.words[kind + 1] = 1;
  record.words[kind + 2] = (uint64_t)(uintptr_t)payload;
  see_code(record, NULL, NULL);
}

void simrocprofiler_begin(void) {
  const char* list = getenv("ROCP_TOOL_LIBRARIES");
  char path[4096];
  if (list == NULL || strchr(list, ':') == NULL) return;
  // The parser of 2024 drops what follows the last colon.
  snprintf(path, sizeof(path), "%.*s", (int)(strchr(list, ':') - list), list);
  void* library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  struct result* (*configure)(uint32_t, const char*, uint32_t, struct client*) =
      library == NULL ? NULL : (void*)dlsym(library, "rocprofiler_configure");
  if (configure == NULL) abort();
  static struct client client = {sizeof(client), NULL, 1};
  tool = configure(is_long() ? 10000 : 500, is_long() ? "1.0.0" : "0.5.0", 0, &client);
  if (tool != NULL && tool->initialize(NULL, tool->data) != 0) abort();
}

int simrocprofiler_is_on(void) { return is_started[2]; }

void simrocprofiler_end(void) {
  if (tool != NULL && tool->finalize != NULL) tool->finalize(tool->data);
}
