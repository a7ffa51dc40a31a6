/* See simcupti.h. Faults:
 *   unfilled    a buffer is returned without a record       twice       each buffer is returned twice
 *   thread      buffers are returned on another thread      dropped     7 records are dropped a buffer
 *   hang        a flush blocks for 10 s                     refuse39    enabling gives error 39
 *   refuse15    registering gives error 15                  refuse999   the version gives error 999
 *   slow        kernels take a while to be enabled
 *   keep        buffers are not returned, as where another tool took their place
 *   clock       the clock of a subscriber is ignored
 *   broken      the iterator fails in the middle            unknown     records of an unknown kind
 *   nothreads   another type of thread ids is refused
 *   ragged      records of one kind differ in length      holes       there are gaps between records
 * What a real one was seen to do: threads have the low half of pthread_self until a tool asks for
 * the system's numbers; of the driver's calls only chosen ones are recorded; what a device is
 * called comes with a forced flush alone; the buffers belong to who registered last, and those that
 * another gave are handed to it, too. SIMCUPTI_OLD: without what CUDA 11 does not have.
 */
#define _GNU_SOURCE
#include "simcupti.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

typedef uint64_t (*clock_function)(void);
typedef void (*request_function)(uint8_t**, size_t*, size_t*);
typedef void (*complete_function)(void*, uint32_t, uint8_t*, size_t, size_t);
typedef void (*request_function_2)(uint8_t**, size_t*, size_t*, void*);
typedef void (*complete_function_2)(uint8_t*, size_t, size_t, void*);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread int is_in_callback;
static clock_function tool_clock;
static request_function request_1;
static complete_function complete_1;
static request_function_2 request_2;
static complete_function_2 complete_2;
static int is_enabling;
static int is_any_enabled, is_subscribed, buffers_out, dropped;
static uint8_t is_enabled[128];
static uint8_t was_enabled[128];
static uint8_t chosen_drivers[1024], left_out[1024];
static long appended, flushes;
static uint32_t thread_id_type;
static long reads;
static uint8_t late_device[192]; /* a record that waits for a forced flush */

static uint8_t* buffer;
static size_t buffer_size, buffer_used;

static void misuse(const char* what) {
  fprintf(stderr, "simcupti: misuse: %s\n", what);
  abort();
}

void simcupti_misuse(const char* what) { misuse(what); }

static void enter(void) {
  if (is_in_callback) misuse("CUPTI called in a buffer callback");
}

static int has_fault(const char* name) {
  const char* fault = getenv("SIMCUPTI_FAULT");
  return fault != NULL && strcmp(fault, name) == 0;
}

int simcupti_has_fault(const char* name) { return has_fault(name); }

static uint32_t version(void) {
  const char* text = getenv("SIMCUPTI_VERSION");
  return text == NULL ? 28 : (uint32_t)atoi(text);
}

/* Sizes of a kernel's record: Kernel8, 9, 10, 11 and 13. */
static size_t kernel_size(void) {
  switch (version()) {
    case 24: return 152;
    case 26: return 160;
    case 28: return 200;
    case 130000: return 208;
    default: return 224;
  }
}

enum { kRagged = 98, kHole = 16, kHoleEvery = 100 };

static size_t size_of(const uint8_t* record) {
  uint32_t kind, size;
  memcpy(&kind, record, 4);
  if (kind == kRagged) return memcpy(&size, record + 4, 4), size;
  switch (kind) {
    case 10: return kernel_size();
    case 1: case 2: return 96;
    case 4: case 5: return 40;
    case 8: return 192;
    case 9: return 16;
    case 17: case 38: case 51: return 56;
    case 37: case 39: return 24;
    case 49: return 128;
    default: return 48;
  }
}

struct hand_over {
  uint8_t* data;
  size_t size, used;
};

static void complete(uint8_t* data, size_t size, size_t used) {
  is_in_callback = 1;
  if (complete_2 != NULL) {
    complete_2(data, size, used, NULL);
  } else {
    complete_1(NULL, 0, data, size, used);
  }
  is_in_callback = 0;
}

static void* complete_elsewhere(void* argument) {
  struct hand_over* all = argument;
  complete(all->data, all->size, all->used);
  return NULL;
}

static void hand_over(void) {
  if (buffer == NULL || has_fault("keep")) return;
  struct hand_over all = {buffer, buffer_size, buffer_used};
  buffer = NULL;
  buffers_out--;
  if (has_fault("dropped")) dropped += 7;
  if (has_fault("thread")) {
    pthread_t thread;
    pthread_create(&thread, NULL, complete_elsewhere, &all);
    pthread_join(thread, NULL);
    return;
  }
  complete(all.data, all.size, all.used);
  if (has_fault("twice")) complete(all.data, all.size, all.used);
}

static uint32_t thread_id(void) {
  return thread_id_type == 1 ? (uint32_t)gettid() : (uint32_t)(uintptr_t)pthread_self();
}

static void ask(void) {
  size_t most = 0;
  is_in_callback = 1;
  if (request_2 != NULL) {
    request_2(&buffer, &buffer_size, &most, NULL);
  } else if (request_1 != NULL) {
    request_1(&buffer, &buffer_size, &most);
  }
  is_in_callback = 0;
  buffer_used = 0;
  if (buffer != NULL) memset(buffer, 0, buffer_size); /* on the thread that launches */
  if (buffer != NULL) buffers_out++;
  if (((uintptr_t)buffer & 7) != 0) misuse("a buffer that is not aligned");
}

static void append(const void* record, size_t size) {
  uint32_t kind;
  memcpy(&kind, record, 4);
  if (kind == 4) {
    uint32_t call;
    memcpy(&call, (const uint8_t*)record + 4, 4);
    if (!is_enabled[4] && !chosen_drivers[call % 1024]) return;
  } else if (kind == 5) {
    uint32_t call;
    memcpy(&call, (const uint8_t*)record + 4, 4);
    if (!is_enabled[5] || left_out[call % 1024]) return;
  } else if (!is_enabled[kind]) {
    return;
  }
  if (buffer != NULL && buffer_used + size > buffer_size) hand_over();
  if (buffer == NULL) ask();
  if (buffer == NULL) {
    dropped++;
    return;
  }
  if (has_fault("unfilled") && buffer_used == 0) {
    hand_over();
    ask();
  }
  memcpy(buffer + buffer_used, record, size);
  buffer_used += size;
  appended++;
  const int has_hole = has_fault("holes") && appended % kHoleEvery == 0;
  if (has_hole && buffer_used + kHole <= buffer_size) buffer_used += kHole; /* zeros */
}

static void put(uint8_t* record, size_t offset, const void* value, size_t size) {
  memcpy(record + offset, value, size);
}

#define PUT(record, offset, type, value)                      \
  do {                                                        \
    const type put_value = (type)(value);                     \
    put((record), (offset), &put_value, sizeof(put_value));   \
  } while (0)

EXPORT void simcupti_kernel(uint32_t correlation, uint64_t start, uint64_t end, const char* name) {
  uint8_t record[256] = {0};
  PUT(record, 0, uint32_t, 10);
  PUT(record, 6, uint16_t, 40);
  PUT(record, 16, uint64_t, start);
  PUT(record, 24, uint64_t, end);
  PUT(record, 40, uint32_t, 1);
  PUT(record, 44, uint32_t, 2);
  PUT(record, 48, uint32_t, 7);
  for (int i = 0; i < 6; ++i) PUT(record, 52 + 4 * i, uint32_t, 10 + i);
  PUT(record, 76, uint32_t, 128);
  PUT(record, 80, uint32_t, 256);
  PUT(record, 84, uint32_t, 16);
  PUT(record, 92, uint32_t, correlation);
  PUT(record, 104, const char*, name);
  PUT(record, 144, uint64_t, 77);
  PUT(record, 156, uint32_t, 5);
  PUT(record, 168, uint32_t, 3);
  pthread_mutex_lock(&lock);
  append(record, kernel_size());
  if (has_fault("unknown")) {
    uint8_t other[48] = {0};
    PUT(other, 0, uint32_t, 99);
    is_enabled[99] = 1;
    append(other, sizeof(other));
  }
  if (has_fault("ragged")) {
    static uint32_t length = 48;
    uint8_t other[64] = {0};
    length = length == 48 ? 64 : 48;
    PUT(other, 0, uint32_t, kRagged);
    PUT(other, 4, uint32_t, length);
    is_enabled[kRagged] = 1;
    append(other, length);
  }
  pthread_mutex_unlock(&lock);
}

static void copy_or_set(uint32_t kind, uint32_t correlation, uint64_t start, uint64_t end,
                        uint64_t bytes) {
  uint8_t record[128] = {0};
  PUT(record, 0, uint32_t, kind);
  if (kind == 1) {
    PUT(record, 4, uint8_t, 1);
    PUT(record, 5, uint8_t, 2);
    PUT(record, 6, uint8_t, 3);
  } else {
    PUT(record, 4, uint32_t, 9);
    PUT(record, 50, uint16_t, 3);
  }
  PUT(record, 8, uint64_t, bytes);
  PUT(record, 16, uint64_t, start);
  PUT(record, 24, uint64_t, end);
  PUT(record, 32, uint32_t, 1);
  PUT(record, 36, uint32_t, 2);
  PUT(record, 40, uint32_t, 7);
  PUT(record, 44, uint32_t, correlation);
  PUT(record, 64, uint64_t, 78);
  PUT(record, 72, uint32_t, 5);
  pthread_mutex_lock(&lock);
  append(record, 96);
  pthread_mutex_unlock(&lock);
}

EXPORT void simcupti_copy(uint32_t correlation, uint64_t start, uint64_t end, uint64_t bytes) {
  copy_or_set(1, correlation, start, end, bytes);
}

EXPORT void simcupti_set(uint32_t correlation, uint64_t start, uint64_t end, uint64_t bytes) {
  copy_or_set(2, correlation, start, end, bytes);
}

EXPORT void simcupti_call(uint32_t kind, uint32_t callback, uint32_t correlation, uint64_t start,
                          uint64_t end, int32_t result) {
  uint8_t record[40] = {0};
  PUT(record, 0, uint32_t, kind);
  PUT(record, 4, uint32_t, callback);
  PUT(record, 8, uint64_t, start);
  PUT(record, 16, uint64_t, end);
  PUT(record, 24, uint32_t, getpid());
  PUT(record, 28, uint32_t, thread_id());
  PUT(record, 32, uint32_t, correlation);
  PUT(record, 36, int32_t, result);
  pthread_mutex_lock(&lock);
  append(record, sizeof(record));
  pthread_mutex_unlock(&lock);
}

/* One of each of the rest. */
EXPORT void simcupti_others(uint32_t correlation, uint64_t start) {
  uint8_t sync[56] = {0}, memory[128] = {0}, graph[56] = {0}, external[24] = {0}, device[192] = {0},
          context[16] = {0}, stream[24] = {0}, overhead[56] = {0};
  const uint32_t kinds[] = {38, 49, 51, 39, 8, 9, 37, 17};
  uint8_t* records[] = {sync, memory, graph, external, device, context, stream, overhead};
  const size_t sizes[] = {56, 128, 56, 24, 192, 16, 24, 56};
  for (int i = 0; i < 8; ++i) PUT(records[i], 0, uint32_t, kinds[i]);
  PUT(sync, 4, uint32_t, 3);
  PUT(sync, 8, uint64_t, start);
  PUT(sync, 16, uint64_t, start + 1);
  PUT(sync, 24, uint32_t, correlation);
  PUT(sync, 28, uint32_t, 2);
  PUT(sync, 32, uint32_t, 7);
  PUT(memory, 4, uint32_t, 1);
  PUT(memory, 8, uint32_t, 3);
  PUT(memory, 12, uint32_t, correlation);
  PUT(memory, 16, uint64_t, 0x7000);
  PUT(memory, 24, uint64_t, 4096);
  PUT(memory, 32, uint64_t, start);
  PUT(graph, 4, uint32_t, correlation);
  PUT(graph, 8, uint64_t, start);
  PUT(graph, 16, uint64_t, start + 5);
  PUT(graph, 28, uint32_t, 5);
  PUT(external, 4, uint32_t, 3);
  PUT(external, 8, uint64_t, 1234);
  PUT(external, 16, uint32_t, correlation);
  PUT(device, 16, uint64_t, 80);
  PUT(device, 44, uint32_t, 132);
  PUT(device, 104, uint32_t, 9);
  PUT(device, 112, uint32_t, 1);
  PUT(device, 136, const char*, "Simulated \"GPU\"");
  PUT(context, 4, uint32_t, 2);
  PUT(context, 8, uint32_t, 1);
  PUT(stream, 4, uint32_t, 2);
  PUT(stream, 8, uint32_t, 7);
  PUT(overhead, 4, uint32_t, 1 << 16);
  PUT(overhead, 8, uint32_t, 2);
  PUT(overhead, 16, uint32_t, thread_id());
  PUT(overhead, 24, uint64_t, start);
  PUT(overhead, 32, uint64_t, start + 2);
  pthread_mutex_lock(&lock);
  for (int i = 0; i < 8; ++i) {
    if (kinds[i] != 8) append(records[i], sizes[i]);
  }
  memcpy(late_device, device, sizeof(device));
  pthread_mutex_unlock(&lock);
}

EXPORT uint64_t simcupti_now(void) { return tool_clock(); }
EXPORT long simcupti_reads(void) { return __atomic_load_n(&reads, __ATOMIC_RELAXED); }
EXPORT long simcupti_flushes(void) { return __atomic_load_n(&flushes, __ATOMIC_RELAXED); }
EXPORT long simcupti_appended(void) { return appended; }
EXPORT int simcupti_buffers(void) { return buffers_out; }
EXPORT int simcupti_is_enabling(void) {
  return __atomic_load_n(&is_enabling, __ATOMIC_SEQ_CST);
}
EXPORT int simcupti_is_enabled(uint32_t kind) { return is_enabled[kind]; }
EXPORT int simcupti_was_enabled(uint32_t kind) { return was_enabled[kind]; }
EXPORT void simcupti_rename(char* name, const char* other) { strcpy(name, other); }

typedef void (*call_function)(void*, uint32_t, uint32_t, const void*);
static call_function see_call;
static uint8_t sees_calls[2];

EXPORT void simcupti_profiler(int is_start) {
  const uint32_t call = is_start ? 308 : 309;
  if (see_call == NULL || !sees_calls[call - 308]) return;
  uint32_t site[32] = {0}; /* what a callback gets begins with where it is called */
  for (site[0] = 0; site[0] < 2; ++site[0]) see_call(NULL, 1, call, site);
}

static uint8_t sees_launches[1024];

/* What a callback gets at a call of the driver. */
struct call_data {
  uint32_t site;
  const char* function;
  const void* params;
  void* result;
  const char* symbol;
  void* context;
  uint32_t context_number;
  uint64_t* data;
  uint32_t correlation;
};

#ifndef SIMCUPTI_OLD
EXPORT void simcupti_launch(uint32_t number, void* context, uint32_t correlation, const char* symbol) {
  struct call_data data = {0, "cuLaunchKernel", NULL, NULL, symbol, context, 2, NULL, correlation};
  const int is_seen = see_call != NULL && sees_launches[number % 1024];
  if (is_seen) see_call(NULL, 1, number, &data);
  simranges_run(context, correlation);
  data.site = 1;
  if (is_seen) see_call(NULL, 1, number, &data);
}
#endif

/* The entry points of CUPTI. */

EXPORT int cuptiSubscribe(void** subscriber, call_function function, void* data) {
  enter();
  if (is_subscribed || see_call != NULL) return 39;
  (void)data;
  see_call = function;
  *subscriber = &see_call;
  return 0;
}

EXPORT int cuptiEnableCallback(uint32_t flag, void* subscriber, uint32_t domain, uint32_t call) {
  enter();
  if (see_call == NULL || subscriber != (is_subscribed ? (void*)&is_subscribed : (void*)&see_call)) {
    misuse("an unknown subscriber");
  }
  if (domain != 1) misuse("a call that is not known here");
  if (call < 308 || call > 309) return sees_launches[call % 1024] = flag != 0, 0;
  sees_calls[call - 308] = flag != 0;
  return 0;
}

EXPORT int cuptiGetVersion(uint32_t* number) {
  enter();
  *number = version();
  return has_fault("refuse999") ? 999 : 0;
}

static int enable(uint32_t kind) {
  enter();
  if (request_1 == NULL && request_2 == NULL) misuse("enabled before buffers were registered");
  if (has_fault("refuse39")) return 39;
  if (has_fault("refuse-some") && (kind == 2 || kind == 49)) return 13;
  is_any_enabled = 1;
  if (kind == 10 && has_fault("slow")) {
    __atomic_store_n(&is_enabling, 1, __ATOMIC_SEQ_CST);
    usleep(300000);
    __atomic_store_n(&is_enabling, 0, __ATOMIC_SEQ_CST);
  }
  /* The kind overrides what was chosen before. */
  if (kind == 5) memset(left_out, 0, sizeof(left_out));
  is_enabled[kind] = was_enabled[kind] = 1;
  return 0;
}

static int disable(uint32_t kind) {
  enter();
  is_enabled[kind] = 0;
  return 0;
}

EXPORT int cuptiActivityEnable(uint32_t kind) {
  if (is_subscribed) misuse("functions of both versions mixed");
  return enable(kind);
}

EXPORT int cuptiActivityDisable(uint32_t kind) { return disable(kind); }

static int choose_driver_call(uint32_t callback, uint8_t flag) {
  enter();
  if (callback == 0 || callback >= 1024) return 1;
  chosen_drivers[callback] = flag;
  return 0;
}

#ifndef SIMCUPTI_OLD
EXPORT int cuptiActivityEnableDriverApi(uint32_t callback, uint8_t flag) {
  return choose_driver_call(callback, flag);
}

static int choose_runtime_call(uint32_t callback, uint8_t flag) {
  enter();
  if (callback == 0 || callback >= 1024) return 1;
  left_out[callback] = flag == 0;
  return 0;
}

EXPORT int cuptiActivityEnableRuntimeApi(uint32_t callback, uint8_t flag) {
  return choose_runtime_call(callback, flag);
}

EXPORT int cuptiActivityEnableRuntimeApi_v2(void* subscriber, uint32_t callback, uint8_t flag) {
  (void)subscriber;
  return choose_runtime_call(callback, flag);
}

EXPORT int cuptiSetThreadIdType(uint32_t type) {
  enter();
  if (is_any_enabled) misuse("another type of thread ids after something was enabled");
  if (has_fault("nothreads")) return 27;
  thread_id_type = type;
  return 0;
}

EXPORT int cuptiGetCallbackName(uint32_t domain, uint32_t callback, const char** name) {
  enter();
  if (callback < 900) misuse("the name of a call that everybody knows");
  *name = domain == 1 ? "cuSimulatedAsync_v2" : "cudaSimulatedAsync_v14000";
  return callback < 1000 ? 0 : 1;
}
#endif

EXPORT int cuptiActivityRegisterCallbacks(request_function request, complete_function finished) {
  enter();
  if (has_fault("refuse15")) return 15;
  request_1 = request;
  complete_1 = finished;
  return 0;
}

EXPORT int cuptiActivityRegisterTimestampCallback(clock_function function) {
  enter();
  /* A second tool only gets an error. */
  if (is_any_enabled && tool_clock != NULL) return 7;
  if (is_any_enabled) misuse("a clock after something was enabled");
  tool_clock = function;
  return 0;
}

EXPORT int cuptiActivityGetNextRecord(uint8_t* data, size_t valid, uint8_t** record) {
  enter();
  __atomic_fetch_add(&reads, 1, __ATOMIC_RELAXED);
  pthread_mutex_lock(&lock); /* a lock that whoever launches takes, too */
  pthread_mutex_unlock(&lock);
  size_t at = 0;
  if (*record != NULL) at = (size_t)(*record - data) + size_of(*record);
  while (at < valid && data[at] == 0) at += kHole;
  if (at >= valid) return 12;
  if (has_fault("broken") && at > 1000) return 999;
  *record = data + at;
  return 0;
}

EXPORT int cuptiActivityGetNumDroppedRecords(void* context, uint32_t stream, size_t* count) {
  enter();
  (void)context;
  (void)stream;
  *count = (size_t)dropped;
  dropped = 0;
  return 0;
}

EXPORT int cuptiActivityFlushAll(uint32_t flag) {
  enter();
  if (has_fault("hang")) sleep(10);
  pthread_mutex_lock(&lock);
  if (flag == 1 && late_device[0] != 0) {
    append(late_device, sizeof(late_device));
    late_device[0] = 0;
  }
  __atomic_fetch_add(&flushes, 1, __ATOMIC_RELAXED);
  /* It looks whether all records are complete, while nothing can be launched. */
  for (size_t at = 0; buffer != NULL && at < buffer_used;) {
    at += buffer[at] == 0 ? (size_t)kHole : size_of(buffer + at);
  }
  if (buffer != NULL) hand_over();
  pthread_mutex_unlock(&lock);
  return 0;
}

/* With subscribers, from 13.3 on. */

EXPORT int cuptiSubscribe_v2(void** subscriber, call_function callback, void* data, void* params) {
  enter();
  (void)data;
  (void)params;
  if (version() < 130300) misuse("a function that this version does not have");
  is_subscribed = 1;
  see_call = callback;
  *subscriber = &is_subscribed;
  return 0;
}

EXPORT int cuptiUnsubscribe(void* subscriber) {
  if (subscriber != &is_subscribed) misuse("an unknown subscriber");
  is_subscribed = 0;
  tool_clock = NULL;
  return 0;
}

EXPORT int cuptiActivitySetAttribute_v2(void* subscriber, uint32_t attribute, size_t* size, void* value) {
  enter();
  (void)subscriber;
  if (attribute == 21) memcpy(&thread_id_type, value, 4);
  if (attribute != 22) return 0;
  if (*size != sizeof(tool_clock)) misuse("the size of an attribute");
  memcpy(&tool_clock, value, sizeof(tool_clock));
  return 0;
}

EXPORT int cuptiGetTimestamp_v2(void* subscriber, uint64_t* now) {
  enter();
  (void)subscriber;
  *now = has_fault("clock") ? 1700000000000000000U : tool_clock();
  return 0;
}

EXPORT int cuptiActivityEnable_v2(void* subscriber, uint32_t kind, void* configuration) {
  (void)subscriber;
  (void)configuration;
  return enable(kind);
}

EXPORT int cuptiActivityDisable_v2(void* subscriber, uint32_t kind, void* configuration) {
  (void)subscriber;
  (void)configuration;
  return disable(kind);
}

EXPORT int cuptiActivityEnableDriverApi_v2(void* subscriber, uint32_t callback, uint8_t flag) {
  (void)subscriber;
  return choose_driver_call(callback, flag);
}

EXPORT int cuptiActivityRegisterCallbacks_v2(void* subscriber, request_function_2 request,
                                             complete_function_2 finished) {
  enter();
  (void)subscriber;
  if (has_fault("refuse15")) return 15;
  request_2 = request;
  complete_2 = finished;
  return 0;
}

EXPORT int cuptiActivityGetNextRecord_v2(void* subscriber, uint8_t* data, size_t valid, uint8_t** record) {
  (void)subscriber;
  return cuptiActivityGetNextRecord(data, valid, record);
}

EXPORT int cuptiActivityGetNumDroppedRecords_v2(void* subscriber, void* context, uint32_t stream,
                                                size_t* count) {
  (void)subscriber;
  return cuptiActivityGetNumDroppedRecords(context, stream, count);
}
