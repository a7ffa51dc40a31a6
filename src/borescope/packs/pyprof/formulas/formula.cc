#include "borescope/packs/pyprof/formulas/formula.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/text/text.h"
#include "borescope/opmodel/cost_builder.h"

namespace borescope::internal {
namespace pyprof {

namespace {

struct TypeRow {
  std::string_view name;
  std::string_view short_name;
  int64_t size;
  bool is_known = true;  // to PyProf
};
constexpr TypeRow kTypes[] = {{"float16", "fp16", 2},
                              {"half", "fp16", 2},
                              {"float32", "fp32", 4},
                              {"float", "fp32", 4},
                              {"float64", "fp64", 8},
                              {"double", "fp64", 8},
                              {"int16", "int16", 2},
                              {"short", "int16", 2},
                              {"int32", "int32", 4},
                              {"int", "int32", 4},
                              {"int64", "int64", 8},
                              {"long", "int64", 8},
                              {"uint8", "uint8", 1},
                              {"int8", "int8", 1},
                              {"byte", "byte", 1},
                              {"char", "char", 1},
                              {"bool", "bool", 1},
                              {"bfloat16", "bf16", 2, false},
                              {"float8_e4m3fn", "e4m3", 1, false},
                              {"float8_e5m2", "e5m2", 1, false},
                              {"complex64", "complex64", 8, false},
                              {"complex128", "complex128", 16, false},
                              {"", "", 1, false}};

const TypeRow* FindType(std::string_view dtype) {
  const auto* found = std::find_if(std::begin(kTypes), std::end(kTypes),
                                   [&](const TypeRow& row) { return row.name == dtype; });
  return found == std::end(kTypes) ? nullptr : found;
}

// Parts of the short names of kernels that use tensor cores.
constexpr std::string_view kTensorCorePatterns[] = {"h884",
                                                    "s884",
                                                    "h1688",
                                                    "s1688",
                                                    "hmma",
                                                    "i8816",
                                                    "16816",
                                                    "dgrad_1x1_stride_2x2",
                                                    "first_layer_wgrad_kernel",
                                                    "conv1x1",
                                                    "conv2d_c1_k1",
                                                    "direct_group",
                                                    "xmma_implicit_gemm",
                                                    "xmma_sparse_conv",
                                                    "xmma_warp_specialized_implicit_gemm",
                                                    "xmma_gemm",
                                                    "xmma_sparse_gemm",
                                                    "c1688"};

}  // namespace

Quantity Operand::elements() const { return opmodel::Product(shape); }

std::string_view ShortType(std::string_view dtype) {
  const TypeRow* row = FindType(dtype);
  return row == nullptr ? dtype : row->short_name;
}

int64_t TypeSize(std::string_view dtype) {
  const TypeRow* row = FindType(dtype);
  return row == nullptr ? 0 : row->size;
}

bool IsKnownType(std::string_view dtype) {
  const TypeRow* row = FindType(dtype);
  return row != nullptr && row->is_known;
}

std::optional<Operand> TensorOf(const PyProfArg* arg) {
  if (arg == nullptr || !arg->is_tensor() || TypeSize(arg->dtype) == 0) return std::nullopt;
  return Operand{arg->shape, arg->dtype, TypeSize(arg->dtype)};
}

std::optional<Operand> Argument(const Case& one, size_t index) {
  return index < one.call.args.size() ? TensorOf(&one.call.args[index]) : std::nullopt;
}

std::optional<Operand> TensorOrNumber(const PyProfArg* arg) {
  constexpr int64_t kNumberBytes = 4;
  if (arg == nullptr || arg->is_tensor()) return TensorOf(arg);
  if (arg->type != "int" && arg->type != "float") return std::nullopt;
  return Operand{{}, arg->type, kNumberBytes};
}

std::vector<const PyProfArg*> Positional(const PyProfCall& call) {
  std::vector<const PyProfArg*> found;
  found.reserve(call.args.size());
  for (const PyProfArg& arg : call.args) {
    if (arg.name.empty()) found.push_back(&arg);
  }
  return found;
}

const PyProfArg* FindArg(const PyProfCall& call, size_t index, std::string_view name) {
  if (index < call.args.size() && call.args[index].name.empty()) return &call.args[index];
  const auto found = std::find_if(call.args.begin(), call.args.end(),
                                  [&](const PyProfArg& arg) { return arg.name == name; });
  return found == call.args.end() ? nullptr : &*found;
}

std::string TupleText(std::span<const int64_t> shape) {
  return fmt::format("({}{})", fmt::join(shape, ","), shape.size() == 1 ? "," : "");
}

std::string TensorText(std::span<const int64_t> shape, std::string_view dtype) {
  return fmt::format("[{}]{}", fmt::join(shape, ","), ShortType(dtype));
}

std::string TypedTuple(std::string_view key, const Operand& operand) {
  return fmt::format("{}={},{},", key, TupleText(operand.shape), ShortType(operand.dtype));
}

bool ContainsAny(std::string_view name, std::span<const std::string_view> patterns) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](std::string_view pattern) { return Contains(name, pattern); });
}

std::string_view TensorCores(std::string_view kernel) {
  return ContainsAny(kernel, kTensorCorePatterns) ? "1" : "0";
}

std::optional<std::vector<int64_t>> BroadcastShapes(std::span<const int64_t> a,
                                                    std::span<const int64_t> b) {
  return opmodel::Broadcast(a, b);
}

PyProfWork Unsupported(const PyProfCall& call) {
  std::vector<std::string> shapes;
  std::vector<std::string> types;
  for (const PyProfArg& arg : call.args) {
    if (arg.is_tensor()) {
      shapes.push_back(TupleText(arg.shape));
      types.push_back("'" + arg.dtype + "'");
    }
  }
  return {.op = call.op,
          .params = fmt::format("T=[{}],[{}]", fmt::join(shapes, ","), fmt::join(types, ","))};
}

}  // namespace pyprof

// The operators that PyProf knows, by the name of the called function.

namespace {

using namespace pyprof;  // the table names nearly all of it

// The modules that a class accepts; at others PyProf stops.
enum Modules : uint8_t { kTorch = 1, kTensor = 2, kFunctional = 4, kAnyModule = 8 };
constexpr uint8_t kBoth = kTorch | kTensor;
constexpr uint8_t kEach = kTorch | kTensor | kFunctional;

struct FormulaRow {
  std::string_view ops;  // with spaces between them
  uint8_t modules;
  Formula formula;
  int variant = 0;
};

constexpr FormulaRow kRows[] = {
    {"linear", kFunctional, Linear},
    {"conv1d", kFunctional, Conv, 1},
    {"conv2d", kFunctional, Conv, 2},
    {"matmul __matmul__", kBoth, Matmul},
    {"addmm addmm_", kBoth, Addmm},
    {"mm", kTorch, Mm},
    {"bmm", kTorch, Bmm},
    {"abs abs_ neg neg_ reciprocal reciprocal_ __abs__ __neg__ __invert__ ceil ceil_ clamp clamp_ "
     "floor floor_ frac frac_ round round_ sign sign_ trunc trunc_",
     kAnyModule, Pointwise, kUnary},
    {"exp exp_ exp1m exp1m_ log log_ log10 log10_ log1p log1p_ log2 log2_ sqrt sqrt_ rsqrt rsqrt_ "
     "acos acos_ asin asin_ atan atan_ atan2 atan2_ cos cos_ cosh cosh_ sin sin_ sinh sinh_ tan "
     "tan_ sigmoid sigmoid_ tanh tanh_ erf erf_ erfc erfc_ erfinv erfinv_",
     kAnyModule, Pointwise, kFunction},
    {"add add_ div div_ mul mul_ remainder remainder_ sub sub_ fmod fmod_ __add__ __sub__ __mul__ "
     "__floordiv__ __truediv__ __mod__ __radd__ __rsub__ __rmul__ __rdiv__ __rtruediv__ "
     "__rfloordiv__ __iadd__ __isub__ __imul__ __itruediv__ __and__ __or__ __xor__ __lshift__ "
     "__rshift__ __iand__ __ior__ __ixor__ __ilshift__ __irshift__",
     kAnyModule, Pointwise, kBinary},
    {"lt lt_ gt gt_ ge ge_ le le_ eq eq_ ne ne_ __lt__ __gt__ __ge__ __le__ __eq__ __ne__",
     kAnyModule, Pointwise, kComparison},
    {"pow pow_ __pow__ __rpow__", kAnyModule, Pointwise, kPower},
    {"addcdiv addcdiv_ addcmul addcmul_", kAnyModule, Pointwise, kTernary},
    {"digamma lerp lerp_ mvlgamma", kAnyModule, Pointwise, kUnsupported},
    {"byte char double float half int long short to", kTensor, Convert},
    {"embedding", kFunctional, Embedding},
    {"sum", kBoth, Reduction, kSum},
    {"mean", kBoth, Reduction, kMean},
    {"norm", kBoth, Reduction, kNorm},
    {"any", kTensor, Reduction, kAny},
    {"dropout", kFunctional, Dropout},
    {"cat", kTorch, Cat},
    {"reshape", kTensor, Reshape},
    {"masked_scatter_", kTensor, MaskedScatter},
    {"gather", kBoth, Gather},
    {"nonzero", kBoth, NonZero},
    {"index_select", kBoth, IndexSelect},
    {"masked_select", kBoth, MaskedSelect},
    {"softmax", kFunctional, Softmax, 40},
    {"log_softmax", kEach, Softmax, 21},
    {"mse_loss", kFunctional, MseLoss},
    {"adam", kAnyModule, Adam},
    {"batch_norm", kAnyModule, BatchNorm},
    {"randperm", kTorch, RandPerm},
    {"ones zeros", kTorch, Fill, kNew},
    {"ones_like zeros_like zero_", kBoth, Fill, kLike},
    {"fill_", kTensor, Fill, kFill},
    {"full", kTorch, Fill, kFull},
    {"copy_", kTensor, CopyInto},
    {"clone contiguous", kTensor, Copy},
    {"celu elu elu_ hardshrink hardtanh hardtanh_ leaky_relu leaky_relu_ logsigmoid prelu relu "
     "relu_ relu6 rrelu rrelu_ selu softplus softshrink softsign tanhshrink threshold threshold_",
     kEach, Activation}};

using RowsByOp = HashMap<std::string_view, const FormulaRow*>;

RowsByOp IndexByOp() {
  RowsByOp rows;
  for (const FormulaRow& row : kRows) {
    std::string_view rest = row.ops;
    while (!rest.empty()) {
      const size_t end = std::min(rest.find(' '), rest.size());
      rows.emplace(rest.substr(0, end), &row);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return rows;
}

const FormulaRow* FindRow(std::string_view op) {
  static const RowsByOp rows_by_op = IndexByOp();
  const auto found = rows_by_op.find(op);
  return found == rows_by_op.end() ? nullptr : found->second;
}

bool IsAccepted(const FormulaRow& row, std::string_view mod) {
  const unsigned given = mod == "torch"                 ? kTorch
                         : mod == "Tensor"              ? kTensor
                         : mod == "torch.nn.functional" ? kFunctional
                                                        : 0;
  return (row.modules & (given | kAnyModule)) != 0;
}

bool HasUnknownType(const PyProfCall& call) {
  return std::any_of(call.args.begin(), call.args.end(), [](const PyProfArg& arg) {
    return arg.is_tensor() && !IsKnownType(arg.dtype);
  });
}

bool IsOverflow(const PyProfWork& work) {
  return work.flops.is_overflow() || work.bytes.is_overflow();
}

bool IsMatrixOp(const FormulaRow& row) {
  return row.formula == Linear || row.formula == Conv || row.formula == Addmm ||
         row.formula == Mm || row.formula == Bmm;
}

std::string TensorList(const PyProfCall& call) {
  std::vector<std::string> texts;
  for (const PyProfArg& arg : call.args) {
    if (arg.is_tensor()) texts.push_back(TensorText(arg.shape, arg.dtype));
  }
  return fmt::format("{}", fmt::join(texts, ";"));
}

}  // namespace

std::optional<PyProfWork> PyProfWorkOf(const PyProfCall& call, const PyProfKernel& kernel) {
  const bool is_cell = call.mod == "LSTMCell" || call.mod == "GRUCell";
  const Case one{call, kernel};
  std::optional<PyProfWork> work;
  if (is_cell && call.op == "forward") {
    work = HasUnknownType(call) ? std::nullopt : RnnCell(one);
  } else if (const FormulaRow* row = FindRow(call.op)) {
    if (!IsAccepted(*row, call.mod) || HasUnknownType(call)) return std::nullopt;
    work = row->formula({call, kernel, row->variant});
  } else {
    work = Unsupported(call);
  }
  return work && !IsOverflow(*work) ? work : std::nullopt;
}

std::string PyProfParams(const PyProfCall& call) {
  const FormulaRow* row = FindRow(call.op);
  if (row != nullptr && IsMatrixOp(*row)) {
    if (const auto work = row->formula({call, {.name = "gemm"}, row->variant})) {
      // Types need not be recorded; the last one is empty then.
      const bool is_typed = !work->params.ends_with(",,");
      return work->params.substr(0, work->params.size() - (is_typed ? 0 : 1));
    }
  }
  return TensorList(call);
}

}  // namespace borescope::internal
