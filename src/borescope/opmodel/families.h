// The functions of the table, by family. Each computes the cost of one call from its arguments in
// the order of the operator's schema; docs/how-it-works/flops.md has the formulas.
#pragma once

#include "borescope/opmodel/op_model.h"

namespace borescope::internal::opmodel {

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

// gemm.cc, quantized
OpCost ProductInto(const OpCall& call);      // (result, a, b, ...)
OpCost QuantizedLinear(const OpCall& call);  // x [..., k], w [n, k]; variant: type of the result
OpCost PackedProduct(const OpCall& call);    // variant: whose columns are those of the result
OpCost TransformerEngineProduct(const OpCall& call);
OpCost ProductScaledByLists(const OpCall& call);  // variant: where the bias is

// gemm.cc, of serving engines
OpCost ProductOfRowsInto(const OpCall& call);
OpCost ProductOfFewRowsInto(const OpCall& call);
OpCost MarlinProduct(const OpCall& call);
OpCost PackedExpertsInto(const OpCall& call);    // variant: where the result is
OpCost ScaledProductOfType(const OpCall& call);  // (a, b, scale_a, scale_b, out_dtype, bias)
OpCost FusedExperts(const OpCall& call);         // x, w1, w2, weights and numbers of experts
OpCost ExpertsProductInto(const OpCall& call);   // (result, a, b, scales, ...)

// conv.cc; FLOPs per element of the row: of the result
OpCost ConvForward(const OpCall& call);   // variant: ConvArgs
OpCost ConvBackward(const OpCall& call);  // variant: kConvGeneral or kConvCudnn
// The order of the arguments after x and w.
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
// One schema each. q, k and v come first, in backward after the gradient of the output.
enum AttentionArgs : uint8_t {
  kSdpa,
  kSdpaFlash,
  kSdpaEfficient,  // cuDNN's is the same
  kFlash,
  kEfficient,
  kCudnn,
  kSdpaOnCpu,
  kSdpaFlashBackward,
  kSdpaEfficientBackward,
  kSdpaCudnnBackward,
  kSdpaOnCpuBackward,
  kSdpaOtherBackward,
  kFlashBackward,
  kEfficientBackward,
  kFlashAttn,  // of the package flash_attn, as those below
  kFlashAttnVarlen,
  kAiterVarlen,
  kFlashAttnBackward,
  kFlashAttnVarlenBackward,
  kXformersFlash,
  kFlashAttn3,
  kFlashAttn3Backward,
};

// pointwise.cc; FLOPs per element of the row: of the result
OpCost Pointwise(const OpCall& call);
OpCost GatedHalf(const OpCall& call);  // variant: where the tensor is
OpCost GatedHalfBackward(const OpCall& call);
OpCost Dropout(const OpCall& call);

// reduction.cc; per element of the input
OpCost LayerNorm(const OpCall& call);          // variant: NormKind
OpCost LayerNormBackward(const OpCall& call);  // variant: NormKind
OpCost RmsNormInto(const OpCall& call);        // variant: NormKind
OpCost BatchNorm(const OpCall& call);
OpCost BatchNormBackward(const OpCall& call);
OpCost GroupNorm(const OpCall& call);  // variant: NormKind
OpCost GroupNormBackward(const OpCall& call);
enum NormKind : uint8_t { kLayerNorm, kRmsNorm, kAddRmsNorm, kGroupNorm, kNativeGroupNorm };

// reduction.cc; per element of the input, for losses by index per target
OpCost Softmax(const OpCall& call);
OpCost SoftmaxBackward(const OpCall& call);
OpCost NllLoss(const OpCall& call);
OpCost NllLossBackward(const OpCall& call);
OpCost CrossEntropy(const OpCall& call);
OpCost PairLoss(const OpCall& call);  // variant: where the reduction is
OpCost PairLossBackward(const OpCall& call);

// reduction.cc; of the input. inputs: where the dimensions are
OpCost Reduction(const OpCall& call);  // variant: ReductionKind
OpCost MaximumOf(const OpCall& call);
enum ReductionKind : uint8_t {
  kReducePlain,
  kReduceSum,      // integers become int64
  kReduceMean,     // ... and one division per result
  kReduceRoot,     // one root or logarithm per result
  kReduceMaximum,  // with the index, over one dimension
  kReduceToIndex,
  kReduceTwo,  // gives two numbers
};

// indexing.cc
OpCost Embedding(const OpCall& call);
OpCost EmbeddingBackward(const OpCall& call);
OpCost IndexSelect(const OpCall& call);
OpCost IndexFill(const OpCall& call);
OpCost Gather(const OpCall& call);  // variant: where the index is
OpCost Put(const OpCall& call);
OpCost Scatter(const OpCall& call);  // variant: ScatterKind
OpCost Sort(const OpCall& call);
OpCost TopK(const OpCall& call);
enum ScatterKind : uint8_t { kPlace, kPlaceAndAdd };

// indexing.cc; per element of the searched tensor
OpCost DependsOnData(const OpCall& call);
OpCost LookThrough(const OpCall& call);  // variant: which tensor
OpCost IndexPut(const OpCall& call);
OpCost Search(const OpCall& call);  // variant: where the tensor is
OpCost BinCount(const OpCall& call);
OpCost Histogram(const OpCall& call);

// indexing.cc
OpCost EmbeddingBag(const OpCall& call);
OpCost EmbeddingBagBackward(const OpCall& call);
OpCost BatchedTables(const OpCall& call);

// indexing.cc
OpCost CopyInto(const OpCall& call);
OpCost CopyOf(const OpCall& call);  // variant: where the new type is
OpCost Fill(const OpCall& call);
OpCost Concatenate(const OpCall& call);

// pointwise.cc; per parameter. inputs: how many leading lists are read
OpCost ForEach(const OpCall& call);  // variant: how many leading lists are only written
OpCost ForEachNorm(const OpCall& call);
OpCost FusedUpdate(const OpCall& call);

// reduction.cc
OpCost MaxPool(const OpCall& call);
OpCost AvgPool(const OpCall& call);
OpCost PoolBackward(const OpCall& call);  // variant: where the indices are; 0: none
OpCost AdaptivePool(const OpCall& call);
OpCost Upsample(const OpCall& call);  // FLOPs per element of the result

// indexing.cc; backward per element of the gradient
OpCost PadByInside(const OpCall& call);
OpCost GradientOfShape(const OpCall& call);
OpCost UpsampleBackward(const OpCall& call);

// pointwise.cc; per element of the input
OpCost Quantize(const OpCall& call);  // variant: where the type is
OpCost Dequantize(const OpCall& call);
OpCost FakeQuantize(const OpCall& call);
OpCost QuantizeToFloat8(const OpCall& call);  // variant: Float8Scales
enum Float8Scales : uint8_t { kScalePerTensor, kScalePerRow };

// linear_algebra.cc; triangles
OpCost Cholesky(const OpCall& call);
OpCost LuFactors(const OpCall& call);
OpCost QrFactors(const OpCall& call);
OpCost SolveTriangles(const OpCall& call);  // variant: SolveArgs
enum SolveArgs : uint8_t { kSolveMatrixFirst, kSolveRightSideFirst, kSolveWithPivots };

// linear_algebra.cc; variant: TransformKind
OpCost FourierTransform(const OpCall& call);
enum TransformKind : uint8_t { kTransformComplex, kTransformOfReal, kTransformToReal };

// pointwise.cc; variant: StreamArgs
OpCost Streams(const OpCall& call);
OpCost RotaryEmbedding(const OpCall& call);  // of what is rotated
OpCost CausalConvolution(const OpCall& call);
OpCost CacheWrite(const OpCall& call);  // variant: number of caches
// One order of arguments each; "new" are results.
enum StreamArgs : uint8_t {
  kResultAndInput,
  kResultInputScale,
  kResultInputNewScale,
  kHalfInputScale,     // the result has half of the input; FLOPs are of the result
  kHalfInputNewScale,  // the same
  kInputResultNewScale,
  kNormScale,        // result, input, weight, scale
  kAddNormScale,     // result, input, residual (overwritten), weight, scale
  kNormNewScale,     // result, input, weight, new scale, epsilon, bound, residual (overwritten)
  kExpertsOfTokens,  // weights, experts, rows; scores
  kInputAndResult,
  kBlocksOfExperts,     // experts; number, block; rows, experts, length
  kExpertsWithoutRows,  // weights, experts; scores
  kAddNormInto,         // result, input, residual, new residual, weight
  kAddNormIntoScale,    // result, input, residual, new residual, new scale, weight
  kNormScaleWeight,     // result, input, new scale, weight
  kNormToNew,           // input, weight; the result is new
  kAddNormToNew,        // input, residual, weight; result and new residual are new
  kMergeInto,           // result, its sums; two partial results, each with its sums
  kMergeOf,             // partial result, its sums, another, its sums; result, its sums
};

// gemm.cc; variant: RnnArgs
OpCost RecurrentLayers(const OpCall& call);
OpCost RecurrentCell(const OpCall& call);
enum RnnArgs : uint8_t { kRnnCudnn, kRnnMiopen, kRnnCudnnBackward, kLstmCell, kGruCell };

// pointwise.cc; variant: CollectiveArgs
OpCost Collective(const OpCall& call);
// The cost by the sizes that recordings have beside the arguments, in elements; kMissing and other
// negative sizes are unknown.
OpCost CollectiveOfSizes(const OpCall& call, int64_t read, int64_t written, ScalarType type);
enum CollectiveArgs : uint8_t {
  kOutputFirst,
  kOutputLast,     // after arguments that are no tensors
  kBehindHandle,   // (number, input, output, ...)
  kInPlaceTensor,  // or the result is new, and as large
  kInPlaceList,
  kRecordedSizes,
};

// pointwise.cc
OpCost GeneratedKernel(const OpCall& call);

}  // namespace borescope::internal::opmodel
