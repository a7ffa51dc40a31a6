/* A stand-in for CUPTI, for tests only: the entry points that the recording library uses, with work
 * that a test plants and faults that it asks for. It aborts where a tool breaks CUPTI's rules. */
#ifndef BORESCOPE_TESTS_SIMCUPTI_H
#define BORESCOPE_TESTS_SIMCUPTI_H

#include <stddef.h>
#include <stdint.h>

/* What the environment says: SIMCUPTI_VERSION (28, 24, 26, 130000, 130500: the sizes of records,
 * too), SIMCUPTI_FAULT, a name of the list in simcupti.c. */

/* Work of the device and the call that launched it, put into buffers at the next flush. */
void simcupti_kernel(uint32_t correlation, uint64_t start, uint64_t end, const char* name);
void simcupti_copy(uint32_t correlation, uint64_t start, uint64_t end, uint64_t bytes);
void simcupti_set(uint32_t correlation, uint64_t start, uint64_t end, uint64_t bytes);
void simcupti_call(uint32_t kind, uint32_t callback, uint32_t correlation, uint64_t start,
                   uint64_t end, int32_t result);
void simcupti_others(uint32_t correlation, uint64_t start);
/* The clock that the tool registered. */
uint64_t simcupti_now(void);
/* How often a tool asked for the next record. */
long simcupti_reads(void);
/* How many records were put into buffers. */
long simcupti_appended(void);
/* How often buffers were flushed. */
long simcupti_flushes(void);
/* Buffers that are out, and whether a kind is enabled, or was at any time. */
int simcupti_buffers(void);
int simcupti_is_enabled(uint32_t kind);
int simcupti_was_enabled(uint32_t kind);
/* Whether a thread is just enabling kernels, which takes a while with the fault "slow". */
int simcupti_is_enabling(void);
/* A call of cuProfilerStart or cuProfilerStop, which subscribers see before and after it. */
void simcupti_profiler(int is_start);
/* A launch of a kernel by a call of the driver, which subscribers see before and after it; the
 * kernel's record is another matter (simcupti_kernel). `number` is CUPTI's of the call. */
void simcupti_launch(uint32_t number, void* context, uint32_t correlation, const char* symbol);
/* How many objects of the range profiler there are that nobody has given back. */
int simcupti_range_profilers(void);
/* Unloads a module: the memory of a name is used by another. */
void simcupti_rename(char* name, const char* other);

/* Between the files of the simulation. */
void simcupti_misuse(const char* what);
int simcupti_has_fault(const char* name);
void simranges_run(void* context, uint32_t correlation);

#endif
