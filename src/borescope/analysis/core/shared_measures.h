// SharedMeasures: what several parts of one question about one rank measure, measured once. A
// report asks some thirty verbs, `summary` a dozen of them; some begin with the same measure.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <type_traits>
#include <typeindex>
#include <typeinfo>

namespace borescope::internal {

// Names a measure; nullptr for none.
using MeasureId = const std::type_info*;
template <class Measure>
inline constexpr MeasureId kMeasureId = &typeid(Measure);

class SharedMeasures {
 public:
  // What the first call with this `Measure`, a complete type that only names it, made; whoever asks
  // meanwhile waits. If that throws, the next makes it. Any thread.
  // REQUIRES: all calls with one `Measure` would make the same.
  template <class Measure, class Make>
  auto Get(const Make& make) {
    using Value = const std::invoke_result_t<Make>;
    Entry& entry = EntryOf(typeid(Measure));
    const std::lock_guard lock(entry.mutex);
    if (entry.value == nullptr) {
      entry.value = std::make_shared<Value>(make());
    }
    return std::static_pointer_cast<Value>(entry.value);
  }

  // Frees a measure once those who have it let go of it; whoever asks later makes it again. Any
  // thread.
  void Free(MeasureId measure) {
    Entry& entry = EntryOf(*measure);
    const std::lock_guard lock(entry.mutex);
    entry.value.reset();
  }

 private:
  struct Entry {
    std::mutex mutex;  // held while the value is made
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
