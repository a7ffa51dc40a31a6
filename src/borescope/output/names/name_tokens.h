// A name in the pieces that a label keeps or leaves out. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace borescope::internal {

enum class TokenKind : uint8_t {
  kNoise,     // "void ", namespaces, parameters, folders of Python files: what distinguishes least
  kHead,      // outside of all brackets: what the name is
  kInner,     // arguments of templates and others
  kOperator,  // in brackets: functors and operators, what a kernel for elements does with each
  kTile,      // "128x64", wherever it is: what people look for first
};

// Some bytes of a text: a word or a piece of one with the punctuation after it. No longer than
// about sixteen characters of each.
struct NameToken {
  uint32_t begin = 0;
  uint32_t end = 0;
  TokenKind kind = TokenKind::kHead;
};

struct NameText {
  std::string text;               // of all tokens, one after the other
  std::vector<NameToken> tokens;  // their places in `text`

  // The token with byte `at`; the last one for bytes after all. REQUIRES: there is a token.
  size_t TokenAt(size_t at) const;
  // The token a label begins with: the first that is no noise.
  size_t First() const;
};

// Whether a person would cut a text before byte `at`: beside a mark, or between the words of a name
// such as TensorIterator or ncclDevKernel. REQUIRES: 0 < at <= text.size().
bool IsWordEnd(std::string_view text, size_t at);

// The tokens of printable text, all or without the noise. Of a name that is nothing but noise all.
// Names with " · " or "|" between them, as labels of charts have, are names each, and so is the one
// in "kernel:NAME x 0.5".
// What is longer than a GiB is cut there.
NameText ParseName(std::string_view name, bool with_noise);

}  // namespace borescope::internal
