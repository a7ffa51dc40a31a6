#include "borescope/analysis/core/selection/modules.h"

#include "borescope/base/each_row.h"
#include "borescope/base/hash/hash_tables.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kModulePrefix = "nn.Module: ";

}  // namespace

std::string_view ModuleClassOf(std::string_view frame) {
  if (!frame.starts_with(kModulePrefix)) {
    return {};
  }
  const std::string_view instance = frame.substr(kModulePrefix.size());
  const size_t last = instance.find_last_not_of("0123456789");
  const bool is_numbered = last != std::string_view::npos && last > 0 &&
                           last + 1 < instance.size() && instance[last] == '_';
  return is_numbered ? instance.substr(0, last) : instance;
}

std::vector<int64_t> ModulesAround(const RankView& view) {
  const HostEvents& host = view.trace.host();
  std::vector<int64_t> modules(host.all_size(), kMissing);
  for (const uint32_t row : EachRow(modules.size())) {
    const HostId outer = view.index.tree.parent[row];
    if (host.kind[row] == HostKind::kPython &&
        view.trace.Name(HostId{row}).starts_with(kModulePrefix)) {
      modules[row] = host.name[row].value;
    } else if (outer.valid()) {
      modules[row] = modules[outer.value];
    }
  }
  return modules;
}

ModuleClasses::ModuleClasses(const StringPool& strings) : class_of_text_(strings.size(), kMissing) {
  HashMap<std::string_view, int64_t> numbers;
  for (uint32_t text = 0; text < strings.size(); ++text) {
    const std::string_view name = ModuleClassOf(strings.Get(StringId{text}));
    if (name.empty()) {
      continue;
    }
    const auto next = static_cast<int64_t>(numbers.size());
    const auto [found, is_new] = numbers.try_emplace(name, next);
    class_of_text_[text] = found->second;
    if (is_new) {
      names_.emplace_back(name);
    }
  }
}

int64_t ModuleClasses::Of(int64_t module) const {
  return module == kMissing ? kMissing : class_of_text_[static_cast<size_t>(module)];
}

}  // namespace borescope::internal
