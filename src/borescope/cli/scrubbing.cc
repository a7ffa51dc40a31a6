#include "borescope/cli/scrubbing.h"

#include <string>
#include <utility>
#include <vector>

namespace borescope::cli {

Result<std::optional<ScrubOptions>> ParseScrub(const RawOptions& raw) {
  if (raw.Get("scrub").empty()) {
    if (!raw.Get("scrub-key").empty() || !raw.Get("scrub-map").empty()) {
      return UsageError("--scrub-key and --scrub-map say how to scrub; add --scrub");
    }
    return std::optional<ScrubOptions>();
  }
  if (raw.Get("scrub") != "secrets" && raw.Get("scrub") != "names") {
    return UsageError("--scrub: '" + raw.Get("scrub") + "' is neither secrets nor names");
  }
  if (raw.Get("scrub") != "names" && !raw.Get("scrub-map").empty()) {
    return UsageError("--scrub-map lists new names, which --scrub=names makes");
  }
  return std::optional(
      ScrubOptions{raw.Get("scrub") == "names", raw.Get("scrub-key"), raw.Get("scrub-map")});
}

Result<std::optional<ScrubbedCopies>> ScrubInputs(RawOptions& raw,
                                                  const ProgressCallback& progress) {
  BS_ASSIGN(const std::optional<ScrubOptions> options, ParseScrub(raw));
  if (!options.has_value()) {
    return std::optional<ScrubbedCopies>();
  }
  if (raw.Has("load")) {
    return UsageError("--scrub reads recordings; leave it out, or --load");
  }
  std::vector<std::string*> named;
  named.reserve(raw.inputs.size() + 2);
  for (std::string& input : raw.inputs) {
    named.push_back(&input);
  }
  for (const std::string_view other : {"against", "captures"}) {
    if (const auto given = raw.values.find(other); given != raw.values.end()) {
      named.push_back(&given->second);
    }
  }
  std::vector<std::string> inputs;
  inputs.reserve(named.size());
  for (const std::string* name : named) {
    inputs.push_back(*name);
  }
  BS_ASSIGN(ScrubbedCopies copies, ScrubbedCopies::Make(inputs, *options, progress));
  for (size_t i = 0; i < named.size(); ++i) {
    *named[i] = copies.paths()[i];
  }
  return std::optional(std::move(copies));
}

}  // namespace borescope::cli
