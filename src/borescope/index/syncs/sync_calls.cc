#include "borescope/index/syncs/sync_calls.h"

#include <algorithm>
#include <iterator>

#include "borescope/base/text/text.h"

namespace borescope::internal {
namespace {

struct Rule {
  std::string_view part;
  BlockingCall kind;
};

// The first that is contained in the name counts.
constexpr Rule kRules[] = {
    {"EventSynchronize", BlockingCall::kEvent},
    {"EventHostSynchronize", BlockingCall::kEvent},
    {"StreamSynchronize", BlockingCall::kStream},
    {"CommandQueueSynchronize", BlockingCall::kStream},
    {"CommandListHostSynchronize", BlockingCall::kStream},
    {"DeviceSynchronize", BlockingCall::kDevice},
    {"CtxSynchronize", BlockingCall::kDevice},
    {"ThreadSynchronize", BlockingCall::kDevice},
    {"SynchronizeEvent", BlockingCall::kEvent},
    {"SynchronizeStream", BlockingCall::kStream},
    {"Synchronize", BlockingCall::kDevice},
};

}  // namespace

BlockingCall ClassifyBlockingCall(std::string_view name) {
  const auto* const rule = std::find_if(std::begin(kRules), std::end(kRules),
                                        [&](const Rule& row) { return Contains(name, row.part); });
  if (rule != std::end(kRules)) {
    return rule->kind;
  }
  if (!Contains(name, "Memcpy")) {
    return BlockingCall::kNone;
  }
  return Contains(name, "Async") ? BlockingCall::kAsyncCopy : BlockingCall::kCopy;
}

bool IsEventRecordName(std::string_view name) { return Contains(name, "EventRecord"); }

bool IsQueryName(std::string_view name) {
  return Contains(name, "EventQuery") || Contains(name, "StreamQuery");
}

}  // namespace borescope::internal
