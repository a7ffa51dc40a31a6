#include "borescope/analysis/measures/names/short_names.h"

#include <algorithm>
#include <vector>

namespace borescope::internal {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)";
constexpr std::string_view kOperator = "operator";
constexpr std::string_view kAfterArguments[] = {"::",     "(",         "<",         "}",
                                                " const", " volatile", " noexcept", " &"};

bool IsQualifier(std::string_view word) {
  return word == "const" || word == "volatile" || word == "noexcept" || word == "&" || word == "&&";
}

// Reads a demangled name and keeps its words outside of brackets.
class NameReader {
 public:
  explicit NameReader(std::string_view name) : name_(name) {}

  // False if the name is not that of a function.
  bool Read() {
    while (at_ < name_.size()) {
      if (!Step()) {
        return false;
      }
    }
    EndWord();
    while (!words_.empty() && IsQualifier(words_.back())) {
      words_.pop_back();
    }
    return depth_ == 0 && !words_.empty();
  }

  // The return type stands before the name.
  std::string Take() { return std::move(words_.back()); }

 private:
  bool StartsHere(std::string_view text) const { return name_.substr(at_).starts_with(text); }

  bool Step() {
    const char c = name_[at_];
    if (StartsHere("->")) {  // no bracket
      word_ += depth_ == 0 ? "->" : "";
      at_ += 2;
    } else if (c == '<' || c == '(') {
      return Open();
    } else if (c == '>' || c == ')') {
      ++at_;
      --depth_;
      return depth_ > 0 || (depth_ == 0 && (c == '>' || MayFollowArguments()));
    } else if (depth_ == 0 && c == ' ') {
      ++at_;
      EndWord();
    } else {
      word_.append(depth_ == 0 ? 1 : 0, c);
      ++at_;
    }
    return true;
  }

  // Behind the arguments the name ends or goes on (operator()(int)::{lambda()#1}), or a qualifier
  // follows; in "train.py(12): main" they are none.
  bool MayFollowArguments() const {
    if (at_ == name_.size()) {
      return true;
    }
    const std::string_view rest = name_.substr(at_);
    return std::any_of(std::begin(kAfterArguments), std::end(kAfterArguments),
                       [&](std::string_view start) { return rest.starts_with(start); });
  }

  bool Open() {
    if (depth_ == 0 && StartsHere(kAnonymous)) {
      word_ += kAnonymous;
      at_ += kAnonymous.size();
      return true;
    }
    if (depth_ == 0 && word_.ends_with(kOperator)) {
      return ReadOperator();
    }
    if (depth_ == 0 && word_.empty()) {
      return false;  // "my step (1)"
    }
    ++depth_;
    ++at_;
    return true;
  }

  // The brackets of operator<, operator<<, operator() are part of the name.
  bool ReadOperator() {
    if (StartsHere("()")) {
      word_ += "()";
      at_ += 2;
      return true;
    }
    while (at_ < name_.size() && (name_[at_] == '<' || name_[at_] == '=')) {
      word_ += name_[at_++];
    }
    return true;
  }

  void EndWord() {
    if (!word_.empty()) {
      words_.push_back(std::move(word_));
      word_.clear();
    }
  }

  std::string_view name_;
  size_t at_ = 0;
  int depth_ = 0;
  std::string word_;
  std::vector<std::string> words_;
};

}  // namespace

std::string ShortName(std::string_view name) {
  if (name.find_first_of("<(") == std::string_view::npos || name.starts_with("Mem")) {
    return std::string(name);
  }
  NameReader reader(name);
  return reader.Read() ? reader.Take() : std::string(name);
}

}  // namespace borescope::internal
