#include "borescope/output/text/text_cuts.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "borescope/output/utf8.h"

namespace borescope::internal {
namespace {

constexpr size_t kMostLines = 3;
constexpr size_t kMostPlaces = 6;  // more would be crumbs

using Group = std::vector<size_t>;  // of names, by index
using Places = std::set<size_t>;    // in bytes

Names BareNames(const Names& names) {
  Names bare;
  for (const std::string& name : names) {
    bare.emplace_back(BareName(name));
  }
  return bare;
}

std::vector<Group> GroupsAlike(const Names& shown) {
  std::map<std::string_view, Group> by_text;
  for (size_t i = 0; i < shown.size(); ++i) {
    by_text[shown[i]].push_back(i);
  }
  std::vector<Group> alike;
  for (auto& [text, group] : by_text) {
    if (group.size() > 1) {
      alike.push_back(std::move(group));
    }
  }
  return alike;
}

size_t CommonBytes(std::string_view a, std::string_view b) {
  const auto ends = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<size_t>(ends.first - a.begin());
}

// Where each text of a group begins to differ from the one most like it, which is its neighbour
// when they are sorted. Equal texts have no such place.
void AddPlaces(const Names& texts, Group group, std::vector<Places>& places) {
  std::sort(group.begin(), group.end(), [&](size_t a, size_t b) { return texts[a] < texts[b]; });
  std::vector<size_t> common(group.size() + 1, 0);  // with the text before
  for (size_t i = 1; i < group.size(); ++i) {
    common[i] = CommonBytes(texts[group[i - 1]], texts[group[i]]);
  }
  for (size_t i = 0; i < group.size(); ++i) {
    places[group[i]].insert(std::max(common[i], common[i + 1]));
  }
}

std::string CutAround(const std::string& text, const Places& places, size_t width) {
  const bool is_long = DisplayWidth(text) > kMostLines * width;
  const size_t lines = is_long ? std::min(places.size(), kMostLines) : kMostLines;
  return ShortenAround(text, std::vector<size_t>(places.begin(), places.end()), lines * width);
}

// Cuts those that look alike around ever more places of `texts`, until none does.
void MakeDistinct(const Names& texts, size_t width, Names& shown) {
  std::vector<Places> places(texts.size());
  for (size_t round = 0; round < kMostPlaces; ++round) {
    for (const Group& group : GroupsAlike(shown)) {
      AddPlaces(texts, group, places);
      for (const size_t i : group) {
        shown[i] = CutAround(texts[i], places[i], width);
      }
    }
  }
}

// REQUIRES: no name is there twice.
Names CutDistinct(const Names& names, size_t width) {
  Names shown = CutEach(names, width);
  if (GroupsAlike(shown).empty()) {
    return shown;
  }
  MakeDistinct(BareNames(names), width, shown);
  MakeDistinct(names, width, shown);
  for (auto alike = GroupsAlike(shown); !alike.empty(); alike = GroupsAlike(shown)) {
    for (const Group& group : alike) {
      for (const size_t i : group) {
        shown[i] = names[i];
      }
    }
  }
  return shown;
}

}  // namespace

Names CutEach(const Names& names, size_t width) {
  Names shown;
  for (const std::string& name : names) {
    shown.push_back(ShortenName(name, width));
  }
  return shown;
}

bool AreApart(const Names& names, const Names& shown) {
  std::map<std::string_view, std::string_view> name_of;
  for (size_t i = 0; i < names.size(); ++i) {
    if (name_of.try_emplace(shown[i], names[i]).first->second != names[i]) {
      return false;
    }
  }
  return true;
}

Names CutApart(const Names& names, size_t width) {
  const std::set<std::string_view> sorted(names.begin(), names.end());
  const Names distinct(sorted.begin(), sorted.end());
  const Names shown_once = CutDistinct(distinct, width);
  Names shown;
  for (const std::string& name : names) {
    const auto at = std::lower_bound(distinct.begin(), distinct.end(), name);
    shown.push_back(shown_once[static_cast<size_t>(at - distinct.begin())]);
  }
  return shown;
}

}  // namespace borescope::internal
