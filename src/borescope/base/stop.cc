#include "borescope/base/stop.h"

#include "borescope/base/memory_limit.h"

namespace borescope::internal {
namespace {

thread_local const StopScope* current = nullptr;

}  // namespace

StopScope::StopScope(std::stop_token token, const MemoryLimit* memory)
    : token_(std::move(token)), memory_(memory), outer_(current) {
  current = this;
}

bool StopScope::is_stopped() const {
  return token_.stop_requested() || (memory_ != nullptr && memory_->IsExceeded()) ||
         (outer_ != nullptr && outer_->is_stopped());
}

const MemoryLimit* StopScope::memory() const {
  return memory_ != nullptr || outer_ == nullptr ? memory_ : outer_->memory();
}

StopScope::~StopScope() { current = outer_; }

const StopScope* CurrentStopScope() { return current; }

InheritedStopScope::InheritedStopScope(const StopScope* scope) : before_(current) {
  current = scope;
}

InheritedStopScope::~InheritedStopScope() { current = before_; }

bool IsStopRequested() { return current != nullptr && current->is_stopped(); }

void CheckStop() {
  if (IsStopRequested()) {
    throw StopRequested();
  }
}

}  // namespace borescope::internal
