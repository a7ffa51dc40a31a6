#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

thread_local const StopScope* current = nullptr;

}  // namespace

StopScope::StopScope(std::stop_token token) : token_(std::move(token)), outer_(current) {
  current = this;
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
