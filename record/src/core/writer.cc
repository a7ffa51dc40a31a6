#include "core/writer.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/depths.h"
#include "core/files.h"
#include "core/log.h"
#include "core/process.h"
#include "core/strings.h"
#include "core/text.h"

namespace borescope::inject {

namespace {

using recording::RecordType;

constexpr uint64_t kAnchorEveryNs = 1'000'000'000;

pthread_key_t thread_key;
bool has_thread_key = false;

void LetGo(uint64_t* begin, const uint64_t* end) {
  if (begin != nullptr) ReleaseChunk(begin, static_cast<size_t>(end - begin));
}

void Trim(uint64_t* begin, const uint64_t* end, const uint64_t* cursor) {
  TrimChunk(begin, static_cast<size_t>(end - begin), static_cast<size_t>(cursor - begin));
}

// Runs at the end of a thread, in the C library's order of such functions. Records that come later
// get a new chunk.
void EndThread(void*) {
  Thread& thread = t_thread;
  const QuietSection quiet;
  thread.is_busy = 1;
  // In a child made by fork, the chunk of the parent is not mapped.
  const bool is_mapped = g_log->pid == static_cast<uint32_t>(getpid());
  if (thread.begin != nullptr && is_mapped) {
    if (!IsRing()) Trim(thread.begin, thread.end, thread.cursor);
    // In the order of their records.
    LetGo(thread.previous, thread.previous_end);
    LetGo(thread.begin, thread.end);
  }
  if (thread.kept_begin != nullptr && is_mapped) {
    Trim(thread.kept_begin, thread.kept_end, thread.kept_cursor);
    LetGo(thread.kept_begin, thread.kept_end);
  }
  FreeDepths();
  thread = {};
}

// The thread's name, which may have changed since its last chunk.
void WriteThread(uint32_t tid) {
  char name[17] = "";
  prctl(PR_GET_NAME, name, 0, 0, 0);
  const TextPlan plan = PlanText(name, strlen(name));
  uint64_t* record = t_thread.cursor;
  record[1] = static_cast<uint64_t>(pthread_self());
  record[2] = 0;
  CopyText(record + 3, name, plan);
  t_thread.cursor += 3 + plan.words;
  Publish(record, RecordType::kThread, 3 + plan.words, plan.flags, tid);
}

// Clocks drift apart, so a log that grows ties them together again each second.
void WriteAnchor() {
  uint64_t last = g_log->anchored_ns.load();
  const uint64_t now = Now();
  if (now - last < kAnchorEveryNs || !g_log->anchored_ns.compare_exchange_strong(last, now)) return;
  const Anchor anchor = ReadAnchor();
  uint64_t* record = t_thread.cursor;
  record[1] = anchor.mono_ns;
  record[2] = anchor.real_ns;
  record[3] = anchor.boot_ns;
  record[4] = anchor.half_width_ns;
  t_thread.cursor += 5;
  Publish(record, RecordType::kAnchor, 5, 0, 0);
}

constexpr size_t kPreambleWords = 5 + 5;  // of WriteThread and WriteAnchor

uint32_t NextBytes(uint32_t bytes) {
  if (bytes == 0) return recording::kLeastChunkBytes;
  return bytes >= recording::kMostChunkBytes / 4 ? recording::kMostChunkBytes : bytes * 4;
}

void KnowThread() {
  if (t_thread.tid != 0) return;
  t_thread.tid = CurrentTid();
  WatchThreadEnd();
}

bool NextChunk(size_t words) {
  Thread& thread = t_thread;
  LetGo(thread.previous, thread.previous_end);
  thread.previous = thread.begin;
  thread.previous_end = thread.end;
  thread.begin = thread.cursor = thread.end = nullptr;
  KnowThread();
  const uint32_t bytes = NextBytes(thread.chunk_bytes);
  const auto kind = thread.chunk_kind == 0 ? recording::ChunkKind::kThread
                                           : static_cast<recording::ChunkKind>(thread.chunk_kind);
  const Chunk chunk = ClaimChunk(bytes, words + kPreambleWords, kind, thread.tid,
                                 static_cast<uint64_t>(pthread_self()));
  if (chunk.words == nullptr) return false;
  thread.chunk_bytes = bytes;
  thread.begin = thread.cursor = chunk.words;
  thread.end = chunk.words + chunk.count;
  WriteThread(thread.tid);
  WriteAnchor();
  return true;
}

// Of a log that is open; also for the strings that were known before it was.
uint64_t* ReserveInChunk(size_t words) {
  Thread& thread = t_thread;
  if (static_cast<size_t>(thread.end - thread.cursor) < words && !NextChunk(words)) return nullptr;
  uint64_t* record = thread.cursor;
  thread.cursor += words;
  return record;
}

// In a ring; other logs keep all, and need no chunk of their own for it.
uint64_t* ReserveInKeptChunk(size_t words) {
  if (!IsRing()) return ReserveInChunk(words);
  Thread& thread = t_thread;
  if (static_cast<size_t>(thread.kept_end - thread.kept_cursor) < words) {
    LetGo(thread.kept_begin, thread.kept_end);
    thread.kept_begin = thread.kept_cursor = thread.kept_end = nullptr;
    KnowThread();
    const Chunk chunk =
        ClaimChunk(recording::kLeastChunkBytes, words, recording::ChunkKind::kStrings, thread.tid,
                   static_cast<uint64_t>(pthread_self()));
    if (chunk.words == nullptr) return nullptr;
    thread.kept_begin = thread.kept_cursor = chunk.words;
    thread.kept_end = chunk.words + chunk.count;
  }
  uint64_t* record = thread.kept_cursor;
  thread.kept_cursor += words;
  return record;
}

// The chunk of another log, which a parent's thread wrote, is not mapped here.
void ForgetChunk(uint32_t generation) {
  Thread& thread = t_thread;
  thread.begin = thread.cursor = thread.end = nullptr;
  thread.previous = thread.previous_end = nullptr;
  thread.kept_begin = thread.kept_cursor = thread.kept_end = nullptr;
  thread.chunk_bytes = 0;
  thread.tid = 0;
  thread.generation = generation;
}

using ReserveWords = uint64_t* (*)(size_t words);

uint64_t* ReserveGuarded(size_t words, ReserveWords reserve) {
  bool opened_now = false;
  if (!OpenLog(&opened_now)) return nullptr;
  const uint32_t generation = g_log->generation.load();
  if (t_thread.generation != generation) ForgetChunk(generation);
  if (opened_now) WriteKnownStrings(ReserveInKeptChunk);
  return reserve(words);
}

uint64_t* ReserveQuietly(size_t words, ReserveWords reserve) {
  if (!IsEnabled()) return nullptr;
  if (t_thread.is_busy != 0 || g_log->phase.load() == Phase::kEnded) {
    CountDropped();
    return nullptr;
  }
  const QuietSection quiet;
  t_thread.is_busy = 1;
  uint64_t* record = ReserveGuarded(words, reserve);
  t_thread.is_busy = 0;
  if (record == nullptr) CountDropped();
  return record;
}

}  // namespace

__thread Thread t_thread;

uint32_t CurrentTid() { return static_cast<uint32_t>(syscall(SYS_gettid)); }

void PrepareThreads() { has_thread_key = pthread_key_create(&thread_key, EndThread) == 0; }

void WatchThreadEnd() {
  // The value is there for the key's destructor alone; any but a null pointer does.
  if (has_thread_key) pthread_setspecific(thread_key, &thread_key);
}

size_t CutTextLength(const char* text) { return CutLength(text, kMostTextBytes); }

TextPlan PlanCutText(const char* text, size_t most) {
  TextPlan plan = PlanText(text, CutLength(text, most), most);
  plan.flags |= recording::kIsCut;
  return plan;
}

uint64_t* ReserveSlowly(size_t words) { return ReserveQuietly(words, ReserveInChunk); }

uint64_t* ReserveKept(size_t words) {
  return IsRing() ? ReserveQuietly(words, ReserveInKeptChunk) : Reserve(words);
}

}  // namespace borescope::inject
