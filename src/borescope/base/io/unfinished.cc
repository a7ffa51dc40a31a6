#include "borescope/base/io/unfinished.h"

#include <map>

namespace borescope::internal {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<uint64_t, std::function<void()>> undo;  // by number, in the order of registration
  uint64_t last_number = 0;
};

// Never destroyed: threads may outlive the end of main().
Registry& TheRegistry() {
  static auto* const registry = new Registry;
  return *registry;
}

}  // namespace

UnfinishedLock LockUnfinished() { return UnfinishedLock(TheRegistry().mutex); }

Unfinished::Unfinished(const UnfinishedLock& /*lock*/, std::function<void()> undo)
    : number_(++TheRegistry().last_number) {
  TheRegistry().undo.emplace(number_, std::move(undo));
}

Unfinished::~Unfinished() {
  if (number_ != 0) {
    Forget(LockUnfinished());
  }
}

void Unfinished::Forget(const UnfinishedLock& /*lock*/) {
  TheRegistry().undo.erase(std::exchange(number_, 0));
}

void UndoUnfinished() {
  Registry& registry = TheRegistry();
  registry.mutex.lock();  // and never unlocked
  for (auto entry = registry.undo.rbegin(); entry != registry.undo.rend(); ++entry) {
    entry->second();
  }
}

}  // namespace borescope::internal
