#include "borescope/output/names/branches.h"

#include <algorithm>
#include <cstddef>

namespace borescope::internal {
namespace {

constexpr size_t kMostAtEachEnd = 8;  // more do not fit into any label

uint32_t CommonBegin(std::string_view a, std::string_view b) {
  const auto ends = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<uint32_t>(ends.first - a.begin());
}

void AddEnds(const Branches& forks, Branches& found) {
  const size_t first = std::min(forks.size(), kMostAtEachEnd);
  const size_t last = std::max(first, forks.size() - std::min(forks.size(), kMostAtEachEnd));
  const auto begin = forks.begin();
  found.insert(found.end(), begin, begin + static_cast<std::ptrdiff_t>(first));
  found.insert(found.end(), begin + static_cast<std::ptrdiff_t>(last), forks.end());
}

// The forks with all texts on one side: what is common with the nearest, with those after it, and
// so on, each less than the one before.
class Forks {
 public:
  void Pass(uint32_t common) {
    while (!forks_.empty() && forks_.back() >= common) {
      forks_.pop_back();
    }
    forks_.push_back(common);
  }
  const Branches& rising() const { return forks_; }

 private:
  Branches forks_;
};

}  // namespace

std::vector<Branches> FindBranches(std::span<const std::string_view> texts) {
  std::vector<Branches> found(texts.size());
  std::vector<uint32_t> common(texts.size(), 0);  // with the text before
  Forks before;
  for (size_t i = 1; i < texts.size(); ++i) {
    common[i] = CommonBegin(texts[i - 1], texts[i]);
    before.Pass(common[i]);
    AddEnds(before.rising(), found[i]);
  }
  Forks after;
  for (size_t i = texts.size(); i-- > 1;) {
    after.Pass(common[i]);
    AddEnds(after.rising(), found[i - 1]);
  }
  for (Branches& one : found) {
    std::sort(one.begin(), one.end());
    one.erase(std::unique(one.begin(), one.end()), one.end());
  }
  return found;
}

}  // namespace borescope::internal
