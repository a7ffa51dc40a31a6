#include "borescope/packs/pyprof/aten_calls.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>

#include "borescope/opmodel/values/op_args.h"

namespace borescope::internal {
namespace {

// Names of types as in torch.dtype, and as in c10::toString.
struct TypeName {
  std::string_view torch;
  std::string_view aten;
};
constexpr TypeName kTypeNames[] = {{"bool", "Bool"},
                                   {"uint8", "Byte"},
                                   {"int8", "Char"},
                                   {"int16", "Short"},
                                   {"int32", "Int"},
                                   {"int64", "Long"},
                                   {"float16", "Half"},
                                   {"bfloat16", "BFloat16"},
                                   {"float32", "Float"},
                                   {"float64", "Double"},
                                   {"complex64", "ComplexFloat"},
                                   {"complex128", "ComplexDouble"},
                                   {"float8_e4m3fn", "Float8_e4m3fn"},
                                   {"float8_e5m2", "Float8_e5m2"}};

// Special methods of Tensor, without underscores.
struct MethodName {
  std::string_view python;
  std::string_view aten;
};
constexpr MethodName kMethods[] = {{"truediv", "div"},
                                   {"rtruediv", "div"},
                                   {"rdiv", "div"},
                                   {"itruediv", "div_"},
                                   {"floordiv", "floor_divide"},
                                   {"rfloordiv", "floor_divide"},
                                   {"mod", "remainder"},
                                   {"radd", "add"},
                                   {"rsub", "rsub"},
                                   {"rmul", "mul"},
                                   {"rpow", "pow"},
                                   {"iadd", "add_"},
                                   {"isub", "sub_"},
                                   {"imul", "mul_"},
                                   {"and", "bitwise_and"},
                                   {"or", "bitwise_or"},
                                   {"xor", "bitwise_xor"},
                                   {"iand", "bitwise_and_"},
                                   {"ior", "bitwise_or_"},
                                   {"ixor", "bitwise_xor_"},
                                   {"invert", "bitwise_not"},
                                   {"lshift", "__lshift__"},
                                   {"rshift", "__rshift__"}};

constexpr size_t kMostParameters = 8;
using Parameters = std::array<std::string_view, kMostParameters>;

// Functions whose parameters are in another order than those of the operator, or are given by
// keyword. Each has its name in Python, the parameters of Python in their order, and the values of
// the operator's parameters that are not given (empty: None).
struct SignatureRow {
  std::string_view mod;  // empty: any
  std::string_view op;
  std::string_view aten;
  Parameters operator_parameters;
  Parameters python_parameters;
  Parameters defaults = {};
};
constexpr Parameters kConvParameters = {"input",   "weight",   "bias",  "stride",
                                        "padding", "dilation", "groups"};
constexpr Parameters kConvDefaults = {"", "", "", "1", "0", "1", "1"};
constexpr Parameters kTransposedDefaults = {"", "", "", "1", "0", "0", "1", "1"};
constexpr Parameters kLossDefaults = {"", "", "1"};
constexpr Parameters kPoolDefaults = {"", "", "", "0", "1", "False"};
constexpr Parameters kTransposedParameters = {"input",   "weight",         "bias",   "stride",
                                              "padding", "output_padding", "groups", "dilation"};
constexpr Parameters kLossParameters = {"input", "target", "size_average", "reduce", "reduction"};
constexpr Parameters kPoolParameters = {"input",   "kernel_size", "stride",
                                        "padding", "dilation",    "ceil_mode"};
constexpr Parameters kReduceParameters = {"input", "dim", "keepdim"};
constexpr std::string_view kFunctionalModule = "torch.nn.functional";
constexpr SignatureRow kSignatures[] = {
    {"", "linear", "linear", {"input", "weight", "bias"}, {"input", "weight", "bias"}},
    {"", "conv1d", "conv1d", kConvParameters, kConvParameters, kConvDefaults},
    {"", "conv2d", "conv2d", kConvParameters, kConvParameters, kConvDefaults},
    {"", "conv3d", "conv3d", kConvParameters, kConvParameters, kConvDefaults},
    {"", "conv_transpose1d", "conv_transpose1d", kTransposedParameters, kTransposedParameters,
     kTransposedDefaults},
    {"", "conv_transpose2d", "conv_transpose2d", kTransposedParameters, kTransposedParameters,
     kTransposedDefaults},
    {"", "conv_transpose3d", "conv_transpose3d", kTransposedParameters, kTransposedParameters,
     kTransposedDefaults},
    {kFunctionalModule, "embedding", "embedding", {"weight", "input"}, {"input", "weight"}},
    {kFunctionalModule,
     "batch_norm",
     "batch_norm",
     {"input", "weight", "bias", "running_mean", "running_var", "training"},
     {"input", "running_mean", "running_var", "weight", "bias", "training"},
     {"", "", "", "", "", "False"}},
    {kFunctionalModule,
     "mse_loss",
     "mse_loss",
     {"input", "target", "reduction"},
     kLossParameters,
     kLossDefaults},
    {kFunctionalModule,
     "smooth_l1_loss",
     "smooth_l1_loss",
     {"input", "target", "reduction"},
     kLossParameters,
     kLossDefaults},
    {kFunctionalModule,
     "cross_entropy",
     "cross_entropy_loss",
     {"input", "target", "weight", "reduction"},
     {"input", "target", "weight", "size_average", "ignore_index", "reduce", "reduction"},
     {"", "", "", "1"}},
    {kFunctionalModule, "max_pool2d", "max_pool2d_with_indices", kPoolParameters, kPoolParameters,
     kPoolDefaults},
    {kFunctionalModule, "max_pool3d", "max_pool3d_with_indices", kPoolParameters, kPoolParameters,
     kPoolDefaults},
    {kFunctionalModule,
     "adaptive_avg_pool2d",
     "_adaptive_avg_pool2d",
     {"input", "output_size"},
     {"input", "output_size"}},
    {"", "sum", "sum", kReduceParameters, kReduceParameters},
    {"", "mean", "mean", kReduceParameters, kReduceParameters},
    {"", "prod", "prod", kReduceParameters, kReduceParameters}};

const SignatureRow* FindSignature(const PyProfCall& call) {
  const auto* found =
      std::find_if(std::begin(kSignatures), std::end(kSignatures), [&](const SignatureRow& row) {
        return row.op == call.op && (row.mod.empty() || row.mod == call.mod);
      });
  return found == std::end(kSignatures) ? nullptr : found;
}

std::string OperatorName(const PyProfCall& call) {
  if (const SignatureRow* signature = FindSignature(call)) {
    return fmt::format("aten::{}", signature->aten);
  }
  std::string_view name = call.op;
  if (name.size() > 4 && name.starts_with("__") && name.ends_with("__")) {
    name = name.substr(2, name.size() - 4);
    for (const MethodName& method : kMethods) {
      if (method.python == name) return fmt::format("aten::{}", method.aten);
    }
  }
  return fmt::format("aten::{}", name);
}

// The argument of a parameter; nullptr: not given.
const PyProfArg* ArgumentOf(const PyProfCall& call, const Parameters& python,
                            std::string_view parameter) {
  size_t position = 0;
  for (const PyProfArg& arg : call.args) {
    const bool is_positional = arg.name.empty() && position < python.size();
    if (is_positional ? python[position] == parameter : arg.name == parameter) return &arg;
    position += arg.name.empty() ? 1 : 0;
  }
  return nullptr;
}

// The arguments in the order of the operator; nullptr means not given.
std::vector<const PyProfArg*> OperatorArguments(const PyProfCall& call) {
  std::vector<const PyProfArg*> args;
  const SignatureRow* signature = FindSignature(call);
  if (signature == nullptr) {
    for (const PyProfArg& arg : call.args) {
      if (arg.name.empty()) args.push_back(&arg);
    }
    return args;
  }
  for (const std::string_view parameter : signature->operator_parameters) {
    if (parameter.empty()) break;
    args.push_back(ArgumentOf(call, signature->python_parameters, parameter));
  }
  return args;
}

std::string_view AtenType(std::string_view torch) {
  const auto* found = std::find_if(std::begin(kTypeNames), std::end(kTypeNames),
                                   [&](const TypeName& row) { return row.torch == torch; });
  return found == std::end(kTypeNames) ? std::string_view() : found->aten;
}

// The number of a reduction in PyTorch (at::Reduction).
std::string_view ReductionNumber(std::string_view reduction) {
  return reduction == "none" ? "0" : reduction == "sum" ? "2" : "1";
}

// The text of a number or a list of numbers; empty for other values.
std::string ValueText(const PyProfArg& arg) {
  const PythonValue& value = arg.value;
  using Kind = PythonValue::Kind;
  if (value.kind == Kind::kString) return std::string(ReductionNumber(value.text));
  if (value.kind == Kind::kBool) return value.number != 0 ? "True" : "False";
  if (value.kind == Kind::kInt || value.kind == Kind::kFloat) return value.text;
  std::vector<std::string_view> numbers;
  numbers.reserve(value.items.size());
  for (const PythonValue& item : value.items) {
    if (item.kind == Kind::kInt) numbers.push_back(item.text);
  }
  return fmt::format("[{}]", fmt::join(numbers, ", "));
}

// The texts of CallArgs, entry by entry.
struct CallTexts {
  std::vector<std::string> dims, types, values;
  ScalarType list_type = ScalarType::kUnknown;

  void Add(std::string entry, std::string_view type, std::string_view value) {
    dims.push_back(std::move(entry));
    types.push_back(fmt::format("\"{}\"", type));
    values.push_back(fmt::format("\"{}\"", value));
  }
};

void AddArgument(const PyProfArg* arg, CallTexts& texts) {
  if (arg == nullptr || arg->type == "NoneType") {
    texts.Add("[]", "", "");
  } else if (arg->is_tensor()) {
    texts.Add(fmt::format("[{}]", fmt::join(arg->shape, ", ")), AtenType(arg->dtype), "");
  } else {
    texts.Add("[]", arg->value.IsSequence() ? "ScalarList" : "Scalar", ValueText(*arg));
  }
}

// Lists of tensors were flattened: all of them together are the first argument of the operator.
CallTexts TextsOfList(const PyProfCall& call) {
  CallTexts texts;
  std::vector<std::string> shapes;
  for (const PyProfArg& arg : call.args) {
    if (!arg.is_tensor()) continue;
    shapes.push_back(fmt::format("[{}]", fmt::join(arg.shape, ", ")));
    texts.list_type = ParseScalarType(AtenType(arg.dtype));
  }
  texts.Add(fmt::format("[{}]", fmt::join(shapes, ", ")), "TensorList", "");
  return texts;
}

CallTexts TextsOf(const PyProfCall& call) {
  if (call.op == "cat" || call.op == "stack") return TextsOfList(call);
  CallTexts texts;
  const SignatureRow* signature = FindSignature(call);
  const std::vector<const PyProfArg*> args = OperatorArguments(call);
  for (size_t i = 0; i < args.size(); ++i) {
    const std::string_view value = signature == nullptr ? "" : signature->defaults[i];
    if (args[i] == nullptr && !value.empty()) {
      texts.Add("[]", "Scalar", value);
    } else {
      AddArgument(args[i], texts);
    }
  }
  return texts;
}

std::string TorchType(ScalarType type) {
  const auto* found =
      std::find_if(std::begin(kTypeNames), std::end(kTypeNames),
                   [&](const TypeName& row) { return ParseScalarType(row.aten) == type; });
  return std::string(found == std::end(kTypeNames) ? ScalarTypeName(type) : found->torch);
}

PyProfArg NumbersArg(const CallArgs& args, size_t index) {
  PyProfArg arg{.type = "list"};
  arg.value.kind = PythonValue::Kind::kList;
  for (const int64_t number : args.Integers(index).value_or(std::vector<int64_t>())) {
    arg.value.items.push_back(
        {.kind = PythonValue::Kind::kInt, .number = number, .text = std::to_string(number)});
  }
  return arg;
}

// The arguments are (input, weight, bias, stride, padding, dilation, transposed, output_padding,
// groups). Plain convolutions in two dimensions become conv2d(.., dilation, groups).
void MakeConvolution(const CallArgs& args, PyProfCall& call) {
  constexpr size_t kStride = 3;
  constexpr size_t kDilation = 5;
  constexpr size_t kTransposed = 6;
  constexpr size_t kGroups = 8;
  const OpTensor* x = args.Tensor(0);
  const bool is_plain = x != nullptr && (x->rank() == 4 || x->rank() == 3) &&
                        call.args.size() > 1 && !args.Bool(kTransposed).value_or(true);
  if (!is_plain) return;
  call.op = x->rank() == 4 ? "conv2d" : "conv1d";
  call.args.resize(2);
  call.args.push_back({.type = "NoneType"});
  for (size_t index = kStride; index <= kDilation; ++index) {
    call.args.push_back(NumbersArg(args, index));
  }
  const int64_t groups = args.Integer(kGroups).value_or(1);
  call.args.push_back(
      {.type = "int", .value = {.kind = PythonValue::Kind::kInt, .number = groups}});
}

}  // namespace

OpCost CostOfCall(const PyProfCall& call, const OpModelOptions& options) {
  const std::string name = OperatorName(call);
  if (FindOpModel(name) == nullptr) return {};
  const CallTexts texts = TextsOf(call);
  const std::string dims = fmt::format("[{}]", fmt::join(texts.dims, ", "));
  const std::string types = fmt::format("[{}]", fmt::join(texts.types, ", "));
  const std::string values = fmt::format("[{}]", fmt::join(texts.values, ", "));
  OpModelOptions with_type = options;
  with_type.list_type = texts.list_type;
  return CostOf(name,
                CallArgs::Parse({.dims = dims, .types = types, .strides = {}, .values = values}),
                with_type);
}

PyProfCall CallOfOperator(const Trace& trace, HostId op) {
  PyProfCall call;
  const std::string_view name = trace.Name(op);
  const size_t space = name.rfind("::");
  call.mod = space == std::string_view::npos ? "" : name.substr(0, space);
  call.op = space == std::string_view::npos ? name : name.substr(space + 2);
  const uint32_t row = trace.host().detail[op.value];
  if (row == kNoDetail || trace.host().kind[op.value] != HostKind::kOp) return call;
  const Ops& ops = trace.ops();
  const CallArgs args =
      CallArgs::Parse({trace.Text(ops.input_dims[row]), trace.Text(ops.input_types[row]),
                       trace.Text(ops.input_strides[row]), trace.Text(ops.concrete_inputs[row])});
  for (size_t i = 0; i < args.size() && !args.is_bad(); ++i) {
    for (const OpTensor& tensor : args[i].tensors) {
      const bool is_typed = tensor.type != ScalarType::kUnknown;
      call.args.push_back({.kind = PyProfArg::Kind::kTensor,
                           .shape = tensor.dims,
                           .dtype = is_typed ? TorchType(tensor.type) : ""});
    }
  }
  if (call.op == "convolution" || call.op == "_convolution") MakeConvolution(args, call);
  return call;
}

}  // namespace borescope::internal
