#include "borescope/scrub/text/new_names.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "borescope/base/text/text.h"

namespace borescope::internal {
namespace {

bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsOther(char c) { return static_cast<unsigned char>(c) >= 0x80; }
bool IsLetter(char c) { return IsUpper(c) || IsLower(c) || IsOther(c); }
bool IsRunCharacter(char c) { return IsLetter(c) || IsDigit(c); }

template <class Is>
size_t EndOf(std::string_view text, size_t at, const Is& is) {
  while (at < text.size() && is(text[at])) {
    ++at;
  }
  return at;
}

// Letters that make up no word by which anything is recognised.
std::string Letters(const HashKey& key, std::string_view word) {
  constexpr std::string_view kAlphabet = "jkqvwxyz";
  constexpr int kCount = 15;
  uint64_t hash = KeyedHash(key, word);
  std::string letters;
  for (int i = 0; i < kCount; ++i, hash >>= 3) {
    letters += kAlphabet[hash & 7];
  }
  return letters;
}

// The end of the word of CamelCase that begins at `at`: "Dev" of "DevKernel", "HTTP" of "HTTPPort".
size_t CamelEnd(std::string_view run, size_t at) {
  const size_t upper = EndOf(run, at, IsUpper);
  const size_t lower = EndOf(run, upper, [](char c) { return IsLower(c) || IsOther(c); });
  const bool is_acronym = upper > at + 1 && lower > upper;
  return is_acronym ? upper - 1 : lower;
}

// Each part of a word of CamelCase for itself.
std::string NewParts(std::string_view word, const HashKey& key) {
  std::string result;
  for (size_t at = 0; at < word.size();) {
    const size_t end = std::max(CamelEnd(word, at), at + 1);
    const std::string_view part = word.substr(at, end - at);
    result +=
        part.size() == 1 || IsPublicWord(LowerCase(part)) ? std::string(part) : Letters(key, part);
    at = end;
  }
  return result;
}

// A run of letters between digits: public as a whole, or in its parts.
std::string NewWord(std::string_view word, const HashKey& key) {
  const std::string lower = LowerCase(word);
  if (word.size() == 1 || IsPublicWord(lower)) {
    return std::string(word);
  }
  const std::string_view decisive = DecisivePart(lower);
  if (decisive.empty()) {
    return NewParts(word, key);
  }
  const auto at = static_cast<size_t>(decisive.data() - lower.data());
  return NewParts(word.substr(0, at), key) + std::string(word.substr(at, decisive.size())) +
         NewParts(word.substr(at + decisive.size()), key);
}

// Digits between single letters spell words, too.
bool IsSpelled(std::string_view run) {
  constexpr int kMost = 3;
  int singles = 0;
  for (size_t at = 0; at < run.size();) {
    const size_t end = EndOf(run, at, IsLetter);
    singles += end == at + 1 && run[at] != 'x' && run[at] != 'X' ? 1 : 0;
    at = std::max(end, at + 1);
  }
  return singles > kMost;
}

std::string NewRun(std::string_view run, const HashKey& key) {
  if (IsPublicWord(LowerCase(run))) {
    return std::string(run);
  }
  if (IsSpelled(run)) {
    return Letters(key, run);
  }
  std::string result;
  for (size_t at = 0; at < run.size();) {
    const size_t end = EndOf(run, at, IsLetter);
    if (end == at) {
      const size_t digits = EndOf(run, at, IsDigit);
      result += run.substr(at, digits - at);
      at = digits;
    } else {
      result += NewWord(run.substr(at, end - at), key);
      at = end;
    }
  }
  return result;
}

std::string NewWords(std::string_view text, const HashKey& key) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const size_t end = EndOf(text, at, IsRunCharacter);
    if (end == at) {
      result += text[at++];
    } else {
      result += NewRun(text.substr(at, end - at), key);
      at = end;
    }
  }
  return result;
}

// Functions of runtimes are called alike in every program.
bool IsRuntimeCall(std::string_view name) {
  constexpr std::string_view kPrefixes[] = {"cuda",     "cu",   "hip", "hsa_", "roctx",
                                            "nccl",     "xpu",  "ur",  "ze",   "MPI_",
                                            "pthread_", "sem_", "poll"};
  return std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [&](std::string_view prefix) { return name.starts_with(prefix); }) &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return (IsRunCharacter(c) && !IsOther(c)) || c == '_'; });
}

// "torch/nn/modules/module.py(1532): _call_impl", and nothing behind it.
bool IsFrameOfTorch(std::string_view name) {
  const auto is_plain = [](char c) {
    return (IsRunCharacter(c) && !IsOther(c)) || c == '_' || c == '/' || c == '.';
  };
  const size_t path = EndOf(name, 0, is_plain);
  if (!name.starts_with("torch/") || path >= name.size() || name[path] != '(') {
    return false;
  }
  const size_t line = EndOf(name, path + 1, IsDigit);
  return name.substr(line).starts_with("): ") && EndOf(name, line + 3, is_plain) == name.size();
}

// Operators of PyTorch itself, and the sources of public packages.
bool IsPublicName(std::string_view name, TextUse use) {
  constexpr std::string_view kSpaces[] = {"aten::", "prims::", "c10d::", "nccl:", "quantized::"};
  const auto is_plain = [](char c) {
    return (IsRunCharacter(c) && !IsUpper(c) && !IsOther(c)) || c == '_' || c == '.' || c == ':';
  };
  if (use == TextUse::kCall && IsRuntimeCall(name)) {
    return true;
  }
  if (use == TextUse::kFrame && IsFrameOfTorch(name)) {
    return true;
  }
  return std::any_of(std::begin(kSpaces), std::end(kSpaces),
                     [&](std::string_view space) { return name.starts_with(space); }) &&
         std::all_of(name.begin(), name.end(), is_plain);
}

}  // namespace

std::string NewName(std::string_view name, TextUse use, const HashKey& key) {
  const bool holds_secrets = !FindSensitive(name).empty();
  return !holds_secrets && IsPublicName(name, use) ? std::string(name) : NewWords(name, key);
}

}  // namespace borescope::internal
