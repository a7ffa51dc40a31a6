#include "borescope/output/names/name_tokens.h"

#include <algorithm>

#include "borescope/output/utf8.h"

namespace borescope::internal {
namespace {

constexpr size_t kLongestName = size_t{1} << 30U;
constexpr size_t kLongestToken = 16;  // characters of a word, and of the marks after it
constexpr size_t kLeastCamel = 8;     // "TrivialOffset|Calculator", but not "CUDA|Functor"
constexpr std::string_view kScope = "::";
constexpr std::string_view kBetween = " \xC2\xB7 ";
constexpr std::string_view kUnnamed[] = {"(anonymous namespace)::", "{anonymous}::", "<unnamed>::"};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }

// Letters and digits of any script. An underscore ends a token, but no word.
bool IsLetter(char c) {
  return IsDigit(c) || IsLower(c) || IsUpper(c) || c == '$' || c == '~' || (c & 0x80) != 0;
}
bool IsInWord(char c) { return IsLetter(c) || c == '_'; }
bool IsContinued(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

// "128x64": digits on both sides of an x.
bool HasTile(std::string_view word) {
  for (size_t x = word.find('x', 1); x != std::string_view::npos; x = word.find('x', x + 1)) {
    if (x + 1 < word.size() && IsDigit(word[x - 1]) && IsDigit(word[x + 1])) {
      return true;
    }
  }
  return false;
}

bool IsOperator(std::string_view word) {
  constexpr std::string_view kParts[] = {"Functor", "functor", "_kernel_", "Epilogue"};
  constexpr std::string_view kEnds[] = {"Op", "Ops"};
  return std::any_of(std::begin(kParts), std::end(kParts),
                     [&](std::string_view part) { return word.find(part) != word.npos; }) ||
         std::any_of(std::begin(kEnds), std::end(kEnds),
                     [&](std::string_view end) { return word.ends_with(end); });
}

// Classes begin with capitals and say more than namespaces.
bool IsNamespace(std::string_view word) { return IsLower(word.front()) || word.ends_with("_NS"); }

// Some bytes of a name.
struct Stretch {
  size_t begin = 0;
  size_t end = 0;
};

// The folders of the file of a Python function, "torch/nn/" of "torch/nn/module.py(7): forward";
// empty where there are none. The name of the file and the function say what it is.
Stretch FoldersOf(std::string_view name, size_t begin, size_t end) {
  const std::string_view part = name.substr(0, end);
  const size_t suffix = part.find(".py(", begin);
  if (suffix == std::string_view::npos) {
    return {};
  }
  size_t digits = suffix + 4;
  while (digits < end && IsDigit(part[digits])) {
    ++digits;
  }
  if (digits == suffix + 4 || !part.substr(digits).starts_with("): ")) {
    return {};
  }
  Stretch folders{suffix, suffix};
  for (; folders.begin > begin; --folders.begin) {
    const char c = part[folders.begin - 1];
    if (!IsInWord(c) && c != '/' && c != '.' && c != '-') {
      break;
    }
    folders.end = c == '/' && folders.end == suffix ? folders.begin : folders.end;
  }
  return folders.end == suffix ? Stretch() : folders;
}

// Reads one stretch of a name; its brackets are its own.
class Tokenizer {
 public:
  Tokenizer(std::string_view name, Stretch stretch, Stretch folders, std::vector<NameToken>& tokens)
      : name_(name.substr(0, stretch.end)),
        at_(stretch.begin),
        folders_(folders),
        tokens_(tokens) {}

  void Run(bool is_noise) {
    while (at_ < name_.size()) {
      if (!TakeNoise()) {
        TakeToken();
      }
      if (is_noise) {
        tokens_.back().kind = TokenKind::kNoise;
      }
    }
  }

 private:
  bool StartsWith(std::string_view text) const { return name_.substr(at_).starts_with(text); }

  // How long that is which is noise as a whole and begins here.
  size_t NoiseHere() const {
    if (at_ == folders_.begin && folders_.end > at_ && folders_.end <= name_.size()) {
      return folders_.end - at_;
    }
    for (const std::string_view unnamed : kUnnamed) {
      if (StartsWith(unnamed)) {
        return unnamed.size();
      }
    }
    return 0;
  }

  bool TakeNoise() {
    const size_t length = NoiseHere();
    if (length > 0) {
      Add(at_, at_ + length, TokenKind::kNoise);
      at_ += length;
    }
    return length > 0;
  }

  void Add(size_t begin, size_t end, TokenKind kind) {
    tokens_.push_back({static_cast<uint32_t>(begin), static_cast<uint32_t>(end), kind});
  }

  void TakeToken() {
    const size_t begin = at_;
    const size_t depth = depth_;
    TakeMarks();  // before the first word, or more than follow one
    const bool has_word =
        at_ < name_.size() && IsLetter(name_[at_]) && (at_ == begin || !IsBehindScope());
    if (has_word) {
      BeginWord();
      TakeLetters();
    }
    const bool is_scope = has_word && at_ == word_end_ && StartsWith(kScope) && IsNamespace(Word());
    if (has_word && (at_ == name_.size() || !IsLetter(name_[at_]))) {
      TakeMarks();
    }
    Add(begin, at_,
        HasTile(name_.substr(begin, at_ - begin)) ? TokenKind::kTile
        : has_word && is_operator_                ? TokenKind::kOperator
        : depth == 0                              ? TokenKind::kHead
                                                  : TokenKind::kInner);
    if (is_scope) {
      MakeNoise();
    }
  }

  // Marks that end with "::" are a token of their own.
  bool IsBehindScope() const { return at_ >= 2 && name_.substr(at_ - 2, 2) == kScope; }

  // A word that goes on after an underscore or a cut has begun before; its tokens are alike.
  void BeginWord() {
    if (at_ < word_end_) {
      return;
    }
    word_begin_ = at_;
    word_token_ = tokens_.size();
    for (word_end_ = at_; word_end_ < name_.size() && IsInWord(name_[word_end_]);) {
      ++word_end_;
    }
    is_operator_ = depth_ > 0 && IsOperator(Word());
  }

  std::string_view Word() const { return name_.substr(word_begin_, word_end_ - word_begin_); }

  void TakeLetters() {
    for (size_t count = 0; at_ < name_.size() && IsLetter(name_[at_]); ++at_) {
      const bool begins = !IsContinued(name_[at_]);
      const bool is_camel = count >= kLeastCamel && IsUpper(name_[at_]) && IsLower(name_[at_ - 1]);
      count += begins ? 1 : 0;
      if (begins && (count > kLongestToken || is_camel)) {
        break;
      }
    }
  }

  // Punctuation up to the next word, or up to the end of a qualifier.
  void TakeMarks() {
    for (size_t count = 0; at_ < name_.size() && !IsLetter(name_[at_]); ++count) {
      if (count == kLongestToken || NoiseHere() > 0) {
        return;
      }
      CountBracket();
      ++at_;
      if (IsBehindScope()) {
        return;
      }
    }
  }

  void CountBracket() {
    const char c = name_[at_];
    const bool is_arrow = c == '>' && at_ > 0 && name_[at_ - 1] == '-';
    if (c == '<' || c == '(' || c == '[' || c == '{') {
      ++depth_;
    } else if ((c == '>' || c == ')' || c == ']' || c == '}') && depth_ > 0 && !is_arrow) {
      --depth_;
    }
  }

  void MakeNoise() {
    for (size_t i = word_token_; i < tokens_.size(); ++i) {
      tokens_[i].kind = TokenKind::kNoise;
    }
  }

  std::string_view name_;
  size_t at_;
  Stretch folders_;
  std::vector<NameToken>& tokens_;
  size_t depth_ = 0;
  size_t word_begin_ = 0;
  size_t word_end_ = 0;
  size_t word_token_ = 0;  // its first
  bool is_operator_ = false;
};

// The name without what compilers write after it.
std::string_view WithoutClone(std::string_view name) {
  for (const std::string_view end : {" [clone .kd]", ".kd"}) {
    if (name.ends_with(end) && name.size() > end.size()) {
      name.remove_suffix(end.size());
    }
  }
  return name;
}

// A signature's function without what it returns, which ends with a blank outside of brackets.
std::string_view WithoutReturnType(std::string_view bare) {
  size_t depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < bare.size(); ++i) {
    const char c = bare[i];
    depth += c == '<' || c == '(' || c == '{' ? 1 : 0;
    depth -= (c == '>' || c == ')' || c == '}') && depth > 0 ? 1 : 0;
    begin = c == ' ' && depth == 0 && i + 1 < bare.size() ? i + 1 : begin;
  }
  return bare.substr(begin);
}

// What says most of a name.
std::string_view FunctionOf(std::string_view name) {
  const std::string_view whole = WithoutClone(name);
  const std::string_view bare = BareName(whole);
  return bare.size() < whole.size() ? WithoutReturnType(bare) : whole;
}

// The bytes of what separates two names there: " · " in labels of charts, "|" in sequences of
// kernels; none where nothing does.
size_t BetweenAt(std::string_view name, size_t at) {
  const std::string_view rest = name.substr(at);
  return rest.starts_with('|') ? 1 : rest.starts_with(kBetween) ? kBetween.size() : 0;
}

// The kernel's name in "kernel:NAME x 0.5", as scenarios of `whatif` are called; else the whole.
Stretch KernelOf(std::string_view name, size_t begin, size_t end) {
  constexpr std::string_view kKernel = "kernel:";
  constexpr std::string_view kTimes = " x ";
  constexpr size_t kMostDigits = 8;
  const std::string_view part = name.substr(begin, end - begin);
  const size_t times = part.rfind(kTimes);
  if (!part.starts_with(kKernel) || times == std::string_view::npos || times <= kKernel.size()) {
    return {begin, end};
  }
  const std::string_view factor = part.substr(times + kTimes.size());
  const bool is_number = !factor.empty() && factor.size() <= kMostDigits &&
                         factor.find_first_not_of("0123456789.") == std::string_view::npos;
  return is_number ? Stretch{begin + kKernel.size(), begin + times} : Stretch{begin, end};
}

void ParsePart(std::string_view name, Stretch whole, std::vector<NameToken>& tokens) {
  const auto [begin, end] = KernelOf(name, whole.begin, whole.end);
  const auto add = [&](size_t from, size_t to) {
    if (to > from) {
      tokens.push_back({static_cast<uint32_t>(from), static_cast<uint32_t>(to)});
    }
  };
  add(whole.begin, begin);
  const std::string_view part = name.substr(begin, end - begin);
  const std::string_view bare = FunctionOf(part);
  const auto bare_begin = static_cast<size_t>(bare.data() - name.data());
  const size_t bare_end = bare_begin + bare.size();
  const Stretch folders = FoldersOf(name, bare_begin, bare_end);
  Tokenizer(name, {begin, bare_begin}, folders, tokens).Run(true);
  Tokenizer(name, {bare_begin, bare_end}, folders, tokens).Run(false);
  Tokenizer(name, {bare_end, end}, folders, tokens).Run(true);
  add(end, whole.end);
}

// Leaves the noise out, unless there is nothing else.
void DropNoise(NameText& name) {
  std::string text;
  std::vector<NameToken> tokens;
  for (const NameToken& token : name.tokens) {
    if (token.kind != TokenKind::kNoise) {
      const auto begin = static_cast<uint32_t>(text.size());
      text.append(name.text, token.begin, token.end - token.begin);
      tokens.push_back({begin, static_cast<uint32_t>(text.size()), token.kind});
    }
  }
  if (!tokens.empty()) {
    name.text = std::move(text);
    name.tokens = std::move(tokens);
  }
}

}  // namespace

bool IsWordEnd(std::string_view text, size_t at) {
  const char before = text[at - 1];
  const char after = at < text.size() ? text[at] : ' ';
  return !IsLetter(before) || !IsLetter(after) || (IsLower(before) && IsUpper(after));
}

size_t NameText::TokenAt(size_t at) const {
  const auto after =
      std::upper_bound(tokens.begin(), tokens.end(), at,
                       [](size_t byte, const NameToken& token) { return byte < token.begin; });
  return after == tokens.begin() ? 0 : static_cast<size_t>(after - tokens.begin()) - 1;
}

size_t NameText::First() const {
  const auto first = std::find_if(tokens.begin(), tokens.end(), [](const NameToken& token) {
    return token.kind != TokenKind::kNoise;
  });
  return first == tokens.end() ? 0 : static_cast<size_t>(first - tokens.begin());
}

NameText ParseName(std::string_view name, bool with_noise) {
  name = name.substr(0, kLongestName);
  NameText parsed{std::string(name), {}};
  for (size_t begin = 0; begin < name.size();) {
    size_t end = begin;
    while (end < name.size() && BetweenAt(name, end) == 0) {
      ++end;
    }
    ParsePart(name, {begin, end}, parsed.tokens);
    begin = end + BetweenAt(name, end);
    if (begin > end) {
      parsed.tokens.push_back({static_cast<uint32_t>(end), static_cast<uint32_t>(begin)});
    }
  }
  if (!with_noise) {
    DropNoise(parsed);
  }
  return parsed;
}

}  // namespace borescope::internal
