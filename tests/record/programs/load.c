// Runs what another program is from a library, which it loads for itself alone, as Python does:
// load LIBRARY ARGUMENTS...
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char** words) {
  if (count < 2) return 2;
  void* library = dlopen(words[1], RTLD_NOW | RTLD_LOCAL);
  int (*run)(int, char**) =
      library == NULL ? NULL : (int (*)(int, char**))dlsym(library, "run_from_library");
  if (run == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  return run(count - 1, words + 1);
}
