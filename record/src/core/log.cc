#include "core/log.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/clock.h"
#include "core/process.h"
#include "core/ring.h"
#include "core/state.h"
#include "core/text.h"
#include "core/writer.h"

namespace borescope::inject {

namespace {

using recording::ChunkHeader;
using recording::ChunkKind;
using recording::LogHeader;
using recording::RecordType;
using recording::StateKind;

constexpr size_t kHeaderWords = sizeof(ChunkHeader) / 8;
constexpr size_t kProcessChunkBytes = recording::kLeastChunkBytes;
constexpr size_t kMostImages = 1000;
constexpr int kMostTries = 1000;

// Of chunks in the file: mappings begin at pages, which some machines have of 64 KiB.
uint32_t Alignment() {
  const auto page = static_cast<uint32_t>(sysconf(_SC_PAGESIZE));
  return page > recording::kLeastChunkBytes ? page : recording::kLeastChunkBytes;
}

// Space that the file really has: a write to a mapping never fails for want of it. A size beyond
// the process's own limit would raise a signal.
bool Allocate(int file, uint64_t offset, uint64_t bytes) {
  rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      offset + bytes > limit.rlim_cur) {
    errno = EFBIG;
    return false;
  }
  // Signals that the program handles interrupt it on some file systems.
  int error = EINTR;
  for (int tries = 0; tries < kMostTries && error == EINTR; ++tries) {
    error = posix_fallocate(file, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  }
  errno = error;
  return error == 0;
}

// Shared with the kernel, so that what is written outlives the process; not with children.
void* MapFile(int file, uint64_t offset, size_t bytes) {
  void* memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, static_cast<off_t>(offset));
  if (memory == MAP_FAILED) return nullptr;
  madvise(memory, bytes, MADV_DONTFORK);
  return memory;
}

// A file of its own for every program that this process has executed; the number says how many.
int CreateFile(LogHeader* header) {
  for (uint32_t image = 0; image < kMostImages; ++image) {
    TextBuilder path(g_log->path, sizeof(g_log->path));
    path.Add(RunFolder()).Add("/");
    AddHostName(&path);
    path.Add(".").Add(uint64_t{header->pid}).Add(".").Add(header->start_time);
    path.Add(".").Add(uint64_t{image}).Add(recording::kLogSuffix);
    const int file = OpenInFolder(
        g_log->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, 0600);
    header->image = image;
    if (file >= 0 || errno != EEXIST) return file;
  }
  return -1;
}

void StartProcessChunk(char* memory, uint32_t bytes) {
  auto* chunk = reinterpret_cast<ChunkHeader*>(memory);
  chunk->bytes = bytes;
  chunk->kind = ChunkKind::kStrings;
  chunk->tid = CurrentTid();
  chunk->first_ns = Now();
  __atomic_store_n(&chunk->magic, recording::kChunkMagic, __ATOMIC_RELEASE);
  g_log->process_words = reinterpret_cast<uint64_t*>(memory) + kHeaderWords;
  g_log->process_capacity = static_cast<uint32_t>(bytes / 8 - kHeaderWords);
  g_log->process_used.store(0);
  g_log->sequence.store(1);
}

void WriteDescription() {
  // One thread opens the log; its stack may be a small one.
  static char text[8192];
  TextBuilder json(text, sizeof(text));
  DescribeProcess(g_options, &json);
  WriteProcessRecord(RecordType::kProcess, 0, nullptr, 0, text);
  const Anchor anchor = ReadAnchor();
  const uint64_t body[] = {anchor.mono_ns, anchor.real_ns, anchor.boot_ns, anchor.half_width_ns};
  WriteProcessRecord(RecordType::kAnchor, 0, body, 4, "");
  g_log->anchored_ns.store(anchor.mono_ns);
}

// The count of what is dropped rises in the log itself, so that it is right whenever the process
// ends; and from the beginning, so that no thread finds it missing.
void WriteDropped() {
  uint64_t* record = g_log->process_words + g_log->process_used.load();
  const uint64_t body[3] = {};
  WriteProcessRecord(RecordType::kDropped, static_cast<uint32_t>(recording::DropSource::kHost),
                     body, 3, "");
  g_log->dropped = reinterpret_cast<std::atomic<uint64_t>*>(record + 1);
}

// Without memory for it, the log grows.
void StartRing() {
  uint64_t* record = g_log->process_words + g_log->process_used.load();
  const uint64_t body[3] = {};
  WriteProcessRecord(RecordType::kState, static_cast<uint32_t>(StateKind::kRingOverwrote), body, 3,
                     "");
  g_log->overwritten = reinterpret_cast<std::atomic<uint64_t>*>(record + 1);
  g_log->ring = MakeRing();
}

void NoteOverwritten(const FullChunk& chunk, uint64_t first_ns) {
  std::atomic<uint64_t>* noted = g_log->overwritten;
  uint64_t last = noted[0].load();
  while (last < chunk.released_ns && !noted[0].compare_exchange_weak(last, chunk.released_ns)) {
  }
  uint64_t none = 0;
  noted[1].compare_exchange_strong(none, first_ns);
  noted[2].fetch_add(1);
}

// The log stays open for when its path leads there no more: the folder was renamed, or the program
// has another root, or gave up the right to open it. A number that programs do not come to. In a
// child made by fork it is that of the parent's log, until the child has its own.
struct KeptFile {
  int file = -1;
  uint64_t device = 0;
  uint64_t inode = 0;
};
KeptFile kept;
constexpr int kLeastKeptNumber = 200;

// Whether a descriptor is of a file that still has a name.
bool IsFile(int file, uint64_t device, uint64_t inode) {
  struct stat status;
  return file >= 0 && fstat(file, &status) == 0 && status.st_dev == device &&
         status.st_ino == inode && status.st_nlink > 0;
}

// Without a free number of that height, there is the path alone.
void KeepFile(int file) {
  if (IsFile(kept.file, kept.device, kept.inode)) close(kept.file);
  kept = {static_cast<int>(syscall(SYS_fcntl, file, F_DUPFD_CLOEXEC, kLeastKeptNumber)),
          g_log->device, g_log->inode};
}

void RememberFile(int file) {
  struct stat status;
  if (fstat(file, &status) != 0) return;
  g_log->device = status.st_dev;
  g_log->inode = status.st_ino;
  KeepFile(file);
}

// Header and process chunk, in one mapping that stays for the life of the process.
bool CreateLog() {
  LogHeader header = {};
  DescribeHeader(&header);
  const uint32_t alignment = Alignment();
  header.header_bytes = alignment;
  header.chunk_alignment = alignment;
  if (IsForked()) header.flags |= recording::kIsForked;
  if (IsRing()) header.flags |= recording::kIsRing;
  const int file = CreateFile(&header);
  if (file < 0) return false;
  const size_t bytes =
      size_t{alignment} + (alignment > kProcessChunkBytes ? alignment : kProcessChunkBytes);
  char* memory = Allocate(file, 0, bytes) ? static_cast<char*>(MapFile(file, 0, bytes)) : nullptr;
  const int error = errno;
  if (memory != nullptr) RememberFile(file);
  close(file);
  errno = error;
  if (memory == nullptr) return false;
  memcpy(memory + sizeof(header.magic), &header.version, sizeof(header) - sizeof(header.magic));
  uint64_t magic = 0;
  memcpy(&magic, recording::kLogMagic, sizeof(magic));
  __atomic_store_n(reinterpret_cast<uint64_t*>(memory), magic, __ATOMIC_RELEASE);
  g_log->pid = header.pid;
  g_log->file_bytes.store(bytes);
  StartProcessChunk(memory + alignment, static_cast<uint32_t>(bytes - alignment));
  WriteDescription();
  WriteDropped();
  if (IsRing()) StartRing();
  return true;
}

// Every log of the process and of its forks has another generation.
uint32_t last_generation = 0;

// On the page, since there is no other place: the launcher says it.
void SayThatItFailed(int error) {
  __atomic_store_n(&g_control->log_error, static_cast<uint32_t>(error), __ATOMIC_RELAXED);
  __atomic_fetch_add(&g_control->failed_logs, 1, __ATOMIC_RELEASE);
}

bool TryOpen() {
  const bool is_wanted = RecordsForks() || !IsForked();
  const bool is_made = is_wanted && CreateLog();
  if (is_wanted && !is_made) SayThatItFailed(errno);
  if (!is_made) {
    g_log->generation.store(kEndedGeneration);
    g_log->phase.store(Phase::kEnded);
    return false;
  }
  g_log->generation.store(++last_generation);
  g_log->phase.store(Phase::kOpen);
  return true;
}

// The file is opened for each chunk: programs close descriptors that they do not know, and open
// others under the same number. So the kept one is looked at, too, under a number of its own.
int ReopenFile() {
  int file = open(g_log->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY);
  if (file < 0 && (errno == EMFILE || errno == ENFILE)) return file;
  if (IsFile(file, g_log->device, g_log->inode)) return file;
  if (file >= 0) close(file);
  file = static_cast<int>(syscall(SYS_fcntl, kept.file, F_DUPFD_CLOEXEC, 0));
  if (IsFile(file, g_log->device, g_log->inode)) return file;
  const bool is_full = file < 0 && errno == EMFILE;
  if (file >= 0) close(file);
  errno = is_full ? EMFILE : ENOENT;
  return -1;
}

// Why there is no space.
struct Refusal {
  StateKind state;
  const char* why;
  int error = 0;  // what the launcher is to say; 0: nothing, as of a full disk
};

// Whether an error says that there is no space, on the disk or by a limit.
bool MeansFull(int error) { return error == ENOSPC || error == EDQUOT || error == EFBIG; }

// Memory of the file, of `bytes`; a null pointer where it cannot be had.
char* TakeSpace(int file, uint32_t bytes, Refusal* refusal) {
  const uint64_t offset = g_log->file_bytes.fetch_add(bytes);
  if (g_options.most_bytes != 0 && offset + bytes > g_options.most_bytes) {
    *refusal = {StateKind::kLimitReached, "the log has reached max-bytes"};
    return nullptr;
  }
  if (!Allocate(file, offset, bytes)) {
    *refusal = {StateKind::kDiskFull, "no space is left for the log"};
    if (!MeansFull(errno)) *refusal = {StateKind::kDiskFull, "the system refuses space", errno};
    return nullptr;
  }
  auto* memory = static_cast<char*>(MapFile(file, offset, bytes));
  if (memory == nullptr) *refusal = {StateKind::kDiskFull, "it could not be mapped", errno};
  // A ring finds the chunk by it.
  if (memory != nullptr && IsRing()) reinterpret_cast<ChunkHeader*>(memory)->offset = offset;
  return memory;
}

// As much as is wanted, or the least.
char* TakeSpace(int file, uint32_t* wanted, uint32_t least, Refusal* refusal) {
  char* memory = TakeSpace(file, *wanted, refusal);
  if (memory != nullptr || *wanted <= least || IsRing()) return memory;
  *wanted = least;
  return TakeSpace(file, least, refusal);
}

// A disk that makes the program wait is worth knowing; said a few times, so that space stays for
// other states.
void NoteSlowness(uint64_t ns) {
  constexpr uint64_t kSlowNs = 10'000'000;
  constexpr uint32_t kMostWords = 512;
  if (ns < kSlowNs || g_log->process_used.load() > g_log->process_capacity - kMostWords) return;
  char text[64];
  TextBuilder builder(text, sizeof(text));
  builder.Add("a chunk of the log took ").Add(ns / 1'000'000).Add(" ms");
  const uint64_t now = Now();
  WriteProcessRecord(RecordType::kState, static_cast<uint32_t>(StateKind::kSlow), &now, 1, text);
}

uint32_t RoundedUp(size_t bytes) {
  const size_t alignment = Alignment();
  return static_cast<uint32_t>((bytes + alignment - 1) / alignment * alignment);
}

struct Writer {
  ChunkKind kind;
  uint32_t tid;
  uint64_t pthread_self;
};

// All but the magic, which is stored last.
Chunk BeginChunk(char* memory, uint32_t bytes, const Writer& writer) {
  auto* chunk = reinterpret_cast<ChunkHeader*>(memory);
  chunk->bytes = bytes;
  chunk->sequence = g_log->sequence.fetch_add(1);
  chunk->kind = writer.kind;
  chunk->tid = writer.tid;
  chunk->first_ns = Now();
  chunk->pthread_self = writer.pthread_self;
  __atomic_store_n(&chunk->magic, recording::kChunkMagic, __ATOMIC_RELEASE);
  return {reinterpret_cast<uint64_t*>(memory) + kHeaderWords, bytes / 8 - kHeaderWords};
}

// A chunk of the ring that was released before a time, used again. Until that is done, its magic
// says that it holds nothing: whoever reads the log passes over it, also after a kill.
Chunk Reuse(uint64_t before_ns, const Writer& writer) {
  const int file = ReopenFile();
  if (file < 0) return {};
  FullChunk full;
  const bool is_old = PopFull(g_log->ring, before_ns, &full);
  auto* memory = is_old ? static_cast<char*>(MapFile(file, full.offset, full.bytes)) : nullptr;
  close(file);
  if (memory == nullptr) return {};
  auto* chunk = reinterpret_cast<ChunkHeader*>(memory);
  NoteOverwritten(full, chunk->first_ns);
  __atomic_store_n(&chunk->magic, recording::kReusedChunkMagic, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  memset(memory + sizeof(ChunkHeader), 0, full.bytes - sizeof(ChunkHeader));
  chunk->generation = uint64_t{full.generation} + 1;
  chunk->offset = full.offset;
  chunk->released_ns = 0;
  return BeginChunk(memory, full.bytes, writer);
}

// Whether the log is being copied.
bool IsHeld(uint64_t now) {
  const uint64_t until = __atomic_load_n(&g_control->ring_held_until_ns, __ATOMIC_RELAXED);
  return until > now && until - now <= recording::kMostHoldNs;
}

// The oldest chunk of a ring whose window has passed; or any where the ring cannot grow.
Chunk ReuseOldest(const Writer& writer) {
  const bool is_any = g_log->is_full.load() || IsCrowded(g_log->ring);
  const uint64_t now = Now();
  const uint64_t before = now > g_options.ring_ns ? now - g_options.ring_ns : 0;
  if (!is_any && IsHeld(now)) return {};
  return Reuse(is_any ? ~uint64_t{0} : before, writer);
}

// Whether chunks of a kind are used again: not those whose records others refer to.
bool IsOfRing(ChunkKind kind) { return g_log->ring != nullptr && kind != ChunkKind::kStrings; }

// A ring goes on with its oldest chunk, whatever its age; any other log ends.
Chunk ClaimWhenFull(const Refusal& refusal, const Writer& writer) {
  if (IsOfRing(writer.kind)) {
    g_log->is_full.store(true);
    const Chunk old = ReuseOldest(writer);
    if (old.words != nullptr) return old;
  }
  if (EndRecording(refusal.state, refusal.why) && refusal.error != 0) {
    SayThatItFailed(refusal.error);
  }
  return {};
}

}  // namespace

bool OpenLog(bool* opened_now) {
  Phase phase = Phase::kClosed;
  if (g_log->phase.compare_exchange_strong(phase, Phase::kOpening)) {
    *opened_now = TryOpen();
    return *opened_now;
  }
  while ((phase = g_log->phase.load()) == Phase::kOpening) sched_yield();
  return phase == Phase::kOpen;
}

Chunk ClaimChunk(uint32_t bytes, size_t least_words, ChunkKind kind, uint32_t tid,
                 uint64_t pthread_self) {
  const Writer writer = {kind, tid, pthread_self};
  const uint32_t least = RoundedUp((least_words + kHeaderWords) * 8);
  uint32_t wanted = RoundedUp(bytes) > least ? RoundedUp(bytes) : least;
  if (IsOfRing(kind)) {
    wanted = RoundedUp(recording::kRingChunkBytes);
    const Chunk old = ReuseOldest(writer);
    if (old.words != nullptr) return old;
  }
  const int file = ReopenFile();
  // Descriptors may be free again later.
  if (file < 0 && (errno == EMFILE || errno == ENFILE)) return {};
  const uint64_t begun = Now();
  Refusal refusal = {StateKind::kDiskFull, "the log is gone"};
  if (file < 0) refusal.error = errno;
  char* memory = file < 0 ? nullptr : TakeSpace(file, &wanted, least, &refusal);
  if (file >= 0) close(file);
  if (memory == nullptr) return ClaimWhenFull(refusal, writer);
  NoteSlowness(Now() - begun);
  return BeginChunk(memory, wanted, writer);
}

void ReleaseChunk(uint64_t* words, size_t count) {
  auto* chunk = reinterpret_cast<ChunkHeader*>(words - kHeaderWords);
  if (IsOfRing(chunk->kind)) {
    const uint64_t now = Now();
    __atomic_store_n(&chunk->released_ns, now, __ATOMIC_RELEASE);
    PushFull(g_log->ring,
             {chunk->offset, now, chunk->bytes, static_cast<uint32_t>(chunk->generation)});
  }
  munmap(words - kHeaderWords, (count + kHeaderWords) * 8);
}

void TrimChunk(uint64_t* words, size_t count, size_t used) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  // Chunks begin at pages. The word after the last record stays, and is zero: readers stop there.
  auto* chunk = reinterpret_cast<char*>(words - kHeaderWords);
  const size_t begin = ((kHeaderWords + used + 1) * 8 + page - 1) / page * page;
  const size_t end = (kHeaderWords + count) * 8;
  if (begin < end) madvise(chunk + begin, end - begin, MADV_REMOVE);
}

void WriteProcessRecord(RecordType type, uint32_t a, const uint64_t* body, size_t words,
                        const char* text) {
  const TextPlan plan = PlanText(text, strlen(text), 8192);
  const auto count = static_cast<uint32_t>(1 + words + plan.words);
  const uint32_t at = g_log->process_used.fetch_add(count);
  if (at + count > g_log->process_capacity) return;
  uint64_t* record = g_log->process_words + at;
  if (words != 0) memcpy(record + 1, body, words * 8);
  CopyText(record + 1 + words, text, plan);
  Publish(record, type, count, plan.flags, a);
}

bool EndRecording(StateKind state, const char* why) {
  Phase open = Phase::kOpen;
  if (!g_log->phase.compare_exchange_strong(open, Phase::kEnded)) return false;
  g_log->generation.store(kEndedGeneration);
  const uint64_t now = Now();
  WriteProcessRecord(RecordType::kState, static_cast<uint32_t>(state), &now, 1, why);
  return true;
}

void CountDropped() {
  if (g_log->dropped == nullptr) return;
  if (g_log->dropped->fetch_add(1, std::memory_order_relaxed) == 0) g_log->dropped[1].store(Now());
}

}  // namespace borescope::inject
