/* Calls of ROCTX, with or without a library of the program's own. */
#include <stdint.h>
#include <stdio.h>

__attribute__((weak)) void roctxMarkA(const char* text);
__attribute__((weak)) int roctxRangePushA(const char* text);
__attribute__((weak)) int roctxRangePop(void);
__attribute__((weak)) uint64_t roctxRangeStartA(const char* text);
__attribute__((weak)) void roctxRangeStop(uint64_t id);

int main(void) {
  if (roctxMarkA == NULL) return 3;
  roctxMarkA("mark");
  const uint64_t id = roctxRangeStartA("start");
  const int push = roctxRangePushA("push");
  printf("depth %d %d\n", push, roctxRangePop());
  roctxRangeStop(id);
  return 0;
}
