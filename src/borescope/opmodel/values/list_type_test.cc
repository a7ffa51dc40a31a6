#include "borescope/opmodel/values/list_type.h"

#include <gtest/gtest.h>

namespace borescope::internal {
namespace {

using enum ScalarType;

TEST(ListType, OfListKernels) {
  constexpr std::string_view kAdd =
      "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
      "namespace)::TensorListMetadata<2>, at::native::(anonymous "
      "namespace)::BinaryOpListAlphaFunctor<float, 2, 2, 0>, std::plus<float>, float>(int)";
  EXPECT_EQ(ListTypeOfKernel(kAdd), kFloat32);
  EXPECT_EQ(ListTypeOfKernel("void multi_tensor_apply_kernel<TensorListMetadata<1>, "
                             "LpNormFunctor<c10::BFloat16, (NormType)1, c10::BFloat16, 1, 1, 0>"),
            kBFloat16);
  EXPECT_EQ(ListTypeOfKernel("void multi_tensor_apply_kernel<FusedOptimizerTensorListMetadata<4>, "
                             "FusedAdamMathFunctor<double, 4, (ADAM_MODE)1, false>, float const*>"),
            kFloat64);
}

TEST(ListType, ACopyBetweenTypesHasNoOneType) {
  EXPECT_EQ(ListTypeOfKernel("multi_tensor_apply_kernel<TensorListMetadata<2>, "
                             "CopyFunctor<c10::Half, float, 2, 1, 1>, Copy<c10::Half, float>>"),
            kUnknown);
  EXPECT_EQ(ListTypeOfKernel("multi_tensor_apply_kernel<TensorListMetadata<2>, "
                             "CopyFunctor<c10::Half, c10::Half, 2, 1, 1>>"),
            kFloat16);
}

TEST(ListType, OfConcatenations) {
  EXPECT_EQ(ListTypeOfKernel("void at::native::(anonymous namespace)::CatArrayBatchedCopy_"
                             "vectorized<at::native::(anonymous namespace)::OpaqueType<2u>, "
                             "unsigned int, 4, 64, 64, 16, 8>(char*)"),
            kOpaque16);
  EXPECT_EQ(ListTypeOfKernel("CatArrayBatchedCopy<OpaqueType<(unsigned int)8>, unsigned int, 1>"),
            kOpaque64);
  EXPECT_EQ(ListTypeOfKernel("void CatArrayBatchedCopy<c10::Half, unsigned int, 2, 128, 1>()"),
            kFloat16);
  EXPECT_EQ(ListTypeOfKernel("CatArrayBatchedCopy<OpaqueType<3u>, unsigned int>"), kUnknown);
  EXPECT_EQ(ListTypeOfKernel("CatArrayBatchedCopy"), kUnknown);
}

TEST(ListType, OfReductionsBetweenDevices) {
  EXPECT_EQ(ListTypeOfKernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgs)"),
            kBFloat16);
  EXPECT_EQ(ListTypeOfKernel("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)"), kFloat32);
  EXPECT_EQ(ListTypeOfKernel("ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgs)"), kUnknown);
}

TEST(ListType, OfOtherKernelsNothing) {
  EXPECT_EQ(ListTypeOfKernel(""), kUnknown);
  EXPECT_EQ(ListTypeOfKernel("void vectorized_elementwise_kernel<4, CUDAFunctor_add<float>>()"),
            kUnknown);
  EXPECT_EQ(ListTypeOfKernel("multi_tensor_apply_kernel<"), kUnknown);
  EXPECT_EQ(ListTypeOfKernel("multi_tensor_apply_kernel<CopyFunctor<float"), kUnknown);
}

TEST(ListType, OpaqueElementsHaveASizeAlone) {
  EXPECT_EQ(BitsPerElement(kOpaque16), 16);
  EXPECT_EQ(ScalarTypeName(kOpaque16), "16 bits");
  EXPECT_FALSE(IsFloatingPoint(kOpaque128));
  EXPECT_FALSE(IsComplex(kOpaque128));
}

}  // namespace
}  // namespace borescope::internal
