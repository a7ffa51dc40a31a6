// Of which device the contexts and streams of CUDA's processes are, as far as rows with device work
// and tables of contexts show it.
#pragma once

#include <cstdint>
#include <tuple>
#include <utility>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/trace/tables.h"

namespace borescope::internal {

// Rows of waits carry device 0 whatever their device is, but the right context: a context belongs
// to one device. Numbers of contexts and streams count per process. Not thread-safe.
class ContextDevices {
 public:
  // What names the device of a context, the surest first: a surer one overrules others.
  enum class Source : uint8_t { kWork, kCopy, kContextTable };

  struct Place {
    int64_t process = kMissing;
    int64_t context = kMissing;
    int64_t stream = kMissing;
  };

  // Device -1 and kMissing are none.
  void Learn(const Place& place, int64_t device, Source source);
  // The device of a context, else that of a stream of that number, if all its work is of one
  // device; else `recorded`.
  int64_t Find(const Place& place, int64_t recorded) const;

 private:
  struct Known {
    int64_t device = kMissing;
    Source source = Source::kContextTable;
    bool is_disputed = false;  // equally sure rows name several devices
  };
  using Numbers = HashMap<std::pair<int64_t, int64_t>, Known>;  // by process and number

  static void Note(Numbers& numbers, std::pair<int64_t, int64_t> key, int64_t device,
                   Source source);

  Numbers contexts_;
  Numbers streams_;
  std::tuple<int64_t, int64_t, int64_t, int64_t, Source> last_{};  // learnt last
};

}  // namespace borescope::internal
