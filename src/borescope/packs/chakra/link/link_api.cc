#include <utility>

#include "borescope/api/access.h"
#include "borescope/base/stop.h"
#include "borescope/link.h"
#include "borescope/packs/chakra/link/link_traces.h"

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
  return Mapped(
      internal::Stoppable(options.stop, [&] { return internal::RunLink(inside); }),
      [](internal::Document document) { return AnswerAccess::Make(std::move(document)); });
}

}  // namespace borescope
