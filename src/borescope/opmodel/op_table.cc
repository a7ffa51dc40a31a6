// The table of models: one row per operator, by family, in three parts: the operators of PyTorch
// that compute, those that move data, and those of other libraries. Argument positions are those of
// the schemas, of PyTorch in native_functions.yaml.
#include <span>
#include <string_view>
#include <vector>

#include "borescope/opmodel/families.h"

namespace borescope::internal {
namespace {

using namespace opmodel;  // the table names nearly all of it

constexpr OpModel Row(std::string_view name, OpFamily family, OpCost (*cost)(const OpCall&),
                      uint8_t variant = 0) {
  return {.name = name, .family = family, .cost = cost, .variant = variant};
}

constexpr OpModel Composite(OpModel model) {
  model.is_composite = true;
  return model;
}

constexpr OpModel Backward(OpModel model) {
  model.direction = OpDirection::kBackward;
  return model;
}

// Sets the FLOPs per element: arithmetic, and transcendental functions.
constexpr OpModel With(OpModel model, uint8_t arithmetic, uint8_t transcendental = 0) {
  model.arithmetic = arithmetic;
  model.transcendental = transcendental;
  return model;
}

constexpr OpModel Inputs(OpModel model, uint8_t inputs) {
  model.inputs = inputs;
  return model;
}

constexpr OpModel Gives(OpModel model, ResultType result) {
  model.result = result;
  return model;
}

// FLOPs per element of the result, then transcendental functions.
constexpr OpModel Unary(std::string_view name, uint8_t arithmetic, uint8_t transcendental = 0) {
  return With(Inputs(Row(name, OpFamily::kPointwise, Pointwise), 1), arithmetic, transcendental);
}

constexpr OpModel Binary(std::string_view name, uint8_t arithmetic, uint8_t transcendental = 0) {
  return Inputs(Unary(name, arithmetic, transcendental), 2);
}

constexpr OpModel Ternary(std::string_view name, uint8_t arithmetic) {
  return Inputs(Unary(name, arithmetic), 3);
}

// Transcendental functions of integers are fp32.
constexpr OpModel Function(std::string_view name, uint8_t arithmetic = 0,
                           uint8_t transcendental = 1) {
  return Gives(Unary(name, arithmetic, transcendental), ResultType::kFloat);
}

constexpr OpModel Predicate(std::string_view name, uint8_t inputs) {
  return Gives(Inputs(Unary(name, 1), inputs), ResultType::kBool);
}

// A gradient, computed from the gradient of the result and from what forward saved.
constexpr OpModel Derivative(std::string_view name, uint8_t arithmetic,
                             uint8_t transcendental = 0) {
  return Backward(Binary(name, arithmetic, transcendental));
}

// `dims`: where the schema has the dimensions to reduce.
constexpr OpModel Reduce(std::string_view name, uint8_t dims, uint8_t arithmetic,
                         ReductionKind kind = kReducePlain) {
  return With(Inputs(Row(name, OpFamily::kReduction, Reduction, kind), dims), arithmetic);
}

// On lists of tensors; `lists` of them are read.
constexpr OpModel Lists(std::string_view name, uint8_t lists, uint8_t arithmetic,
                        uint8_t transcendental = 0) {
  return With(Inputs(Row(name, OpFamily::kOptimizer, ForEach), lists), arithmetic, transcendental);
}

constexpr OpModel Update(std::string_view name, uint8_t lists, uint8_t arithmetic) {
  OpModel model = With(Inputs(Row(name, OpFamily::kOptimizer, FusedUpdate), lists), arithmetic);
  model.direction = OpDirection::kUpdate;
  return model;
}

constexpr auto kGemm = OpFamily::kGemm;
constexpr auto kConv = OpFamily::kConvolution;
constexpr auto kAttend = OpFamily::kAttention;
constexpr auto kNorm = OpFamily::kNormalization;
constexpr auto kSoft = OpFamily::kSoftmax;
constexpr auto kLoss = OpFamily::kLoss;
constexpr auto kRnn = OpFamily::kRecurrent;
constexpr auto kPoint = OpFamily::kPointwise;
constexpr auto kQuant = OpFamily::kQuantization;
constexpr auto kIndex = OpFamily::kIndexing;
constexpr auto kComm = OpFamily::kCollective;
constexpr auto kMove = OpFamily::kDataMovement;
constexpr auto kPool = OpFamily::kPooling;

// Numbers of types, as c10/core/ScalarType.h has them.
constexpr uint8_t kInt32Number = 3;
constexpr uint8_t kBFloat16Number = 15;

constexpr OpModel kComputing[] = {
    Row("aten::mm", kGemm, MatrixProduct),
    Row("aten::_int_mm", kGemm, MatrixProduct, kIntegerProduct),
    Row("aten::_scaled_mm", kGemm, MatrixProduct, kScaledProduct),
    Row("aten::_scaled_mm_v2", kGemm, ProductScaledByLists, 8),
    Row("aten::addmm", kGemm, MatrixProduct, kAddendFirst),
    Row("aten::_addmm_activation", kGemm, MatrixProduct, kAddendFirst),
    Row("aten::bmm", kGemm, BatchedProduct),
    Row("aten::baddbmm", kGemm, BatchedProduct, kAddendFirst),
    Row("aten::mv", kGemm, BroadcastProduct),
    Row("aten::addmv", kGemm, BroadcastProduct, kAddendFirst),
    Row("aten::dot", kGemm, BroadcastProduct),
    Row("aten::vdot", kGemm, BroadcastProduct),
    Composite(Row("aten::matmul", kGemm, BroadcastProduct)),
    Composite(Row("aten::linear", kGemm, Given<LinearLayer>)),
    Row("aten::_grouped_mm", kGemm, GroupedProduct),
    Row("aten::_scaled_grouped_mm", kGemm, GroupedProduct, kScaledProduct),
    Row("aten::_sparse_semi_structured_mm", kGemm, Given<SparseProduct, 0, 2>),
    Row("aten::_sparse_semi_structured_linear", kGemm, Given<SparseLinear>),
    Row("aten::_weight_int4pack_mm", kGemm, Given<PackedLinear>, 4),
    Row("aten::_weight_int8pack_mm", kGemm, Given<PackedLinear>, 8),

    Composite(Row("aten::convolution", kConv, ConvForward, kConvGeneral)),
    Composite(Row("aten::_convolution", kConv, ConvForward, kConvGeneral)),
    Row("aten::convolution_overrideable", kConv, ConvForward, kConvGeneral),
    Composite(Row("aten::conv1d", kConv, ConvForward, kConvPlain)),
    Composite(Row("aten::conv2d", kConv, ConvForward, kConvPlain)),
    Composite(Row("aten::conv3d", kConv, ConvForward, kConvPlain)),
    Composite(Row("aten::conv_transpose1d", kConv, ConvForward, kConvTransposePlain)),
    Composite(Row("aten::conv_transpose2d", kConv, ConvForward, kConvTransposePlain)),
    Composite(Row("aten::conv_transpose3d", kConv, ConvForward, kConvTransposePlain)),
    Row("aten::cudnn_convolution", kConv, ConvForward, kConvCudnn),
    Row("aten::cudnn_convolution_transpose", kConv, ConvForward, kConvCudnnTranspose),
    With(Row("aten::cudnn_convolution_relu", kConv, ConvForward, kConvPlain), 1),
    With(Row("aten::cudnn_convolution_add_relu", kConv, ConvForward, kConvAddRelu), 1),
    Row("aten::miopen_convolution", kConv, ConvForward, kConvMiopen),
    Row("aten::miopen_depthwise_convolution", kConv, ConvForward, kConvMiopen),
    Row("aten::miopen_convolution_transpose", kConv, ConvForward, kConvMiopenTranspose),
    Row("aten::mkldnn_convolution", kConv, ConvForward, kConvMiopen),
    Row("aten::_conv_depthwise2d", kConv, ConvForward, kConvWithKernelSize),
    Row("aten::conv_depthwise3d", kConv, ConvForward, kConvWithKernelSize),
    Row("aten::_slow_conv2d_forward", kConv, ConvForward, kConvWithKernelSize),
    Row("aten::slow_conv_dilated2d", kConv, ConvForward, kConvWithKernelSize),
    Row("aten::slow_conv_dilated3d", kConv, ConvForward, kConvWithKernelSize),
    Row("aten::slow_conv3d_forward", kConv, ConvForward, kConvWithKernelSize),
    Backward(Row("aten::convolution_backward", kConv, ConvBackward, kConvGeneral)),
    Backward(Row("aten::cudnn_convolution_backward", kConv, ConvBackward, kConvCudnn)),

    Composite(Row("aten::scaled_dot_product_attention", kAttend, AttentionForward, kSdpa)),
    Composite(Row("aten::_scaled_dot_product_attention_math", kAttend, AttentionForward, kSdpa)),
    Composite(Row("aten::_scaled_dot_product_fused_attention_overrideable", kAttend,
                  AttentionForward, kSdpa)),
    Row("aten::_scaled_dot_product_flash_attention_for_cpu", kAttend, AttentionForward, kSdpaOnCpu),
    Composite(
        Row("aten::_scaled_dot_product_flash_attention", kAttend, AttentionForward, kSdpaFlash)),
    Composite(Row("aten::_scaled_dot_product_efficient_attention", kAttend, AttentionForward,
                  kSdpaEfficient)),
    Composite(Row("aten::_scaled_dot_product_cudnn_attention", kAttend, AttentionForward,
                  kSdpaEfficient)),
    Row("aten::_flash_attention_forward", kAttend, AttentionForward, kFlash),
    Row("aten::_efficient_attention_forward", kAttend, AttentionForward, kEfficient),
    Row("aten::_cudnn_attention_forward", kAttend, AttentionForward, kCudnn),
    Composite(Backward(Row("aten::_scaled_dot_product_flash_attention_backward", kAttend,
                           AttentionBackward, kSdpaFlashBackward))),
    Composite(Backward(Row("aten::_scaled_dot_product_efficient_attention_backward", kAttend,
                           AttentionBackward, kSdpaEfficientBackward))),
    Backward(Row("aten::_scaled_dot_product_cudnn_attention_backward", kAttend, AttentionBackward,
                 kSdpaCudnnBackward)),
    Backward(Row("aten::_scaled_dot_product_flash_attention_for_cpu_backward", kAttend,
                 AttentionBackward, kSdpaOnCpuBackward)),
    Backward(Row("aten::_scaled_dot_product_fused_attention_overrideable_backward", kAttend,
                 AttentionBackward, kSdpaOtherBackward)),
    Backward(Row("aten::_flash_attention_backward", kAttend, AttentionBackward, kFlashBackward)),
    Backward(
        Row("aten::_efficient_attention_backward", kAttend, AttentionBackward, kEfficientBackward)),

    Row("aten::_cudnn_rnn", kRnn, RecurrentLayers, kRnnCudnn),
    Row("aten::miopen_rnn", kRnn, RecurrentLayers, kRnnMiopen),
    Backward(Row("aten::_cudnn_rnn_backward", kRnn, RecurrentLayers, kRnnCudnnBackward)),
    With(Row("aten::_thnn_fused_lstm_cell", kRnn, Given<RecurrentCell>, kLstmCell), 10),
    With(Row("aten::_thnn_fused_gru_cell", kRnn, Given<RecurrentCell>, kGruCell), 9),

    Unary("aten::abs", 1),
    Unary("aten::neg", 1),
    Unary("aten::sign", 1),
    Unary("aten::ceil", 1),
    Unary("aten::floor", 1),
    Unary("aten::round", 1),
    Unary("aten::trunc", 1),
    Unary("aten::frac", 1),
    Unary("aten::relu", 1),
    Unary("aten::relu6", 1),
    Unary("aten::square", 1),
    Unary("aten::positive", 1),
    Predicate("aten::logical_not", 1),
    Unary("aten::bitwise_not", 1),
    Function("aten::reciprocal", 1, 0),
    Unary("aten::nan_to_num", 1),
    Predicate("aten::isnan", 1),
    Predicate("aten::isinf", 1),
    Predicate("aten::isfinite", 1),
    Function("aten::exp"),
    Function("aten::exp2"),
    Function("aten::expm1"),
    Function("aten::log"),
    Function("aten::log2"),
    Function("aten::log10"),
    Function("aten::log1p"),
    Function("aten::sqrt"),
    Function("aten::rsqrt"),
    Function("aten::sin"),
    Function("aten::cos"),
    Function("aten::tan"),
    Function("aten::asin"),
    Function("aten::acos"),
    Function("aten::atan"),
    Function("aten::sinh"),
    Function("aten::cosh"),
    Function("aten::tanh"),
    Function("aten::erf"),
    Function("aten::erfc"),
    Function("aten::erfinv"),
    Function("aten::digamma"),
    Function("aten::lgamma"),
    Function("aten::sigmoid", 3),
    Function("aten::logit", 2),
    Function("aten::log_sigmoid_forward", 3, 2),
    Unary("aten::gelu", 7, 1),
    Unary("aten::silu", 4, 1),
    Unary("aten::mish", 4, 3),
    Unary("aten::softplus", 3, 2),
    Unary("aten::elu", 4, 1),
    Unary("aten::hardtanh", 2),
    Unary("aten::hardswish", 4),
    Unary("aten::hardsigmoid", 3),
    Unary("aten::leaky_relu", 2),
    Unary("aten::hardshrink", 1),
    Unary("aten::softshrink", 2),
    Unary("aten::clamp_min", 1),
    Unary("aten::clamp_max", 1),
    Unary("aten::threshold", 1),
    Ternary("aten::clamp", 2),
    Binary("aten::add", 1),
    Binary("aten::sub", 1),
    Binary("aten::rsub", 1),
    Binary("aten::mul", 1),
    Binary("aten::maximum", 1),
    Binary("aten::minimum", 1),
    Binary("aten::fmax", 1),
    Binary("aten::fmin", 1),
    Binary("aten::copysign", 1),
    Binary("aten::fmod", 1),
    Binary("aten::remainder", 1),
    Binary("aten::floor_divide", 1),
    Binary("aten::bitwise_and", 1),
    Binary("aten::bitwise_or", 1),
    Binary("aten::bitwise_xor", 1),
    Binary("aten::__and__", 1),
    Binary("aten::__or__", 1),
    Binary("aten::__xor__", 1),
    Binary("aten::__lshift__", 1),
    Binary("aten::__rshift__", 1),
    Binary("aten::bitwise_left_shift", 1),
    Binary("aten::bitwise_right_shift", 1),
    Gives(Binary("aten::div", 1), ResultType::kFloat),
    Gives(Binary("aten::true_divide", 1), ResultType::kFloat),
    Binary("aten::pow", 0, 1),
    Gives(Binary("aten::xlogy", 1, 1), ResultType::kFloat),
    Binary("aten::hypot", 3, 1),
    Binary("aten::logaddexp", 3, 2),
    Gives(Binary("aten::atan2", 0, 1), ResultType::kFloat),
    Binary("aten::_prelu_kernel", 2),
    Predicate("aten::eq", 2),
    Predicate("aten::ne", 2),
    Predicate("aten::lt", 2),
    Predicate("aten::le", 2),
    Predicate("aten::gt", 2),
    Predicate("aten::ge", 2),
    Predicate("aten::logical_and", 2),
    Predicate("aten::logical_or", 2),
    Predicate("aten::logical_xor", 2),
    Ternary("aten::addcmul", 3),
    Ternary("aten::addcdiv", 3),
    Ternary("aten::lerp", 3),
    Ternary("aten::where", 1),
    Gives(Binary("aten::masked_fill", 1), ResultType::kFirst),
    Derivative("aten::sigmoid_backward", 3),
    Derivative("aten::tanh_backward", 3),
    Derivative("aten::threshold_backward", 1),
    Derivative("aten::gelu_backward", 14, 2),
    Derivative("aten::silu_backward", 7, 1),
    Derivative("aten::mish_backward", 8, 3),
    Derivative("aten::hardtanh_backward", 2),
    Derivative("aten::hardswish_backward", 4),
    Derivative("aten::hardsigmoid_backward", 2),
    Derivative("aten::leaky_relu_backward", 2),
    Derivative("aten::softplus_backward", 4, 1),
    Derivative("aten::logit_backward", 4),
    Inputs(Derivative("aten::elu_backward", 4, 1), 6),
    Inputs(Derivative("aten::log_sigmoid_backward", 5, 1), 3),
    Derivative("aten::native_dropout_backward", 2),
    With(Row("aten::native_dropout", OpFamily::kPointwise, Given<Dropout>), 2),
    With(Row("aten::_fused_dropout", OpFamily::kPointwise, Given<Dropout>), 2),
    Composite(With(Row("aten::dropout", OpFamily::kPointwise, Given<Dropout>), 2)),
    With(Row("aten::glu", OpFamily::kPointwise, GatedHalf), 4, 1),
    Backward(With(Row("aten::glu_backward", OpFamily::kPointwise, Given<GatedHalfBackward>), 7, 1)),

    With(Row("aten::native_layer_norm", kNorm, LayerNorm, kLayerNorm), 6),
    Composite(With(Row("aten::layer_norm", kNorm, LayerNorm, kLayerNorm), 6)),
    With(Row("aten::_fused_rms_norm", kNorm, LayerNorm, kRmsNorm), 3),
    Composite(With(Row("aten::rms_norm", kNorm, LayerNorm, kRmsNorm), 3)),
    Backward(
        With(Row("aten::native_layer_norm_backward", kNorm, LayerNormBackward, kLayerNorm), 11)),
    Backward(With(Row("aten::_fused_rms_norm_backward", kNorm, LayerNormBackward, kRmsNorm), 8)),
    Composite(With(Row("aten::batch_norm", kNorm, Given<BatchNorm>), 8)),
    With(Row("aten::native_batch_norm", kNorm, Given<BatchNorm>), 8),
    With(Row("aten::_native_batch_norm_legit", kNorm, Given<BatchNorm>), 8),
    With(Row("aten::cudnn_batch_norm", kNorm, Given<BatchNorm>), 8),
    With(Row("aten::miopen_batch_norm", kNorm, Given<BatchNorm>), 8),
    Backward(With(Row("aten::native_batch_norm_backward", kNorm, Given<BatchNormBackward>), 11)),
    Backward(With(Row("aten::cudnn_batch_norm_backward", kNorm, Given<BatchNormBackward>), 11)),
    Backward(With(Row("aten::miopen_batch_norm_backward", kNorm, Given<BatchNormBackward>), 11)),
    With(Row("aten::native_group_norm", kNorm, GroupNorm, kNativeGroupNorm), 8),
    Composite(With(Row("aten::group_norm", kNorm, GroupNorm, kGroupNorm), 8)),
    Backward(With(Row("aten::native_group_norm_backward", kNorm, Given<GroupNormBackward>), 11)),

    With(Row("aten::_softmax", kSoft, Softmax), 3, 1),
    Composite(With(Row("aten::softmax", kSoft, Softmax), 3, 1)),
    With(Row("aten::_log_softmax", kSoft, Softmax), 3, 1),
    Composite(With(Row("aten::log_softmax", kSoft, Softmax), 3, 1)),
    Backward(With(Row("aten::_softmax_backward_data", kSoft, Given<SoftmaxBackward>), 4)),
    Backward(With(Row("aten::_log_softmax_backward_data", kSoft, Given<SoftmaxBackward>), 3, 1)),
    Composite(With(Row("aten::cross_entropy_loss", kLoss, CrossEntropy), 4, 1)),
    With(Row("aten::nll_loss_forward", kLoss, NllLoss), 1),
    With(Row("aten::nll_loss2d_forward", kLoss, NllLoss), 1),
    Backward(With(Row("aten::nll_loss_backward", kLoss, NllLossBackward), 1)),
    Backward(With(Row("aten::nll_loss2d_backward", kLoss, NllLossBackward), 1)),
    With(Row("aten::mse_loss", kLoss, Given<PairLoss>, 2), 3),
    With(Row("aten::smooth_l1_loss", kLoss, Given<PairLoss>, 2), 5),
    With(Row("aten::huber_loss", kLoss, Given<PairLoss>, 2), 5),
    With(Row("aten::binary_cross_entropy", kLoss, Given<PairLoss>, 3), 4, 2),
    Backward(With(Row("aten::mse_loss_backward", kLoss, Given<PairLossBackward, 1, 2>), 3)),
    Backward(With(Row("aten::smooth_l1_loss_backward", kLoss, Given<PairLossBackward, 1, 2>), 5)),
    Backward(With(Row("aten::huber_loss_backward", kLoss, Given<PairLossBackward, 1, 2>), 5)),
    Backward(
        With(Row("aten::binary_cross_entropy_backward", kLoss, Given<PairLossBackward, 1, 2>), 5)),

    Reduce("aten::sum", 1, 1, kReduceSum),
    Reduce("aten::mean", 1, 1, kReduceMean),
    Reduce("aten::prod", 1, 1, kReduceSum),
    Reduce("aten::amax", 1, 1),
    Reduce("aten::amin", 1, 1),
    Gives(Reduce("aten::any", 1, 1), ResultType::kBool),
    Gives(Reduce("aten::all", 1, 1), ResultType::kBool),
    Reduce("aten::argmax", 1, 1, kReduceToIndex),
    Reduce("aten::argmin", 1, 1, kReduceToIndex),
    Reduce("aten::norm", 2, 2, kReduceRoot),
    Reduce("aten::linalg_vector_norm", 2, 2, kReduceRoot),
    Reduce("aten::var", 1, 4),
    Reduce("aten::std", 1, 4, kReduceRoot),
    Reduce("aten::var_mean", 1, 4, kReduceTwo),
    Reduce("aten::aminmax", 1, 2, kReduceTwo),
    Reduce("aten::nansum", 1, 2, kReduceSum),
    Reduce("aten::median", 1, 1, kReduceMaximum),
    Reduce("aten::mode", 1, 1, kReduceMaximum),
    Reduce("aten::kthvalue", 2, 1, kReduceMaximum),
    With(Reduce("aten::logsumexp", 1, 2, kReduceRoot), 2, 1),
    With(Inputs(Row("aten::max", OpFamily::kReduction, MaximumOf, kReduceMaximum), 1), 1),
    With(Inputs(Row("aten::min", OpFamily::kReduction, MaximumOf, kReduceMaximum), 1), 1),
    Unary("aten::cumsum", 1),
    Unary("aten::cumprod", 1),
    Unary("aten::logcumsumexp", 2, 2),

    Row("aten::linalg_cholesky_ex", OpFamily::kLinearAlgebra, Given<Cholesky>),
    Row("aten::linalg_lu_factor_ex", OpFamily::kLinearAlgebra, Given<LuFactors>),
    Row("aten::linalg_qr", OpFamily::kLinearAlgebra, Given<QrFactors>),
    With(Row("aten::linalg_solve_triangular", OpFamily::kLinearAlgebra, SolveTriangles,
             kSolveMatrixFirst),
         1),
    With(Row("aten::triangular_solve", OpFamily::kLinearAlgebra, SolveTriangles,
             kSolveRightSideFirst),
         1),
    With(
        Row("aten::cholesky_solve", OpFamily::kLinearAlgebra, SolveTriangles, kSolveRightSideFirst),
        2),
    With(Row("aten::linalg_lu_solve", OpFamily::kLinearAlgebra, SolveTriangles, kSolveWithPivots),
         2),
    Row("aten::_fft_c2c", OpFamily::kLinearAlgebra, Given<FourierTransform>, kTransformComplex),
    Row("aten::_fft_r2c", OpFamily::kLinearAlgebra, Given<FourierTransform>, kTransformOfReal),
    Row("aten::_fft_c2r", OpFamily::kLinearAlgebra, Given<FourierTransform>, kTransformToReal),
};

// Operators of PyTorch that move data rather than compute: indexing, copies, quantisation, pooling,
// lists.
constexpr OpModel kMoving[] = {
    Composite(Row("aten::embedding", kIndex, Given<Embedding>)),
    Backward(Row("aten::embedding_dense_backward", kIndex, Given<EmbeddingBackward>)),
    Row("aten::index_select", kIndex, Given<IndexSelect, 0, 2>),
    Row("aten::gather", kIndex, Gather, 2),
    Row("aten::take", kIndex, Gather, 1),
    Composite(Row("aten::take_along_dim", kIndex, Gather, 1)),
    Row("aten::put", kIndex, Given<Put>),
    Row("aten::index_fill", kIndex, Given<IndexFill, 0, 2>),
    Row("aten::scatter", kIndex, Given<Scatter, 0, 2>, kPlace),
    Row("aten::scatter_add", kIndex, Given<Scatter, 0, 2>, kPlaceAndAdd),
    Row("aten::scatter_reduce", kIndex, Given<Scatter, 0, 2>, kPlaceAndAdd),
    Row("aten::index_reduce", kIndex, Given<Scatter, 0, 2>, kPlaceAndAdd),
    Row("aten::index_add", kIndex, Given<Scatter, 0, 2>, kPlaceAndAdd),
    Row("aten::index_copy", kIndex, Given<Scatter, 0, 2>, kPlace),
    Row("aten::sort", kIndex, Given<Sort>),
    With(Row("aten::topk", kIndex, Given<TopK>), 2),
    Row("aten::index", kIndex, DependsOnData),
    Composite(Row("aten::index_put", kIndex, Given<IndexPut, 0, 2>)),
    Row("aten::_index_put_impl", kIndex, Given<IndexPut, 0, 2>),
    With(Row("aten::nonzero", kIndex, LookThrough), 1),
    Row("aten::masked_select", kIndex, LookThrough, 1),
    Row("aten::masked_scatter", kIndex, LookThrough, 1),
    Row("aten::_unique2", kIndex, LookThrough),
    Row("aten::unique_dim", kIndex, LookThrough),
    Row("aten::unique_consecutive", kIndex, LookThrough),
    Row("aten::searchsorted", kIndex, Search, 1),
    Row("aten::bucketize", kIndex, Search),
    With(Row("aten::bincount", kIndex, Given<BinCount>), 1),
    With(Row("aten::histc", kIndex, Given<Histogram>), 3),
    Composite(Row("aten::embedding_bag", kIndex, Given<EmbeddingBag>)),
    Row("aten::_embedding_bag", kIndex, Given<EmbeddingBag>),
    Row("aten::_embedding_bag_forward_only", kIndex, Given<EmbeddingBag>),
    Backward(Row("aten::_embedding_bag_dense_backward", kIndex, Given<EmbeddingBagBackward>)),

    Row("aten::copy_", kMove, Given<CopyInto>),
    Row("aten::clone", kMove, Given<CopyOf>),
    Row("aten::_local_scalar_dense", kMove, Given<CopyOf>),
    Composite(Row("aten::contiguous", kMove, Given<CopyOf>)),
    Composite(Row("aten::_to_copy", kMove, Given<CopyOf>, 1)),
    Row("aten::flip", kMove, Given<CopyOf>),
    Row("aten::roll", kMove, Given<CopyOf>),
    Row("aten::tril", kMove, Given<CopyOf>),
    Row("aten::triu", kMove, Given<CopyOf>),
    Row("aten::cat", kMove, Concatenate),
    Row("aten::stack", kMove, Concatenate),
    Row("aten::fill_", kMove, Given<Fill>),
    Composite(Row("aten::zero_", kMove, Given<Fill>)),
    Row("aten::normal_", kMove, Given<Fill>),
    Row("aten::uniform_", kMove, Given<Fill>),
    Row("aten::bernoulli_", kMove, Given<Fill>),
    Row("aten::random_", kMove, Given<Fill>),
    Row("aten::exponential_", kMove, Given<Fill>),
    Composite(Row("aten::constant_pad_nd", kMove, PadByInside)),
    Row("aten::reflection_pad1d", kMove, PadByInside),
    Row("aten::reflection_pad2d", kMove, PadByInside),
    Row("aten::reflection_pad3d", kMove, PadByInside),
    Row("aten::replication_pad1d", kMove, PadByInside),
    Row("aten::replication_pad2d", kMove, PadByInside),
    Row("aten::replication_pad3d", kMove, PadByInside),
    Backward(With(Row("aten::reflection_pad1d_backward", kMove, Given<GradientOfShape>), 1)),
    Backward(With(Row("aten::reflection_pad2d_backward", kMove, Given<GradientOfShape>), 1)),
    Backward(With(Row("aten::reflection_pad3d_backward", kMove, Given<GradientOfShape>), 1)),
    Backward(With(Row("aten::replication_pad1d_backward", kMove, Given<GradientOfShape>), 1)),
    Backward(With(Row("aten::replication_pad2d_backward", kMove, Given<GradientOfShape>), 1)),
    Backward(With(Row("aten::replication_pad3d_backward", kMove, Given<GradientOfShape>), 1)),

    With(Row("aten::quantize_per_tensor", kQuant, Given<Quantize>, 3), 3),
    With(Row("aten::quantize_per_channel", kQuant, Given<Quantize>, 4), 3),
    With(Row("aten::dequantize", kQuant, Given<Dequantize>), 2),
    With(Row("aten::fake_quantize_per_tensor_affine_cachemask", kQuant, Given<FakeQuantize>), 5),
    With(Row("aten::fake_quantize_per_channel_affine_cachemask", kQuant, Given<FakeQuantize>), 5),
    Derivative("aten::fake_quantize_per_tensor_affine_cachemask_backward", 1),
    Derivative("aten::fake_quantize_per_channel_affine_cachemask_backward", 1),
    With(Row("aten::_fused_moving_avg_obs_fq_helper", kQuant, Given<FakeQuantize>), 7),

    Row("aten::max_pool2d_with_indices", kPool, MaxPool),
    Row("aten::max_pool3d_with_indices", kPool, MaxPool),
    Row("aten::avg_pool2d", kPool, AvgPool),
    Row("aten::avg_pool3d", kPool, AvgPool),
    Row("aten::_adaptive_avg_pool2d", kPool, Given<AdaptivePool>),
    Row("aten::_adaptive_avg_pool3d", kPool, Given<AdaptivePool>),
    Backward(Row("aten::max_pool2d_with_indices_backward", kPool, Given<PoolBackward>, 7)),
    Backward(Row("aten::max_pool3d_with_indices_backward", kPool, Given<PoolBackward>, 7)),
    Backward(Row("aten::avg_pool2d_backward", kPool, Given<PoolBackward>)),
    Backward(Row("aten::avg_pool3d_backward", kPool, Given<PoolBackward>)),
    Backward(Row("aten::_adaptive_avg_pool2d_backward", kPool, Given<PoolBackward>)),
    Backward(Row("aten::_adaptive_avg_pool3d_backward", kPool, Given<PoolBackward>)),
    Row("aten::upsample_nearest2d", kPool, Given<Upsample>),
    Row("aten::upsample_nearest3d", kPool, Given<Upsample>),
    With(Row("aten::upsample_bilinear2d", kPool, Given<Upsample>), 11),
    With(Row("aten::upsample_bicubic2d", kPool, Given<Upsample>), 40),
    Row("aten::upsample_nearest1d", kPool, Given<Upsample>),
    Row("aten::_upsample_nearest_exact2d", kPool, Given<Upsample>),
    With(Row("aten::upsample_linear1d", kPool, Given<Upsample>), 5),
    With(Row("aten::upsample_trilinear3d", kPool, Given<Upsample>), 23),
    Backward(With(Row("aten::upsample_nearest1d_backward", kPool, Given<UpsampleBackward>), 1)),
    Backward(With(Row("aten::upsample_nearest2d_backward", kPool, Given<UpsampleBackward>), 1)),
    Backward(With(Row("aten::upsample_nearest3d_backward", kPool, Given<UpsampleBackward>), 1)),
    Backward(With(Row("aten::upsample_linear1d_backward", kPool, Given<UpsampleBackward>), 6)),
    Backward(With(Row("aten::upsample_bilinear2d_backward", kPool, Given<UpsampleBackward>), 12)),
    Backward(With(Row("aten::upsample_trilinear3d_backward", kPool, Given<UpsampleBackward>), 24)),

    Lists("aten::_foreach_add", 2, 1),
    Lists("aten::_foreach_sub", 2, 1),
    Lists("aten::_foreach_mul", 2, 1),
    Lists("aten::_foreach_div", 2, 1),
    Lists("aten::_foreach_neg", 1, 1),
    Lists("aten::_foreach_sqrt", 1, 0, 1),
    Lists("aten::_foreach_reciprocal", 1, 1),
    Lists("aten::_foreach_maximum", 2, 1),
    Lists("aten::_foreach_minimum", 2, 1),
    Lists("aten::_foreach_clamp_min", 2, 1),
    Lists("aten::_foreach_clamp_max", 2, 1),
    Lists("aten::_foreach_abs", 1, 1),
    Lists("aten::_foreach_sign", 1, 1),
    Lists("aten::_foreach_exp", 1, 0, 1),
    Lists("aten::_foreach_pow", 2, 0, 1),
    Lists("aten::_foreach_sigmoid", 1, 3, 1),
    Lists("aten::_amp_foreach_non_finite_check_and_unscale", 1, 1),
    Inputs(Row("aten::_foreach_copy", OpFamily::kOptimizer, ForEach, 1), 2),
    Lists("aten::_foreach_lerp", 2, 3),
    Lists("aten::_foreach_addcmul", 3, 3),
    Lists("aten::_foreach_addcdiv", 3, 3),
    Lists("aten::_foreach_zero", 0, 0),
    With(Row("aten::_foreach_norm", OpFamily::kOptimizer, ForEachNorm), 2),
    Update("aten::_fused_adam", 5, 12),
    Update("aten::_fused_adamw", 5, 14),
    Update("aten::_fused_sgd", 3, 4),
    Update("aten::_fused_adagrad", 3, 6),
};

// Operators of libraries on top of PyTorch, and kernels that TorchInductor generated. Argument
// positions are those of the schemas that the libraries register: vLLM (csrc/torch_bindings.cpp,
// csrc/moe/torch_bindings.cpp, csrc/rocm/torch_bindings.cpp, and in Python
// model_executor/layers/fused_moe/fused_moe.py, _aiter_ops.py), sgl-kernel
// (csrc/common_extension.cc), AITER (aiter/ops/*.py, aiter/fused_moe.py), FBGEMM, bitsandbytes,
// xFormers, FlashAttention, Transformer Engine 1, causal-conv1d; and for symm_mem PyTorch
// (torch/csrc/distributed/c10d/symm_mem/SymmetricMemory.cpp).
constexpr OpModel kOfLibraries[] = {
    Row("flash_attn::_flash_attn_forward", kAttend, AttentionForward, kFlashAttn),
    Row("flash_attn::_flash_attn_varlen_forward", kAttend, AttentionForward, kFlashAttnVarlen),
    Backward(
        Row("flash_attn::_flash_attn_backward", kAttend, AttentionBackward, kFlashAttnBackward)),
    Backward(Row("flash_attn::_flash_attn_varlen_backward", kAttend, AttentionBackward,
                 kFlashAttnVarlenBackward)),
    Row("flash_attn_3::fwd", kAttend, AttentionForward, kFlashAttn3),
    Backward(Row("flash_attn_3::bwd", kAttend, AttentionBackward, kFlashAttn3Backward)),
    Row("xformers_flash::flash_fwd", kAttend, AttentionForward, kXformersFlash),
    Row("xformers::efficient_attention_forward_cutlass", kAttend, AttentionForward, kEfficient),

    Row("_C::cutlass_scaled_mm", kGemm, Given<ProductInto>),
    Row("tex_ts::te_gemm_ts", kGemm, Given<TransformerEngineProduct, 0, 5, 10>),
    Row("_C::awq_gemm", kGemm, PackedProduct, 2),
    Row("_C::gptq_gemm", kGemm, PackedProduct, 1),
    With(Row("_C::silu_and_mul", OpFamily::kPointwise, GatedHalf, 1), 4, 1),
    With(Row("_C::gelu_and_mul", OpFamily::kPointwise, GatedHalf, 1), 8, 1),
    With(Row("_C::gelu_tanh_and_mul", OpFamily::kPointwise, GatedHalf, 1), 8, 1),
    With(Row("_C::mul_and_silu", kPoint, GatedHalf, 1), 4, 1),
    With(Row("_C::fatrelu_and_mul", kPoint, GatedHalf, 1), 2),
    With(Row("_C::gelu_new", kPoint, Streams, kResultAndInput), 7, 1),
    With(Row("_C::gelu_fast", kPoint, Streams, kResultAndInput), 7, 1),
    With(Row("_C::gelu_quick", kPoint, Streams, kResultAndInput), 4, 1),
    Row("DaoAILab::_causal_conv1d_fwd_cpp", kPoint, Given<CausalConvolution, 0, 1, 5>),
    With(Row("_C::rotary_embedding", kPoint, Given<RotaryEmbedding, 0, 1, 4>), 3),
    With(Row("_C::rms_norm", kNorm, Given<RmsNormInto>, kRmsNorm), 4),
    With(Row("_C::fused_add_rms_norm", kNorm, Given<RmsNormInto>, kAddRmsNorm), 5),
    With(Row("_C::rms_norm_static_fp8_quant", kNorm, Streams, kNormScale), 5),
    With(Row("_C::fused_add_rms_norm_static_fp8_quant", kNorm, Streams, kAddNormScale), 6),
    With(Row("_C::rms_norm_dynamic_per_token_quant", kNorm, Streams, kNormNewScale), 6),
    With(Row("_C::rms_norm_per_block_quant", kNorm, Streams, kNormNewScale), 6),
    With(Row("_C::silu_and_mul_quant", kQuant, Streams, kHalfInputScale), 5, 1),
    With(Row("_C::silu_and_mul_per_block_quant", kQuant, Streams, kHalfInputNewScale), 6, 1),
    With(Row("_C::static_scaled_fp8_quant", kQuant, Streams, kResultInputScale), 1),
    With(Row("_C::static_scaled_int8_quant", kQuant, Streams, kResultInputScale), 2),
    With(Row("_C::dynamic_scaled_fp8_quant", kQuant, Streams, kResultInputNewScale), 2),
    With(Row("_C::dynamic_per_token_scaled_fp8_quant", kQuant, Streams, kResultInputNewScale), 2),
    With(Row("_C::dynamic_scaled_int8_quant", kQuant, Streams, kResultInputNewScale), 3),
    With(Row("_C::per_token_group_fp8_quant", kQuant, Streams, kInputResultNewScale), 2),
    Row("_C::paged_attention_v1", kAttend, DependsOnData),
    Row("_C::paged_attention_v2", kAttend, DependsOnData),
    Row("vllm::unified_attention", kAttend, DependsOnData),
    Row("vllm::unified_attention_with_output", kAttend, DependsOnData),
    Row("_C_cache_ops::reshape_and_cache", kIndex, Given<CacheWrite>, 2),
    Row("_C_cache_ops::reshape_and_cache_flash", kIndex, Given<CacheWrite>, 2),
    Row("_C_cache_ops::concat_and_cache_mla", kIndex, Given<CacheWrite>, 1),
    With(Row("_moe_C::topk_softmax", OpFamily::kSoftmax, Streams, kExpertsOfTokens), 5, 1),
    With(Row("_moe_C::moe_sum", OpFamily::kReduction, Streams, kInputAndResult), 1),
    Row("_moe_C::moe_align_block_size", kIndex, Streams, kBlocksOfExperts),

    Row("vllm::rocm_unquantized_gemm", kGemm, Given<LinearLayer>),
    Row("_rocm_C::wvSplitK", kGemm, Given<LinearLayer>),
    Row("_rocm_C::wvSplitKrc", kGemm, Given<LinearLayer>),
    Row("_rocm_C::LLMM1", kGemm, Given<LinearLayer>),
    Row("_rocm_C::wvSplitKQ", kGemm, Given<ProductOfFewRowsInto>),
    Row("_C::marlin_gemm", kGemm, Given<MarlinProduct>),
    Row("_C::gptq_marlin_gemm", kGemm, Given<MarlinProduct>),
    Row("_C::gptq_marlin_24_gemm", kGemm, Given<MarlinProduct>),
    Row("_C::awq_marlin_gemm", kGemm, Given<MarlinProduct>),
    Row("_C::fp8_marlin_gemm", kGemm, Given<MarlinProduct>),
    Row("_C::marlin_qqq_gemm", kGemm, Given<MarlinProduct>),
    Row("_moe_C::moe_wna16_gemm", kGemm, Given<PackedExpertsInto>),
    Row("_moe_C::moe_wna16_marlin_gemm", kGemm, Given<PackedExpertsInto>),
    Row("_C::cutlass_scaled_mm_azp", kGemm, Given<ProductInto>),
    Row("_C::dsv3_fused_a_gemm", kGemm, Given<ProductInto>),
    Row("_C::cutlass_moe_mm", kGemm, Given<ExpertsProductInto>),
    Row("vllm::inplace_fused_experts", kGemm, Given<FusedExperts, 0, 1, 2, 4>),
    Row("vllm::outplace_fused_experts", kGemm, Given<FusedExperts, 0, 1, 2, 4>),
    Row("vllm::rocm_aiter_fused_moe", kGemm, Given<FusedExperts, 0, 1, 2, 4>),
    Row("vllm::moe_forward", kGemm, DependsOnData),
    Row("vllm::moe_forward_shared", kGemm, DependsOnData),
    Row("vllm::unified_mla_attention", kAttend, DependsOnData),
    Row("vllm::unified_mla_attention_with_output", kAttend, DependsOnData),
    Row("_rocm_C::paged_attention", kAttend, DependsOnData),
    Row("_C::sm100_cutlass_mla_decode", kAttend, DependsOnData),
    Row("vllm::rocm_aiter_mla_decode_fwd", kAttend, DependsOnData),
    With(Row("_C::merge_attn_states", kAttend, Streams, kMergeInto), 3),
    With(Row("_C::swigluoai_and_mul", kPoint, GatedHalf, 1), 9, 1),
    With(Row("_C::scaled_fp4_quant", kQuant, Streams, kResultInputNewScale), 2),
    With(Row("vllm::rocm_aiter_rms_norm", kNorm, Streams, kNormToNew), 4),
    With(Row("vllm::rocm_aiter_rmsnorm2d_fwd_with_add", kNorm, Streams, kAddNormToNew), 5),
    Row("vllm::all_reduce", kComm, Collective, kInPlaceTensor),
    Row("_C_custom_ar::all_reduce", kComm, Collective, kBehindHandle),

    Row("sgl_kernel::fp8_scaled_mm", kGemm, Given<ScaledProductOfType>),
    Row("sgl_kernel::int8_scaled_mm", kGemm, Given<ScaledProductOfType>),
    Row("sgl_kernel::fp8_blockwise_scaled_mm", kGemm, Given<ScaledProductOfType>),
    Row("sgl_kernel::dsv3_fused_a_gemm", kGemm, Given<ProductInto>),
    Row("sgl_kernel::gptq_gemm", kGemm, PackedProduct, 1),
    Row("sgl_kernel::gptq_marlin_gemm", kGemm, Given<MarlinProduct>),
    Row("sgl_kernel::moe_wna16_marlin_gemm", kGemm, Given<PackedExpertsInto>),
    Row("sglang::inplace_fused_experts", kGemm, Given<FusedExperts, 0, 1, 2, 4>),
    Row("sglang::outplace_fused_experts", kGemm, Given<FusedExperts, 0, 1, 2, 4>),
    Row("sgl_kernel::cutlass_mla_decode", kAttend, DependsOnData),
    With(Row("sgl_kernel::merge_state", kAttend, Streams, kMergeOf), 3),
    With(Row("sgl_kernel::merge_state_v2", kAttend, Streams, kMergeOf), 3),
    With(Row("sgl_kernel::silu_and_mul", kPoint, GatedHalf, 1), 4, 1),
    With(Row("sgl_kernel::gelu_and_mul", kPoint, GatedHalf, 1), 8, 1),
    With(Row("sgl_kernel::gelu_tanh_and_mul", kPoint, GatedHalf, 1), 8, 1),
    With(Row("sgl_kernel::rmsnorm", kNorm, Given<RmsNormInto>, kRmsNorm), 4),
    With(Row("sgl_kernel::fused_add_rmsnorm", kNorm, Given<RmsNormInto>, kAddRmsNorm), 5),
    With(Row("sgl_kernel::gemma_rmsnorm", kNorm, Given<RmsNormInto>, kRmsNorm), 5),
    With(Row("sgl_kernel::gemma_fused_add_rmsnorm", kNorm, Given<RmsNormInto>, kAddRmsNorm), 6),
    With(Row("sgl_kernel::sgl_per_token_group_quant_fp8", kQuant, Streams, kInputResultNewScale),
         2),
    With(Row("sgl_kernel::sgl_per_token_group_quant_int8", kQuant, Streams, kInputResultNewScale),
         3),
    With(Row("sgl_kernel::sgl_per_token_quant_fp8", kQuant, Streams, kInputResultNewScale), 2),
    With(Row("sgl_kernel::scaled_fp4_quant", kQuant, Streams, kResultInputNewScale), 2),
    With(Row("sgl_kernel::topk_softmax", OpFamily::kSoftmax, Streams, kExpertsWithoutRows), 5, 1),
    Row("sgl_kernel::all_reduce", kComm, Collective, kBehindHandle),

    Row("aiter::fused_moe_", kGemm, Given<FusedExperts, 0, 1, 2, 4>),
    Row("aiter::mha_fwd", kAttend, AttentionForward, kFlashAttn),
    Row("aiter::fmha_v3_fwd", kAttend, AttentionForward, kFlashAttn),
    Row("aiter::mha_varlen_fwd", kAttend, AttentionForward, kAiterVarlen),
    Row("aiter::fmha_v3_varlen_fwd", kAttend, AttentionForward, kAiterVarlen),
    Row("aiter::pa_fwd_asm", kAttend, DependsOnData),
    Row("aiter::paged_attention_rocm", kAttend, DependsOnData),
    Row("aiter::mla_decode_stage1_asm_fwd", kAttend, DependsOnData),
    Row("aiter::mla_prefill_asm_fwd", kAttend, DependsOnData),
    Row("aiter::wvSplitKQ", kGemm, Given<ProductOfFewRowsInto>),
    Row("aiter::gemm_a8w8_ck", kGemm, ProductOfRowsInto, 4),
    Row("aiter::gemm_a8w8_bpreshuffle_ck", kGemm, ProductOfRowsInto, 4),
    Row("aiter::gemm_a8w8_bpreshuffle_cktile", kGemm, ProductOfRowsInto, 4),
    Row("aiter::gemm_a8w8_blockscale_ck", kGemm, ProductOfRowsInto, 4),
    Row("aiter::gemm_a8w8_blockscale_cktile", kGemm, ProductOfRowsInto, 4),
    Row("aiter::gemm_a8w8_blockscale_bpreshuffle_ck", kGemm, ProductOfRowsInto, 4),
    Row("aiter::gemm_a8w8_blockscale_bpreshuffle_cktile", kGemm, ProductOfRowsInto, 4),
    With(Row("aiter::silu_and_mul", kPoint, GatedHalf, 1), 4, 1),
    With(Row("aiter::gelu_and_mul", kPoint, GatedHalf, 1), 8, 1),
    With(Row("aiter::gelu_tanh_and_mul", kPoint, GatedHalf, 1), 8, 1),
    With(Row("aiter::rms_norm", kNorm, Streams, kNormToNew), 4),
    With(Row("aiter::rmsnorm2d_fwd", kNorm, Streams, kNormToNew), 4),
    With(Row("aiter::rms_norm_cu", kNorm, Given<RmsNormInto>, kRmsNorm), 4),
    With(Row("aiter::fused_add_rms_norm_cu", kNorm, Given<RmsNormInto>, kAddRmsNorm), 5),
    With(Row("aiter::rmsnorm2d_fwd_with_add", kNorm, Streams, kAddNormInto), 5),
    With(Row("aiter::rmsnorm2d_fwd_with_add_ck", kNorm, Streams, kAddNormInto), 5),
    With(Row("aiter::rmsnorm2d_fwd_with_dynamicquant", kNorm, Streams, kNormScaleWeight), 6),
    With(Row("aiter::rmsnorm2d_fwd_with_add_dynamicquant", kNorm, Streams, kAddNormIntoScale), 7),

    Row("fbgemm::f8f8bf16", kGemm, Given<QuantizedLinear>, kBFloat16Number),
    Row("fbgemm::f8f8bf16_tensorwise", kGemm, Given<QuantizedLinear>, kBFloat16Number),
    Row("fbgemm::f8f8bf16_rowwise", kGemm, Given<QuantizedLinear>, kBFloat16Number),
    Row("fbgemm::f8f8bf16_rowwise_batched", kGemm, Given<QuantizedLinear>, kBFloat16Number),
    Row("fbgemm::f8f8bf16_blockwise", kGemm, Given<QuantizedLinear>, kBFloat16Number),
    Row("fbgemm::i8i8bf16", kGemm, Given<QuantizedLinear>, kBFloat16Number),
    Row("fbgemm::i8i8bf16_dynamic", kGemm, Given<QuantizedLinear>, kBFloat16Number),
    Row("bitsandbytes::int8_linear_matmul", kGemm, Given<QuantizedLinear>, kInt32Number),
    With(Row("fbgemm::quantize_fp8_per_tensor", kQuant, Given<QuantizeToFloat8>, kScalePerTensor),
         2),
    With(Row("fbgemm::quantize_fp8_per_row", kQuant, Given<QuantizeToFloat8>, kScalePerRow), 2),
    Row("fbgemm::split_embedding_codegen_forward_unweighted_cuda", kIndex,
        Given<BatchedTables, 0, 5, 8, 9>),
    Row("fbgemm::split_embedding_codegen_forward_weighted_cuda", kIndex,
        Given<BatchedTables, 0, 5, 8, 9>),

    Row("triton_poi_", OpFamily::kGenerated, GeneratedKernel),
    Row("triton_red_", OpFamily::kGenerated, GeneratedKernel),
    Row("triton_per_", OpFamily::kGenerated, GeneratedKernel),
    Row("triton_for_", OpFamily::kGenerated, GeneratedKernel),

    Row("c10d::allreduce_", kComm, Collective, kInPlaceList),
    Row("c10d::broadcast_", kComm, Collective, kInPlaceList),
    Row("c10d::_allgather_base_", kComm, Collective, kOutputFirst),
    Row("c10d::_reduce_scatter_base_", kComm, Collective, kOutputFirst),
    Row("c10d::alltoall_base_", kComm, Collective, kOutputFirst),
    Row("nccl:all_reduce", kComm, Collective, kInPlaceTensor),
    Row("record_param_comms", kComm, Collective, kRecordedSizes),
    Row("symm_mem::multimem_all_reduce_", kComm, Collective, kInPlaceTensor),
    Row("symm_mem::two_shot_all_reduce_", kComm, Collective, kInPlaceTensor),
    Row("symm_mem::one_shot_all_reduce", kComm, Collective, kInPlaceTensor),
    Row("symm_mem::multimem_one_shot_all_reduce", kComm, Collective, kInPlaceTensor),
    Row("symm_mem::one_shot_all_reduce_out", kComm, Collective, kOutputLast),
    Row("symm_mem::two_shot_all_reduce_out", kComm, Collective, kOutputLast),
    Row("symm_mem::multimem_one_shot_all_reduce_out", kComm, Collective, kOutputLast),
    Row("symm_mem::multimem_all_gather_out", kComm, Collective, kOutputLast),
    Row("symm_mem::reduce_scatter_out", kComm, Collective, kOutputLast),
};

std::vector<OpModel> JoinedTables() {
  std::vector<OpModel> models;
  for (const std::span<const OpModel> part :
       {std::span<const OpModel>(kComputing), std::span<const OpModel>(kMoving),
        std::span<const OpModel>(kOfLibraries)}) {
    models.insert(models.end(), part.begin(), part.end());
  }
  return models;
}

}  // namespace

std::span<const OpModel> AllOpModels() {
  static const std::vector<OpModel> models = JoinedTables();
  return models;
}

}  // namespace borescope::internal
