// The functions of the table, by family. Each computes the cost of one call from its arguments in
// the order of the operator's schema; docs/how-it-works/flops.md has the formulas.
#pragma once

#include <cstddef>
#include <utility>

#include "borescope/opmodel/cost_builder.h"
#include "borescope/opmodel/op_model.h"

namespace borescope::internal::opmodel {

// Gives a formula the tensors that it cannot do without: the arguments at these places, by default
// the first ones. Where the shape of one was not recorded, there is no cost.
template <auto kFormula, size_t... kAt>
OpCost GivenAt(const OpCall& call, std::index_sequence<kAt...>) {
  const bool has_all = ((call.args.Tensor(kAt) != nullptr) && ...);
  return has_all ? kFormula(call, *call.args.Tensor(kAt)...)
                 : Failure(call, CostStatus::kMissingShapes);
}
template <class... Tensors>
constexpr size_t CountTensors(OpCost (*)(const OpCall&, Tensors...)) {
  return sizeof...(Tensors);
}
template <auto kFormula, size_t... kAt>
OpCost Given(const OpCall& call) {
  if constexpr (sizeof...(kAt) == 0) {
    return GivenAt<kFormula>(call, std::make_index_sequence<CountTensors(kFormula)>());
  } else {
    return GivenAt<kFormula>(call, std::index_sequence<kAt...>());
  }
}

// gemm.cc
OpCost MatrixProduct(const OpCall& call);     // variant: MatrixArgs
OpCost BatchedProduct(const OpCall& call);    // variant: MatrixArgs
OpCost BroadcastProduct(const OpCall& call);  // matmul, mv, dot: any ranks
OpCost LinearLayer(const OpCall& call, const OpTensor& x,
                   const OpTensor& weight);  // x [..., k], w [n, k], bias
OpCost GroupedProduct(const OpCall& call);   // experts: rows of one operand are split
OpCost SparseProduct(const OpCall& call, const OpTensor& a,
                     const OpTensor& b);  // 2:4: half of a is stored, with an index
OpCost SparseLinear(const OpCall& call, const OpTensor& x, const OpTensor& weight);
OpCost PackedLinear(const OpCall& call, const OpTensor& x,
                    const OpTensor& weight);  // x [m, k], weights of 4 or 8 bits; variant: bits
// Where the operands are.
enum MatrixArgs : uint8_t {
  kProductFirst,    // (a, b)
  kAddendFirst,     // (c, a, b, beta, alpha)
  kScaledProduct,   // (a, b, scale_a, scale_b, bias, scale_result, out_dtype)
  kIntegerProduct,  // (a, b), the result is int32
};

// gemm.cc, quantized
OpCost ProductInto(const OpCall& call, const OpTensor& result, const OpTensor& a,
                   const OpTensor& b);  // (result, a, b, ...)
OpCost QuantizedLinear(
    const OpCall& call, const OpTensor& x,
    const OpTensor& weight);               // x [..., k], w [n, k]; variant: type of the result
OpCost PackedProduct(const OpCall& call);  // variant: whose columns are those of the result
OpCost TransformerEngineProduct(const OpCall& call, const OpTensor& a, const OpTensor& b,
                                const OpTensor& result);
OpCost ProductScaledByLists(const OpCall& call);  // variant: where the bias is

// gemm.cc, of serving engines
OpCost ProductOfRowsInto(const OpCall& call);
OpCost ProductOfFewRowsInto(const OpCall& call, const OpTensor& weight, const OpTensor& x);
OpCost MarlinProduct(const OpCall& call, const OpTensor& x);
OpCost PackedExpertsInto(const OpCall& call, const OpTensor& x, const OpTensor& result,
                         const OpTensor& weight);  // variant: where the result is
OpCost ScaledProductOfType(const OpCall& call, const OpTensor& a,
                           const OpTensor& b);  // (a, b, scale_a, scale_b, out_dtype, bias)
OpCost FusedExperts(const OpCall& call, const OpTensor& x, const OpTensor& up, const OpTensor& down,
                    const OpTensor& chosen);  // x, w1, w2, weights and numbers of experts
OpCost ExpertsProductInto(const OpCall& call, const OpTensor& result, const OpTensor& a,
                          const OpTensor& b);  // (result, a, b, scales, ...)

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
OpCost GatedHalfBackward(const OpCall& call, const OpTensor& gradient, const OpTensor& x);
OpCost Dropout(const OpCall& call, const OpTensor& x);

// reduction.cc; per element of the input
OpCost LayerNorm(const OpCall& call);          // variant: NormKind
OpCost LayerNormBackward(const OpCall& call);  // variant: NormKind
OpCost RmsNormInto(const OpCall& call, const OpTensor& first, const OpTensor& x,
                   const OpTensor& weight);  // variant: NormKind
OpCost BatchNorm(const OpCall& call, const OpTensor& x);
OpCost BatchNormBackward(const OpCall& call, const OpTensor& a, const OpTensor& b);
OpCost GroupNorm(const OpCall& call);  // variant: NormKind
OpCost GroupNormBackward(const OpCall& call, const OpTensor& gradient, const OpTensor& x);
enum NormKind : uint8_t { kLayerNorm, kRmsNorm, kAddRmsNorm, kGroupNorm, kNativeGroupNorm };

// reduction.cc; per element of the input, for losses by index per target
OpCost Softmax(const OpCall& call);
OpCost SoftmaxBackward(const OpCall& call, const OpTensor& gradient, const OpTensor& output);
OpCost NllLoss(const OpCall& call);
OpCost NllLossBackward(const OpCall& call);
OpCost CrossEntropy(const OpCall& call);
OpCost PairLoss(const OpCall& call, const OpTensor& x,
                const OpTensor& y);  // variant: where the reduction is
OpCost PairLossBackward(const OpCall& call, const OpTensor& x, const OpTensor& y);

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
OpCost Embedding(const OpCall& call, const OpTensor& weight, const OpTensor& indices);
OpCost EmbeddingBackward(const OpCall& call, const OpTensor& gradient, const OpTensor& indices);
OpCost IndexSelect(const OpCall& call, const OpTensor& x, const OpTensor& index);
OpCost IndexFill(const OpCall& call, const OpTensor& x, const OpTensor& index);
OpCost Gather(const OpCall& call);  // variant: where the index is
OpCost Put(const OpCall& call, const OpTensor& x, const OpTensor& index, const OpTensor& source);
OpCost Scatter(const OpCall& call, const OpTensor& x,
               const OpTensor& index);  // variant: ScatterKind
OpCost Sort(const OpCall& call, const OpTensor& x);
OpCost TopK(const OpCall& call, const OpTensor& x);
enum ScatterKind : uint8_t { kPlace, kPlaceAndAdd };

// indexing.cc; per element of the searched tensor
OpCost DependsOnData(const OpCall& call);
OpCost LookThrough(const OpCall& call);  // variant: which tensor
OpCost IndexPut(const OpCall& call, const OpTensor& x, const OpTensor& values);
OpCost Search(const OpCall& call);  // variant: where the tensor is
OpCost BinCount(const OpCall& call, const OpTensor& x);
OpCost Histogram(const OpCall& call, const OpTensor& x);

// indexing.cc
OpCost EmbeddingBag(const OpCall& call, const OpTensor& weight, const OpTensor& indices,
                    const OpTensor& offsets);
OpCost EmbeddingBagBackward(const OpCall& call, const OpTensor& gradient, const OpTensor& indices);
OpCost BatchedTables(const OpCall& call, const OpTensor& weights, const OpTensor& sizes,
                     const OpTensor& indices, const OpTensor& offsets);

// indexing.cc
OpCost CopyInto(const OpCall& call, const OpTensor& target, const OpTensor& source);
OpCost CopyOf(const OpCall& call, const OpTensor& x);  // variant: where the new type is
OpCost Fill(const OpCall& call, const OpTensor& target);
OpCost Concatenate(const OpCall& call);

// pointwise.cc; per parameter. inputs: how many leading lists are read
OpCost ForEach(const OpCall& call);  // variant: how many leading lists are only written
OpCost ForEachNorm(const OpCall& call);
OpCost FusedUpdate(const OpCall& call);

// reduction.cc
OpCost MaxPool(const OpCall& call);
OpCost AvgPool(const OpCall& call);
OpCost PoolBackward(const OpCall& call, const OpTensor& gradient,
                    const OpTensor& x);  // variant: where the indices are; 0: none
OpCost AdaptivePool(const OpCall& call, const OpTensor& x);
OpCost Upsample(const OpCall& call, const OpTensor& x);  // FLOPs per element of the result

// indexing.cc; backward per element of the gradient
OpCost PadByInside(const OpCall& call);
OpCost GradientOfShape(const OpCall& call, const OpTensor& gradient, const OpTensor& x);
OpCost UpsampleBackward(const OpCall& call, const OpTensor& gradient);

// pointwise.cc; per element of the input
OpCost Quantize(const OpCall& call, const OpTensor& x);  // variant: where the type is
OpCost Dequantize(const OpCall& call, const OpTensor& x);
OpCost FakeQuantize(const OpCall& call, const OpTensor& x);
OpCost QuantizeToFloat8(const OpCall& call, const OpTensor& x);  // variant: Float8Scales
enum Float8Scales : uint8_t { kScalePerTensor, kScalePerRow };

// linear_algebra.cc; triangles
OpCost Cholesky(const OpCall& call, const OpTensor& a);
OpCost LuFactors(const OpCall& call, const OpTensor& a);
OpCost QrFactors(const OpCall& call, const OpTensor& a);
OpCost SolveTriangles(const OpCall& call);  // variant: SolveArgs
enum SolveArgs : uint8_t { kSolveMatrixFirst, kSolveRightSideFirst, kSolveWithPivots };

// linear_algebra.cc; variant: TransformKind
OpCost FourierTransform(const OpCall& call, const OpTensor& x);
enum TransformKind : uint8_t { kTransformComplex, kTransformOfReal, kTransformToReal };

// pointwise.cc; variant: StreamArgs
OpCost Streams(const OpCall& call);
OpCost RotaryEmbedding(const OpCall& call, const OpTensor& positions, const OpTensor& query,
                       const OpTensor& angles);  // of what is rotated
OpCost CausalConvolution(const OpCall& call, const OpTensor& x, const OpTensor& weight,
                         const OpTensor& result);
OpCost CacheWrite(const OpCall& call, const OpTensor& first, const OpTensor& second,
                  const OpTensor& cache);  // variant: number of caches
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
OpCost RecurrentCell(const OpCall& call, const OpTensor& input, const OpTensor& hidden,
                     const OpTensor& state);
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
