#include "borescope/scrub.h"

#include <utility>

#include "borescope/api/access.h"
#include "borescope/verbs/scrub/scrub_run.h"

namespace borescope {

struct ScrubbedCopies::State {
  internal::ScrubbedInputs inputs;
};

ScrubbedCopies::ScrubbedCopies(std::unique_ptr<State> state) : state_(std::move(state)) {}
ScrubbedCopies::ScrubbedCopies(ScrubbedCopies&&) noexcept = default;
ScrubbedCopies& ScrubbedCopies::operator=(ScrubbedCopies&&) noexcept = default;
ScrubbedCopies::~ScrubbedCopies() = default;

const std::vector<std::string>& ScrubbedCopies::paths() const { return state_->inputs.paths; }

Result<ScrubbedCopies> ScrubbedCopies::Make(std::span<const std::string> inputs,
                                            const ScrubOptions& options,
                                            const ProgressCallback& progress,
                                            const StopToken& stop) {
  const internal::ScrubOptions inside{options.names, options.key_file, options.map_file, stop,
                                      FileProgress(progress)};
  Result<internal::ScrubbedInputs> made = internal::RunScrub(inputs, inside);
  if (!made.ok()) {
    return made.error();
  }
  return ScrubbedCopies(std::make_unique<State>(State{std::move(*made)}));
}

}  // namespace borescope
