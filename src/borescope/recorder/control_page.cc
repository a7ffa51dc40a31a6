#include "borescope/recorder/control_page.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <ctime>
#include <iterator>
#include <new>
#include <thread>

#include "borescope/base/io/paths.h"
#include "borescope/recorder/process_facts.h"
#include "borescope/recording/control.h"

namespace borescope::internal {
namespace {

using recording::Control;

std::string PathIn(const std::string& folder) { return folder + "/" + recording::kControlName; }

// The page of an open file, or nullptr, and errno says why.
Control* MapPage(int file, int access) {
  const int protection = access == O_RDONLY ? PROT_READ : PROT_READ | PROT_WRITE;
  void* const address = mmap(nullptr, recording::kControlBytes, protection, MAP_SHARED, file, 0);
  return address == MAP_FAILED ? nullptr : static_cast<Control*>(address);
}

bool IsOfRun(const Control& page) {
  return page.magic == recording::kControlMagic && page.version == recording::kLogVersion;
}

bool HasPageSize(const struct stat& status) {
  return S_ISREG(status.st_mode) && status.st_size >= static_cast<off_t>(recording::kControlBytes);
}

Error Unopened(const std::string& folder, int error) {
  return {ErrorCode::kIo, std::string("cannot be opened: ") + std::strerror(error),
          error == EACCES || error == EROFS ? "only the user who records may do that" : "",
          PathIn(folder)};
}

// Whether the process of a slot runs. The slot of one that has ended is freed: it could not.
bool IsAlive(recording::FlusherSlot& slot, uint32_t pid) {
  if (StillRuns(pid, std::atomic_ref(slot.start_time).load())) return true;
  std::atomic_ref(slot.pid).compare_exchange_strong(pid, 0);
  return false;
}

// Who has answered a request by now, and who has not.
FlushReport CountFlushers(Control& page, uint32_t request) {
  FlushReport report;
  for (recording::FlusherSlot& slot : page.flushers) {
    const uint32_t pid = std::atomic_ref(slot.pid).load();
    if (pid == 0 || pid == recording::kSlotBeingTaken || !IsAlive(slot, pid)) continue;
    // Numbers of requests go round.
    const uint32_t answered = std::atomic_ref(slot.answered).load();
    const bool has_answered = static_cast<int32_t>(answered - request) >= 0;
    (has_answered ? report.answered : report.silent) += 1;
  }
  return report;
}

Error CannotMake(const std::string& path) {
  return {ErrorCode::kIo, std::string("cannot be made: ") + std::strerror(errno), {}, path};
}

}  // namespace

Result<ControlPage> ControlPage::Make(const std::string& folder, bool is_recording) {
  const std::string path = PathIn(folder);
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return CannotMake(path);
  // Allocated, so that a full disk is an error here and not a signal in a program.
  const int failure = posix_fallocate(file, 0, recording::kControlBytes);
  Control* const page = failure == 0 ? MapPage(file, O_RDWR) : nullptr;
  errno = failure != 0 ? failure : errno;
  const Error error = CannotMake(path);
  close(file);
  if (page == nullptr) return error;
  new (page) Control{.magic = recording::kControlMagic,
                     .version = recording::kLogVersion,
                     .generation = 1,
                     .is_recording = is_recording ? 1U : 0U,
                     .starts = is_recording ? 1U : 0U,
                     .changed_ns = MonotonicNow(),
                     .flush_requests = 0,
                     .log_error = 0,
                     .ring_held_until_ns = 0,
                     .rule_starts = 0,
                     .marks = 0,
                     .are_rules_done = 0,
                     .seen_names = 0,
                     .launcher_pid = static_cast<uint32_t>(getpid()),
                     .failed_logs = 0,
                     .next_step = 0,
                     .reserved = {},
                     .flushers = {},
                     .seen = {}};
  return ControlPage(page);
}

Result<ControlPage> ControlPage::Open(const std::string& folder) { return OpenAs(folder, O_RDWR); }

Result<ControlPage> ControlPage::OpenToRead(const std::string& folder) {
  return OpenAs(folder, O_RDONLY);
}

Result<ControlPage> ControlPage::OpenAs(const std::string& folder, int access) {
  const Error no_run = Error{ErrorCode::kInvalidArgument, "no folder of a run",
                             "name the one that borescope record printed (NAME.bsr)", folder};
  const Descriptor file(open(PathIn(folder).c_str(), access | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (file.number() < 0) {
    constexpr int kNoRun[] = {ENOENT, ENOTDIR, ELOOP, EISDIR, ENXIO, ENAMETOOLONG};
    const bool is_none = std::find(std::begin(kNoRun), std::end(kNoRun), errno) != std::end(kNoRun);
    return is_none ? no_run : Unopened(folder, errno);
  }
  struct stat status{};
  if (fstat(file.number(), &status) != 0) return Unopened(folder, errno);
  if (!HasPageSize(status)) return no_run;
  Control* const page = MapPage(file.number(), access);
  if (page == nullptr) return Unopened(folder, errno);
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

uint32_t ControlPage::generation() const {
  return std::atomic_ref(page_->generation).load(std::memory_order_acquire);
}

void ControlPage::AwaitChange(uint32_t seen, std::chrono::nanoseconds most) const {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(most);
  const timespec time = {seconds.count(), (most - seconds).count()};
  syscall(SYS_futex, &page_->generation, FUTEX_WAIT, seen, &time, nullptr, 0);
}

void ControlPage::WakeWaiting() const {
  syscall(SYS_futex, &page_->generation, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

std::string ControlPage::WhyLogsFailed() const {
  const uint32_t count = std::atomic_ref(page_->failed_logs).load();
  if (count == 0) return {};
  const auto error = static_cast<int>(std::atomic_ref(page_->log_error).load());
  return std::to_string(count) +
         (count == 1 ? " process could not write its log: "
                     : " processes could not write their logs: ") +
         std::strerror(error);
}

int64_t ControlPage::launcher() const {
  return int64_t{std::atomic_ref(page_->launcher_pid).load(std::memory_order_relaxed)};
}

uint32_t ControlPage::starts() const { return recording::CountOf(recording::LoadStarts(*page_)); }

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

void ControlPage::EndAll(bool is_last) {
  if (is_last) std::atomic_ref(page_->are_rules_done).store(1);
  recording::EndStarts(*page_);
  recording::ApplyStarts(*page_, MonotonicNow());
}

RuleFacts ControlPage::rule_facts() const {
  RuleFacts facts;
  // The page is made with the first.
  facts.is_recording = is_recording();
  facts.has_started = facts.is_recording || std::atomic_ref(page_->generation).load() > 1;
  const uint64_t next_step = std::atomic_ref(page_->next_step).load();
  if (next_step != 0) facts.last_step = next_step - 1;
  for (recording::SeenName& seen : page_->seen) {
    const size_t length = std::atomic_ref(seen.length).load(std::memory_order_acquire);
    const std::string name(seen.text, std::min(length, sizeof(seen.text)));
    const bool is_new = std::find(facts.seen.begin(), facts.seen.end(), name) == facts.seen.end();
    if (!name.empty() && is_new) facts.seen.push_back(name);
  }
  facts.has_more = std::atomic_ref(page_->seen_names).load() > recording::kSeenNames;
  return facts;
}

void ControlPage::CountMark() {
  std::atomic_ref(page_->marks).fetch_add(1, std::memory_order_relaxed);
}

void ControlPage::HoldRings() {
  constexpr uint64_t kHoldNs = recording::kMostHoldNs / 2;
  std::atomic_ref(page_->ring_held_until_ns).store(MonotonicNow() + kHoldNs);
}

void ControlPage::LetGoOfRings() { std::atomic_ref(page_->ring_held_until_ns).store(0); }

FlushReport ControlPage::Flush(std::chrono::nanoseconds deadline) {
  const uint32_t request = std::atomic_ref(page_->flush_requests).fetch_add(1) + 1;
  const auto end = std::chrono::steady_clock::now() + deadline;
  FlushReport report = CountFlushers(*page_, request);
  while (report.silent > 0 && std::chrono::steady_clock::now() < end) {
    constexpr auto kLookEvery = std::chrono::milliseconds(5);
    std::this_thread::sleep_for(kLookEvery);
    report = CountFlushers(*page_, request);
  }
  return report;
}

}  // namespace borescope::internal
