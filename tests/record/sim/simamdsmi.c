/* A stand-in for libamd_smi.so with one GPU in each of two sockets, for tests. */
#include <stdint.h>

static int gpus[2];

int amdsmi_init(uint64_t flags) { return flags == 2 ? 0 : 1; }

int amdsmi_get_socket_handles(uint32_t* count, void** sockets) {
  if (*count < 2) return 1;
  *count = 2;
  for (int i = 0; i < 2; ++i) sockets[i] = &gpus[i];
  return 0;
}

int amdsmi_get_processor_handles(void* socket, uint32_t* count, void** processors) {
  *count = 1;
  processors[0] = socket;
  return 0;
}

int amdsmi_get_gpu_activity(void* gpu, uint32_t* usage) {
  usage[0] = gpu == &gpus[0] ? 30 : 31;
  usage[1] = 0xffff; /* not known */
  return 0;
}

int amdsmi_get_gpu_memory_usage(void* gpu, int type, uint64_t* bytes) {
  (void)gpu;
  *bytes = 2000000000;
  return type == 0 ? 0 : 1;
}

/* 16 microjoules a step, 0.2 s and 40 J from one reading to the next: 200 W. */
int amdsmi_get_energy_count(void* gpu, uint64_t* steps, float* microjoules, uint64_t* ns) {
  static uint64_t readings[2];
  const uint64_t reading = ++readings[gpu == &gpus[1]];
  *microjoules = 16.0f;
  *steps = reading * 2500000;
  *ns = reading * 200000000;
  return 0;
}

int amdsmi_get_clock_info(void* gpu, int type, uint32_t* clock) {
  (void)gpu;
  clock[0] = type == 0 ? 2100 : type == 4 ? 1300 : 9;
  return 0;
}

int amdsmi_get_temp_metric(void* gpu, int sensor, int metric, int64_t* degrees) {
  (void)gpu;
  *degrees = 55;
  return sensor == 0 && metric == 0 ? 0 : 2; /* no hotspot */
}
