// A library for LD_PRELOAD that makes one call of the system fail, as a full disk, a lack of memory
// or a limit would: the N-th of its kind, or all from the N-th on. inject.py drives it by these
// variables of the environment, which programs that are started from here do not inherit:
//   FAULT_CALL    the kind of call, a name of kKinds below; without it nothing fails
//   FAULT_AT      which call of this kind, from 1
//   FAULT_LASTS   if set, all later ones as well
//   FAULT_PATH    if set, of "stat" and "access" only what asks for a path that ends so
//   FAULT_ERROR   the number in errno, or "short": half of what was asked for is read or written
//   FAULT_TRACE   if set, the first failing call says on stderr where it came from
// Where a signal ends the program, stderr says where, and where the failing calls came from.
//   FAULT_COUNTS  a file that gets a line "kind count" of every kind at the end of the program
//   FAULT_ARMED   "later": counted is what is called after fault_arm()
//   FAULT_SERVER  a socket of packets: the program waits for requests before main(), so that it
//                 is loaded and linked once for many faults. A request is variables as above,
//                 "NAME=value" each with a zero at its end; a child takes them and goes on into
//                 main(), in a session of its own. Answers are the child's number, or less than 0,
//                 and at its end its status of waitpid().
// It allocates nothing and needs glibc (memory comes from __libc_malloc). Counted is what is called
// within main(): before it, objects of libraries are made, and an exception there cannot be caught.
#include <dirent.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

enum Kind {
  kMemory,
  kRead,
  kWrite,
  kOpen,
  kMap,
  kRename,
  kSync,
  kTruncate,
  kStat,
  kClose,
  kFolder,
  kRemove,
  kSeek,
  kRandom,
  kLock,
  kThread,
  kList,
  kTime,
  kAccess,
  kKinds
};

constexpr const char* kNames[kKinds] = {
    "memory", "read",   "write", "open",   "map",  "rename", "sync", "truncate", "stat",  "close",
    "folder", "remove", "seek",  "random", "lock", "thread", "list", "time",     "access"};

std::atomic<long> counts[kKinds];
int failing_kind = -1;
long failing_at = 0;
bool lasts = false;
bool is_short = false;
bool is_traced = false;
int error_number = ENOSPC;
char counts_path[4096];
const char* path_end = nullptr;
std::atomic<bool> is_in_main{false};
bool is_armed_later = false;
int server = -1;
int (*program_main)(int, char**, char**) = nullptr;

// What it calls of ours counts as any other call, and does not fail.
void SayWhere() {
  const int kind = failing_kind;
  failing_kind = -1;
  void* frames[64];
  backtrace_symbols_fd(frames, backtrace(frames, 64), STDERR_FILENO);
  failing_kind = kind;
}

// Where the first failing calls came from. A library that does not survive one may end the program
// much later, in what it left behind, and with several threads a second run may end elsewhere: so
// the run that ends says all of it.
constexpr int kKeptStacks = 256;
void* kept_stacks[kKeptStacks][64];
int kept_depths[kKeptStacks];
std::atomic<int> kept_count{0};

void KeepStack() {
  const int place = kept_count.fetch_add(1);
  if (place < kKeptStacks) kept_depths[place] = backtrace(kept_stacks[place], 64);
}

void SayWhereItEnds(int number) {
  SayWhere();
  const int count = kept_count.load() < kKeptStacks ? kept_count.load() : kKeptStacks;
  for (int i = 0; i < count; ++i) {
    backtrace_symbols_fd(kept_stacks[i], kept_depths[i], STDERR_FILENO);
  }
  raise(number);
}

void HearSignals() {
  for (const int number : {SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE}) {
    struct sigaction old;
    if (sigaction(number, nullptr, &old) != 0 || old.sa_handler != SIG_DFL) continue;
    struct sigaction action = {};
    action.sa_handler = SayWhereItEnds;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER | SA_ONSTACK);
    sigaction(number, &action, nullptr);
  }
}

// Whether this call fails.
bool Fails(Kind kind) {
  if (!is_in_main.load(std::memory_order_relaxed)) return false;
  const long number = counts[kind].fetch_add(1, std::memory_order_relaxed) + 1;
  if (kind != failing_kind || (lasts ? number < failing_at : number != failing_at)) return false;
  if (number == failing_at) {
    if (is_traced) SayWhere();
    HearSignals();
  }
  KeepStack();
  return true;
}

bool IsMeant(const char* path) {
  if (path_end == nullptr) return true;
  const size_t size = strlen(path);
  const size_t end = strlen(path_end);
  return size >= end && strcmp(path + size - end, path_end) == 0;
}

const char* TakeVariable(const char* name) {
  constexpr int kMost = 16;
  static char kept[kMost][64];
  static int used = 0;
  const char* const value = getenv(name);
  if (value == nullptr || used == kMost) return nullptr;
  char* const copy = kept[used++];
  strncpy(copy, value, sizeof(kept[0]) - 1);
  unsetenv(name);
  return copy;
}

[[gnu::constructor]] void ReadVariables() {
  void* frame;
  backtrace(&frame, 1);  // loads what it needs, which a handler of signals could not
  if (const char* const path = getenv("FAULT_COUNTS")) {
    strncpy(counts_path, path, sizeof(counts_path) - 1);
    unsetenv("FAULT_COUNTS");
  }
  const char* const error = TakeVariable("FAULT_ERROR");
  is_short = error != nullptr && strcmp(error, "short") == 0;
  if (error != nullptr && !is_short) error_number = atoi(error);
  lasts = TakeVariable("FAULT_LASTS") != nullptr;
  path_end = TakeVariable("FAULT_PATH");
  is_armed_later = TakeVariable("FAULT_ARMED") != nullptr;
  is_traced = TakeVariable("FAULT_TRACE") != nullptr;
  if (const char* const number = TakeVariable("FAULT_SERVER")) server = atoi(number);
  if (const char* const at = TakeVariable("FAULT_AT")) failing_at = atol(at);
  if (const char* const call = TakeVariable("FAULT_CALL")) {
    for (int kind = 0; kind < kKinds; ++kind) {
      if (strcmp(call, kNames[kind]) == 0) failing_kind = kind;
    }
  }
}

[[gnu::destructor]] void WriteCounts() {
  is_in_main = false;
  if (counts_path[0] == 0) return;
  const long file =
      syscall(SYS_openat, AT_FDCWD, counts_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  for (int kind = 0; kind < kKinds; ++kind) {
    char line[64];
    const int size = snprintf(line, sizeof(line), "%s %ld\n", kNames[kind], counts[kind].load());
    syscall(SYS_write, file, line, size);
  }
  syscall(SYS_close, file);
}

template <class Function>
Function* Next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

// Returns in each child. What is called here is not counted, as main() has not begun.
void ServeRequests() {
  static char request[8192];
  for (;;) {
    const ssize_t size = recv(server, request, sizeof(request) - 1, 0);
    if (size <= 0) _exit(0);
    request[size] = 0;
    const pid_t child = fork();
    if (child == 0) {
      setsid();
      close(server);
      server = -1;
      for (char* one = request; one < request + size; one += strlen(one) + 1) putenv(one);
      ReadVariables();
      return;
    }
    int status = -1;
    send(server, &child, sizeof(child), MSG_NOSIGNAL);
    if (child > 0) waitpid(child, &status, 0);
    send(server, &status, sizeof(status), MSG_NOSIGNAL);
  }
}

int RunMain(int count, char** words, char** environment) {
  if (server >= 0) ServeRequests();
  is_in_main = !is_armed_later;
  const int status = program_main(count, words, environment);
  is_in_main = false;
  return status;
}

size_t LessOf(size_t size) { return size > 1 ? size / 2 : size; }

}  // namespace

// A function that fails with `failure` and an errno, or does what it does.
#define FAULT_WRAP(result, name, kind, failure, parameters, ...) \
  result name parameters {                                       \
    static auto* const next = Next<result parameters>(#name);    \
    if (!Fails(kind)) return next(__VA_ARGS__);                  \
    errno = error_number;                                        \
    return failure;                                              \
  }

// The same for those that ask for a path, or for a file without one.
#define FAULT_WRAP_PATH(name, kind, path, parameters, ...)        \
  int name parameters noexcept {                                  \
    static auto* const next = Next<int parameters>(#name);        \
    if (!IsMeant(path) || !Fails(kind)) return next(__VA_ARGS__); \
    errno = error_number;                                         \
    return -1;                                                    \
  }

// The same for those that may transfer less than `size` bytes.
#define FAULT_WRAP_TRANSFER(name, kind, parameters, size, ...) \
  ssize_t name parameters {                                    \
    static auto* const next = Next<ssize_t parameters>(#name); \
    if (Fails(kind)) {                                         \
      if (!is_short) {                                         \
        errno = error_number;                                  \
        return -1;                                             \
      }                                                        \
      size = LessOf(size);                                     \
    }                                                          \
    return next(__VA_ARGS__);                                  \
  }

// With a mode as the last argument where a file is made.
#define FAULT_WRAP_OPEN(name, first, first_name)                             \
  int name(first const char* path, int flags, ...) {                         \
    static auto* const next = Next<int(first const char*, int, ...)>(#name); \
    va_list rest;                                                            \
    va_start(rest, flags);                                                   \
    const unsigned mode = va_arg(rest, unsigned);                            \
    va_end(rest);                                                            \
    if (!Fails(kOpen)) return next(first_name path, flags, mode);            \
    errno = error_number;                                                    \
    return -1;                                                               \
  }
#define FAULT_COMMA ,

// Of fcntl() only locks are counted.
#define FAULT_WRAP_LOCK(name)                                            \
  int name(int file, int command, ...) {                                 \
    static auto* const next = Next<int(int, int, ...)>(#name);           \
    va_list rest;                                                        \
    va_start(rest, command);                                             \
    void* const argument = va_arg(rest, void*);                          \
    va_end(rest);                                                        \
    const bool is_lock = command == F_GETLK || command == F_SETLK;       \
    if (!is_lock || !Fails(kLock)) return next(file, command, argument); \
    errno = error_number;                                                \
    return -1;                                                           \
  }

extern "C" {

// From here on calls are counted, and fail: for a Python program that has begun.
void fault_arm() { is_in_main = true; }

void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* memory, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

#define FAULT_MEMORY(call)          \
  if (!Fails(kMemory)) return call; \
  errno = ENOMEM;                   \
  return nullptr
void* malloc(size_t size) noexcept { FAULT_MEMORY(__libc_malloc(size)); }
void* calloc(size_t count, size_t size) noexcept { FAULT_MEMORY(__libc_calloc(count, size)); }
void* realloc(void* memory, size_t size) noexcept { FAULT_MEMORY(__libc_realloc(memory, size)); }
void* aligned_alloc(size_t alignment, size_t size) noexcept {
  FAULT_MEMORY(__libc_memalign(alignment, size));
}
void* memalign(size_t alignment, size_t size) noexcept {
  FAULT_MEMORY(__libc_memalign(alignment, size));
}
int posix_memalign(void** memory, size_t alignment, size_t size) noexcept {
  if (Fails(kMemory)) return ENOMEM;
  *memory = __libc_memalign(alignment, size);
  return *memory != nullptr ? 0 : ENOMEM;
}

FAULT_WRAP_TRANSFER(read, kRead, (int file, void* to, size_t size), size, file, to, size)
FAULT_WRAP_TRANSFER(pread, kRead, (int file, void* to, size_t size, off_t at), size, file, to, size,
                    at)
FAULT_WRAP_TRANSFER(pread64, kRead, (int file, void* to, size_t size, off64_t at), size, file, to,
                    size, at)
FAULT_WRAP_TRANSFER(write, kWrite, (int file, const void* from, size_t size), size, file, from,
                    size)
FAULT_WRAP_TRANSFER(pwrite, kWrite, (int file, const void* from, size_t size, off_t at), size, file,
                    from, size, at)
FAULT_WRAP_TRANSFER(pwrite64, kWrite, (int file, const void* from, size_t size, off64_t at), size,
                    file, from, size, at)
FAULT_WRAP(ssize_t, writev, kWrite, -1, (int file, const iovec* parts, int count), file, parts,
           count)
FAULT_WRAP(ssize_t, readv, kRead, -1, (int file, const iovec* parts, int count), file, parts, count)
FAULT_WRAP_OPEN(open, , )
FAULT_WRAP_OPEN(open64, , )
FAULT_WRAP_OPEN(openat, int folder FAULT_COMMA, folder FAULT_COMMA)
FAULT_WRAP_OPEN(openat64, int folder FAULT_COMMA, folder FAULT_COMMA)
FAULT_WRAP(FILE*, fopen, kOpen, nullptr, (const char* path, const char* mode), path, mode)
FAULT_WRAP(FILE*, fopen64, kOpen, nullptr, (const char* path, const char* mode), path, mode)
FAULT_WRAP(DIR*, opendir, kOpen, nullptr, (const char* path), path)
FAULT_WRAP(void*, mmap, kMap, MAP_FAILED,
           (void* at, size_t size, int access, int flags, int file, off_t from), at, size, access,
           flags, file, from)
FAULT_WRAP(void*, mmap64, kMap, MAP_FAILED,
           (void* at, size_t size, int access, int flags, int file, off64_t from), at, size, access,
           flags, file, from)
FAULT_WRAP(int, fsync, kSync, -1, (int file), file)
FAULT_WRAP(int, fdatasync, kSync, -1, (int file), file)
FAULT_WRAP(int, rename, kRename, -1, (const char* from, const char* to) noexcept, from, to)
FAULT_WRAP(int, renameat, kRename, -1, (int of, const char* from, int in, const char* to) noexcept,
           of, from, in, to)
FAULT_WRAP(int, renameat2, kRename, -1,
           (int of, const char* from, int in, const char* to, unsigned flags) noexcept, of, from,
           in, to, flags)
FAULT_WRAP(int, link, kRename, -1, (const char* from, const char* to) noexcept, from, to)
FAULT_WRAP(int, linkat, kRename, -1,
           (int of, const char* from, int in, const char* to, int flags) noexcept, of, from, in, to,
           flags)
FAULT_WRAP(int, ftruncate, kTruncate, -1, (int file, off_t size) noexcept, file, size)
FAULT_WRAP(int, ftruncate64, kTruncate, -1, (int file, off64_t size) noexcept, file, size)
FAULT_WRAP(int, fallocate, kTruncate, -1, (int file, int mode, off_t from, off_t size), file, mode,
           from, size)
FAULT_WRAP(int, posix_fallocate, kTruncate, error_number, (int file, off_t from, off_t size), file,
           from, size)
FAULT_WRAP_PATH(fstat, kStat, "", (int file, struct stat* status), file, status)
FAULT_WRAP_PATH(fstat64, kStat, "", (int file, struct stat64* status), file, status)
FAULT_WRAP_PATH(stat, kStat, path, (const char* path, struct stat* status), path, status)
FAULT_WRAP_PATH(lstat, kStat, path, (const char* path, struct stat* status), path, status)
FAULT_WRAP_PATH(stat64, kStat, path, (const char* path, struct stat64* status), path, status)
FAULT_WRAP_PATH(lstat64, kStat, path, (const char* path, struct stat64* status), path, status)
FAULT_WRAP_PATH(fstatat, kStat, path,
                (int folder, const char* path, struct stat* status, int flags), folder, path,
                status, flags)
FAULT_WRAP(int, mkdir, kFolder, -1, (const char* path, mode_t mode) noexcept, path, mode)
FAULT_WRAP(int, unlink, kRemove, -1, (const char* path) noexcept, path)
FAULT_WRAP(int, rmdir, kRemove, -1, (const char* path) noexcept, path)
FAULT_WRAP(int, unlinkat, kRemove, -1, (int folder, const char* path, int flags) noexcept, folder,
           path, flags)
FAULT_WRAP(off_t, lseek, kSeek, -1, (int file, off_t at, int whence) noexcept, file, at, whence)
FAULT_WRAP(off64_t, lseek64, kSeek, -1, (int file, off64_t at, int whence) noexcept, file, at,
           whence)
FAULT_WRAP(ssize_t, getrandom, kRandom, -1, (void* to, size_t size, unsigned flags), to, size,
           flags)
FAULT_WRAP(int, flock, kLock, -1, (int file, int operation) noexcept, file, operation)
FAULT_WRAP_LOCK(fcntl)
FAULT_WRAP_LOCK(fcntl64)
FAULT_WRAP_PATH(access, kAccess, path, (const char* path, int mode), path, mode)
FAULT_WRAP_PATH(faccessat, kAccess, path, (int folder, const char* path, int mode, int flags),
                folder, path, mode, flags)
FAULT_WRAP(int, utimensat, kTime, -1,
           (int folder, const char* path, const timespec times[2], int flags) noexcept, folder,
           path, times, flags)
FAULT_WRAP(dirent*, readdir, kList, nullptr, (DIR * folder), folder)
FAULT_WRAP(dirent64*, readdir64, kList, nullptr, (DIR * folder), folder)

int __libc_start_main(int (*main)(int, char**, char**), int count, char** words, void (*init)(),
                      void (*fini)(), void (*loader_fini)(), void* stack_end) {
  static auto* const next = Next<decltype(__libc_start_main)>("__libc_start_main");
  program_main = main;
  return next(RunMain, count, words, init, fini, loader_fini, stack_end);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) noexcept {
  static auto* const next = Next<decltype(pthread_create)>("pthread_create");
  return Fails(kThread) ? EAGAIN : next(thread, attributes, start, argument);
}

// Closed as the kernel does it, which says afterwards that the data may be lost.
int close(int file) {
  static auto* const next = Next<int(int)>("close");
  const bool fails = Fails(kClose);
  const int status = next(file);
  if (!fails) return status;
  errno = error_number;
  return -1;
}
}
