// The table of models: one row per operator, by family. Argument positions are those of PyTorch's
// schemas (native_functions.yaml).
#include "borescope/opmodel/families.h"

namespace borescope {
namespace {

using namespace opmodel;  // NOLINT(google-build-using-namespace): the table names them all

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

// With FLOPs per element: arithmetic, and transcendental functions.
constexpr OpModel With(OpModel model, uint8_t arithmetic, uint8_t transcendental = 0) {
  model.arithmetic = arithmetic;
  model.transcendental = transcendental;
  return model;
}

constexpr auto kGemm = OpFamily::kGemm;

constexpr auto kConv = OpFamily::kConvolution;
constexpr auto kAttend = OpFamily::kAttention;

constexpr OpModel kModels[] = {
    Row("aten::mm", kGemm, MatrixProduct),
    Row("aten::_int_mm", kGemm, MatrixProduct, kIntegerProduct),
    Row("aten::_scaled_mm", kGemm, MatrixProduct, kScaledProduct),
    Row("aten::addmm", kGemm, MatrixProduct, kAddendFirst),
    Row("aten::_addmm_activation", kGemm, MatrixProduct, kAddendFirst),
    Row("aten::bmm", kGemm, BatchedProduct),
    Row("aten::baddbmm", kGemm, BatchedProduct, kAddendFirst),
    Row("aten::mv", kGemm, BroadcastProduct),
    Row("aten::addmv", kGemm, BroadcastProduct, kAddendFirst),
    Row("aten::dot", kGemm, BroadcastProduct),
    Row("aten::vdot", kGemm, BroadcastProduct),
    Composite(Row("aten::matmul", kGemm, BroadcastProduct)),
    Composite(Row("aten::linear", kGemm, LinearLayer)),
    Row("aten::_grouped_mm", kGemm, GroupedProduct),
    Row("aten::_scaled_grouped_mm", kGemm, GroupedProduct, kScaledProduct),
    Row("aten::_sparse_semi_structured_mm", kGemm, SparseProduct),
    Row("aten::_sparse_semi_structured_linear", kGemm, SparseLinear),
    Row("aten::_weight_int4pack_mm", kGemm, PackedLinear, 4),
    Row("aten::_weight_int8pack_mm", kGemm, PackedLinear, 8),

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
    Backward(Row("aten::_flash_attention_backward", kAttend, AttentionBackward, kFlashBackward)),
    Backward(
        Row("aten::_efficient_attention_backward", kAttend, AttentionBackward, kEfficientBackward)),
    Row("flash_attn::_flash_attn_forward", kAttend, AttentionForward, kFlashAttn),
    Row("flash_attn::_flash_attn_varlen_forward", kAttend, AttentionForward, kFlashAttnVarlen),
    Backward(
        Row("flash_attn::_flash_attn_backward", kAttend, AttentionBackward, kFlashAttnBackward)),
    Backward(Row("flash_attn::_flash_attn_varlen_backward", kAttend, AttentionBackward,
                 kFlashAttnVarlenBackward)),
};

}  // namespace

std::span<const OpModel> AllOpModels() { return kModels; }

}  // namespace borescope
