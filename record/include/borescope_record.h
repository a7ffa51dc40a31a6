/* Ranges and marks of your own in a recording of `borescope record`.
 *
 * Link with -lborescope_record, or load the library at run time: outside of `borescope record`
 * every function returns at once, and nothing is recorded. All are thread-safe, none fails, none
 * takes a lock, and none may be called in a signal handler.
 *
 * Texts are UTF-8, of at most 4,096 bytes (what is longer is cut); a null pointer is an empty text.
 */
#ifndef BORESCOPE_RECORD_H
#define BORESCOPE_RECORD_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BORESCOPE_RECORD_API __attribute__((visibility("default")))

/* Whether what follows is recorded now: 1 or 0. */
BORESCOPE_RECORD_API int borescope_record_is_recording(void);

/* Whether this process belongs to a run: 1 or 0. It does also while recording is paused. */
BORESCOPE_RECORD_API int borescope_record_is_enabled(void);

/* Starts and stops recording in all processes of the run; starts count, so that a program that
 * starts twice stops twice. Stops beyond the last start are ignored. */
BORESCOPE_RECORD_API void borescope_record_start(void);
BORESCOPE_RECORD_API void borescope_record_stop(void);

/* A range of the calling thread, from push to the pop that belongs to it: ranges of one thread
 * nest. */
BORESCOPE_RECORD_API void borescope_record_push(const char* text);
BORESCOPE_RECORD_API void borescope_record_pop(void);

/* A step of the program, such as a training step: a range "ProfilerStep#NUMBER" of the calling
 * thread, which ends with its next step or with step_end. It may end within a range that began
 * outside of it. */
BORESCOPE_RECORD_API void borescope_record_step(uint64_t number);
BORESCOPE_RECORD_API void borescope_record_step_end(void);

/* A step that a framework counts: where `borescope record --start=step:N` or --stop=step:N waits
 * for it, this begins it. Nothing is recorded. borescope_record_step does so, too. */
BORESCOPE_RECORD_API void borescope_record_note_step(uint64_t number);

/* A moment. */
BORESCOPE_RECORD_API void borescope_record_mark(const char* text);

/* A range that may end on another thread and overlap others. The number that start returns, never
 * 0 while recording, is what ends it. */
BORESCOPE_RECORD_API uint64_t borescope_record_range_start(const char* text);
BORESCOPE_RECORD_API void borescope_record_range_end(uint64_t id);

/* Has device work that has ended written to the log. Host records need no flush. */
BORESCOPE_RECORD_API void borescope_record_flush(void);

/* Around the start of another profiler, on the thread that starts it, where that profiles the
 * processor alone: it does not get CUPTI, which it may ask for all the same. */
BORESCOPE_RECORD_API void borescope_record_keep_device(void);
BORESCOPE_RECORD_API void borescope_record_end_keeping_device(void);

/* After another profiler of the program that took CUPTI for itself, as one of device work does:
 * device work is recorded again. */
BORESCOPE_RECORD_API void borescope_record_take_device_back(void);

/* An operator of a framework that has run on this thread: its name, when it began and ended
 * (nanoseconds of CLOCK_MONOTONIC), the number that its backward pass has, too (-1: none), the
 * thread of its forward pass (0: this one), its id (0: none), and its inputs as JSON (see
 * docs/formats/recording.md of Borescope), or a null pointer. */
BORESCOPE_RECORD_API void borescope_record_operator(const char* name, uint64_t start_ns,
                                                    uint64_t end_ns, int64_t sequence,
                                                    uint64_t forward_thread, uint64_t id,
                                                    const char* inputs);

/* The same, of an operator that ran on another thread of the process, which has this id in the
 * system. */
BORESCOPE_RECORD_API void borescope_record_operator_of(uint32_t thread, const char* name,
                                                       uint64_t start_ns, uint64_t end_ns,
                                                       int64_t sequence, uint64_t forward_thread,
                                                       uint64_t id, const char* inputs);

/* A range of a thread of the process that is over. */
BORESCOPE_RECORD_API void borescope_record_range_of(uint32_t thread, const char* text,
                                                    uint64_t start_ns, uint64_t end_ns);

/* The operators and ranges of a profile that PyTorch's profiler has written into a file. `ahead_ns`
 * is what CLOCK_MONOTONIC is ahead of the clock of the profile, below 0 as a rule. How many there
 * were; -1 where the file cannot be read. */
BORESCOPE_RECORD_API int64_t borescope_record_profile(const char* path, int64_t ahead_ns);

/* A function of an interpreter: describe it once, which gives its number (0 outside of a
 * recording), then record its calls and returns. */
BORESCOPE_RECORD_API uint32_t borescope_record_code(const char* name, const char* file,
                                                    uint32_t line);
BORESCOPE_RECORD_API void borescope_record_call(uint32_t code);
BORESCOPE_RECORD_API void borescope_record_return(uint32_t code);

/* For Python before 3.12: `event` is what PyEval_SetProfile takes, once `begin` has returned 1. It
 * records calls and returns of functions whose file lies neither in the folder `own` nor in that of
 * the standard library, `library`, but for its site-packages and dist-packages; both end in "/". */
BORESCOPE_RECORD_API int borescope_record_python_begin(const char* library, const char* own);
BORESCOPE_RECORD_API int borescope_record_python_event(void* unused, void* frame, int what,
                                                       void* argument);

#ifdef __cplusplus
}
#endif
#endif
