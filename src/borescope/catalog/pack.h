// A pack imitates another tool: it answers verbs of the core by the rules of that tool, and may
// bring verbs of its own. The core includes no pack (tools/check_layers.py). packs/packs.cc lists
// those of a build, and catalog.cc joins what they add with the verbs of the core.
#pragma once

#include <span>
#include <string_view>

#include "borescope/analysis/core/analysis_spec.h"

namespace borescope::internal {

// A verb answered by the rules of the pack's tool (--compat).
struct PackPipeline {
  std::string_view verb;  // of the core, or of the pack
  const Pipeline* pipeline = nullptr;
};

// An analysis that is there only with its pack.
struct PackVerb {
  const AnalysisSpec* spec = nullptr;
  std::string_view after;               // the verb that it follows in --help
  std::string_view section_after = {};  // the verb that it follows in the report; empty: any place
  std::string_view pane = {};           // PaneSpec::name for its section; empty: no section
};

struct Pack {
  Compat tool = Compat::kNone;
  std::span<const PackPipeline> pipelines = {};
  std::span<const PackVerb> verbs = {};
};

// The packs of this build. Defined in packs/packs.cc, or in no_packs/no_packs.cc for a build
// without packs (-DBORESCOPE_PACKS=OFF).
std::span<const Pack* const> Packs();

}  // namespace borescope::internal
