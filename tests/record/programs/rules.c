/* rules WORD...: does what its arguments say, one after another, for rules that start and stop.
 *
 * push:TEXT pop          a range of NVTX              apush:TEXT apop    one of borescope_record.h
 * rpush:TEXT rpop        one of ROCTX                 domain:TEXT dpop   one of a domain, registered
 * start:I:TEXT end:I     a range of NVTX that may overlap others; I is 0 to 9
 * rstart:I:TEXT rend:I   one of ROCTX                 mark:TEXT          a mark of NVTX
 * step:N note:N          a step, with a range and without
 * cuda+ cuda- hip+ hip-  calls that start and stop    api+ api-          those of borescope_record.h
 * load                   loads libcudart.so of our folder, whose own functions count their calls
 * fork                   the rest is done by a child, and then by the parent
 * thread                 the rest is done by a thread
 * sleep:MS               kill: ends by SIGKILL */
#define _GNU_SOURCE
#include <borescope_record.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef BORESCOPE_REAL_NVTX
#include <nvtx3/nvToolsExt.h>
#else
#include "nvtx_protocol.h"
#endif

#include <stdlib.h>
#include <string.h>

__attribute__((weak)) int roctxRangePushA(const char* text);
__attribute__((weak)) int roctxRangePop(void);
__attribute__((weak)) uint64_t roctxRangeStartA(const char* text);
__attribute__((weak)) void roctxRangeStop(uint64_t id);
__attribute__((weak)) int cudaProfilerStart(void);
__attribute__((weak)) int cudaProfilerStop(void);
__attribute__((weak)) int hipProfilerStart(void);
__attribute__((weak)) int hipProfilerStop(void);

static uint64_t ids[10], roctx_ids[10];
static nvtxDomainHandle_t domain;

static void push_registered(const char* text) {
  nvtxEventAttributes_t event = {0};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  if (domain == NULL) domain = nvtxDomainCreateA("a domain");
  event.message.registered = nvtxDomainRegisterStringA(domain, text);
  nvtxDomainRangePushEx(domain, &event);
}

/* The text after the word, or NULL where it is another one. */
static const char* after(const char* word, const char* prefix) {
  const size_t length = strlen(prefix);
  return strncmp(word, prefix, length) == 0 ? word + length : NULL;
}

static int with_text(const char* word) {
  const char* text;
  if ((text = after(word, "push:"))) return nvtxRangePushA(text), 1;
  if ((text = after(word, "apush:"))) return borescope_record_push(text), 1;
  if ((text = after(word, "rpush:"))) return roctxRangePushA(text), 1;
  if ((text = after(word, "domain:"))) return push_registered(text), 1;
  if ((text = after(word, "mark:"))) return nvtxMarkA(text), 1;
  if ((text = after(word, "start:"))) return ids[*text - '0'] = nvtxRangeStartA(text + 2), 1;
  if ((text = after(word, "end:"))) return nvtxRangeEnd(ids[*text - '0']), 1;
  if ((text = after(word, "rstart:"))) return roctx_ids[*text - '0'] = roctxRangeStartA(text + 2), 1;
  if ((text = after(word, "rend:"))) return roctxRangeStop(roctx_ids[*text - '0']), 1;
  if ((text = after(word, "step:"))) return borescope_record_step(strtoull(text, NULL, 10)), 1;
  if ((text = after(word, "note:"))) return borescope_record_note_step(strtoull(text, NULL, 10)), 1;
  if ((text = after(word, "sleep:"))) return usleep(1000 * (unsigned)atoi(text)), 1;
  return 0;
}

static int plain(const char* word) {
  if (strcmp(word, "pop") == 0) return nvtxRangePop(), 1;
  if (strcmp(word, "apop") == 0) return borescope_record_pop(), 1;
  if (strcmp(word, "rpop") == 0) return roctxRangePop(), 1;
  if (strcmp(word, "dpop") == 0) return nvtxDomainRangePop(domain), 1;
  if (strcmp(word, "cuda+") == 0) return cudaProfilerStart(), 1;
  if (strcmp(word, "cuda-") == 0) return cudaProfilerStop(), 1;
  if (strcmp(word, "hip+") == 0) return hipProfilerStart(), 1;
  if (strcmp(word, "hip-") == 0) return hipProfilerStop(), 1;
  if (strcmp(word, "api+") == 0) return borescope_record_start(), 1;
  if (strcmp(word, "api-") == 0) return borescope_record_stop(), 1;
  if (strcmp(word, "kill") == 0) return raise(SIGKILL);
  return 0;
}

/* Beside the program, for its own use alone, as Python packages load theirs. */
static void load_runtime(void) {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 40);
  if (length <= 0) exit(97);
  path[length] = '\0';
  strcpy(strrchr(path, '/'), "/cudart/libcudart.so");
  if (dlopen(path, RTLD_NOW | RTLD_LOCAL) == NULL) exit(96);
}

static void* do_all(void* argument) {
  for (char** word = argument; *word != NULL; ++word) {
    if (strcmp(*word, "load") == 0) {
      load_runtime();
    } else if (strcmp(*word, "fork") == 0) {
      if (fork() == 0) {
        do_all(word + 1);
        exit(0);
      }
      wait(NULL);
    } else if (strcmp(*word, "thread") == 0) {
      pthread_t thread;
      pthread_create(&thread, NULL, do_all, word + 1);
      pthread_join(thread, NULL);
      return NULL;
    } else if (!with_text(*word) && !plain(*word)) {
      fprintf(stderr, "unknown word %s\n", *word);
      exit(95);
    }
  }
  return NULL;
}

int main(int argc, char** argv) {
  (void)argc;
  do_all(argv + 1);
  return 0;
}
