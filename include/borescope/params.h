// Params: what is requested from a verb beyond the question itself, by name and as text.
//
//   Params{{"by", "step"}, {"kernel_wait", "50us"}}
//
// Names and the form of values are those of Describe(): ranges "0", "0,3", "2..5"; times "30us",
// "1.5ms" (a bare number is microseconds); shares "1%" or "0.01"; lists with commas; texts of which
// there may be several with newlines; "true" for a flag. A dash in a name counts as an underscore.
// Values are checked when the question is asked.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace borescope {

// A plain value: copy, move and read it from any thread.
class Params {
 public:
  using Entry = std::pair<std::string, std::string>;

  Params() = default;
  Params(std::initializer_list<Entry> entries) : entries_(entries) {}

  // A name that is set twice has the last value.
  Params& Set(std::string name, std::string value) {
    entries_.emplace_back(std::move(name), std::move(value));
    return *this;
  }

  std::span<const Entry> entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

}  // namespace borescope
