#include "core/seen_names.h"

#include <atomic>
#include <cstdint>
#include <cstring>

#include "core/state.h"
#include "core/text.h"

namespace borescope::inject {

namespace {

using recording::kSeenNames;
using recording::SeenName;

// Hashes of names that this process has looked at.
constexpr size_t kKnown = 128;
std::atomic<uint32_t> known[kKnown];

uint32_t HashOf(const char* text, size_t length) {
  uint32_t hash = 0x811c9dc5U;
  for (size_t i = 0; i < length; ++i) {
    hash = (hash ^ static_cast<unsigned char>(text[i])) * 0x01000193U;
  }
  return hash == 0 ? 1 : hash;
}

// False where it is new, which it is to one caller alone. A table that is full knows all.
bool IsKnown(uint32_t hash) {
  for (size_t probe = 0; probe < kKnown; ++probe) {
    std::atomic<uint32_t>& place = known[(hash + probe) % kKnown];
    uint32_t there = place.load(std::memory_order_relaxed);
    if (there == 0 && place.compare_exchange_strong(there, hash)) return false;
    if (there == hash) return true;
  }
  return true;
}

// By another process.
bool IsOnPage(const char* text, size_t length) {
  for (const SeenName& seen : g_control->seen) {
    const uint32_t seen_length = __atomic_load_n(&seen.length, __ATOMIC_ACQUIRE);
    if (seen_length == length && memcmp(seen.text, text, length) == 0) return true;
  }
  return false;
}

}  // namespace

void NoteSeen(const char* text, size_t length) {
  if (__atomic_load_n(&g_control->seen_names, __ATOMIC_RELAXED) > kSeenNames || length == 0) return;
  if (IsKnown(HashOf(text, length))) return;
  const size_t most = sizeof(SeenName::text);
  const size_t kept = length > most ? CutLength(text, most) : length;
  if (kept == 0 || IsOnPage(text, kept)) return;
  const uint32_t place = __atomic_fetch_add(&g_control->seen_names, 1, __ATOMIC_RELAXED);
  if (place >= kSeenNames) return;
  SeenName& seen = g_control->seen[place];
  memcpy(seen.text, text, kept);
  __atomic_store_n(&seen.length, static_cast<uint32_t>(kept), __ATOMIC_RELEASE);
}

}  // namespace borescope::inject
