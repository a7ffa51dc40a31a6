// ROCTX, whose functions a preloaded library takes the place of. Each call goes on to the library
// that the program brings, if it brings one.
#include <dlfcn.h>

#include <atomic>

#include "core/files.h"
#include "core/ranges.h"

namespace borescope::inject {

namespace {

using recording::kRoctxDomain;

// Numbers of ranges that the program's own library gave, which must not meet those of ours.
constexpr uint64_t kForeignId = uint64_t{1} << 63U;

// The program's own function of a name, looked up at the first call.
template <typename Signature>
class Next {
 public:
  explicit constexpr Next(const char* name) : name_(name) {}

  Signature* Find() {
    if (!is_known_.load(std::memory_order_acquire)) {
      const QuietSection quiet;
      function_.store(dlsym(RTLD_NEXT, name_), std::memory_order_relaxed);
      is_known_.store(true, std::memory_order_release);
    }
    return reinterpret_cast<Signature*>(function_.load(std::memory_order_relaxed));
  }

 private:
  const char* name_;
  std::atomic<bool> is_known_ = false;
  std::atomic<void*> function_ = nullptr;
};

constinit Next<void(const char*)> next_mark("roctxMarkA");
constinit Next<int(const char*)> next_push("roctxRangePushA");
constinit Next<int()> next_pop("roctxRangePop");
constinit Next<uint64_t(const char*)> next_start("roctxRangeStartA");
constinit Next<void(uint64_t)> next_stop("roctxRangeStop");

bool IsWanted() { return IsEnabled() && g_options.has_roctx; }

}  // namespace

}  // namespace borescope::inject

using namespace borescope::inject;

extern "C" {

#define BORESCOPE_EXPORT __attribute__((visibility("default")))

BORESCOPE_EXPORT void roctxMarkA(const char* text) {
  if (IsWanted()) Mark(kRoctxDomain, PlainMessage(text));
  if (auto* next = next_mark.Find()) next(text);
}

BORESCOPE_EXPORT int roctxRangePushA(const char* text) {
  const int depth = IsWanted() ? Push(kRoctxDomain, IsTextWanted(), PlainMessage(text)) : 0;
  auto* next = next_push.Find();
  return next != nullptr ? next(text) : depth;
}

BORESCOPE_EXPORT int roctxRangePop() {
  const int depth = IsWanted() ? Pop(kRoctxDomain) : 0;
  auto* next = next_pop.Find();
  return next != nullptr ? next() : depth;
}

BORESCOPE_EXPORT uint64_t roctxRangeStartA(const char* text) {
  auto* next = next_start.Find();
  if (next == nullptr) return IsWanted() ? StartRange(kRoctxDomain, PlainMessage(text)) : 0;
  const uint64_t id = next(text);
  if (IsWanted()) StartForeignRange(kRoctxDomain, id | kForeignId, PlainMessage(text));
  return id;
}

BORESCOPE_EXPORT void roctxRangeStop(uint64_t id) {
  auto* next = next_stop.Find();
  if (IsWanted() && next == nullptr) EndRange(kRoctxDomain, id);
  if (IsWanted() && next != nullptr) EndForeignRange(kRoctxDomain, id | kForeignId);
  if (next != nullptr) next(id);
}

}  // extern "C"
