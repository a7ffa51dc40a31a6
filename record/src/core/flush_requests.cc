#include "core/flush_requests.h"

#include <unistd.h>

#include "core/process.h"
#include "core/state.h"

namespace borescope::inject {

namespace {

using recording::FlusherSlot;

FlusherSlot* TakeSlot(uint32_t answered) {
  for (FlusherSlot& slot : g_control->flushers) {
    uint32_t none = 0;
    if (!__atomic_compare_exchange_n(&slot.pid, &none, recording::kSlotBeingTaken, false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
      continue;
    }
    slot.start_time = ReadStartTime();
    __atomic_store_n(&slot.answered, answered, __ATOMIC_RELEASE);
    __atomic_store_n(&slot.pid, static_cast<uint32_t>(getpid()), __ATOMIC_RELEASE);
    return &slot;
  }
  return nullptr;
}

}  // namespace

void FlushRequests::Begin() {
  seen_ = __atomic_load_n(&g_control->flush_requests, __ATOMIC_ACQUIRE);
  slot_ = TakeSlot(seen_);
}

bool FlushRequests::IsAsked() {
  const uint32_t request = __atomic_load_n(&g_control->flush_requests, __ATOMIC_ACQUIRE);
  if (request == seen_) return false;
  seen_ = request;
  return true;
}

void FlushRequests::Answer() {
  if (slot_ != nullptr) __atomic_store_n(&slot_->answered, seen_, __ATOMIC_RELEASE);
}

void FlushRequests::End() {
  if (slot_ != nullptr) __atomic_store_n(&slot_->pid, 0, __ATOMIC_RELEASE);
  slot_ = nullptr;
}

}  // namespace borescope::inject
