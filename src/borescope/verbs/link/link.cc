#include "borescope/link.h"

#include <utility>

#include "borescope/base/stop.h"
#include "borescope/engine/access.h"
#include "borescope/verbs/link/link_traces.h"

namespace borescope {

Result<Answer> Link(const std::string& host, const std::string& device, const std::string& output,
                    const LinkOptions& options) {
  internal::LinkOptions inside;
  inside.host = host;
  inside.device = device;
  inside.output = output;
  inside.rank = options.rank;
  inside.as_chakra = options.as_chakra;
  inside.threads = ThreadsOf(options.threads);
  inside.progress = FileProgress(options.progress);
  return AnswerWith(internal::Stoppable(options.stop, [&] { return internal::RunLink(inside); }));
}

}  // namespace borescope
