// Plants work of an AMD device: rocm HOW COUNT. HOW is how it ends: exit, kill (after a second),
// wait (by a signal once its input ends), flush (by a signal, after a flush of its own), range (all
// of it was within a range "go", before which there was more), or late (a thread begins "go" just
// before the end; its status is 3 where work is still collected after that).
#include <borescope_record.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../sim/simrocprofiler.h"

static const char* const kNames[] = {"_Z3addPfS_.kd", "_Z3mulPfS_.kd", "Cijk_Ailk_Bljk.kd"};

static void* begin_late(void* unused) {
  borescope_record_push("go");
  return unused;
}

static int end_while_it_starts(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, begin_late, NULL);
  usleep(100000); /* the simulated library takes longer to start */
  simrocprofiler_end();
  pthread_join(thread, NULL);
  printf("0\n");
  return simrocprofiler_is_on() ? 3 : 0;
}

int main(int count, char** words) {
  if (count != 3) return 2;
  const uint64_t kernels = strtoull(words[2], NULL, 10);
  simrocprofiler_begin();
  for (uint64_t i = 0; i < 3; ++i) simrocprofiler_load_kernel(i + 1, kNames[i]);
  if (strcmp(words[1], "late") == 0) return end_while_it_starts();
  if (strcmp(words[1], "range") == 0) {
    simrocprofiler_kernel(8888, 1, 1, 2);
    borescope_record_push("go");
  }
  uint64_t total = 0;
  for (uint64_t i = 1; i <= kernels; ++i) {
    const uint64_t now = simrocprofiler_now();
    simrocprofiler_call(i, 1, now, now + 2000);
    simrocprofiler_kernel(i, i % 3 + 1, now + 3000, now + 3000 + i);
    total += i;
  }
  const uint64_t now = simrocprofiler_now();
  simrocprofiler_call(kernels + 1, 2, now, now + 100);
  simrocprofiler_copy(kernels + 1, 2, 4096, now + 200, now + 300);
  simrocprofiler_rccl_call(kernels + 2, now, now + 50);
  simrocprofiler_copy(kernels + 2, 3, 512, now + 300, now + 400);
  printf("%llu\n", (unsigned long long)total);
  fflush(stdout);
  if (strcmp(words[1], "kill") == 0) sleep(1);
  if (strcmp(words[1], "wait") == 0) getchar();
  if (strcmp(words[1], "flush") == 0) borescope_record_flush();
  if (strcmp(words[1], "exit") != 0 && strcmp(words[1], "range") != 0) kill(getpid(), SIGKILL);
  if (strcmp(words[1], "range") == 0) borescope_record_pop();
  simrocprofiler_end();
  return 0;
}
