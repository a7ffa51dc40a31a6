#include "borescope/output/names/label_pieces.h"

#include <algorithm>

#include "borescope/base/text/utf8.h"

namespace borescope::internal {
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

  // Keeps a token that is no wider than `most`, else as much of it from a byte on, if that is not
  // too little. A piece from the middle has a mark on both sides, one more than it had.
  void KeepFrom(size_t token, size_t byte, double most, size_t least_bytes = 1) {
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
    piece.end = piece.begin + static_cast<uint32_t>(BeginWithin(glyph_, rest, room).size());
    if (piece.end - piece.begin >= least_bytes) {
      static_cast<void>(Take(token, piece, has_mark ? mark_ : 0));
    }
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

// What follows the kept tokens, and of one more token its beginning.
void Extend(const NameText& name, double width, LabelMaker& label) {
  for (size_t i = 1; i < name.tokens.size() && !label.IsFull(); ++i) {
    if (label.IsKept(i - 1) && !label.Keep(i)) {
      label.KeepFrom(i, name.tokens[i].begin, width, kLeastOfWord);
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
  Extend(name, width, label);
  return label.Text();
}

}  // namespace borescope::internal
