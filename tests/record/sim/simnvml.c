/* A stand-in for libnvidia-ml.so.1 with two GPUs, for tests: it shows how the sampler calls it, and no
 * more. SIMNVML_HANG: a call that never returns, as on a GPU that is sick. */
#include <stdlib.h>
#include <unistd.h>

static int devices[2];

static unsigned number_of(void* device) { return (unsigned)((int*)device - devices); }

int nvmlInit_v2(void) { return 0; }

int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 2;
  return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = &devices[index];
  return index < 2 ? 0 : 2;
}

int nvmlDeviceGetUtilizationRates(void* device, unsigned* rates) {
  rates[0] = 40 + number_of(device);
  rates[1] = 20 + number_of(device);
  return 0;
}

int nvmlDeviceGetMemoryInfo(void* device, unsigned long long* memory) {
  memory[0] = 80000000000;
  memory[1] = 70000000000;
  memory[2] = 10000000000 + number_of(device);
  return 0;
}

int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  if (getenv("SIMNVML_HANG") != NULL) pause();
  *milliwatts = 250500 + 1000 * number_of(device);
  return 0;
}

int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* millijoules) {
  static unsigned long long total = 1000;
  (void)device;
  *millijoules = total += 500;
  return 0;
}

int nvmlDeviceGetClockInfo(void* device, unsigned clock, unsigned* megahertz) {
  (void)device;
  *megahertz = clock == 1 ? 1980 : 2619;
  return clock == 1 || clock == 2 ? 0 : 2;
}

int nvmlDeviceGetTemperature(void* device, unsigned sensor, unsigned* degrees) {
  *degrees = 60 + number_of(device);
  return sensor == 0 ? 0 : 2;
}

/* As some GPUs do: not supported. */
int nvmlDeviceGetPcieThroughput(void* device, unsigned counter, unsigned* kilobytes) {
  (void)device;
  *kilobytes = 7;
  return counter == 0 ? 0 : 3;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* reasons) {
  *reasons = number_of(device) == 1 ? 4 : 0;
  return 0;
}
