// A number as Python's json module reads it: an integer stays one, arithmetic with a fraction is
// that of doubles. What the reference computes with them is part of its output.
#pragma once

#include <cstdint>

#include "borescope/chakra/link/link_plan.h"

namespace borescope::internal::chakra::compat {

struct Number {
  bool is_double = false;
  int64_t whole = 0;
  double fraction = 0;

  static Number Int(int64_t value) { return {false, value, 0}; }
  static Number Double(double value) { return {true, 0, value}; }

  double AsDouble() const { return is_double ? fraction : static_cast<double>(whole); }
  LinkTime AsTime() const { return is_double ? LinkTime::Double(fraction) : LinkTime::Int(whole); }

  // Integers wrap; the reader of events lets none in that could.
  friend Number operator+(Number a, Number b) {
    return a.is_double || b.is_double ? Double(a.AsDouble() + b.AsDouble())
                                      : Int(a.whole + b.whole);
  }
  friend Number operator-(Number a, Number b) {
    return a.is_double || b.is_double ? Double(a.AsDouble() - b.AsDouble())
                                      : Int(a.whole - b.whole);
  }
  friend bool operator<(Number a, Number b) {
    return a.is_double || b.is_double ? a.AsDouble() < b.AsDouble() : a.whole < b.whole;
  }
  friend bool operator<=(Number a, Number b) { return !(b < a); }
};

}  // namespace borescope::internal::chakra::compat
