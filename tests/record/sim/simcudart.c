/* A stand-in for the CUDA runtime, for tests only: two of its functions, which say that they were
 * called. */
#include <stdio.h>

int cudaProfilerStart(void) {
  puts("started");
  return 0;
}

int cudaProfilerStop(void) {
  puts("stopped");
  return 0;
}
