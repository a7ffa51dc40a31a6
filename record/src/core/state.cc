#include "core/state.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "core/children.h"
#include "core/files.h"
#include "core/process.h"
#include "core/rules.h"
#include "core/text.h"
#include "core/writer.h"

namespace borescope::inject {

namespace {

using recording::Control;

constexpr size_t kMostFolderBytes = 2800;

constinit LogState unused_log;
// Used in place of the launcher's page: of a library that does nothing, or of a folder without one.
Control own_control;
char run_folder[kMostFolderBytes + 1];
pid_t home_pid;
bool records_forks = true;
std::atomic<uint32_t> last_fork_number;  // which a child made by fork goes on from

bool IsValid(const Control* control) {
  return control->magic == recording::kControlMagic && control->version == 1;
}

// Maps the launcher's page. Without a valid one, everything is recorded.
void MapControl() {
  own_control.is_recording = 1;
  own_control.starts = 1;
  // Once in a process, and perhaps on a small stack.
  static char path[kMostFolderBytes + 32];
  TextBuilder builder(path, sizeof(path));
  builder.Add(run_folder).Add("/").Add(recording::kControlName);
  const int file = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY);
  if (file < 0) return;
  struct stat status;
  const bool is_whole = fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
                        status.st_size >= static_cast<off_t>(recording::kControlBytes);
  void* page = is_whole ? mmap(nullptr, recording::kControlBytes, PROT_READ | PROT_WRITE,
                               MAP_SHARED, file, 0)
                        : MAP_FAILED;
  close(file);
  if (page == MAP_FAILED) return;
  auto* control = static_cast<Control*>(page);
  if (IsValid(control)) {
    g_control = control;
  } else {
    munmap(page, recording::kControlBytes);
  }
}

void WipeInChild() { memset(static_cast<void*>(g_log), 0, sizeof(LogState)); }

// Pages of their own for the state. Kernels that cannot wipe it leave that to the C library's fork.
bool MapState() {
  const auto page_bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t bytes = (sizeof(LogState) + page_bytes - 1) / page_bytes * page_bytes;
  void* page = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return false;
  g_log = static_cast<LogState*>(page);
  if (madvise(page, bytes, MADV_WIPEONFORK) != 0) pthread_atfork(nullptr, nullptr, WipeInChild);
  return true;
}

// Open for when paths lead there no more, under a number that programs do not come to. What they
// close, and open again under it, is not the folder.
struct KeptFolder {
  int file = -1;
  uint64_t device = 0;
  uint64_t inode = 0;
};
KeptFolder kept_folder;
constexpr int kLeastKeptNumber = 200;

bool IsKept() {
  struct stat status;
  return kept_folder.file >= 0 && fstat(kept_folder.file, &status) == 0 &&
         S_ISDIR(status.st_mode) && status.st_dev == kept_folder.device &&
         status.st_ino == kept_folder.inode;
}

void KeepFolder() {
  const int file = open(run_folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
  struct stat status;
  if (file < 0) return;
  if (fstat(file, &status) == 0) {
    kept_folder = {static_cast<int>(syscall(SYS_fcntl, file, F_DUPFD_CLOEXEC, kLeastKeptNumber)),
                   status.st_dev, status.st_ino};
  }
  close(file);
}

// By its name, where that matters. Programs that the launcher started are recorded anyway.
bool IsWantedProgram() {
  const bool fits =
      g_options.children != Children::kMatching || HasName(g_options.children_pattern.text);
  records_forks = fits && g_options.children != Children::kNone;
  return fits || IsFirstProgram(g_control->launcher_pid);
}

// Nothing is recorded; the programs that this one starts find the environment as it was.
void LeaveRun() {
  if (IsKept()) close(kept_folder.file);
  kept_folder = {};
  run_folder[0] = '\0';
  own_control = {};
  g_control = &own_control;
}

// Runs when the library is loaded: before main where it is preloaded, and before what else of this
// library runs then.
__attribute__((constructor(101))) void Begin() {
  if (getauxval(AT_SECURE) != 0) return;
  const QuietSection quiet;
  BeginRecording(getenv(recording::kRunVariable), getenv(recording::kOptionsVariable));
  // The programs that this one starts inherit the environment.
  if (IsEnabled() && g_options.children == Children::kNone) unsetenv(recording::kRunVariable);
}

}  // namespace

LogState* g_log = &unused_log;
Control* g_control = &own_control;
constinit Options g_options;

void BeginRecording(const char* folder, const char* options) {
  if (folder == nullptr || folder[0] != '/' || strlen(folder) > kMostFolderBytes) return;
  ReadOptions(options, &g_options);
  if (!IsWantedRank(g_options, ReadRank()) || !MapState()) return;
  memcpy(run_folder, folder, strlen(folder) + 1);
  home_pid = getpid();
  g_control = &own_control;
  MapControl();
  KeepFolder();
  if (!IsWantedProgram()) return LeaveRun();
  BeginRules();
  PrepareThreads();
}

bool RecordsForks() { return records_forks; }

const char* RunFolder() { return run_folder; }

int OpenInFolder(const char* path, int flags, unsigned mode) {
  const int file = open(path, flags, mode);
  const bool leads_elsewhere = file < 0 && (errno == ENOENT || errno == EACCES || errno == ENOTDIR);
  const char* const name = strrchr(path, '/');
  if (!leads_elsewhere || name == nullptr) return file;
  const int error = errno;
  const int opened = IsKept() ? openat(kept_folder.file, name + 1, flags, mode) : -1;
  if (opened < 0) errno = error;
  return opened;
}

uint32_t ForkNumber() {
  uint32_t number = g_log->fork_number.load();
  if (number != 0) return number;
  const uint32_t next = last_fork_number.fetch_add(1) + 1;
  return g_log->fork_number.compare_exchange_strong(number, next) ? next : number;
}

bool IsForked() { return getpid() != home_pid; }

}  // namespace borescope::inject
