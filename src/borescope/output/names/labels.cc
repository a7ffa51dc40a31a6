#include "borescope/output/names/labels.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "borescope/base/text/text.h"
#include "borescope/output/utf8.h"

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

namespace {

constexpr size_t kLeastOfWord = 4;  // bytes; "bf1" is not the beginning of bf16 to anybody
// Of the room for one piece that others need room beside; less in later rounds.
constexpr double kFirstShare = 2.5;

struct Piece {
  uint32_t begin = 0;
  uint32_t end = 0;

  bool is_empty() const { return begin == end; }
};

// Keeps pieces of tokens as long as there is room.
class LabelMaker {
 public:
  LabelMaker(const NameText& name, GlyphWidth glyph, double width)
      : name_(name),
        glyph_(glyph),
        mark_(WidthBy(glyph, kLabelMark)),
        room_(width - mark_ + kWidthRounding),  // nothing but the mark
        kept_(name.tokens.size()) {}

  bool IsFull() const { return room_ <= 0; }
  bool IsKept(size_t token) const { return !kept_[token].is_empty(); }

  // False where it does not fit.
  bool Keep(size_t token) {
    if (IsKept(token)) {
      return true;
    }
    const NameToken& whole = name_.tokens[token];
    const bool left = token > 0 && kept_[token - 1].end != whole.begin;
    const bool right = token + 1 < kept_.size() && kept_[token + 1].begin != whole.end;
    const double marks = mark_ * ((left ? 1 : 0) + (right ? 1 : 0) - 1);
    return Take(token, {whole.begin, whole.end}, marks);
  }

  // Keeps a token that is no wider than `most`, else as much of it from a byte on, up to the end of
  // a word if that is not much less. A piece from the middle has a mark on both sides, one more
  // than it had.
  void KeepFrom(size_t token, size_t byte, double most) {
    if (IsKept(token) || (WidthOf(token) <= most && Keep(token))) {
      return;
    }
    const std::string_view text(name_.text);
    const bool has_mark = token > 0 ? kept_[token - 1].end != byte : byte > 0;
    const double room = std::min(most, room_ - (has_mark ? mark_ : 0));
    Piece piece{static_cast<uint32_t>(byte), static_cast<uint32_t>(byte)};
    while (piece.begin > name_.tokens[token].begin && IsInside(piece.begin)) {
      --piece.begin;
    }
    const std::string_view rest = text.substr(piece.begin, name_.tokens[token].end - piece.begin);
    const auto most_bytes = static_cast<uint32_t>(BeginWithin(glyph_, rest, room).size());
    const uint32_t words_end = WordsEnd(piece.begin, piece.begin + most_bytes);
    piece.end = 2 * (words_end - piece.begin) >= most_bytes ? words_end : piece.begin + most_bytes;
    if (!piece.is_empty()) {
      static_cast<void>(Take(token, piece, has_mark ? mark_ : 0));
    }
  }

  // Keeps the beginning of a token that follows a kept one, as far as that is whole words, or a
  // part of one that is too long for a token. False where there is none that says anything.
  bool KeepWords(size_t token) {
    const NameToken& whole = name_.tokens[token];
    const std::string_view text(name_.text);
    const double mark = kept_[token - 1].end != whole.begin ? mark_ : 0;
    const std::string_view rest = text.substr(whole.begin, whole.end - whole.begin);
    const auto most = static_cast<uint32_t>(BeginWithin(glyph_, rest, room_ - mark).size());
    const bool is_of_long_word = !IsWordEnd(text, whole.begin) || !IsWordEnd(text, whole.end);
    const uint32_t end = whole.begin + most;
    const Piece piece{whole.begin, is_of_long_word ? end : WordsEnd(whole.begin, end)};
    return piece.end - piece.begin >= kLeastOfWord && Take(token, piece, mark);
  }

  std::string Text() const {
    std::string label;
    uint32_t end = 0;
    for (const Piece& piece : kept_) {
      if (piece.is_empty()) {
        continue;
      }
      if (piece.begin != end) {
        label += kLabelMark;
      }
      label.append(name_.text, piece.begin, piece.end - piece.begin);
      end = piece.end;
    }
    return end == name_.text.size() ? label : label.append(kLabelMark);
  }

 private:
  double WidthOf(size_t token) const {
    const NameToken& one = name_.tokens[token];
    return WidthBy(glyph_, std::string_view(name_.text).substr(one.begin, one.end - one.begin));
  }

  // The last byte up to `end` where a person would cut; `begin` where there is none.
  uint32_t WordsEnd(uint32_t begin, uint32_t end) const {
    while (end > begin && !IsWordEnd(name_.text, end)) {
      --end;
    }
    return end;
  }

  bool IsInside(uint32_t byte) const {
    return (static_cast<unsigned char>(name_.text[byte]) & 0xC0U) == 0x80U;
  }

  bool Take(size_t token, Piece piece, double marks) {
    const std::string_view text =
        std::string_view(name_.text).substr(piece.begin, piece.end - piece.begin);
    const double needed = WidthBy(glyph_, text) + marks;
    if (needed > room_) {
      return false;
    }
    room_ -= needed;
    kept_[token] = piece;
    return true;
  }

  const NameText& name_;
  GlyphWidth glyph_;
  double mark_;
  double room_;
  std::vector<Piece> kept_;
};

// The ends of the head by turns: of names without brackets, both.
void KeepEnds(const NameText& name, LabelMaker& label) {
  size_t first = name.First();
  size_t last = name.tokens.size();
  const auto is_head = [&](size_t i) {
    return name.tokens[i].kind == TokenKind::kHead || label.IsKept(i);
  };
  bool more_first = true;
  bool more_last = true;
  while (first < last && (more_first || more_last) && !label.IsFull()) {
    more_first = more_first && is_head(first) && label.Keep(first);
    first += more_first ? 1 : 0;
    more_last = more_last && first < last && is_head(last - 1) && label.Keep(last - 1);
    last -= more_last ? 1 : 0;
  }
}

void KeepAll(TokenKind kind, const NameText& name, LabelMaker& label) {
  for (size_t i = 0; i < name.tokens.size() && !label.IsFull(); ++i) {
    if (name.tokens[i].kind == kind) {
      static_cast<void>(label.Keep(i));
    }
  }
}

// What follows the kept tokens, and of one more token its beginning, where that is words.
void Extend(const NameText& name, LabelMaker& label) {
  for (size_t i = 1; i < name.tokens.size() && !label.IsFull(); ++i) {
    if (label.IsKept(i - 1) && !label.Keep(i) && label.KeepWords(i)) {
      return;
    }
  }
}

}  // namespace

double WidthBy(GlyphWidth glyph, std::string_view text) {
  double width = 0;
  while (!text.empty()) {
    const CodePoint point = DecodeUtf8(text);
    width += glyph(point.value);
    text.remove_prefix(point.bytes);
  }
  return width;
}

std::string_view BeginWithin(GlyphWidth glyph, std::string_view text, double width) {
  size_t bytes = 0;
  for (double used = 0; bytes < text.size();) {
    const CodePoint point = DecodeUtf8(text.substr(bytes));
    used += glyph(point.value);
    if (used > width + kWidthRounding) {
      break;
    }
    bytes += point.bytes;
  }
  return text.substr(0, bytes);
}

std::string MakeLabel(const LabelWish& wish, GlyphWidth glyph, double width) {
  const NameText& name = wish.name;
  if (name.tokens.empty() || WidthBy(glyph, kLabelMark) > width) {
    return {};
  }
  LabelMaker label(name, glyph, width);
  const size_t first = name.First();
  const double most =
      wish.first.empty() ? width : width / (kFirstShare + static_cast<double>(wish.round));
  label.KeepFrom(first, name.tokens[first].begin, most);
  for (const uint32_t byte : wish.first) {
    label.KeepFrom(name.TokenAt(byte), byte, most);
  }
  KeepAll(TokenKind::kTile, name, label);
  for (const uint32_t byte : wish.telling) {
    static_cast<void>(label.Keep(name.TokenAt(byte)));
  }
  KeepAll(TokenKind::kOperator, name, label);
  KeepEnds(name, label);
  Extend(name, label);
  return label.Text();
}

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
