// Question: verbs, and what is requested from them beyond their names, by name and as text. The
// same value is put to recordings (Run) from a command line, from Python and from C++; its texts
// travel in parts (Partial) and in scripts of `launch`, and become typed only where files are
// mapped.
//
//   Question("kernels", {{"by", "step"}, {"rank", "0..7"}})
//
// Names and the form of values are those of Describe(): ranges "0", "0,3", "2..5"; times "30us",
// "1.5ms" (a bare number is microseconds); shares "1%" or "0.01"; lists with commas; texts of which
// there may be several with newlines; "true" for a flag. A dash in a name counts as an underscore.
// Values are checked when the question is asked.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace borescope {

// A plain value: copy, move and read it from any thread.
class Question {
 public:
  using Entry = std::pair<std::string, std::string>;

  // One verb of Describe(), or "report" or "check".
  Question(const char* verb)  // NOLINT(google-explicit-constructor)
      : verbs_{verb} {}
  Question(const std::string& verb)  // NOLINT(google-explicit-constructor)
      : verbs_{verb} {}
  Question(std::string_view verb)  // NOLINT(google-explicit-constructor)
      : verbs_{std::string(verb)} {}
  Question(std::string_view verb, std::initializer_list<Entry> entries)
      : verbs_{std::string(verb)}, entries_(entries) {}
  // Several verbs, which are answered by one load.
  static Question Of(std::vector<std::string> verbs, std::vector<Entry> entries = {}) {
    return {std::move(verbs), std::move(entries)};
  }

  // A name that is set twice has the last value.
  Question& Set(std::string name, std::string value) {
    entries_.emplace_back(std::move(name), std::move(value));
    return *this;
  }

  std::span<const std::string> verbs() const { return verbs_; }
  std::span<const Entry> entries() const { return entries_; }

 private:
  Question(std::vector<std::string> verbs, std::vector<Entry> entries)
      : verbs_(std::move(verbs)), entries_(std::move(entries)) {}

  std::vector<std::string> verbs_;
  std::vector<Entry> entries_;
};

}  // namespace borescope
