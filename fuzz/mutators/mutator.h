// Changes to inputs that know what an input is made of: random bytes rarely get past a parser. A
// target is linked with one mutator; libFuzzer and replay_main.cc call it.
#pragma once

#include <cstddef>
#include <random>
#include <string>
#include <string_view>

namespace fuzz {

// The same numbers everywhere, so that a test repeats.
class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}

  // From 0 to below `count`; 0 if that is 0.
  size_t Below(size_t count) { return count == 0 ? 0 : engine_() % count; }
  template <class List>
  const auto& Pick(const List& list) {
    return list[Below(std::size(list))];
  }

 private:
  std::minstd_rand engine_;
};

// `input` with one or a few changes; any bytes are an input.
std::string Mutate(std::string_view input, unsigned seed);

}  // namespace fuzz
