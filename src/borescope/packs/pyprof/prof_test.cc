#include <gtest/gtest.h>

#include "borescope/catalog/catalog.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

const std::string kConv2d =
    "{'mod': 'torch.nn.functional', 'op': 'conv2d', 'args': [{'name': '', 'type': 'tensor', "
    "'shape': (64, 64, 56, 56), 'dtype': 'float16'}, {'name': '', 'type': 'tensor', 'shape': (64, "
    "64, 1, 1), 'dtype': 'float16'}]}";
const std::string kRelu =
    "{'mod': 'torch.nn.functional', 'op': 'relu', 'args': [{'name': '', 'type': 'tensor', 'shape': "
    "(64, 64, 56, 56), 'dtype': 'float16'}]}";
const std::string kTrace =
    "{'traceMarker': ['main.py:5', '/site/torch/nn/modules/conv.py:9', 'model.py:7']}";
constexpr const char* kConvKernel = "volta_fp16_s884cudnn_fp16_256x64_ldg8";
constexpr const char* kElementwise = "void at::native::elementwise_kernel<512, 1>(int)";

// The ranges around one launch, outermost first, each 1000 ns after the last.
class Capture {
 public:
  // "conv2d, seq = 5" is an operator; all others are ranges.
  Capture& Kernels(const std::vector<std::string>& ranges, const std::string& kernel, int count = 1,
                   int64_t thread = 1) {
    int64_t depth = 0;
    for (const std::string& range : ranges) {
      const size_t sequence = range.find(", seq = ");
      const Span span{at_ + depth, 900 - 2 * depth};
      if (sequence == std::string::npos) {
        trace_.Annotation(range, span, thread);
      } else {
        OpArgs args;
        args.sequence = std::stoll(range.substr(sequence + 8));
        trace_.Op(range.substr(0, sequence), span, args, thread);
      }
      ++depth;
    }
    for (int64_t i = 0; i < count; ++i) {
      ++correlation_;
      trace_.Runtime("cudaLaunchKernel", {at_ + 100 + 10 * i, 5}, correlation_, thread);
      trace_.Kernel(kernel, {at_ + 10000 + 10 * i, 8}, {.correlation = correlation_});
    }
    at_ += 1000;
    return *this;
  }

  // The columns of the table by Borescope's rules, or by PyProf's.
  std::string Prof(const std::string& columns, Compat compat = Compat::kNone) {
    Params params;
    params.compat = compat;
    params.values.push_back({.name = "columns", .text = columns});
    return Csv(Analyse("prof", {&trace_.View()}, params).front());
  }

 private:
  TestTrace trace_;
  int64_t at_ = 1000;
  int64_t correlation_ = 0;
};

Capture ConvolutionAndItsGradient() {
  Capture capture;
  capture.Kernels({"layer:conv2_x", "layer:Bottleneck_1", kTrace, kConv2d, "conv2d, seq = 5",
                   "_convolution, seq = 5", "cudnn_convolution, seq = 5"},
                  kConvKernel, 2);
  capture.Kernels({"CudnnConvolutionBackward, seq = 5", "cudnn_convolution_backward, seq = 0"},
                  "volta_fp16_s884cudnn_fp16_128x64_dgrad", 2, 9);
  return capture;
}

TEST(ProfCompatTest, BackwardKernelsBorrowFromForward) {
  EXPECT_EQ(ConvolutionAndItsGradient().Prof(
                "idx,dir,sub,seq,altseq,mod,op,layer,trace,flops,bytes,tc", Compat::kPyProf),
            "Idx,Direction,Sub,SeqId,AltSeqId,Module,Op,Layer,Trace,FLOPs,Bytes,TC\n"
            "1,fprop,0,5,-,torch.nn.functional,conv2d,conv2_x:Bottleneck_1,main.py:5,model.py:7,"
            "1644167168,51388416,1\n"
            "2,fprop,1,5,-,torch.nn.functional,conv2d,conv2_x:Bottleneck_1,main.py:5,model.py:7,"
            "1644167168,51388416,1\n"
            "3,bprop,0,5,-,torch.nn.functional,conv2d,conv2_x:Bottleneck_1,main.py:5,model.py:7,"
            "1644167168,51388416,1\n"
            "4,bprop,1,5,-,torch.nn.functional,conv2d,conv2_x:Bottleneck_1,main.py:5,model.py:7,"
            "1644167168,51388416,1\n");
}

TEST(ProfCompatTest, KernelsWithoutArguments) {
  Capture capture;
  capture.Kernels({"ReluBackward0, seq = 6", "threshold_backward, seq = 0"}, kElementwise);
  capture.Kernels({}, kElementwise);
  capture.Kernels({"conv2d, seq = 7", "_convolution, seq = 7", "cudnn_convolution, seq = 7"},
                  kConvKernel);
  EXPECT_EQ(capture.Prof("dir,seq,mod,op,kernel,params,tc,flops", Compat::kPyProf),
            "Direction,SeqId,Module,Op,Kernel,Params,TC,FLOPs\n"
            "bprop,6,na,threshold,elementwise_kernel,na=na,,na,0\n"
            "fprop,-,na,,elementwise_kernel,na=na,,na,0\n"
            "fprop,7,na,_convolution," +
                std::string(kConvKernel) + ",na=na,,na,0\n");
}

// The table of sequence numbers of its parse stage.
TEST(ProfCompatTest, SequenceNumbers) {
  Capture capture;
  capture.Kernels({"a, seq = 1", "b, seq = 2", "c, seq = 3"}, "k");
  capture.Kernels({"a, seq = 3", "b, seq = 4", "c, seq = 5"}, "k");
  capture.Kernels({"a, seq = 2"}, "k");
  capture.Kernels({"a, seq = 9", "b, seq = 10"}, "k");
  capture.Kernels({"ABackward, seq = 4", "b, seq = 0"}, "k");
  capture.Kernels({"ABackward, seq = 3", "BBackward1, seq = 7"}, "k");
  EXPECT_EQ(capture.Prof("seq,altseq", Compat::kPyProf),
            "SeqId,AltSeqId\n"
            "1,3,2\n"
            "3,5,4\n"
            "-,2\n"
            "9,10\n"
            "4,-\n"
            "3,7\n");
}

TEST(ProfCompatTest, LayersAndOtherRanges) {
  Capture capture;
  capture.Kernels({"layer:a:b", "pre layer:c", "{'strRepr': 'Linear(in_features=2)'}",
                   "CheckpointFunctionBackward", "plain"},
                  "k");
  capture.Kernels({"{'mod': 'torch', 'op': 'sync', 'args': []}"}, "k");
  EXPECT_EQ(capture.Prof("layer,op", Compat::kPyProf),
            "Layer,Op\na:c,plain\n-,{'mod': 'torch', 'op': 'sync', 'args': []}\n");
}

TEST(ProfCompatTest, WhatStopsPyProfIsARow) {
  Capture capture;
  capture.Kernels({kConv2d.substr(0, 90)}, "k");
  capture.Kernels({"{'mod': 'torch', 'op': 'mm', 'args': [{'name': '', 'type': 'int', 'value': "
                   "1}]}"},
                  "k");
  capture.Kernels({kRelu}, kElementwise);
  EXPECT_EQ(capture.Prof("op,flops,bytes,status", Compat::kPyProf),
            "Op,FLOPs,Bytes,Status\n"
            ",-,-,PyProf stops\n"
            "mm,-,-,PyProf stops\n"
            "relu,12845056,51380224,modelled\n");
}

TEST(ProfTest, MarkersTellTheWorkOnce) {
  EXPECT_EQ(
      ConvolutionAndItsGradient().Prof("idx,dir,sub,seq,mod,op,layer,params,tc,flops,bytes,status"),
      "idx,dir,sub,seq,mod,op,layer,params,tc,flops,bytes,status\n"
      "1,forward,0,5,torch.nn.functional,conv2d,conv2_x:Bottleneck_1,N=64,C=64,H=56,W=56,"
      "K=64,P=56,Q=56,R=1,S=1,ph=0,pw=0,U=1,V=1,dh=1,dw=1,g=1,fp16,,1,822083584,25694208,"
      "modelled\n"
      "2,forward,1,5,torch.nn.functional,conv2d,conv2_x:Bottleneck_1,N=64,C=64,H=56,W=56,"
      "K=64,P=56,Q=56,R=1,S=1,ph=0,pw=0,U=1,V=1,dh=1,dw=1,g=1,fp16,,1,822083584,25694208,"
      "modelled\n"
      "3,backward,0,5,torch.nn.functional,conv2d,conv2_x:Bottleneck_1,N=64,C=64,H=56,W=56,"
      "K=64,P=56,Q=56,R=1,S=1,ph=0,pw=0,U=1,V=1,dh=1,dw=1,g=1,fp16,,1,1644167168,51388416,"
      "modelled\n"
      "4,backward,1,5,torch.nn.functional,conv2d,conv2_x:Bottleneck_1,N=64,C=64,H=56,W=56,"
      "K=64,P=56,Q=56,R=1,S=1,ph=0,pw=0,U=1,V=1,dh=1,dw=1,g=1,fp16,,1,1644167168,51388416,"
      "modelled\n");
}

// The innermost marker with a model is used, not the outermost.
TEST(ProfTest, InnermostMarkerWithAModel) {
  Capture capture;
  capture.Kernels({"{'mod': 'Tensor', 'op': 'backward', 'args': [{'name': '', 'type': 'int', "
                   "'value': 1}]}",
                   kRelu,
                   "{'mod': 'torch', 'op': 'unknown', 'args': [{'name': '', 'type': 'int', "
                   "'value': 1}]}"},
                  kElementwise);
  EXPECT_EQ(capture.Prof("op,params,flops,bytes,status"),
            "op,params,flops,bytes,status\n"
            "relu,[64,64,56,56]fp16,12845056,51380224,modelled\n");
}

TEST(ProfTest, EveryKernelHasARowWithItsStatus) {
  Capture capture;
  capture.Kernels({}, "k");
  capture.Kernels({kConv2d.substr(0, 90)}, "k");
  capture.Kernels({"{'mod': 'torch', 'op': 'unknown', 'args': []}"}, "k");
  capture.Kernels({"{'mod': 'torch', 'op': 'mm', 'args': []}"}, "k");
  EXPECT_EQ(capture.Prof("op,flops,status"),
            "op,flops,status\n"
            "-,-,no operator\n"
            "-,-,bad marker\n"
            "unknown,-,unknown op\n"
            "mm,-,missing shapes\n");
}

TEST(ProfTest, RecomputedForwardAndGradients) {
  Capture capture;
  capture.Kernels({"CheckpointFunctionBackward, seq = 3", kRelu, "relu, seq = 8"}, kElementwise);
  capture.Kernels({"MyFunctionBackward, seq = 4", kRelu, "relu, seq = 0"}, kElementwise);
  capture.Kernels({"torch::autograd::AccumulateGrad, seq = 9"}, kElementwise);
  capture.Kernels({kRelu, "relu, seq = 12"}, kElementwise);
  EXPECT_EQ(capture.Prof("dir,seq,op"),
            "dir,seq,op\n"
            "recompute,8,relu\n"
            "backward,4,relu\n"
            "backward,9,AccumulateGrad\n"
            "forward,12,relu\n");
}

TEST(ProfTest, OperatorsAndFramesOfATrace) {
  TestTrace trace;
  trace.Python("train.py(12): main", {0, 1000}).Python("nn.Module: Linear_0", {10, 900});
  trace.Python("torch/nn/modules/linear.py(114): forward", {15, 850});
  OpArgs args;
  args.sequence = 7;
  args.dims = "[[32, 128], [128, 256]]";
  trace.Op("aten::mm", {20, 800}, args);
  trace.Runtime("cudaLaunchKernel", {30, 10}, 1)
      .Kernel("ampere_sgemm_128x64_nn", {100, 50}, {.correlation = 1});
  Params params;
  params.values.push_back(
      {.name = "columns", .text = "dir,sub,seq,mod,op,params,layer,trace,tc,flops,bytes,status"});
  EXPECT_EQ(
      Csv(Analyse("prof", {&trace.View()}, params).front()),
      "dir,sub,seq,mod,op,params,layer,trace,tc,flops,bytes,status\n"
      "forward,0,7,aten,mm,M=256,N=32,K=128,,Linear_0,train.py:12,0,2097152,-,unknown dtype\n");
}

TEST(ProfTest, CopiesOnRequest) {
  TestTrace trace;
  trace.Op("aten::copy_", {0, 100}).Runtime("cudaMemcpyAsync", {10, 10}, 1);
  trace.Memcpy("Memcpy HtoD (Pinned -> Device)", {200, 40}, {.correlation = 1}, 1024);
  Params params;
  params.values.push_back({.name = "columns", .text = "op,kernel,tc,grid"});
  EXPECT_EQ(Csv(Analyse("prof", {&trace.View()}, params).front()), "op,kernel,tc,grid\n");
  params.all = true;
  EXPECT_EQ(Csv(Analyse("prof", {&trace.View()}, params).front()),
            "op,kernel,tc,grid\ncopy_,Memcpy HtoD (Pinned -> Device),-,-\n");
}

TEST(ProfTest, UnknownColumns) {
  Params params;
  params.values.push_back({.name = "columns", .text = "op,flop"});
  const Result<void> checked = FindAnalysis("prof")->check(params);
  ASSERT_FALSE(checked.ok());
  EXPECT_TRUE(
      checked.error().Sentence().starts_with("`columns`: no column 'flop'; columns are rank"));
}

// A window that cuts a call does not change the work that is attributed to its kernels.
TEST(ProfTest, AWindowChangesNoWork) {
  TestTrace trace;
  trace
      .Op("aten::mm", {0, 100},
          {.dims = "[[8, 16], [16, 16]]", .types = R"(["c10::Half", "c10::Half"])"})
      .Launched("volta_h884gemm_64x64_nn", {10, 10}, {200, 50}, {.correlation = 1, .stream = 7})
      .Launched("volta_h884gemm_64x64_nt", {30, 10}, {300, 50}, {.correlation = 2, .stream = 8});
  Params params;
  params.values.push_back({.name = "columns", .text = "idx,sub,kernel,flops"});
  params.selection.streams = *NumberRanges::Parse("8");
  EXPECT_EQ(Csv(Analyse("prof", {&trace.View()}, params).front()),
            "idx,sub,kernel,flops\n1,1,volta_h884gemm_64x64_nt,2048\n");
}

}  // namespace
}  // namespace borescope::internal
