// SharedMeasures: what several parts of one question measure, measured once. `summary` asks a dozen
// verbs about one rank; some of them begin with the same measure.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <type_traits>
#include <typeindex>

namespace borescope::internal {

class SharedMeasures {
 public:
  // What the first call with this `Measure`, a complete type that only names it, made; whoever asks
  // meanwhile waits. If that throws, the next makes it. Any thread.
  // REQUIRES: all calls with one `Measure` would make the same.
  template <class Measure, class Make>
  auto Get(const Make& make) {
    using Value = const std::invoke_result_t<Make>;
    Entry& entry = EntryOf(typeid(Measure));
    std::call_once(entry.once, [&] { entry.value = std::make_shared<Value>(make()); });
    return std::static_pointer_cast<Value>(entry.value);
  }

 private:
  struct Entry {
    std::once_flag once;
    std::shared_ptr<const void> value;
  };

  Entry& EntryOf(std::type_index measure) {
    const std::lock_guard lock(mutex_);
    return entries_[measure];  // stays where it is
  }

  std::mutex mutex_;
  std::map<std::type_index, Entry> entries_;
};

}  // namespace borescope::internal
