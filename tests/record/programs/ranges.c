/* ranges HOW THREADS COUNT [COUNTER_FILE]: threads that push and pop ranges by NVTX, then an end.
 *
 * HOW: exit, _exit, abort, segv, exec, fork, vfork, clone, forever, one (threads one after another, each
 * with as many ranges, and the mappings that are left in the end), forks (children while threads record),
 * handler (ranges in a signal handler, too). With a counter file, the ranges
 * that each thread finished are counted there, in shared memory, which outlives the process. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef BORESCOPE_REAL_NVTX
#include <nvtx3/nvToolsExt.h>
#else
#include "nvtx_protocol.h"
#endif

#include <stdlib.h>
#include <string.h>

static long count;
static uint64_t own_counters[256];
static volatile uint64_t* counters = own_counters;

static void range(int thread, long i) {
  char text[32];
  snprintf(text, sizeof(text), "t%d i%ld", thread, i);
  errno = 4711;
  nvtxRangePushA(text);
  nvtxRangePop();
  if (errno != 4711) _exit(99);
  counters[thread]++;
}

static void* work(void* argument) {
  const int thread = (int)(intptr_t)argument;
  for (long i = 0; count < 0 || i < count; ++i) range(thread, i);
  return NULL;
}

static void run_threads(int threads) {
  pthread_t ids[256];
  for (int i = 1; i < threads; ++i) pthread_create(&ids[i], NULL, work, (void*)(intptr_t)i);
  work(NULL);
  for (int i = 1; i < threads; ++i) pthread_join(ids[i], NULL);
}

static void map_counters(const char* path) {
  const int file = open(path, O_RDWR | O_CREAT, 0600);
  if (file < 0 || ftruncate(file, 4096) != 0) _exit(98);
  counters = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
}

/* Parent and child each record, mixed in time; the child ends with status 3. */
static int forked(pid_t child) {
  if (child == 0) {
    for (long i = 0; i < count; ++i) range(1, i);
    _exit(3);
  }
  for (long i = 0; i < count; ++i) range(2, i);
  int status = 0;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

static int end(const char* how, char** argv) {
  if (strcmp(how, "_exit") == 0) _exit(7);
  if (strcmp(how, "abort") == 0) abort();
  if (strcmp(how, "segv") == 0) raise(SIGSEGV);
  if (strcmp(how, "exec") == 0) {
    argv[1] = "exit";
    execv("/proc/self/exe", argv);
  }
  if (strcmp(how, "fork") == 0) return forked(fork());
  if (strcmp(how, "clone") == 0) return forked((pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
  if (strcmp(how, "vfork") == 0) {
    const pid_t child = vfork();
    if (child == 0) {
      execl("/bin/true", "true", (char*)NULL);
      _exit(1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status) == 0 ? 5 : 6;
  }
  return 5;
}

static int mappings(void) {
  int lines = 0;
  FILE* file = fopen("/proc/self/maps", "r");
  for (int byte = fgetc(file); byte != EOF; byte = fgetc(file)) lines += byte == '\n';
  fclose(file);
  return lines;
}

static int one_after_another(int threads) {
  work(NULL);
  const int before = mappings();
  for (int i = 0; i < threads; ++i) {
    pthread_t id;
    pthread_create(&id, NULL, work, (void*)(intptr_t)(i % 256));
    pthread_join(id, NULL);
  }
  printf("%d\n", mappings() - before);
  return 5;
}

/* Children of a process whose other threads are anywhere in the library. Each records and ends. */
static int forks(int threads) {
  pthread_t ids[256];
  for (int i = 1; i < threads; ++i) pthread_create(&ids[i], NULL, work, (void*)(intptr_t)i);
  for (int child = 0; child < 50; ++child) {
    const pid_t pid = fork();
    if (pid == 0) {
      for (long i = 0; i < 10; ++i) range(200, i);
      exit(0);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    if (status != 0) return 6;
  }
  for (int i = 1; i < threads; ++i) pthread_join(ids[i], NULL);
  return 5;
}

static void record_in_handler(int number) {
  (void)number;
  nvtxRangePushA("in a handler");
  nvtxRangePop();
}

static int with_handler(void) {
  struct sigaction action = {0};
  action.sa_handler = record_in_handler;
  sigaction(SIGALRM, &action, NULL);
  const struct itimerval timer = {{0, 50}, {0, 50}};
  setitimer(ITIMER_REAL, &timer, NULL);
  work(NULL);
  return 5;
}

/* One text, said once, that all ranges refer to. */
static int registered(void) {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("registered");
  nvtxEventAttributes_t event = {0};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = nvtxDomainRegisterStringA(domain, "said once");
  for (long i = 0; i < count; ++i) {
    nvtxDomainRangePushEx(domain, &event);
    nvtxDomainRangePop(domain);
  }
  return 5;
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  count = strcmp(argv[1], "forever") == 0 ? -1 : atol(argv[3]);
  if (argc > 4) map_counters(argv[4]);
  /* Where calls of the system are made to fail (tests/faults), they are from here on. */
  void (*const arm)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "fault_arm");
  if (arm != NULL) arm();
  if (strcmp(argv[1], "one") == 0) return one_after_another(atoi(argv[2]));
  if (strcmp(argv[1], "forks") == 0) return forks(atoi(argv[2]));
  if (strcmp(argv[1], "handler") == 0) return with_handler();
  if (strcmp(argv[1], "registered") == 0) return registered();
  run_threads(atoi(argv[2]));
  return end(argv[1], argv);
}
