// A stand-in for libroctracer64.so.4, for tests: a pool of two buffers with a thread that hands them
// over, as the real one has, and reports of calls. It ends the program where it is used in a way
// that the real one does not stand. It is never installed. SIMROCTRACER_FAULT says what goes wrong:
//   version    its major version is another one
//   pool       no pool can be had
//   work       device work cannot be enabled
//   calls      calls cannot be enabled
//   cut        each buffer ends within a record
//   stuck      the next record is the same one
//   hang       a flush never returns
//   noclock    it does not know the time, as before HSA begins
//   realtime, monotonic   the clock of all that it says
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "simhip.h"

enum { kHipWork = 2, kHipCalls = 3, kSuccess = 0, kFailure = -1, kWrongArgument = -3 };

struct properties {
  uint32_t mode;
  size_t buffer_bytes;
  void (*allocate)(char**, size_t, void*);
  void* allocate_argument;
  void (*take)(const char*, const char*, void*);
  void* take_argument;
};
typedef void (*call_function)(uint32_t, uint32_t, const void*, void*);

static struct properties pool;
static char* buffers[2];
static size_t used;
static int writing;
static const char* handed_begin;  // what the thread is to hand over; a null pointer: nothing
static const char* handed_end;
static pthread_mutex_t write_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t hand_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int is_work_enabled[3];
static call_function functions[kSimhipFunctions];
static __thread int is_in_callback;

static int has_fault(const char* name) {
  const char* fault = getenv("SIMROCTRACER_FAULT");
  return fault != NULL && strcmp(fault, name) == 0;
}

static void expect(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "simroctracer: %s\n", what);
  abort();
}

static void expect_outside(void) { expect(!is_in_callback, "called from a callback"); }

uint32_t roctracer_version_major(void) { return has_fault("version") ? 5 : 4; }
uint32_t roctracer_version_minor(void) { return 1; }

const char* roctracer_op_string(uint32_t domain, uint32_t op, uint32_t kind) {
  return domain == kHipCalls && kind == 0 ? simhip_name(op) : NULL;
}

int roctracer_set_properties(uint32_t domain, void* properties) {
  (void)properties;
  return domain == kHipCalls ? kSuccess : -2;
}

int roctracer_get_timestamp(uint64_t* now) {
  expect_outside();
  *now = has_fault("noclock") ? 0 : simhip_now();
  return kSuccess;
}

int roctracer_next_record(const struct simhip_record* record, const struct simhip_record** next) {
  *next = record + (has_fault("stuck") ? 0 : 1);
  return kSuccess;
}

static void* hand_over(void* unused) {
  (void)unused;
  pthread_mutex_lock(&hand_mutex);
  for (;;) {
    while (handed_begin == NULL) pthread_cond_wait(&changed, &hand_mutex);
    is_in_callback = 1;
    pool.take(handed_begin, handed_end - (has_fault("cut") ? 8 : 0), pool.take_argument);
    is_in_callback = 0;
    handed_begin = NULL;
    pthread_cond_broadcast(&changed);
  }
  return NULL;
}

int roctracer_open_pool_expl(const struct properties* properties, void** opened) {
  pthread_t thread;
  expect_outside();
  if (has_fault("pool")) return -6;
  expect(opened != NULL && properties->take != NULL && properties->mode == 0, "a wrong pool");
  expect(properties->buffer_bytes >= sizeof(struct simhip_record), "too small a buffer");
  pool = *properties;
  for (int i = 0; i < 2; ++i) buffers[i] = malloc(pool.buffer_bytes);
  pthread_create(&thread, NULL, hand_over, NULL);
  *opened = &pool;
  return kSuccess;
}

// With the mutex of writers. Waits for the buffer before, and, to flush, for this one.
static void swap(int waits) {
  pthread_mutex_lock(&hand_mutex);
  while (handed_begin != NULL) pthread_cond_wait(&changed, &hand_mutex);
  if (used != 0) {
    handed_begin = buffers[writing];
    handed_end = handed_begin + used;
    pthread_cond_broadcast(&changed);
  }
  while (waits && handed_begin != NULL) pthread_cond_wait(&changed, &hand_mutex);
  pthread_mutex_unlock(&hand_mutex);
  writing = 1 - writing;
  used = 0;
}

int roctracer_flush_activity_expl(void* flushed) {
  expect_outside();
  expect(flushed == &pool, "flush of another pool");
  while (has_fault("hang")) pause();
  pthread_mutex_lock(&write_mutex);
  swap(1);
  pthread_mutex_unlock(&write_mutex);
  return kSuccess;
}

static void work(const struct simhip_record* record) {
  if (record->operation < 3 && !is_work_enabled[record->operation]) return;
  pthread_mutex_lock(&write_mutex);
  if (used + sizeof(*record) > pool.buffer_bytes) swap(0);
  memcpy(buffers[writing] + used, record, sizeof(*record));
  used += sizeof(*record);
  pthread_mutex_unlock(&write_mutex);
}

static int enter(uint32_t function, struct simhip_call* call) {
  static uint64_t last;
  const call_function seen = function < kSimhipFunctions ? functions[function] : NULL;
  if (seen == NULL) return -1;
  call->correlation = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
  call->phase = 0;
  is_in_callback = 1;
  seen(kHipCalls, function, call, NULL);
  is_in_callback = 0;
  return 0;
}

static void leave(uint32_t function, struct simhip_call* call) {
  const call_function seen = functions[function];
  if (seen == NULL) return;
  call->phase = 1;
  is_in_callback = 1;
  seen(kHipCalls, function, call, NULL);
  is_in_callback = 0;
}

static void engage(void) {
  static const struct simhip_tracer tracer = {enter, leave, work};
  simhip_register(&tracer);
}

int roctracer_enable_op_activity_expl(uint32_t domain, uint32_t op, void* into) {
  expect_outside();
  if (has_fault("work")) return kFailure;
  if (domain != kHipWork || op >= 3) return kWrongArgument;
  expect(into == &pool, "work for another pool");
  is_work_enabled[op] = 1;
  engage();
  return kSuccess;
}

int roctracer_disable_op_activity(uint32_t domain, uint32_t op) {
  expect_outside();
  if (domain != kHipWork || op >= 3) return kWrongArgument;
  is_work_enabled[op] = 0;
  return kSuccess;
}

int roctracer_enable_op_callback(uint32_t domain, uint32_t op, call_function function,
                                 void* argument) {
  expect_outside();
  if (has_fault("calls")) return kFailure;
  if (domain != kHipCalls || op >= kSimhipFunctions || function == NULL || argument != NULL) {
    return kWrongArgument;
  }
  functions[op] = function;
  engage();
  return kSuccess;
}

int roctracer_disable_op_callback(uint32_t domain, uint32_t op) {
  expect_outside();
  if (domain != kHipCalls || op >= kSimhipFunctions) return kWrongArgument;
  functions[op] = NULL;
  return kSuccess;
}

int roctracer_enable_domain_callback(uint32_t domain, call_function function, void* argument) {
  int result = kSuccess;
  for (uint32_t op = 0; op < kSimhipFunctions && result == kSuccess; ++op) {
    result = roctracer_enable_op_callback(domain, op, function, argument);
  }
  return result;
}

#ifndef SIMROCTRACER_OLD
int roctracer_disable_domain_callback(uint32_t domain) {
  for (uint32_t op = 0; op < kSimhipFunctions; ++op) roctracer_disable_op_callback(domain, op);
  return kSuccess;
}
#endif
