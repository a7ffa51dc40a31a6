// Modules of PyTorch as Python frames name them: "nn.Module: Linear_12" is the thirteenth Linear.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"

namespace borescope::internal {

// "Linear" of "nn.Module: Linear_12"; empty if `frame` is not a module.
std::string_view ModuleClassOf(std::string_view frame);

// For every host row the name of the innermost module around it, itself included, as the number of
// its text; kMissing outside of modules.
std::vector<int64_t> ModulesAround(const RankView& view);

// The classes of the modules of a trace, numbered in the order of its texts.
class ModuleClasses {
 public:
  explicit ModuleClasses(const StringPool& strings);

  // Of a value of ModulesAround; kMissing for kMissing.
  int64_t Of(int64_t module) const;
  std::string_view Name(int64_t number) const { return names_[static_cast<size_t>(number)]; }

 private:
  std::vector<int64_t> class_of_text_;
  std::vector<std::string> names_;
};

}  // namespace borescope::internal
