/* stack: how many bytes of stack the first record of a process takes, more than a thread that does nothing. */
#define _GNU_SOURCE
#include <borescope_record.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { kBytes = 256 * 1024, kPaint = 0xa5 };

static void* record(void* wanted) {
  if (wanted != NULL) {
    borescope_record_push("first");
    borescope_record_pop();
  }
  return NULL;
}

/* Stacks grow downwards: what is painted still was not used. */
static size_t used_by(void* wanted) {
  char* stack =
      mmap(NULL, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) return 0;
  memset(stack, kPaint, kBytes);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, stack, kBytes);
  pthread_t thread;
  if (pthread_create(&thread, &attributes, record, wanted) != 0) return 0;
  pthread_join(thread, NULL);
  size_t free = 0;
  while (free < kBytes && (unsigned char)stack[free] == kPaint) ++free;
  return kBytes - free;
}

int main(void) {
  static int is_wanted;
  const size_t idle = used_by(NULL);
  const size_t recording = used_by(&is_wanted);
  printf("%zu\n", recording - idle);
  return idle == 0 || recording < idle;
}
