#include "core/strings.h"

#include <sys/mman.h>

#include <atomic>
#include <cstring>

#include "core/files.h"
#include "core/state.h"
#include "core/writer.h"

namespace borescope::inject {

namespace {

using recording::NameKind;
using recording::RecordType;

constexpr size_t kBlockBytes = 64 * 1024;
constexpr uint32_t kSlots = 64 * 1024;
constexpr uint32_t kMostProbes = 256;
constexpr uint32_t kStringKind = 0;
constexpr uint32_t kCodeKind = 0x100;  // beyond those of NameKind

// Memory that grows by blocks and is never given back: taking some is one addition.
struct Block {
  std::atomic<size_t> used;
};

std::atomic<Block*> block;
std::atomic<Entry*> slots[kSlots];
std::atomic<Entry*> newest;
std::atomic<uint32_t> next_string = 1;
std::atomic<uint32_t> next_code = 1;
std::atomic<uint32_t> next_domain = recording::kFirstFreeDomain;

bool AddBlock(Block* full) {
  void* memory =
      mmap(nullptr, kBlockBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  auto* fresh = static_cast<Block*>(memory);
  fresh->used.store(sizeof(Block));
  if (!block.compare_exchange_strong(full, fresh)) munmap(memory, kBlockBytes);
  return true;
}

void* Allocate(size_t bytes) {
  for (;;) {
    Block* current = block.load();
    if (current != nullptr) {
      const size_t at = current->used.fetch_add(bytes);
      if (at + bytes <= kBlockBytes) return reinterpret_cast<char*>(current) + at;
    }
    if (!AddBlock(current)) return nullptr;
  }
}

struct Key {
  uint32_t kind;
  uint32_t domain;
  uint64_t number;
  const char* text;
  size_t length;
};

uint32_t HashOf(const Key& key) {
  uint64_t hash = 0xcbf29ce484222325U ^ key.kind;
  hash = (hash ^ key.domain) * 0x100000001b3U;
  hash = (hash ^ key.number) * 0x100000001b3U;
  for (size_t i = 0; i < key.length; ++i) {
    hash = (hash ^ static_cast<unsigned char>(key.text[i])) * 0x100000001b3U;
  }
  return static_cast<uint32_t>(hash ^ hash >> 32U);
}

const char* TextOf(const Entry* entry) {
  const bool is_string = entry->kind == kStringKind;
  return reinterpret_cast<const char*>(entry->record() + (is_string                  ? 1
                                                          : entry->kind == kCodeKind ? 2
                                                                                     : 3));
}

bool IsSame(const Entry* entry, const Key& key, uint32_t hash) {
  return entry->hash == hash && entry->kind == key.kind && entry->domain == key.domain &&
         entry->number == key.number && entry->length == key.length &&
         memcmp(TextOf(entry), key.text, key.length) == 0;
}

uint32_t TakeId(uint32_t kind) {
  if (kind == kStringKind) return next_string.fetch_add(1);
  if (kind == kCodeKind) return next_code.fetch_add(1);
  return kind == static_cast<uint32_t>(NameKind::kDomain) ? next_domain.fetch_add(1) : 0;
}

void FillRecord(Entry* entry, const TextPlan& plan, const char* text) {
  RecordType type = RecordType::kString;
  uint32_t a = entry->id;
  size_t at = 1;
  if (entry->kind == kCodeKind) {
    type = RecordType::kPythonCode;
    entry->record()[at++] = entry->number;
  } else if (entry->kind != kStringKind) {
    type = RecordType::kName;
    a = entry->kind;
    entry->record()[at++] = entry->domain;
    entry->record()[at++] = entry->number;
  }
  CopyText(entry->record() + at, text, plan);
  Publish(entry->record(), type, entry->words, plan.flags, a);
}

Entry* MakeEntry(const Key& key, uint32_t hash) {
  const TextPlan plan = PlanText(key.text, key.length);
  const uint32_t words = (key.kind == kStringKind ? 1 : key.kind == kCodeKind ? 2 : 3) + plan.words;
  auto* entry = static_cast<Entry*>(Allocate(sizeof(Entry) + size_t{words} * 8));
  if (entry == nullptr) return nullptr;
  const uint32_t id = TakeId(key.kind);
  *entry = {};
  entry->id = id;
  entry->domain = key.kind == static_cast<uint32_t>(NameKind::kDomain) ? id : key.domain;
  entry->number = key.number;
  entry->kind = key.kind;
  entry->length = static_cast<uint32_t>(key.length);
  entry->words = words;
  entry->hash = hash;
  FillRecord(entry, plan, key.text);
  // The name of a domain is looked up by its text alone.
  entry->domain = key.domain;
  return entry;
}

void CopyToLog(const Entry* entry, uint64_t* record) {
  if (record == nullptr) return;
  memcpy(record + 1, entry->record() + 1, (size_t{entry->words} - 1) * 8);
  __atomic_store_n(record, entry->record()[0], __ATOMIC_RELEASE);
}

// A log that is opened at the same time may get it twice, but not never: it is in the list before
// the phase is read.
void Announce(Entry* entry) {
  entry->next = newest.load();
  while (!newest.compare_exchange_weak(entry->next, entry)) {
  }
  if (g_log->phase.load() == Phase::kOpen) CopyToLog(entry, ReserveKept(entry->words));
}

const Entry* Intern(const Key& wanted) {
  Key key = wanted;
  if (key.length > kMostTextBytes) key.length = CutTextLength(key.text);
  const uint32_t hash = HashOf(key);
  Entry* made = nullptr;
  for (uint32_t probe = 0; probe < kMostProbes; ++probe) {
    std::atomic<Entry*>& slot = slots[(hash + probe) % kSlots];
    Entry* entry = slot.load(std::memory_order_acquire);
    if (entry == nullptr) {
      if (made == nullptr) made = MakeEntry(key, hash);
      if (made == nullptr) return nullptr;
      if (slot.compare_exchange_strong(entry, made)) {
        Announce(made);
        return made;
      }
    }
    if (IsSame(entry, key, hash)) return entry;
  }
  return nullptr;
}

}  // namespace

const Entry* InternString(const char* text, size_t length) {
  return Intern({kStringKind, 0, 0, text, length});
}

bool IsText(const Entry* string, const char* text, size_t length) {
  return string->length == length && memcmp(TextOf(string), text, length) == 0;
}

const char* StringText(const Entry* string) { return TextOf(string); }

const Entry* InternDomain(const char* text, size_t length) {
  return Intern({static_cast<uint32_t>(NameKind::kDomain), 0, 0, text, length});
}

const Entry* InternName(NameKind kind, uint32_t domain, uint64_t number, const char* text,
                        size_t length) {
  return Intern({static_cast<uint32_t>(kind), domain, number, text, length});
}

const Entry* InternCode(const char* name, size_t length, uint32_t file, uint32_t line) {
  return Intern({kCodeKind, 0, uint64_t{file} | uint64_t{line} << 32U, name, length});
}

void WriteKnownStrings(uint64_t* (*reserve)(size_t words)) {
  for (const Entry* entry = newest.load(); entry != nullptr; entry = entry->next) {
    CopyToLog(entry, reserve(entry->words));
  }
}

}  // namespace borescope::inject
