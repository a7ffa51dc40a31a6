#include "tests/support/simulation/shapes.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <vector>

#include "tests/support/simulation/author.h"

namespace borescope::simulation {
namespace {

// An operator, and what runs backward for it.
struct OperatorKind {
  std::string_view outer;
  std::string_view inner;
  std::string_view kernel;
  WorkClass work_class;
  int32_t weight;  // of its kernel, in pointwise kernels
  std::string_view node;
  std::string_view backward;
  std::string_view backward_kernel;
};

constexpr std::array<OperatorKind, 4> kOperators = {{
    {"aten::linear", "aten::addmm", "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_tn",
     WorkClass::kGemm, 4, "AddmmBackward0", "aten::mm",
     "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_nn"},
    {"aten::layer_norm", "aten::native_layer_norm",
     "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::Half, float>(int, "
     "float, c10::Half const*, c10::Half const*, c10::Half const*, float*, float*, c10::Half*)",
     WorkClass::kNorm, 1, "NativeLayerNormBackward0", "aten::native_layer_norm_backward",
     "void at::native::(anonymous namespace)::layer_norm_grad_input_kernel_vectorized<c10::Half, "
     "float>(c10::Half const*, c10::Half const*, float const*, float const*, c10::Half const*, "
     "c10::Half*, int)"},
    {"aten::gelu", "aten::gelu_out",
     "void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl"
     "(at::TensorIteratorBase&, at::native::GeluType)::{lambda()#1}, at::detail::Array<char*, 2> >"
     "(int, at::native::GeluCUDAKernelImpl, at::detail::Array<char*, 2>)",
     WorkClass::kPointwise, 1, "GeluBackward0", "aten::gelu_backward",
     "void at::native::vectorized_elementwise_kernel<4, at::native::GeluBackwardCUDAKernelImpl"
     "(at::TensorIteratorBase&, at::native::GeluType)::{lambda()#1}, at::detail::Array<char*, 3> >"
     "(int, at::native::GeluBackwardCUDAKernelImpl, at::detail::Array<char*, 3>)"},
    {"aten::softmax", "aten::_softmax",
     "void (anonymous namespace)::softmax_warp_forward<c10::Half, c10::Half, float, 8, false, "
     "false>(c10::Half*, c10::Half const*, int, int, int, bool const*, int, bool)",
     WorkClass::kSoftmax, 2, "SoftmaxBackward0", "aten::_softmax_backward_data",
     "void (anonymous namespace)::softmax_warp_backward<float, c10::Half, c10::Half, 8, false, "
     "false>(c10::Half*, c10::Half const*, c10::Half const*, int, int, int, bool const*)"},
}};

constexpr std::string_view kLaunchCall = "cudaLaunchKernel";
constexpr std::string_view kCopyCall = "cudaMemcpyAsync";
constexpr std::string_view kAllReduceKernel =
    "ncclDevKernel_AllReduce_Sum_f16_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
constexpr std::string_view kBroadcastKernel =
    "ncclDevKernel_Broadcast_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
constexpr std::string_view kAdamKernel =
    "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
    "namespace)::FusedOptimizerTensorListMetadata<4>, at::native::(anonymous namespace)::"
    "FusedAdamMathFunctor<float, 4>, float const*, double, double>()";
constexpr std::string_view kLossKernel =
    "void at::native::(anonymous namespace)::nll_loss_forward_reduce_cuda_kernel_2d<c10::Half, "
    "float, long>(c10::Half*, c10::Half*, c10::Half const*, long const*, c10::Half const*, bool, "
    "long, long, long, long)";
constexpr std::string_view kSampleKernel =
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
    "at::native::ArgMaxOps<float>, unsigned int, long, 4> >(at::native::ReduceOp<float, "
    "at::native::ArgMaxOps<float>, unsigned int, long, 4>)";

constexpr int64_t kSmallCallNs = 1'500;  // a record, a wait of a stream
constexpr int64_t kWaitCallNs = 2'500;
constexpr int64_t kPinnedBytesPerNs = 20;
constexpr int64_t kPageableBytesPerNs = 4;

class ShapedProgram {
 public:
  ShapedProgram(const Shape& shape, Program* program) : s_(shape), author_(program) { Prepare(); }

  void Write() {
    for (int32_t step = 0; step < s_.steps; ++step) Step(step);
    author_.OnThread(main_);
    author_.OnStream(compute_);
    author_.WaitDevice("cudaDeviceSynchronize", kWaitCallNs);
  }

 private:
  void Prepare() {
    main_ = author_.AddThread("python");
    if (s_.has_backward) autograd_ = author_.AddThread("pt_autograd_0");
    if (s_.has_loader) loader_ = author_.AddThread("pt_data_worker", false);
    compute_ = author_.AddStream(7, "compute");
    if (s_.has_side_stream) side_ = author_.AddStream(13, "side");
    if (s_.bucket_bytes + s_.blocking_bytes + s_.inline_bytes + s_.broadcast_bytes > 0)
      PrepareGroups();
  }

  void PrepareGroups() {
    comm_ = author_.AddStream(20, "comm");
    Partition world(1);
    Partition pairs;
    for (int32_t rank = 0; rank < s_.ranks; ++rank) {
      world[0].push_back(rank);
      if (rank % 2 == 0) pairs.emplace_back();
      pairs.back().push_back(rank);
    }
    world_ = author_.AddPartition(std::move(world));
    pairs_ = author_.AddPartition(std::move(pairs));
  }

  void Step(int32_t step) {
    author_.OnThread(main_);
    author_.OnStream(compute_);
    author_.BeginStep();
    LoadBatch(step);
    author_.In(Phase::kForward);
    if (s_.broadcast_bytes > 0) Broadcast();
    for (int32_t layer = 0; layer < s_.layers; ++layer) ForwardLayer(layer);
    for (int32_t token = 0; token < s_.tokens; ++token) Token();
    if (s_.has_backward) {
      Loss();
      Backward();
      Optimizer();
    }
    FinishStep();
    author_.OnThread(main_);
    author_.EndStep();
  }

  void LoadBatch(int32_t step) {
    constexpr std::string_view kFrame =
        "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";
    if (s_.has_loader) {
      const int32_t ready = author_.NewEvent();
      const int32_t taken = author_.NewEvent();
      taken_.push_back(taken);
      author_.OnThread(loader_);
      if (step >= 2) author_.Await(taken_[static_cast<size_t>(step) - 2]);
      author_.LoadData(s_.data_ns);
      author_.Signal(ready);
      author_.OnThread(main_);
      author_.OpenData(kFrame);
      author_.Await(ready);
      author_.Compute(20'000);
      author_.Signal(taken);
      author_.Close();
    } else {
      author_.OpenData("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
      author_.LoadData(s_.data_ns);
      author_.Close();
    }
    author_.Compute(10'000);
    CopyToDevice(
        s_.copies_wait ? "Memcpy HtoD (Pageable -> Device)" : "Memcpy HtoD (Pinned -> Device)",
        2'000'000, kPinnedBytesPerNs, s_.call_ns, s_.copies_wait);
    author_.ComputeWithPause(10'000);
  }

  void CopyToDevice(std::string_view name, int64_t bytes, int64_t rate, int64_t call_ns,
                    bool waits) {
    author_.OpenOp("aten::to");
    author_.OpenOp("aten::_to_copy");
    author_.Compute(3'000);
    author_.OpenOp("aten::copy_");
    author_.Compute(2'000);
    author_.Launch(waits ? "cudaMemcpy" : kCopyCall, call_ns,
                   {.name = name,
                    .work_class = WorkClass::kCopy,
                    .ns = bytes / rate,
                    .bytes = bytes,
                    .kind = WorkKind::kMemcpy},
                   waits);
    author_.Compute(1'000);
    author_.Close(3);
    author_.Compute(2'000);
  }

  // 1024 x 1024 times as many rows at 210 TFLOP/s.
  int64_t RowsOf(const OperatorKind& kind) const {
    return kind.work_class == WorkClass::kGemm ? kind.weight * s_.kernel_ns / 10 : 0;
  }

  // The outer operator takes a third before, a third goes to the inner one, a third is left.
  void Forward(const OperatorKind& kind) {
    author_.OpenOp(kind.outer);
    author_.Compute(s_.host_ns / 3);
    author_.OpenOp(kind.inner, RowsOf(kind));
    author_.Compute(s_.host_ns / 3);
    author_.Launch(
        kLaunchCall, s_.call_ns,
        {.name = kind.kernel, .work_class = kind.work_class, .ns = kind.weight * s_.kernel_ns});
    author_.Compute(s_.host_ns / 9);
    author_.Close(2);
    author_.Compute(s_.host_ns / 3);
  }

  void ForwardLayer(int32_t layer) {
    if (s_.pageable_bytes > 0) {
      // The host copies to a buffer of the driver first; the call takes as long as that.
      CopyToDevice("Memcpy HtoD (Pageable -> Device)", s_.pageable_bytes, kPageableBytesPerNs,
                   s_.call_ns + s_.pageable_bytes / 8, false);
    }
    const int32_t joined = s_.has_side_stream ? ForwardAside() : -1;
    for (int32_t block = 0; block < s_.blocks; ++block) {
      for (const OperatorKind& kind : kOperators) Forward(kind);
    }
    if (joined >= 0) author_.StreamWait(kSmallCallNs, joined);
    if (s_.blocking_bytes > 0) BlockingAllReduce();
    if (s_.inline_bytes > 0) InlineAllReduce();
    if (layer < s_.reads_per_step) ReadValue();
  }

  // Work beside that of the compute stream; returns the event after it.
  int32_t ForwardAside() {
    const int32_t ready = author_.Record(kSmallCallNs);
    author_.OnStream(side_);
    author_.StreamWait(kSmallCallNs, ready);
    Forward(kOperators[0]);
    Forward(kOperators[2]);
    const int32_t done = author_.Record(kSmallCallNs);
    author_.OnStream(compute_);
    return done;
  }

  void AllReduce(int32_t partition, int64_t bytes, int32_t overlap_stream = -1) {
    LaunchCollective("c10d::allreduce_", kAllReduceKernel,
                     author_.AddCollective("allreduce", partition, bytes), bytes, overlap_stream);
  }

  void LaunchCollective(std::string_view op, std::string_view kernel, int32_t collective,
                        int64_t bytes, int32_t overlap_stream = -1) {
    author_.OpenOp(op);
    author_.Compute(4'000);
    author_.OpenComms(collective);
    author_.Compute(3'000);
    author_.Launch("cudaLaunchKernelExC", s_.call_ns + 2'000,
                   {.name = kernel,
                    .work_class = WorkClass::kCollective,
                    .bytes = bytes,
                    .collective = collective});
    author_.MoveToWhenOverlapped(overlap_stream);
    author_.Compute(2'000);
    author_.Close(2);
  }

  // Buffers of the model, sent before the forward pass.
  void Broadcast() {
    const int32_t ready = author_.Record(kSmallCallNs);
    author_.OnStream(comm_);
    author_.StreamWait(kSmallCallNs, ready);
    LaunchCollective("c10d::broadcast_", kBroadcastKernel,
                     author_.AddBroadcast(world_, s_.broadcast_bytes), s_.broadcast_bytes);
    const int32_t done = author_.Record(kSmallCallNs);
    author_.OnStream(compute_);
    author_.StreamWait(kSmallCallNs, done);
  }

  // The work that follows waits for it; the optimizer is the first that needs it.
  void BlockingAllReduce() {
    const int32_t ready = author_.Record(kSmallCallNs);
    author_.OnStream(comm_);
    author_.StreamWait(kSmallCallNs, ready);
    AllReduce(pairs_, s_.blocking_bytes);
    const int32_t done = author_.Record(kSmallCallNs);
    author_.OnStream(compute_);
    author_.Only(When::kBlocking);
    author_.StreamWait(kSmallCallNs, done);
    author_.Only(When::kAlways);
    unfinished_.push_back(done);
  }

  // On the stream of the work, after which the optimizer is the first that needs it.
  void InlineAllReduce() {
    author_.Only(When::kOverlapped);
    const int32_t ready = author_.Record(0);
    author_.OnStream(comm_);
    author_.StreamWait(0, ready);
    author_.OnStream(compute_);
    author_.Only(When::kAlways);
    AllReduce(pairs_, s_.inline_bytes, comm_);
    author_.Only(When::kOverlapped);
    author_.OnStream(comm_);
    inline_done_ = author_.Record(0);
    author_.OnStream(compute_);
    author_.Only(When::kAlways);
  }

  // aten::item: the call of a copy to pageable memory waits for the copy; for one to pinned memory
  // the host waits afterwards.
  void ReadValue() {
    author_.OpenOp("aten::item");
    author_.Compute(2'000);
    author_.OpenOp("aten::_local_scalar_dense");
    author_.Compute(2'000);
    author_.Launch(kCopyCall, s_.call_ns,
                   {.name = s_.reads_pageable ? "Memcpy DtoH (Device -> Pageable)"
                                              : "Memcpy DtoH (Device -> Pinned)",
                    .work_class = WorkClass::kCopy,
                    .ns = 1'500,
                    .bytes = 4,
                    .kind = WorkKind::kMemcpy},
                   s_.reads_pageable);
    author_.Compute(500);
    author_.WaitStream("cudaStreamSynchronize", kWaitCallNs);
    author_.Compute(1'000);
    author_.Close(2);
    author_.Compute(3'000);
  }

  // One graph for a token, and the token to the host.
  void Token() {
    std::vector<WorkSpec> specs;
    for (int32_t i = 0; i < s_.graph_kernels; ++i) {
      const OperatorKind& kind = kOperators[static_cast<size_t>(i) % kOperators.size()];
      specs.push_back({.name = kind.kernel,
                       .work_class = kind.work_class,
                       .ns = kind.weight * s_.kernel_ns / 2});
    }
    author_.OpenNote("execute_model");
    author_.Compute(s_.host_ns * 2);
    author_.LaunchGraph("cudaGraphLaunch", 8'000 + 200 * s_.graph_kernels, specs);
    author_.Compute(s_.host_ns / 2);
    author_.OpenOp("aten::argmax");
    author_.Compute(s_.host_ns / 2);
    author_.Launch(kLaunchCall, s_.call_ns,
                   {.name = kSampleKernel, .work_class = WorkClass::kReduction, .ns = 4'000});
    author_.Compute(1'000);
    author_.Close();
    ReadValue();
    author_.Compute(s_.host_ns * 3);
    author_.Close();
    author_.Compute(2'000);
  }

  void Loss() {
    author_.OpenOp("aten::nll_loss_nd");
    author_.Compute(s_.host_ns / 2);
    author_.Launch(kLaunchCall, s_.call_ns,
                   {.name = kLossKernel, .work_class = WorkClass::kReduction, .ns = s_.kernel_ns});
    author_.Compute(2'000);
    author_.Close();
    author_.Compute(3'000);
  }

  // The main thread hands over to that of autograd, and sleeps.
  void Backward() {
    const int32_t begin = author_.NewEvent();
    const int32_t end = author_.NewEvent();
    author_.Signal(begin);
    author_.OnThread(autograd_);
    author_.Await(begin);
    author_.In(Phase::kBackward);
    for (int32_t layer = s_.layers; layer-- > 0;) {
      for (int32_t block = 0; block < s_.blocks; ++block) {
        for (size_t i = kOperators.size(); i-- > 0;) BackwardOf(kOperators[i]);
      }
      if (s_.bucket_bytes > 0 && layer % 2 == 0) SumBucket();
    }
    author_.Signal(end);
    author_.OnThread(main_);
    author_.Await(end);
    author_.Compute(5'000);
  }

  void BackwardOf(const OperatorKind& kind) {
    author_.OpenOp(fmt::format("autograd::engine::evaluate_function: {}", kind.node));
    author_.Compute(s_.host_ns / 6);
    author_.OpenOp(kind.node);
    author_.Compute(s_.host_ns / 6);
    for (int32_t i = 0; i < (kind.work_class == WorkClass::kGemm ? 2 : 1); ++i) {
      author_.OpenOp(kind.backward, RowsOf(kind));
      author_.Compute(s_.host_ns / 3);
      author_.Launch(kLaunchCall, s_.call_ns,
                     {.name = kind.backward_kernel,
                      .work_class = kind.work_class,
                      .ns = kind.weight * s_.kernel_ns});
      author_.Compute(s_.host_ns / 9);
      author_.Close();
    }
    author_.Close(2);
    author_.Compute(s_.host_ns / 4);
  }

  // As a hook of the last gradient of the bucket.
  void SumBucket() {
    author_.OpenOp("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad");
    author_.OpenOp("torch::autograd::AccumulateGrad");
    const int32_t ready = author_.Record(kSmallCallNs);
    author_.OnStream(comm_);
    author_.StreamWait(kSmallCallNs, ready);
    AllReduce(world_, s_.bucket_bytes);
    unfinished_.push_back(author_.Record(kSmallCallNs));
    author_.OnStream(compute_);
    author_.Close(2);
  }

  void Optimizer() {
    author_.In(Phase::kOptimizer);
    author_.OpenNote("Optimizer.step#AdamW.step");
    author_.Compute(s_.host_ns);
    if (inline_done_ >= 0) {
      author_.Only(When::kOverlapped);
      author_.StreamWait(0, inline_done_);
      author_.Only(When::kAlways);
    }
    // The last of the collectives is enough: they follow each other on their stream.
    if (!unfinished_.empty()) author_.StreamWait(kSmallCallNs, unfinished_.back());
    unfinished_.clear();
    ZeroGradients();
    for (int32_t i = 0; i < 2; ++i) {
      author_.OpenOp("aten::_fused_adamw_");
      author_.Compute(s_.host_ns / 2);
      author_.Launch(
          kLaunchCall, s_.call_ns,
          {.name = kAdamKernel, .work_class = WorkClass::kOptimizer, .ns = 3 * s_.kernel_ns});
      author_.Compute(2'000);
      author_.Close();
    }
    author_.Compute(s_.host_ns / 2);
    author_.Close();
  }

  void ZeroGradients() {
    author_.OpenOp("aten::zero_");
    author_.Compute(3'000);
    author_.Launch("cudaMemsetAsync", s_.call_ns,
                   {.name = "Memset (Device)",
                    .work_class = WorkClass::kCopy,
                    .ns = 2'000,
                    .bytes = 1'000'000,
                    .kind = WorkKind::kMemset});
    author_.Compute(1'000);
    author_.Close();
  }

  void FinishStep() {
    author_.Compute(4'000);
    if (s_.lanes > 0) WaitForLane();
    if (s_.reads_loss) ReadValue();
    if (s_.waits_for_step) author_.WaitDevice("cudaDeviceSynchronize", kWaitCallNs);
    author_.Compute(6'000);
  }

  // The host is at most one step ahead of the device.
  void WaitForLane() {
    const int32_t done = author_.Record(kSmallCallNs);
    if (lane_ >= 0) author_.WaitEvent("cudaEventSynchronize", kWaitCallNs, lane_);
    lane_ = done;
  }

  const Shape& s_;
  Author author_;
  int32_t main_ = 0;
  int32_t autograd_ = -1;
  int32_t loader_ = -1;
  int32_t compute_ = 0;
  int32_t side_ = -1;
  int32_t comm_ = -1;
  int32_t world_ = -1;
  int32_t pairs_ = -1;
  int32_t lane_ = -1;
  int32_t inline_done_ = -1;
  std::vector<int32_t> taken_;
  std::vector<int32_t> unfinished_;
};

}  // namespace

Program MakeProgram(const Shape& shape) {
  Program program;
  program.ranks = shape.ranks;
  ShapedProgram(shape, &program).Write();
  return program;
}

}  // namespace borescope::simulation
