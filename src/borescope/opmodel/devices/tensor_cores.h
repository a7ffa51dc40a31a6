// Whether a kernel computes on matrix units (tensor cores, MFMA, WMMA), judged by its name, and on
// what kind of numbers. As every test of names this is a heuristic: hardware counters of the matrix
// pipe, where recorded, are more reliable.
//
// Names must be the full ones, demangled where they can be: the relevant words of CUTLASS and
// attention kernels are in their template arguments. Call it once for each distinct name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace re2 {
class RE2;
}  // namespace re2

namespace borescope::internal {

enum class MatrixUse : uint8_t {
  kYes,
  kNo,         // could have used matrix units and does not
  kNotMatrix,  // has no matrix work: element-wise, reductions, layout changes, ... ...
  kUnknown,    // the main kernel of a matrix operator, with a name that says nothing
};

std::string_view MatrixUseName(MatrixUse use);  // "yes", "no", "not_matrix", "unknown"

// `of_matrix_op`: the caller knows that the kernel does the main work of a matrix multiplication,
// convolution, attention or recurrent operator. Any thread. O(name).
MatrixUse MatrixUseOf(std::string_view kernel, bool of_matrix_op = false);

// What the operands are, as far as the name of a kernel with MatrixUse::kYes says it: "fp64",
// "fp32", "tf32", "fp16", "bf16", "fp8", "fp4", "mx" (block scaled), "int8"; empty if the name does
// not say it.
std::string_view OperandFormat(std::string_view kernel);

// One row of a rule table, for documentation and tests.
struct MatrixUseRule {
  std::string_view family;
  MatrixUse use;
  std::string_view pattern;  // RE2
  std::string_view example;  // a name for which this row decides
};
std::span<const MatrixUseRule> MatrixUseRules();

struct OperandFormatRule {
  std::string_view format;
  std::string_view pattern;
  std::string_view example;
};
std::span<const OperandFormatRule> OperandFormatRules();

// A size of a matrix operator: M, N or K of a multiplication, the channels of a convolution.
struct NamedSize {
  std::string_view name;
  int64_t size = 0;
};

// Matrix units are used best, and by old libraries only then, if each size is a multiple of 16
// bytes: 8 elements of 16 bits, 16 of 8 bits, 4 of 32 bits (NVIDIA, "Matrix Multiplication
// Background", 2023). REQUIRES: element_bits is 4, 8, 16, 32 or 64.
int64_t MatrixAlignment(int64_t element_bits);

// The sizes that are not such a multiple, in the order given: why an operator that is eligible by
// its type may have missed the matrix units.
std::vector<NamedSize> MisalignedSizes(std::span<const NamedSize> sizes, int64_t element_bits);

// Ordered regular expressions over kernel names, the first match decides. Names come from files
// that may be hostile, so matching takes time linear in the name and a bounded amount of memory
// (RE2), which std::regex does not.

// Immutable once made; any number of threads may ask at once.
class OrderedPatterns {
 public:
  // REQUIRES: every pattern is a regular expression in the syntax of RE2.
  explicit OrderedPatterns(std::span<const std::string_view> patterns);
  ~OrderedPatterns();
  OrderedPatterns(const OrderedPatterns&) = delete;
  OrderedPatterns& operator=(const OrderedPatterns&) = delete;

  // The number of the first pattern found anywhere in the name; nullopt if none is.
  std::optional<size_t> FirstMatch(std::string_view name) const;

 private:
  std::vector<std::unique_ptr<re2::RE2>> patterns_;
};

// The member `pattern` of each row of a table.
template <class Row>
std::vector<std::string_view> PatternsOfRows(std::span<const Row> rows) {
  std::vector<std::string_view> patterns;
  patterns.reserve(rows.size());
  for (const Row& row : rows) {
    patterns.push_back(row.pattern);
  }
  return patterns;
}

}  // namespace borescope::internal
