/* A stand-in for the driver's library, for tests only: cuInit calls the tool as the driver does, and
 * two devices can be asked for what they are. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

enum { kInvalidValue = 1, kInvalidDevice = 101, kFirstHandle = 100 };

int cuDeviceGet(int* device, int number) {
  *device = number + kFirstHandle;
  return number < 2 ? 0 : kInvalidDevice;
}

int cuDeviceGetName(char* name, int bytes, int device) {
  snprintf(name, (size_t)bytes, "Simulated \"GPU\" %d", device - kFirstHandle);
  return 0;
}

int cuDeviceTotalMem_v2(size_t* bytes, int device) {
  *bytes = 80;
  return device < kFirstHandle ? kInvalidDevice : 0;
}

int cuDeviceGetAttribute(int* value, int attribute, int device) {
  (void)device;
  switch (attribute) {
    case 10: *value = 32; return 0;
    case 16: *value = 132; return 0;
    case 39: *value = 2048; return 0;
    case 75: *value = 9; return 0;
    default: return kInvalidValue;
  }
}

int cuDriverGetVersion(int* version) {
  *version = 13000;
  return 0;
}

int cuInit(unsigned flags) {
  (void)flags;
  const char* path = getenv("CUDA_INJECTION64_PATH");
  void* library = path == NULL ? NULL : dlopen(path, RTLD_NOW);
  int (*initialize)(void) =
      library == NULL ? NULL : (int (*)(void))dlsym(library, "InitializeInjection");
  return initialize == NULL || initialize() == 1 ? 0 : 999;
}
