/* device HOW THREADS COUNT: a program whose device work is planted in the simulated CUPTI.
 *
 * Prints the sum of the kernels' nanoseconds, how often CUPTI was asked for a record, and how many
 * it made. HOW: exit, _exit, flush
 * (asks for a flush, then dies by a signal), flush-end (asks for one), kill (dies at once), toggle (stops and starts between), rename (a name's
 * memory is used by another), fork (a child calls cuInit, too), wait (dies by a signal once its
 * input ends), range (work within the range "go", and other kernels around it), profiler (the same
 * between calls of cuProfilerStart and cuProfilerStop), late (a thread begins "go" just before the
 * end; the status is 3 where that still enables something after the recorder's end), state (prints
 * 2 where kernels were enabled, plus 1 where they are), kineto (another profiler profiles the
 * processor alone between the first and the second of three parts; past: it asks CUPTI past the
 * recorder; gpu: it profiles the device, too), calls (calls of the driver with the numbers that
 * follow), launch (each thread launches COUNT kernels by the driver, in one of two contexts; prints how
 * many objects of the range profiler are left; launch-nccl: one of three is a collective), idle (100 of each of the calls of the runtime with the numbers that follow), newer (calls of the runtime that are newer than we know), threads (prints the ids of the threads, as the system has them),
 * steps (as many steps as the number that follows, of COUNT kernels of 4 ms, one of three a collective; says each on a
 * line of its own once it has begun; steps-kill: dies by a signal within the last one). */
#define _GNU_SOURCE
#include <borescope_record.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../sim/simcupti.h"

static __typeof__(&simcupti_kernel) kernel;
static __typeof__(&simcupti_copy) copy;
static __typeof__(&simcupti_set) set;
static __typeof__(&simcupti_call) call;
static __typeof__(&simcupti_others) others;
static __typeof__(&simcupti_rename) sim_rename;
static __typeof__(&simcupti_profiler) profiler;
static __typeof__(&simcupti_is_enabling) is_enabling;
static __typeof__(&simcupti_is_enabled) is_enabled;
static __typeof__(&simcupti_was_enabled) was_enabled;
static __typeof__(&simcupti_reads) reads;
static __typeof__(&simcupti_appended) appended;
static __typeof__(&simcupti_launch) launch;
static __typeof__(&simcupti_range_profilers) range_profilers;
static long count;
static uint64_t total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static const char* const kNames[] = {"_Z3addPfS_", "_Z3mulPfS_", "_ZN2at6native4copyEv"};

static void* work(void* argument) {
  const uint32_t first = (uint32_t)(intptr_t)argument * (uint32_t)count;
  uint64_t sum = 0;
  for (long i = 0; i < count; ++i) {
    const uint32_t correlation = first + (uint32_t)i + 1;
    const uint64_t begin = now();
    call(5, 211, correlation, begin, begin + 10, 0);
    kernel(correlation, begin + 20, begin + 20 + (uint64_t)(i % 1000), kNames[i % 3]);
    sum += (uint64_t)(i % 1000);
  }
  pthread_mutex_lock(&lock);
  total += sum;
  pthread_mutex_unlock(&lock);
  return NULL;
}

static void run(int threads) {
  pthread_t ids[64];
  for (int i = 1; i < threads; ++i) pthread_create(&ids[i], NULL, work, (void*)(intptr_t)i);
  work(NULL);
  for (int i = 1; i < threads; ++i) pthread_join(ids[i], NULL);
}

static void one_of_each(void) {
  call(5, 10, 90, 1, 2, 0);  /* cudaGetLastError */
  call(4, 307, 91, 3, 4, 0); /* cuLaunchKernel */
  call(4, 999, 92, 5, 6, 0); /* a call of the driver that launches nothing */
  call(5, 31, 93, 7, 8, -3);
  copy(94, 100, 150, 4096);
  set(95, 200, 220, 512);
  others(96, 300);
}

static void newer_calls(void) {
  call(5, 900, 1, 1, 2, 0);
  call(5, 900, 2, 3, 4, 0);
  call(5, 1010, 3, 5, 6, 0); /* CUPTI does not know it either */
}

static int start_driver(void) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  int (*init)(unsigned) = driver == NULL ? NULL : (int (*)(unsigned))dlsym(driver, "cuInit");
  if (init == NULL) return 0;
  /* Twice, as programs do. */
  return init(0) == 0 && init(0) == 0;
}

static int find_simulator(void) {
  void* sim = dlopen(getenv("BORESCOPE_CUPTI"), RTLD_NOW);
  if (sim == NULL) return 0;
  kernel = (__typeof__(kernel))dlsym(sim, "simcupti_kernel");
  copy = (__typeof__(copy))dlsym(sim, "simcupti_copy");
  set = (__typeof__(set))dlsym(sim, "simcupti_set");
  call = (__typeof__(call))dlsym(sim, "simcupti_call");
  others = (__typeof__(others))dlsym(sim, "simcupti_others");
  sim_rename = (__typeof__(sim_rename))dlsym(sim, "simcupti_rename");
  profiler = (__typeof__(profiler))dlsym(sim, "simcupti_profiler");
  is_enabling = (__typeof__(is_enabling))dlsym(sim, "simcupti_is_enabling");
  is_enabled = (__typeof__(is_enabled))dlsym(sim, "simcupti_is_enabled");
  was_enabled = (__typeof__(was_enabled))dlsym(sim, "simcupti_was_enabled");
  reads = (__typeof__(reads))dlsym(sim, "simcupti_reads");
  appended = (__typeof__(appended))dlsym(sim, "simcupti_appended");
  launch = (__typeof__(launch))dlsym(sim, "simcupti_launch");
  range_profilers = (__typeof__(range_profilers))dlsym(sim, "simcupti_range_profilers");
  return 1;
}

static int has_collectives;

/* As many as COUNT, by all calls of the driver that launch a kernel, in turns; their names, too. */
static void* launch_some(void* argument) {
  static const uint32_t kCalls[] = {307, 442, 477, 478, 652, 653};
  static int contexts[64];
  const intptr_t thread = (intptr_t)argument;
  for (long i = 0; i < count; ++i) {
    const uint32_t correlation = (uint32_t)(thread * count + i + 1);
    const uint64_t begin = now();
    const char* name = has_collectives && i % 3 == 1 ? "_Z21ncclDevKernel_SendRecv4args" : kNames[i % 3];
    if (launch != NULL) launch(kCalls[i % 6], &contexts[thread % 2], correlation, name);
    call(5, 211, correlation, begin, now(), 0);
    kernel(correlation, begin + 20, begin + 520, name);
  }
  return NULL;
}

static void launch_all(int threads) {
  pthread_t ids[64];
  for (int i = 1; i < threads; ++i) pthread_create(&ids[i], NULL, launch_some, (void*)(intptr_t)i);
  launch_some(NULL);
  for (int i = 1; i < threads; ++i) pthread_join(ids[i], NULL);
  printf("%d\n", range_profilers == NULL ? 0 : range_profilers());
}

/* Each launch and its kernel take 5 ms, of which the device works 4. */
static void run_steps(long steps, int is_killed) {
  uint32_t correlation = 0;
  for (long step = 0; step < steps; ++step) {
    borescope_record_step((uint64_t)step);
    printf("%ld %llu\n", step, (unsigned long long)now());
    fflush(stdout);
    for (long i = 0; i < count; ++i) {
      const uint64_t begin = now();
      call(5, 211, ++correlation, begin, begin + 10000, 0);
      kernel(correlation, begin + 20000, begin + 4020000,
             i % 3 == 1 ? "_Z21ncclDevKernel_SendRecv4args" : kNames[i % 3]);
      if (is_killed && step == steps - 1 && i == count / 2) raise(SIGKILL);
      usleep(5000);
    }
  }
  borescope_record_step_end();
}

static void pause_between(void) {
  borescope_record_stop();
  usleep(300000); /* more than the flusher needs to see it */
  kernel(7777, 1, 2, "_Z6paused");
  borescope_record_start();
  usleep(300000);
}

/* Nothing of it waits: what starts has to be in force when it returns. */
static void within(void (*begin)(void), void (*end)(void)) {
  kernel(8888, 1, 2, "_Z6before");
  begin();
  run(1);
  end();
  usleep(300000); /* the flusher stops soon, not at once */
  kernel(9999, 1, 2, "_Z5after");
}

static void push_go(void) { borescope_record_push("go"); }

/* Registered before the driver starts, and so called after the recorder has ended. */
static void check_end(void) {
  if (is_enabling != NULL && is_enabling()) _exit(3);
}

static void* begin_late(void* unused) {
  push_go();
  return unused;
}

static void end_while_it_starts(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, begin_late, NULL);
  usleep(100000); /* the simulated library takes longer to enable kernels */
}

static void start_profiler(void) { profiler(1); }
static void stop_profiler(void) { profiler(0); }

static void rename_kernel(void) {
  static char name[64] = "_Z9first_onev_and_the_same_begin_A";
  kernel(1, 10, 20, name);
  borescope_record_flush();
  sim_rename(name, "_Z9first_onev_and_the_same_begin_B");
  kernel(2, 30, 40, name);
}

/* Three parts, of which another profiler sees the second. */
static int run_beside_kineto(int with_device, int is_past) {
  void* library = dlopen("libsimkineto.so", RTLD_NOW);
  int (*start)(int, int) =
      library == NULL ? NULL : (int (*)(int, int))dlsym(library, "simkineto_start");
  long (*stop)(int) = library == NULL ? NULL : (long (*)(int))dlsym(library, "simkineto_stop");
  if (start == NULL || stop == NULL) return 0;
  run(1);
  if (!with_device) borescope_record_keep_device();
  const int result = start(with_device, is_past);
  if (!with_device) borescope_record_end_keeping_device();
  run(1);
  stop(with_device);
  if (with_device) borescope_record_take_device_back();
  run(1);
  return result == 0;
}

static void* call_and_tell(void* unused) {
  call(5, 211, 1, now(), now() + 1, 0);
  printf("%d ", (int)gettid());
  return unused;
}

static void tell_threads(int threads) {
  for (int i = 0; i < threads; ++i) {
    pthread_t thread;
    pthread_create(&thread, NULL, call_and_tell, NULL);
    pthread_join(thread, NULL);
  }
  puts("");
}

static void call_driver(char** numbers) {
  for (uint32_t i = 1; *numbers != NULL; ++numbers, ++i) {
    call(4, (uint32_t)atol(*numbers), i, now(), now() + 1, 0);
  }
}

static void idle_calls(char** numbers) {
  for (; *numbers != NULL; ++numbers) {
    for (int i = 0; i < 100; ++i) call(5, (uint32_t)atol(*numbers), 1, now(), now() + 1, 0);
  }
}

static int fork_child(void) {
  const pid_t child = fork();
  if (child == 0) {
    start_driver();
    borescope_record_flush();
    exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "late") == 0) atexit(check_end);
  if (argc < 4 || !start_driver() || !find_simulator()) return 9;
  count = atol(argv[3]);
  const char* how = argv[1];
  if (strcmp(how, "rename") == 0) rename_kernel();
  if (strcmp(how, "each") == 0) one_of_each();
  if (strcmp(how, "newer") == 0) newer_calls();
  if (strcmp(how, "idle") == 0) idle_calls(argv + 4);
  if (strcmp(how, "state") == 0) return printf("%d\n", was_enabled(10) * 2 + is_enabled(10)), 0;
  if (strcmp(how, "late") == 0) return end_while_it_starts(), 0;
  if (strcmp(how, "range") == 0) return within(push_go, borescope_record_pop), 0;
  if (strcmp(how, "profiler") == 0) return within(start_profiler, stop_profiler), 0;
  if (strncmp(how, "steps", 5) == 0 && argc > 4) return run_steps(atol(argv[4]), strcmp(how, "steps-kill") == 0), 0;
  if (strcmp(how, "threads") == 0) return tell_threads(atoi(argv[2])), 0;
  has_collectives = strcmp(how, "launch-nccl") == 0;
  if (strncmp(how, "launch", 6) == 0) return launch_all(atoi(argv[2])), 0;
  if (strcmp(how, "calls") == 0) return call_driver(argv + 4), puts("0"), 0;
  if (strncmp(how, "kineto", 6) == 0) {
    if (!run_beside_kineto(strcmp(how, "kineto-gpu") == 0, strcmp(how, "kineto-past") == 0)) return 7;
  } else {
    run(atoi(argv[2]));
  }
  if (strcmp(how, "flush-end") == 0) borescope_record_flush();
  if (strcmp(how, "kill") == 0) {
    printf("%ld\n", count);
    fflush(stdout);
    usleep(50000); /* the flusher writes what was returned */
    raise(SIGKILL);
  }
  if (strcmp(how, "toggle") == 0) {
    pause_between();
    run(1);
  }
  printf("%llu %ld %ld\n", (unsigned long long)total, reads(), appended());
  fflush(stdout);
  if (strcmp(how, "fork") == 0 && fork_child() != 0) return 8;
  if (strcmp(how, "_exit") == 0) {
    usleep(400000); /* several periods of the flusher */
    _exit(7);
  }
  if (strcmp(how, "wait") == 0) {
    getchar(); /* until somebody writes, or closes our input */
    raise(SIGKILL);
  }
  if (strcmp(how, "flush") == 0) {
    borescope_record_flush();
    raise(SIGKILL);
  }
  return 0;
}
