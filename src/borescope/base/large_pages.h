// Large pages for memory that will be filled from end to end: the system then hands it over in
// pieces of 2 MiB, where every 4 KiB cost about a microsecond.
#pragma once

#include <algorithm>
#include <cstddef>

namespace borescope::internal {

// Only advice: without effect on contents, and where there are no large pages. Of a block shorter
// than a large page nothing changes. Thread-safe.
void PreferLargePages(void* begin, size_t bytes);

// Room for `size` values of a std::vector, or of what can be used as one, in large pages.
template <class Values>
void ReserveInLargePages(Values& values, size_t size) {
  if (size <= values.capacity()) {
    return;
  }
  Values larger;
  larger.reserve(size);
  PreferLargePages(larger.data(), larger.capacity() * sizeof(typename Values::value_type));
  larger.insert(larger.end(), values.begin(), values.end());
  values.swap(larger);
}

// Room for `more` values at the end, at least doubled as by push_back.
template <class Values>
void GrowInLargePages(Values& values, size_t more) {
  const size_t needed = values.size() + more;
  if (needed > values.capacity()) {
    ReserveInLargePages(values, std::max(needed, values.size() * 2));
  }
}

}  // namespace borescope::internal
