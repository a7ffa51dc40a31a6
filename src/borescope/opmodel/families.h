// The functions of the table, by family. Each computes the cost of one call from its arguments in
// the order of the operator's schema; docs/flops.md has the formulas.
#pragma once

#include "borescope/opmodel/op_model.h"

namespace borescope::opmodel {

// gemm.cc
OpCost MatrixProduct(const OpCall& call);     // variant: MatrixArgs
OpCost BatchedProduct(const OpCall& call);    // variant: MatrixArgs
OpCost BroadcastProduct(const OpCall& call);  // matmul, mv, dot: any ranks
OpCost LinearLayer(const OpCall& call);       // x [..., k], w [n, k], bias
OpCost GroupedProduct(const OpCall& call);    // experts: rows of one operand are split
OpCost SparseProduct(const OpCall& call);     // 2:4: half of a is stored, with an index
OpCost SparseLinear(const OpCall& call);
OpCost PackedLinear(const OpCall& call);  // x [m, k], weights of 4 or 8 bits; variant: bits
// Where the operands are.
enum MatrixArgs : uint8_t {
  kProductFirst,    // (a, b)
  kAddendFirst,     // (c, a, b, beta, alpha)
  kScaledProduct,   // (a, b, scale_a, scale_b, bias, scale_result, out_dtype)
  kIntegerProduct,  // (a, b), the result is int32
};

// conv.cc; FLOPs per element of the row: of the result
OpCost ConvForward(const OpCall& call);   // variant: ConvArgs
OpCost ConvBackward(const OpCall& call);  // variant: kConvGeneral or kConvCudnn
// The order of arguments behind x and w.
enum ConvArgs : uint8_t {
  kConvGeneral,          // bias, stride, padding, dilation, transposed, output_padding, groups
  kConvPlain,            // bias, stride, padding, dilation, groups
  kConvTransposePlain,   // bias, stride, padding, output_padding, groups, dilation
  kConvCudnn,            // padding, stride, dilation, groups
  kConvCudnnTranspose,   // padding, output_padding, stride, dilation, groups
  kConvMiopen,           // bias, padding, stride, dilation, groups
  kConvMiopenTranspose,  // bias, padding, output_padding, stride, dilation, groups
  kConvWithKernelSize,   // kernel_size, bias, stride, padding, dilation; groups by the shapes
  kConvAddRelu,          // z, alpha, bias, stride, padding, dilation, groups
};

// attention.cc
OpCost AttentionForward(const OpCall& call);   // variant: AttentionArgs
OpCost AttentionBackward(const OpCall& call);  // variant: AttentionArgs
// One schema each; q, k and v stand in front, backward behind the gradient of the output.
enum AttentionArgs : uint8_t {
  kSdpa,
  kSdpaFlash,
  kSdpaEfficient,  // cuDNN's is the same
  kFlash,
  kEfficient,
  kCudnn,
  kSdpaFlashBackward,
  kSdpaEfficientBackward,
  kSdpaCudnnBackward,
  kFlashBackward,
  kEfficientBackward,
  kFlashAttn,  // of the package flash_attn, as those below
  kFlashAttnVarlen,
  kFlashAttnBackward,
  kFlashAttnVarlenBackward,
};

}  // namespace borescope::opmodel
