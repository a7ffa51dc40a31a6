// PyProf's own formulas (NVIDIA PyProf 3.11): what it says a kernel computes and moves, from the
// call of Python around its launch. Some are wrong, and are kept so, since they answer --compat
// pyprof. docs/use/compat-pyprof.md says where they differ from docs/how-it-works/flops.md.
//
// To add an operator: a row in the table of formula.cc, its function in the file of its kind, a
// test.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/opmodel/values/op_args.h"
#include "borescope/packs/pyprof/markers.h"

namespace borescope::internal {

// What the formulas use of a kernel.
struct PyProfKernel {
  std::string_view name = {};  // PyProf's short name
  bool is_backward = false;
  int64_t sub = 0;  // number of the kernel among those of its operator
  int64_t grid_x = 1, grid_y = 1;
};

struct PyProfWork {
  std::string op = {};  // of the call, or "bias"
  std::string params = {};
  Quantity flops = {}, bytes = {};
  std::string_view tc = "-";  // "1" tensor cores, "0" could have used them, "-" nothing for them
};

// Nothing if PyProf stops: at arguments, types or kernels that its classes do not expect.
std::optional<PyProfWork> PyProfWorkOf(const PyProfCall& call, const PyProfKernel& kernel);

// Only the parameters, as PyProf's classes print them, for any type and number of arguments.
std::string PyProfParams(const PyProfCall& call);

namespace pyprof {

struct Case {
  const PyProfCall& call;
  const PyProfKernel& kernel;
  int variant = 0;  // distinguishes the operators of one formula
};

using Formula = std::optional<PyProfWork> (*)(const Case&);

// A tensor, or a number as a tensor without dimensions.
struct Operand {
  std::span<const int64_t> shape;
  std::string_view dtype;  // of PyTorch: "float16"
  int64_t size = 0;        // bytes of an element

  Quantity elements() const;
  Quantity bytes() const { return elements() * size; }
};

// "fp16" for "float16"; types without a short name stay as they are.
std::string_view ShortType(std::string_view dtype);
// Bytes of an element; 0 for unknown types.
int64_t TypeSize(std::string_view dtype);
// Whether PyProf knows the type; it stops at others.
bool IsKnownType(std::string_view dtype);

// The operand of an argument that is a tensor whose type has a known size.
std::optional<Operand> TensorOf(const PyProfArg* arg);
// The same for argument `index`, with a keyword or without; nothing if there are fewer arguments.
std::optional<Operand> Argument(const Case& one, size_t index);
// As TensorOf, but also for numbers, which are 4 bytes each.
std::optional<Operand> TensorOrNumber(const PyProfArg* arg);

// Arguments without a keyword.
std::vector<const PyProfArg*> Positional(const PyProfCall& call);
// Argument `index` if it has no keyword, else the one with that keyword; nullptr: not given.
const PyProfArg* FindArg(const PyProfCall& call, size_t index, std::string_view name);

std::string TupleText(std::span<const int64_t> shape);                           // "(8,16)", "(5,)"
std::string TensorText(std::span<const int64_t> shape, std::string_view dtype);  // "[8,16]fp32"
// "T=(8,16),fp32,"
std::string TypedTuple(std::string_view key, const Operand& operand);

// From the short name of the kernel: "1" or "0".
std::string_view TensorCores(std::string_view kernel);
// Whether any of the patterns is part of the name.
bool ContainsAny(std::string_view name, std::span<const std::string_view> patterns);

// The shape to which both broadcast, or nothing.
std::optional<std::vector<int64_t>> BroadcastShapes(std::span<const int64_t> a,
                                                    std::span<const int64_t> b);

// matrix_formulas.cc
std::optional<PyProfWork> Addmm(const Case& one);
std::optional<PyProfWork> Mm(const Case& one);
std::optional<PyProfWork> Bmm(const Case& one);
std::optional<PyProfWork> Matmul(const Case& one);
std::optional<PyProfWork> Linear(const Case& one);
std::optional<PyProfWork> Conv(const Case& one);  // variant: dimensions
std::optional<PyProfWork> RnnCell(const Case& one);

// element_formulas.cc
enum PointwiseKind { kUnary, kFunction, kBinary, kComparison, kPower, kTernary, kUnsupported };
std::optional<PyProfWork> Pointwise(const Case& one);  // variant: PointwiseKind
std::optional<PyProfWork> Activation(const Case& one);
std::optional<PyProfWork> Dropout(const Case& one);
std::optional<PyProfWork> Softmax(const Case& one);  // variant: FLOPs per element
std::optional<PyProfWork> BatchNorm(const Case& one);
std::optional<PyProfWork> MseLoss(const Case& one);

enum ReductionKindOfPyProf { kSum, kMean, kNorm, kAny };
std::optional<PyProfWork> Reduction(const Case& one);  // variant: ReductionKindOfPyProf
std::optional<PyProfWork> Convert(const Case& one);
std::optional<PyProfWork> CopyInto(const Case& one);
std::optional<PyProfWork> Copy(const Case& one);
std::optional<PyProfWork> Reshape(const Case& one);
std::optional<PyProfWork> Cat(const Case& one);
std::optional<PyProfWork> Adam(const Case& one);
std::optional<PyProfWork> RandPerm(const Case& one);
enum FillKind { kNew, kLike, kFill, kFull };
std::optional<PyProfWork> Fill(const Case& one);  // variant: FillKind
std::optional<PyProfWork> Embedding(const Case& one);
std::optional<PyProfWork> Gather(const Case& one);
std::optional<PyProfWork> IndexSelect(const Case& one);
std::optional<PyProfWork> MaskedSelect(const Case& one);
std::optional<PyProfWork> MaskedScatter(const Case& one);
std::optional<PyProfWork> NonZero(const Case& one);

// What PyProf reports for every other operator: only its tensors.
PyProfWork Unsupported(const PyProfCall& call);

}  // namespace pyprof
}  // namespace borescope::internal
