#include "borescope/base/each_row.h"
#include "borescope/trace/repaired_times.h"

namespace borescope::internal {
namespace {

constexpr int64_t kMicrosecond = 1000;
constexpr int64_t kQuarterRounding = 350;

bool IsQuarter(int64_t part_ns) {
  return part_ns == 0 || part_ns == 200 || part_ns == 250 || part_ns == 500 || part_ns == 750 ||
         part_ns == 800;
}

}  // namespace

int64_t RoundingOf(const HostEvents& host) {
  bool are_whole = true;
  for (const size_t row : EachIndex(host.size())) {
    const int64_t part_ns = host.ts_ns[row] % kMicrosecond;
    are_whole = are_whole && part_ns == 0;
    if (!IsQuarter(part_ns)) {
      return 0;
    }
  }
  return are_whole ? kMicrosecond : kQuarterRounding;
}

}  // namespace borescope::internal
