#include "borescope/output/names/labels.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "borescope/output/utf8.h"

namespace borescope::internal {
namespace {

constexpr size_t kMostRounds = 6;  // more would be crumbs

// A name on the way to its label.
struct Entry {
  std::string_view name;
  NameText text;  // without its noise, or with it
  bool has_noise = false;
  bool fits = false;  // whole
  Branches telling;
  Branches first;
  size_t round = 0;  // how often it looked like another
  std::string label;
};
using Entries = std::vector<Entry>;
using EntryGroup = std::vector<size_t>;

// Fills `branches` of the entries of a group, which tell them from each other. False where two have
// the same text.
bool FindBranchesOf(const Entries& entries, EntryGroup& group, std::vector<Branches>& branches) {
  std::sort(group.begin(), group.end(),
            [&](size_t a, size_t b) { return entries[a].text.text < entries[b].text.text; });
  std::vector<std::string_view> texts;
  texts.reserve(group.size());
  for (const size_t i : group) {
    texts.push_back(entries[i].text.text);
  }
  if (std::adjacent_find(texts.begin(), texts.end()) != texts.end()) {
    return false;
  }
  branches = FindBranches(texts);
  return true;
}

// Those with the same text without noise are distinguished by their noise, in a later round.
void FindTelling(Entries& entries) {
  std::map<std::string_view, size_t> by_text;
  for (size_t i = 0; i < entries.size(); ++i) {
    by_text.emplace(entries[i].text.text, i);
  }
  std::vector<std::string_view> texts;
  texts.reserve(by_text.size());
  for (const auto& [text, i] : by_text) {
    texts.push_back(text);
  }
  std::vector<Branches> branches = FindBranches(texts);
  auto next = branches.begin();
  for (const auto& [text, i] : by_text) {
    entries[i].telling = std::move(*next++);
  }
}

class Labeller {
 public:
  Labeller(double width, GlyphWidth glyph) : width_(width), glyph_(glyph) {}

  bool Fits(std::string_view text) const {
    return static_cast<double>(text.size()) <= kMostBytes * width_ &&
           WidthBy(glyph_, text) <= width_ + kWidthRounding;
  }

  // What is left without parameters, or without namespaces, if that fits; else its pieces.
  std::string FirstLabel(const Entry& entry) const {
    const std::string_view bare = BareName(entry.name);
    if (Fits(bare)) {
      return std::string(bare);
    }
    return Fits(entry.text.text) ? entry.text.text : Pieces(entry);
  }

  std::string Pieces(const Entry& entry) const {
    return MakeLabel({entry.text, entry.first, entry.telling, entry.round}, glyph_, width_);
  }

  // A label with a number at its end; empty where the number alone takes more room.
  std::string Numbered(const std::string& label, size_t number) const {
    const std::string end = "#" + std::to_string(number);
    const std::string ellipsis = std::string(kLabelMark) + end;
    const double room = width_ - WidthBy(glyph_, ellipsis);
    std::string_view begin = BeginWithin(glyph_, label, room);
    while (begin.ends_with(kLabelMark)) {
      begin.remove_suffix(kLabelMark.size());
    }
    return room < 0 ? std::string() : std::string(begin) + ellipsis;
  }

 private:
  // For each unit of width: more are marks upon marks. Spares measuring megabytes.
  static constexpr double kMostBytes = 64;

  double width_;
  GlyphWidth glyph_;
};

std::vector<EntryGroup> AlikeOf(const Entries& entries) {
  std::map<std::string_view, EntryGroup> by_label;
  for (size_t i = 0; i < entries.size(); ++i) {
    by_label[entries[i].label].push_back(i);
  }
  std::vector<EntryGroup> alike;
  for (auto& [label, group] : by_label) {
    if (group.size() > 1) {
      alike.push_back(std::move(group));
    }
  }
  return alike;
}

void AddNoise(Entries& entries, const EntryGroup& group) {
  for (const size_t i : group) {
    Entry& entry = entries[i];
    if (!entry.has_noise) {
      entry.text = ParseName(entry.name, true);
      entry.has_noise = true;
      entry.first.clear();
      entry.telling.clear();
    }
  }
}

// Shows what distinguishes the entries of a group, before all else.
void TellApart(const Labeller& labeller, EntryGroup group, Entries& entries) {
  std::vector<Branches> branches;
  const bool mixed =
      std::any_of(group.begin(), group.end(), [&](size_t i) { return entries[i].has_noise; });
  if (mixed || !FindBranchesOf(entries, group, branches)) {
    AddNoise(entries, group);
    static_cast<void>(FindBranchesOf(entries, group, branches));
  }
  for (size_t i = 0; i < branches.size(); ++i) {
    Entry& entry = entries[group[i]];
    if (!entry.fits) {
      entry.first.insert(entry.first.begin(), branches[i].begin(), branches[i].end());
      entry.label = labeller.Pieces(entry);
      ++entry.round;
    }
  }
}

// One of a group keeps its label: a name that fits, or else the first.
size_t KeeperOf(const Entries& entries, const EntryGroup& group) {
  const auto whole =
      std::find_if(group.begin(), group.end(), [&](size_t i) { return entries[i].fits; });
  return whole == group.end() ? group.front() : *whole;
}

// Numbers those that still look alike, in the order of their names.
void NumberAlike(const Labeller& labeller, Entries& entries) {
  std::set<std::string> taken;
  for (const Entry& entry : entries) {
    taken.insert(entry.label);
  }
  for (const EntryGroup& group : AlikeOf(entries)) {
    const size_t keeper = KeeperOf(entries, group);
    const std::string shared = entries[keeper].label;
    size_t number = 1;
    for (const size_t i : group) {
      std::string label = shared;
      while (i != keeper && !label.empty() && taken.contains(label)) {
        label = labeller.Numbered(shared, ++number);
      }
      entries[i].label = label.empty() ? shared : label;
      taken.insert(label);
    }
  }
}

Entries MakeEntries(const std::set<std::string_view>& names, const Labeller& labeller) {
  Entries entries;
  entries.reserve(names.size());
  for (const std::string_view name : names) {
    Entry& entry = entries.emplace_back();
    entry.name = name;
    entry.fits = labeller.Fits(name);
  }
  return entries;
}

// REQUIRES: names differ. Returns whether pieces of them do so.
bool LabelEntries(const Labeller& labeller, Entries& entries) {
  for (Entry& entry : entries) {
    entry.text = ParseName(entry.name, false);
  }
  FindTelling(entries);
  for (Entry& entry : entries) {
    entry.label = entry.fits ? std::string(entry.name) : labeller.FirstLabel(entry);
  }
  std::vector<EntryGroup> alike = AlikeOf(entries);
  for (size_t round = 0; round < kMostRounds && !alike.empty(); ++round) {
    for (EntryGroup& group : alike) {
      TellApart(labeller, std::move(group), entries);
    }
    alike = AlikeOf(entries);
  }
  if (!alike.empty()) {
    NumberAlike(labeller, entries);
  }
  return alike.empty();
}

}  // namespace

Labels LabelNames(std::span<const std::string> names, double width, GlyphWidth glyph) {
  const Labeller labeller(width, glyph);
  Labels labels{std::vector<std::string>(names.begin(), names.end()), true};
  const std::set<std::string_view> distinct(names.begin(), names.end());
  if (std::all_of(distinct.begin(), distinct.end(),
                  [&](std::string_view name) { return labeller.Fits(name); })) {
    return labels;
  }
  Entries entries = MakeEntries(distinct, labeller);
  labels.tell = LabelEntries(labeller, entries);
  std::map<std::string_view, const std::string*> label_of;
  for (const Entry& entry : entries) {
    label_of.emplace(entry.name, &entry.label);
  }
  for (size_t i = 0; i < names.size(); ++i) {
    labels.texts[i] = *label_of.at(names[i]);
  }
  return labels;
}

Labels LabelNames(std::span<const std::string> names, size_t cells) {
  return LabelNames(names, static_cast<double>(cells), CellsOfGlyph);
}

}  // namespace borescope::internal
