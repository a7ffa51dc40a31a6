#include "borescope/analysis/saved_forms.h"

#include <algorithm>
#include <iterator>

namespace borescope {
namespace {

constexpr SavedForm kForms[] = {
    {.verb = "critical-path", .save = SaveCriticalPath, .load = LoadCriticalPath}};

}  // namespace

const SavedForm* FindSavedForm(std::string_view verb) {
  const auto* found = std::find_if(std::begin(kForms), std::end(kForms),
                                   [&](const SavedForm& form) { return form.verb == verb; });
  return found == std::end(kForms) ? nullptr : found;
}

}  // namespace borescope
