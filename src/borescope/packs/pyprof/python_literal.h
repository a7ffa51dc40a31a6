// Literals of Python as repr() writes them: what the texts of PyProf's markers are. Nothing is
// evaluated.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace borescope::internal {

struct PythonValue {
  enum class Kind : uint8_t { kNone, kBool, kInt, kFloat, kString, kList, kTuple, kDict };

  Kind kind = Kind::kNone;
  int64_t number = 0;                   // kInt; kBool: 0 or 1
  std::string text = {};                // kString: what it says; kInt, kFloat: as written
  std::vector<PythonValue> items = {};  // of a list or tuple; of a dict: keys and values by turns

  bool IsSequence() const { return kind == Kind::kList || kind == Kind::kTuple; }
  // The value of a key of a dict; nullptr where there is none.
  const PythonValue* Find(std::string_view key) const;
};

// The value of the whole text, or nothing where it is no literal, is cut, or is nested deeper than
// any marker. Integers beyond 64 bits are of kFloat.
std::optional<PythonValue> ParsePythonLiteral(std::string_view text);

}  // namespace borescope::internal
