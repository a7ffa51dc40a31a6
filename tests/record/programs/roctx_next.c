/* Stands in for a program's own library of ROCTX, so that a test sees what is passed on to it. */
#include <stdint.h>
#include <stdio.h>

void roctxMarkA(const char* text) { printf("next mark %s\n", text); }
int roctxRangePushA(const char* text) { return printf("next push %s\n", text) * 0 + 100; }
int roctxRangePop(void) { return 200; }
uint64_t roctxRangeStartA(const char* text) { return (uint64_t)printf("next start %s\n", text) * 0 + 1; }
void roctxRangeStop(uint64_t id) { printf("next stop %d\n", (int)id); }
