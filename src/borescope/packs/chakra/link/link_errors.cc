#include "borescope/packs/chakra/link/link_errors.h"

#include <fmt/format.h>

namespace borescope::internal::chakra {

Result<void> CheckLinked(const LinkCounts& counts) {
  const uint64_t by_number = counts.host_matched - counts.by_zero;
  if (by_number == 0) {
    return Error{ErrorCode::kMissingData,
                 fmt::format("none of the {} nodes of the host trace is in the device trace, by "
                             "the \"Record function id\" of its operators",
                             counts.host_nodes),
                 "record both at once: "
                 "torch.profiler.profile(execution_trace_observer=ExecutionTraceObserver()."
                 "register_callback(FILE))"};
  }
  // By record function those of another name are among the matched, by External id they are not.
  const uint64_t compared = by_number + (counts.by_external_id ? counts.renamed : 0);
  if (counts.renamed * 2 >= compared) {
    return Error{ErrorCode::kMissingData,
                 fmt::format("{} of {} operators have another name in the host trace: the two were "
                             "not recorded at the same time, or by different processes",
                             counts.renamed, compared)};
  }
  if (counts.device_linked == 0 && counts.device_orphaned != 0) {
    return Error{ErrorCode::kMissingData,
                 fmt::format("none of {} kernels and copies of the device trace was launched in an "
                             "operator of the host trace",
                             counts.device_orphaned),
                 "are both of one process?"};
  }
  return {};
}

}  // namespace borescope::internal::chakra
