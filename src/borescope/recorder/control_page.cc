#include "borescope/recorder/control_page.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <new>

#include "borescope/recording/control.h"

namespace borescope::internal {
namespace {

using recording::Control;

uint64_t MonotonicNow() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  constexpr uint64_t kNanosecondsPerSecond = 1'000'000'000;
  return static_cast<uint64_t>(now.tv_sec) * kNanosecondsPerSecond +
         static_cast<uint64_t>(now.tv_nsec);
}

std::string PathIn(const std::string& folder) { return folder + "/" + recording::kControlName; }

// The page of an open file, or nullptr.
Control* MapPage(int file) {
  void* const address =
      mmap(nullptr, recording::kControlBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return address == MAP_FAILED ? nullptr : static_cast<Control*>(address);
}

bool IsOfRun(const Control& page) {
  return page.magic == recording::kControlMagic && page.version == recording::kLogVersion;
}

bool HasPageSize(int file) {
  struct stat status{};
  return fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
         status.st_size >= static_cast<off_t>(recording::kControlBytes);
}

Error CannotMake(const std::string& path) {
  return {ErrorCode::kIo, path + ": cannot be made: " + std::strerror(errno)};
}

}  // namespace

Result<ControlPage> ControlPage::Make(const std::string& folder, bool is_recording) {
  const std::string path = PathIn(folder);
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return CannotMake(path);
  // Allocated, so that a full disk is an error here and not a signal in a program.
  const int failure = posix_fallocate(file, 0, recording::kControlBytes);
  Control* const page = failure == 0 ? MapPage(file) : nullptr;
  errno = failure != 0 ? failure : errno;
  const Error error = CannotMake(path);
  close(file);
  if (page == nullptr) return error;
  new (page) Control{.magic = recording::kControlMagic,
                     .version = recording::kLogVersion,
                     .generation = 1,
                     .is_recording = is_recording ? 1U : 0U,
                     .nested_starts = is_recording ? 1U : 0U,
                     .marks = 0,
                     .changed_ns = MonotonicNow(),
                     .reserved = {}};
  return ControlPage(page);
}

Result<ControlPage> ControlPage::Open(const std::string& folder) {
  const Error no_run = UsageError(
      folder + ": no folder of a run; name the one that borescope record printed (NAME.bsr)");
  const int file = open(PathIn(folder).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return no_run;
  Control* const page = HasPageSize(file) ? MapPage(file) : nullptr;
  close(file);
  if (page == nullptr) return no_run;
  ControlPage result(page);
  if (!IsOfRun(*page)) return no_run;
  return result;
}

ControlPage::ControlPage(ControlPage&& other) noexcept : page_(other.page_) {
  other.page_ = nullptr;
}

ControlPage::~ControlPage() {
  if (page_ != nullptr) munmap(page_, recording::kControlBytes);
}

bool ControlPage::is_recording() const {
  return std::atomic_ref(page_->is_recording).load(std::memory_order_relaxed) != 0;
}

uint32_t ControlPage::starts() const {
  return std::atomic_ref(page_->nested_starts).load(std::memory_order_relaxed);
}

bool ControlPage::Start() {
  recording::AddStart(*page_);
  recording::ApplyStarts(*page_, MonotonicNow());
  return is_recording();
}

bool ControlPage::Stop() {
  recording::AddStop(*page_);
  recording::ApplyStarts(*page_, MonotonicNow());
  return is_recording();
}

}  // namespace borescope::internal
