/* stack: for each way into the recorder, how many bytes of stack its first record in a thread takes, the
 * first of them of the process, more than a thread that does nothing. With "small", threads of the least
 * size that the system allows do the same; with "signal", a signal handler on a stack of 8 KiB. */
#define _GNU_SOURCE
#include <borescope_record.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "nvtx_protocol.h"

enum { kBytes = 256 * 1024, kPaint = 0xa5 };

static wchar_t long_text[3000];

static nvtxEventAttributes_t event(void) {
  nvtxEventAttributes_t attributes = {0};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.category = 7;
  attributes.messageType = NVTX_MESSAGE_TYPE_UNICODE;
  attributes.message.unicode = long_text;
  return attributes;
}

static void nothing(void) {}

static void push(void) {
  borescope_record_push("first");
  borescope_record_pop();
}

static void step(void) {
  borescope_record_step(1);
  borescope_record_step_end();
}

static void start(void) { borescope_record_range_end(borescope_record_range_start("first")); }

static void mark(void) { borescope_record_mark("first"); }

static void operators(void) { borescope_record_operator("aten::mm", 1, 2, -1, 0, 1, "[[1]]"); }

static void call(void) {
  const uint32_t code = borescope_record_code("function", "file.py", 1);
  borescope_record_call(code);
  borescope_record_return(code);
}

static void nvtx_plain(void) {
  nvtxRangePushA("first");
  nvtxRangePop();
}

static void nvtx_wide(void) {
  nvtxRangePushW(long_text);
  nvtxRangePop();
}

static void nvtx_event(void) {
  const nvtxEventAttributes_t attributes = event();
  nvtxRangePushEx(&attributes);
  nvtxRangePop();
}

static void nvtx_domain(void) {
  const nvtxEventAttributes_t attributes = event();
  const nvtxDomainHandle_t domain = nvtxDomainCreateW(long_text);
  nvtxDomainRangePushEx(domain, &attributes);
  nvtxDomainRangePop(domain);
}

int roctxRangePushA(const char* text);
int roctxRangePop(void);

static void roctx(void) {
  roctxRangePushA("first");
  roctxRangePop();
}

static const struct {
  const char* name;
  void (*act)(void);
} ways[] = {{"push", push},
            {"step", step},
            {"start", start},
            {"mark", mark},
            {"operator", operators},
            {"call", call},
            {"nvtx", nvtx_plain},
            {"nvtx-wide", nvtx_wide},
            {"nvtx-event", nvtx_event},
            {"nvtx-domain", nvtx_domain},
            {"roctx", roctx}};
enum { kWays = sizeof(ways) / sizeof(ways[0]) };

static void (*wanted)(void);

static void* run(void* unused) {
  wanted();
  return unused;
}

/* Stacks grow downwards: what is painted still was not used. */
static size_t used_by(void (*act)(void)) {
  char* stack =
      mmap(NULL, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) return 0;
  memset(stack, kPaint, kBytes);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, stack, kBytes);
  wanted = act;
  pthread_t thread;
  if (pthread_create(&thread, &attributes, run, NULL) != 0) return 0;
  pthread_join(thread, NULL);
  size_t free = 0;
  while (free < kBytes && (unsigned char)stack[free] == kPaint) ++free;
  munmap(stack, kBytes);
  return kBytes - free;
}

static int run_small(void (*act)(void)) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (pthread_attr_setstacksize(&attributes, (size_t)sysconf(_SC_THREAD_STACK_MIN)) != 0) return 1;
  wanted = act;
  pthread_t thread;
  return pthread_create(&thread, &attributes, run, NULL) != 0 || pthread_join(thread, NULL) != 0;
}

static void handle(int number) {
  (void)number;
  wanted();
}

/* Below the stack lies a page that nothing may be written to. */
static int run_on_signal_stack(void (*act)(void)) {
  enum { kStack = 8192, kGuard = 65536 };
  char* memory =
      mmap(NULL, kGuard + kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || mprotect(memory, kGuard, PROT_NONE) != 0) return 1;
  const stack_t stack = {.ss_sp = memory + kGuard, .ss_size = kStack};
  struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
  wanted = act;
  return sigaltstack(&stack, NULL) != 0 || sigaction(SIGUSR1, &action, NULL) != 0 ||
         raise(SIGUSR1) != 0;
}

/* stack WAY [small | signal]: that way first. */
int main(int argc, char** argv) {
  for (size_t i = 0; i + 1 < sizeof(long_text) / sizeof(long_text[0]); ++i) long_text[i] = L'é';
  const size_t idle = used_by(nothing);
  for (size_t i = 0; argc > 1 && i < kWays; ++i) {
    if (strcmp(argv[1], ways[i].name) != 0) continue;
    if (argc > 2 && strcmp(argv[2], "signal") == 0) return run_on_signal_stack(ways[i].act);
    if (argc > 2) return run_small(ways[i].act);
    const size_t used = used_by(ways[i].act);
    printf("%zu\n", used - idle);
    return idle == 0 || used < idle;
  }
  return 2;
}
