// Recordings without what may say who, where and with which secrets (docs/use/scrub.md).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "borescope/error.h"
#include "borescope/export.h"
#include "borescope/progress.h"

namespace borescope {

struct ScrubOptions {
  bool names = false;         // new names for kernels, modules and annotations, too
  std::string key_file = {};  // whose bytes are the key; empty: one that nobody knows
  std::string map_file = {};  // where new names are written with what they were
};

// Scrubbed copies of recordings, in a private folder that goes with this.
class BORESCOPE_EXPORT ScrubbedCopies {
 public:
  // Copies of what `inputs` (files, folders, globs, or "-") lead to. Errors: kInvalidArgument for
  // options; those of reading and writing. Thread-safe.
  static Result<ScrubbedCopies> Make(std::span<const std::string> inputs,
                                     const ScrubOptions& options = {},
                                     const ProgressCallback& progress = {},
                                     const StopToken& stop = {});

  ScrubbedCopies(ScrubbedCopies&&) noexcept;
  ScrubbedCopies& operator=(ScrubbedCopies&&) noexcept;
  ~ScrubbedCopies();

  // For each of the inputs the file, or the folder of several.
  const std::vector<std::string>& paths() const;

 private:
  struct State;
  explicit ScrubbedCopies(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace borescope
