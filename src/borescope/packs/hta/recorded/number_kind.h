// Numbers of JSON as Python reads them, and what pandas makes of a column of them.
#pragma once

#include <cstdint>
#include <string_view>

namespace borescope::internal {

enum class LooseType : uint8_t { kNull, kInt, kFloat, kOther };

// The text of one value. kInt: `integer`, and `number` as near as a double comes to it. kFloat:
// `number`. Whole numbers of more than 64 bits, texts, lists and flags are kOther.
struct LooseNumber {
  LooseType type = LooseType::kNull;
  int64_t integer = 0;
  double number = 0;
};
LooseNumber ReadLooseNumber(std::string_view value);

// What was seen of a column.
class NumberKind {
 public:
  void See(LooseType type) { seen_ |= 1U << static_cast<unsigned>(type); }
  bool Has(LooseType type) const { return ((seen_ >> static_cast<unsigned>(type)) & 1) != 0; }
  // The type of pandas: "int", "float" (also where a value is missing), or "object".
  std::string_view name() const;
  bool is_int() const { return name() == "int"; }
  bool is_float() const { return name() == "float"; }

 private:
  unsigned seen_ = 0;  // a bit for each LooseType
};

}  // namespace borescope::internal
