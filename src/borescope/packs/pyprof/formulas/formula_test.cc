#include "borescope/packs/pyprof/formulas/formula.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace borescope::internal {
namespace {

std::string Tensor(const std::string& shape, const std::string& dtype,
                   const std::string& name = "") {
  return fmt::format("{{'name': '{}', 'type': 'tensor', 'shape': {}, 'dtype': '{}'}}", name, shape,
                     dtype);
}
std::string F16(const std::string& shape) { return Tensor(shape, "float16"); }
std::string F32(const std::string& shape) { return Tensor(shape, "float32"); }

std::string Value(const std::string& type, const std::string& value, const std::string& name = "") {
  return fmt::format("{{'name': '{}', 'type': '{}', 'value': {}}}", name, type, value);
}

std::string CallText(const std::string& mod, const std::string& op,
                     const std::vector<std::string>& args) {
  std::string text = "{'mod': '" + mod + "', 'op': '" + op + "', 'args': [";
  for (const std::string& arg : args) {
    text += (text.back() == '[' ? "" : ", ") + arg;
  }
  return text + "]}";
}

constexpr const char* kF = "torch.nn.functional";

// "op flops/bytes params tc", or "stops".
std::string Work(const std::string& marker, const PyProfKernel& kernel) {
  const PyProfMarker parsed = ParsePyProfMarker(marker);
  EXPECT_EQ(parsed.kind, MarkerKind::kArguments) << marker;
  const auto work = PyProfWorkOf(parsed.call, kernel);
  if (!work) return "stops";
  return fmt::format("{} {}/{} {} {}", work->op, work->flops.value(), work->bytes.value(),
                     work->params, work->tc);
}

PyProfKernel Forward(std::string_view name, int64_t sub = 0) { return {.name = name, .sub = sub}; }
PyProfKernel Backward(std::string_view name, int64_t sub = 0) {
  return {.name = name, .is_backward = true, .sub = sub};
}

TEST(PyProfFormulaTest, TheFourRowsOfTheReadme) {
  const std::string relu1 = CallText(kF, "relu", {F16("(64, 64, 112, 112)")});
  EXPECT_EQ(Work(relu1, Forward("elementwise_kernel")),
            "relu 51380224/205520896 [64,64,112,112]fp16 -");
  const auto conv = [](const std::string& filters) {
    return CallText(kF, "conv2d", {F16("(64, 64, 56, 56)"), F16("(" + filters + ", 64, 1, 1)")});
  };
  EXPECT_EQ(Work(conv("64"), Forward("volta_fp16_s884cudnn_fp16_256x64_ldg8_relu_f2f_exp_nhwc")),
            "conv2d 1644167168/51388416 N=64,C=64,H=56,W=56,K=64,P=56,Q=56,R=1,S=1,ph=0,pw=0,U=1,"
            "V=1,dh=1,dw=1,g=1,fp16, 1");
  EXPECT_EQ(Work(CallText(kF, "relu", {F16("(64, 64, 56, 56)")}), Forward("elementwise_kernel")),
            "relu 12845056/51380224 [64,64,56,56]fp16 -");
  EXPECT_EQ(Work(conv("256"), Forward("volta_fp16_s884cudnn_fp16_256x128_ldg8")),
            "conv2d 6576668672/128483328 N=64,C=64,H=56,W=56,K=256,P=56,Q=56,R=1,S=1,ph=0,pw=0,"
            "U=1,V=1,dh=1,dw=1,g=1,fp16, 1");
}

TEST(PyProfFormulaTest, Linear) {
  const std::string wide = CallText(
      kF, "linear", {F16("(32, 64, 128)"), F16("(256, 128)"), Value("NoneType", "None", "bias")});
  EXPECT_EQ(Work(wide, Forward("volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_tn")),
            "linear 134217728/1081344 M=256,N=(32,64),K=128,fp16, 1");
  const std::string biased =
      CallText(kF, "linear", {F16("(32, 128)"), F16("(256, 128)"), F16("(256,)")});
  EXPECT_EQ(Work(biased, Backward("volta_fp16_s884gemm_fp16_128x128", 1)),
            "linear 2097152/49152 M=128,N=256,K=32,fp16, 1");
  EXPECT_EQ(Work(biased, Backward("splitKreduce_kernel", 2)),
            "linear 0/0 X=(32,128),W=(256,128),fp16, 0");
  EXPECT_EQ(Work(biased, Forward("reduce_kernel")), "bias 8192/32768 M=256,N=32,fp16, -");
  for (const char* kernel : {"scal_kernel", "std::enable_if", "nvjet_hsh_128x256"}) {
    EXPECT_EQ(Work(biased, Forward(kernel)), "stops") << kernel;
  }
}

TEST(PyProfFormulaTest, ProductsOfMatrices) {
  EXPECT_EQ(Work(CallText("torch", "addmm", {F32("(256,)"), F32("(32, 128)"), F32("(128, 256)")}),
                 Forward("volta_sgemm_32x128_nn")),
            "addmm 2097152/180224 M=256,N=32,K=128,fp32, 0");
  EXPECT_EQ(Work(CallText("torch", "bmm", {F16("(4, 32, 128)"), F16("(4, 128, 256)")}),
                 Forward("volta_h884gemm_64x64_ldg8_nn")),
            "bmm 8388608/360448 B=4,M=256,N=32,K=128,fp16, 1");
  EXPECT_EQ(Work(CallText("torch", "mm", {F32("(32, 128)"), F32("(128, 256)")}),
                 Forward("volta_sgemm_32x128_nn")),
            "mm 2097152/180224 M=256,N=32,K=128,fp32, 0");
  const std::string matmul =
      CallText("torch", "matmul", {F16("(4, 8, 32, 128)"), F16("(8, 128, 256)")});
  EXPECT_EQ(Work(matmul, Forward("volta_h884gemm_64x64_ldg8_nn")),
            "matmul 67108864/90112 A=(4,8,32,128),B=(8,128,256),fp16, 1");
  EXPECT_EQ(Work(matmul, Forward("elementwise_kernel")),
            "matmul 0/524288 A=(4,8,32,128),B=(8,128,256),fp16, -");
  EXPECT_EQ(Work(matmul, Forward("vectorized_elementwise_kernel")),
            "matmul 67108864/90112 A=(4,8,32,128),B=(8,128,256),fp16, 0");
}

// "flops/bytes".
std::string Numbers(const std::string& marker, const PyProfKernel& kernel) {
  const auto work = PyProfWorkOf(ParsePyProfMarker(marker).call, kernel);
  return work ? fmt::format("{}/{}", work->flops.value(), work->bytes.value()) : "stops";
}

TEST(PyProfFormulaTest, Convolutions) {
  const auto conv = [](const std::string& w, const std::string& groups) {
    return CallText(kF, "conv2d",
                    {F16("(64, 64, 56, 56)"), F16(w), Value("NoneType", "None"), Value("int", "1"),
                     Value("tuple", "(1, 1)"), Value("int", "1"), Value("int", groups)});
  };
  const std::string grouped = conv("(64, 16, 3, 3)", "4");
  EXPECT_EQ(Numbers(grouped, Forward("volta_fp16_s884cudnn_fp16")), "924844032/12849664");
  EXPECT_EQ(Numbers(grouped, Forward("cudnn::2d_grouped_direct_kernel")), "3699376128/51398656");
  EXPECT_EQ(Numbers(conv("(64, 1, 3, 3)", "64"),
                    Forward("conv_depthwise2d_spatialDepthwiseConvolutionUpdateOutput")),
            "231211008/51381376"
            "");
  EXPECT_EQ(Numbers(conv("(64, 64, 3, 3)", "1"), Backward("calc_bias_diff")), "12845056/51380224");
  EXPECT_EQ(Numbers(conv("(64, 64, 3, 3)", "1"), Forward("nchwToNhwcKernel")), "0/0");
  EXPECT_EQ(Numbers(conv("(64, 64, 3, 3)", "1"), Forward("sm80_xmma_fprop_implicit_gemm_f16")),
            "0/0");
  const std::string line =
      CallText(kF, "conv1d", {F32("(32, 3, 224)"), F32("(16, 3, 3)"), Value("int", "2", "stride")});
  EXPECT_EQ(Numbers(line, Forward("volta_scudnn_128x32_relu_small_nn_v1")), "1022976/313920");
  EXPECT_EQ(Numbers(CallText(kF, "conv2d",
                             {F32("(1, 3, 8, 8)"), F32("(4, 3, 3, 3)"),
                              Value("str", "'same'", "padding")}),
                    Forward("volta_scudnn_128x32")),
            "stops");
  const std::string three = CallText(
      kF, "conv2d", {F16("(64, 64, 56, 56)"), F16("(64, 64, 3, 3)"), Value("int", "1", "padding")});
  EXPECT_EQ(Numbers(three, Forward("volta_fp16_s884cudnn_fp16")), "14797504512/51453952");
}

TEST(PyProfFormulaTest, Pointwise) {
  const std::string a = F32("(8, 16)");
  const auto torch = [](const std::string& op, const std::vector<std::string>& args) {
    return CallText("torch", op, args);
  };
  const PyProfKernel forward = Forward("elementwise_kernel");
  const PyProfKernel backward = Backward("elementwise_kernel");
  EXPECT_EQ(Numbers(torch("add", {a, a}), forward), "128/1536");
  EXPECT_EQ(Numbers(torch("add", {F32("(8, 1)"), F32("(16,)")}), forward), "128/608");
  EXPECT_EQ(Work(CallText("Tensor", "__add__", {a, Value("float", "2.0")}), forward),
            "__add__ 128/1028 [8,16]fp32;[]fp32 -");
  EXPECT_EQ(Numbers(CallText("Tensor", "__mul__", {F16("(8, 16)"), a}), forward), "128/1024");
  EXPECT_EQ(Numbers(torch("eq", {a, a}), forward), "128/1152");
  EXPECT_EQ(Numbers(torch("sigmoid", {a}), forward), "2560/1024");
  EXPECT_EQ(Numbers(torch("addcmul", {a, a, a}), forward), "384/2048");
  EXPECT_EQ(Numbers(torch("add", {a, a}), backward), "0/1024");
  EXPECT_EQ(Numbers(torch("mul", {a, a}), backward), "128/1536");
  EXPECT_EQ(Numbers(torch("fmod", {a, a}), backward), "stops");
  EXPECT_EQ(Numbers(torch("atan2", {a, a}), forward), "stops");
  EXPECT_EQ(Numbers(torch("add", {a, Value("float", "1.0"), a}), forward), "stops");
  EXPECT_EQ(Numbers(torch("lerp", {a, a, a}), forward), "stops");
  EXPECT_EQ(Numbers(CallText(kF, "relu", {F16("(64, 64, 112, 112)")}), backward),
            "51380224/308281344");
  EXPECT_EQ(Numbers(torch("add", {Tensor("(8, 16)", "bfloat16"), a}), forward), "stops");
}

TEST(PyProfFormulaTest, ElementsAndReductions) {
  const std::string a = F32("(8, 16)");
  const PyProfKernel forward = Forward("reduce_kernel");
  const PyProfKernel backward = Backward("elementwise_kernel");
  EXPECT_EQ(Work(CallText("torch", "mean", {a}), forward), "mean 129/516 [8,16]fp32 -");
  EXPECT_EQ(Work(CallText("torch", "norm", {a}), forward), "norm 257/512 T=(8,16),fp32, -");
  EXPECT_EQ(Numbers(CallText("Tensor", "sum", {a}), forward), "128/512");
  EXPECT_EQ(Numbers(CallText("Tensor", "sum", {a}), Forward("reduce_kernel", 1)), "128/0");
  EXPECT_EQ(Numbers(CallText(kF, "dropout", {a, Value("float", "0.5", "p")}), forward), "640/1024");
  EXPECT_EQ(Work(CallText("torch", "cat", {a, a}), forward), "cat 0/2048 [8,16]fp32;[8,16]fp32 -");
  EXPECT_EQ(Numbers(CallText(kF, "softmax", {a}), forward), "5120/1536");
  EXPECT_EQ(Numbers(CallText(kF, "softmax", {a}), backward), "5120/2560");
  EXPECT_EQ(Numbers(CallText("Tensor", "log_softmax", {a}), forward), "2688/1536");
  EXPECT_EQ(Numbers(CallText("Tensor", "softmax", {a}), forward), "stops");
  const std::string x = F32("(1, 10)");
  EXPECT_EQ(Work(CallText(kF, "mse_loss", {x, x, Value("str", "'mean'", "reduction")}), forward),
            "mse_loss 41/80 T=(1,10),fp32,red=mean, -");
  EXPECT_EQ(
      Numbers(CallText(kF, "mse_loss", {x, x, Value("str", "'none'", "reduction")}), backward),
      "81/160");
  EXPECT_EQ(Numbers(CallText(kF, "mse_loss", {x, x}), forward), "stops");
  const std::string image = CallText("torch", "batch_norm", {F16("(2, 3, 4, 5)")});
  EXPECT_EQ(Numbers(image, forward), "960/960");
  EXPECT_EQ(Numbers(image, backward), "960/1200");
  EXPECT_EQ(Numbers(image, Backward("batch_norm_backward", 1)), "960/0");
}

TEST(PyProfFormulaTest, Indices) {
  const std::string a = F32("(8, 16)");
  const PyProfKernel forward = Forward("indexSelectLargeIndex");
  const std::string embedding =
      CallText(kF, "embedding", {Tensor("(128, 16)", "int64"), F16("(1024, 32)")});
  EXPECT_EQ(Work(embedding, forward), "embedding 0/278528 [128,16]int64;[1024,32]fp16 -");
  EXPECT_EQ(Numbers(embedding, Backward("embedding_backward_kernel")), "0/393216");
  EXPECT_EQ(Numbers(embedding, Backward("embedding_backward_kernel", 1)), "0/0");
  EXPECT_EQ(Numbers(CallText("torch", "gather", {a, Value("int", "1"), Tensor("(8, 2)", "int64")}),
                    forward),
            "0/1024");
  EXPECT_EQ(Work(CallText("torch", "index_select", {a, Value("int", "0"), Tensor("(4,)", "int64")}),
                 forward),
            "index_select 0/544 T=(8,16),D=0,I=4,fp32, -");
  EXPECT_EQ(Numbers(CallText("torch", "masked_select", {a, Tensor("(8, 16)", "uint8")}), forward),
            "0/1152");
  EXPECT_EQ(Numbers(CallText("torch", "masked_select", {a, Tensor("(8, 16)", "bool")}), forward),
            "stops");
  EXPECT_EQ(Numbers(CallText("torch", "nonzero", {Tensor("(8, 16)", "uint8")}), forward), "0/2176");
}

TEST(PyProfFormulaTest, CopiesFillsAndOptimizer) {
  const std::string a = F32("(8, 16)");
  const PyProfKernel forward = Forward("elementwise_kernel");
  EXPECT_EQ(Numbers(CallText("Tensor", "half", {a}), forward), "0/768");
  EXPECT_EQ(Work(CallText("Tensor", "float", {Tensor("(18, 104, 160)", "bool")}), forward),
            "float 0/1497600 [18,104,160]bool -");
  EXPECT_EQ(Work(CallText("Tensor", "clone", {F32("(18, 4, 416, 640)")}), forward),
            "clone 0/153354240 T=(18,4,416,640),fp32, -");
  EXPECT_EQ(Work(CallText("Tensor", "copy_", {F16("(8, 16)"), a}), forward),
            "copy_ 0/768 T=(8,16),fp32,fp16, -");
  EXPECT_EQ(Work(CallText("torch", "randperm", {Value("int", "1000")}), forward),
            "randperm 3000/8000 N=1000, -");
  EXPECT_EQ(Numbers(CallText("torch", "zeros", {Value("int", "8"), Value("int", "16")}), forward),
            "0/512");
  EXPECT_EQ(Numbers(CallText("Tensor", "zero_", {F16("(8, 16)")}), forward), "0/256");
  const auto adam = [](const std::string& gradient) {
    std::vector<std::string> args = {F32("(100,)"), Tensor("(0,)", "float16"), F32("(100,)"),
                                     F32("(100,)"), gradient};
    args.resize(12, Value("int", "1"));
    return CallText("fused_adam_cuda", "adam", args);
  };
  EXPECT_EQ(Work(adam(F32("(100,)")), forward), "adam 0/2800 T=(100,),fp32,fp32, -");
  EXPECT_EQ(Work(adam(F16("(100,)")), forward), "adam 0/2800 T=(100,),fp32,fp16, -");
  EXPECT_EQ(Work(CallText(kF, "max_pool2d", {a, Value("int", "2")}), forward),
            "max_pool2d 0/0 T=[(8,16)],['float32'] -");
}

TEST(PyProfFormulaTest, CellsOfRecurrentNetworks) {
  const std::string cell =
      CallText("LSTMCell", "forward", {F16("(64, 128)"), F16("(64, 256)"), F16("(64, 256)")});
  EXPECT_EQ(Work(cell, Forward("volta_fp16_s884gemm_fp16_128x64")),
            "forward 16777216/409600 gemm=layer,M=1024,N=64,K=128,fp16, 1");
  EXPECT_EQ(Numbers(cell, Forward("volta_fp16_s884gemm_fp16_128x64", 1)), "33554432/688128");
  EXPECT_EQ(Work(cell, Forward("lstm_cell_forward", 2)),
            "forward 0/360448 cell=LSTMCell,X=128,H=256,B=64,fp16, -");
  PyProfKernel kernel = Backward("volta_fp16_s884gemm_fp16_128x64_ldg8_f2f_nn");
  kernel.grid_x = 2;
  EXPECT_EQ(Work(cell, kernel), "forward 33554432/688128 gemm=recur,M=256,N=64,K=1024,fp16, 1");
  kernel = Backward("volta_fp16_s884gemm_fp16_128x64_ldg8_f2f_nt");
  kernel.grid_y = 16;
  EXPECT_EQ(Work(cell, kernel), "forward 16777216/409600 gemm=layer,M=128,N=1024,K=64,fp16, 1");
}

// LeNet with one image, fp32.
TEST(PyProfFormulaTest, LeNet) {
  const auto conv = [](const std::string& x, const std::string& w) {
    return Numbers(CallText(kF, "conv2d", {F32(x), F32(w)}), Forward("volta_scudnn_128x32_relu"));
  };
  const auto linear = [](const std::string& x, const std::string& w) {
    return Numbers(CallText(kF, "linear", {F32(x), F32(w)}), Forward("gemv2T_kernel_val"));
  };
  const auto relu = [](const std::string& x) {
    return Numbers(CallText(kF, "relu", {F32(x)}), Forward("elementwise_kernel"));
  };
  EXPECT_EQ(conv("(1, 1, 32, 32)", "(6, 1, 5, 5)"), "235200/23512");
  EXPECT_EQ(relu("(1, 6, 28, 28)"), "4704/37632");
  EXPECT_EQ(conv("(1, 6, 14, 14)", "(16, 6, 5, 5)"), "480000/20704");
  EXPECT_EQ(relu("(1, 16, 10, 10)"), "1600/12800");
  EXPECT_EQ(linear("(1, 400)", "(120, 400)"), "96000/49720");
  EXPECT_EQ(linear("(1, 120)", "(84, 120)"), "20160/10644");
  EXPECT_EQ(linear("(1, 84)", "(10, 84)"), "1680/1186");
  EXPECT_EQ(relu("(1, 120)"), "120/960");
}

TEST(PyProfFormulaTest, HostileArguments) {
  const std::string huge = "9223372036854775807";
  const std::string tensor = F32("(" + huge + ", " + huge + ")");
  const PyProfKernel gemm = Forward("volta_sgemm_32x128_nn");
  EXPECT_EQ(Numbers(CallText("torch", "mm", {tensor, tensor}), gemm), "stops");
  EXPECT_EQ(Numbers(CallText("torch", "add", {tensor, tensor}), gemm), "stops");
  EXPECT_EQ(Numbers(CallText(kF, "conv2d",
                             {F32("(1, 1, 8, 8)"), F32("(1, 1, 3, 3)"), Value("int", "1"),
                              Value("int", "0"), Value("int", huge)}),
                    gemm),
            "stops");
  for (const char* op : {"mm", "linear", "conv2d", "cat", "add", "randperm", "zeros", "adam",
                         "embedding", "index_select", "mse_loss", "to", "softmax", "full"}) {
    for (const char* mod : {"torch", "Tensor", kF}) {
      EXPECT_EQ(Numbers("{'mod': '" + std::string(mod) + "', 'op': '" + op + "', 'args': []}", gemm)
                    .find_first_not_of("stop0/"),
                std::string::npos)
          << op;
    }
  }
}

TEST(PyProfParamsTest, AnyType) {
  const auto params = [](const std::string& marker) {
    return PyProfParams(ParsePyProfMarker(marker).call);
  };
  EXPECT_EQ(params(CallText("aten", "mm",
                            {Tensor("(32, 128)", "bfloat16"), Tensor("(128, 256)", "bfloat16")})),
            "M=256,N=32,K=128,bf16,");
  EXPECT_EQ(params(CallText("torch", "add", {F16("(8, 16)"), F32("(16,)")})),
            "[8,16]fp16;[16]fp32");
}

}  // namespace
}  // namespace borescope::internal
