#include <utility>

#include "borescope/api/access.h"
#include "borescope/bench_kernel.h"
#include "borescope/packs/inductor/bench_kernel.h"

namespace borescope {

Result<Answer> BenchKernel(const std::string& file, const BenchKernelOptions& options) {
  const internal::BenchOptions inside{
      .file = file, .python = options.python, .trace = options.trace, .timeout = options.timeout};
  return Mapped(internal::BenchKernel(inside), [](internal::Document document) {
    return AnswerAccess::Make(std::move(document));
  });
}

}  // namespace borescope
