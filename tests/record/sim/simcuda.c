/* A stand-in for the driver's library, for tests only: cuInit calls the tool as the driver does. */
#include <dlfcn.h>
#include <stdlib.h>

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
