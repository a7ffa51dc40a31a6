// The words that stay in names: those of the examples by which kernels are recognised, and those
// that profilers, frameworks and their libraries use.
#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/text/text.h"
#include "borescope/index/names/kernel_class.h"
#include "borescope/opmodel/devices/tensor_cores.h"
#include "borescope/scrub/text/new_names.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kPublicWords =
    // Profilers and what they write.
    "profiler step iteration pytorch optimizer zero grad args kwargs seq op id ids sizes input "
    "output inputs outputs name names mod type dtype shape shapes tensor tensors trace marker "
    "metrics monitor gpu cpu cuda hip xpu user range start end process event record function param "
    "comms barrier execute context generation prefill decode graph capture replay launch memcpy "
    "memset pageable pinned device host htod dtoh dtod ptop peer array unified stream wait "
    "synchronize synchronization lib libs so nvtx roctx ncclgroup group default pg undefined world "
    "annotation python overhead right instant ac fwdbwd "
    // Training.
    "train training eval forward backward fwd bwd loss batch epoch data dataloader loader dataset "
    "load iter processing single base next enumerate dequeue enqueue microbatch stage pipeline "
    "checkpoint evaluate "
    "accumulate autograd engine node compiled aot sgd adam adamw adagrad adamax rmsprop lamb nadam "
    "zero clip norm scaler update sync unscale model module modules nn call impl self main run "
    "distributed ddp fsdp all reduce gather scatter broadcast send recv sendrecv coalesced "
    "allreduce allgather reducescatter alltoall isend irecv nccl rccl gloo mpi ucc xccl dev "
    "generic sum prod avg min max ring tree simple ll storage one rank "
    // Modules and operators.
    "linear conv convolution transpose batch layer instance rms embedding bag dropout relu gelu "
    "silu softmax sigmoid tanh leaky elu mish attention attn multihead transformer encoder decoder "
    "sequential list dict identity flatten pool pooling adaptive upsample interpolate pixel "
    "shuffle pad padding lstm gru rnn cell cross entropy mse nll bce logits bias weight weights "
    "mlp head query key value proj projection qkv rotary swiglu moe expert experts gate router "
    "aten torch prims inductor triton poi red per tem fused unsafe view add addmm mm bmm baddbmm "
    "mul div sub pow exp log sqrt rsqrt sin cos abs neg clamp where cat stack split chunk select "
    "slice index put copy to empty ones zeros full fill arange like new expand permute reshape "
    "squeeze unsqueeze contiguous clone detach mean var std matmul einsum dot native vectorized "
    "elementwise unrolled kernel functor binary unary internal anonymous namespace void int uint "
    "float double half bool char short long unsigned signed const size ul ull std at c10 "
    "bfloat16 float16 float32 float64 int8 int16 int32 int64 uint8 bf16 fp16 fp32 fp64 fp8 tf32 "
    "f16 f32 f64 i8 u8 i32 i64 sm gemm gemv cutlass cublas cublaslt cudnn cub thrust vec vector "
    "type array tuple detail offset calculator loader storer without cast policy opaque metadata "
    "impl op ops template launch bounds execution thread main object scalar generic optional py cc "
    // Devices, and what profilers name of them.
    "nvidia amd intel tesla geforce rtx gtx quadro titan instinct radeon pro graphics pcie sxm hbm "
    "nvl gb ti mi xt gfx vega arcturus aldebaran device driver api runtime kernel dispatch "
    "allocation alloc free realloc reclaim async memory scratch real virtual fill hsa core ext amd "
    "compiler region sample counter clk sclk mclk power temp temperature util busy usage sync host "
    "to built in method methods of at client write rows buffer rpdflush blocking callback activity "
    "hcc table schema version markers messages default stackframe watts mhz percent";

class PublicWords {
 public:
  PublicWords() {
    AddAll(kPublicWords);
    for (const KernelRule& rule : KernelRules()) {
      AddAll(rule.example);
    }
    for (const std::string_view pattern : KernelPatterns()) {
      AddAll(pattern);
    }
    for (const MatrixUseRule& rule : MatrixUseRules()) {
      AddAll(rule.example);
    }
    for (const OperandFormatRule& rule : OperandFormatRules()) {
      AddAll(rule.example);
    }
  }

  bool Has(std::string_view lower) const { return words_.contains(std::string(lower)); }

 private:
  // Each run of letters and digits, and each run of letters, of two at least.
  void AddAll(std::string_view text) {
    const std::string lower = LowerCase(text);
    AddRuns(lower, [](char c) { return IsDigit(c) || (c >= 'a' && c <= 'z'); });
    AddRuns(lower, [](char c) { return c >= 'a' && c <= 'z'; });
  }
  template <class Is>
  void AddRuns(const std::string& text, const Is& is) {
    for (auto at = text.begin(); at != text.end();) {
      const auto end = std::find_if_not(at, text.end(), is);
      if (end - at > 1) {
        words_.emplace(at, end);
      }
      at = end == at ? at + 1 : end;
    }
  }

  HashSet<std::string> words_;
};

// Of the alternatives that kernels are recognised by, those of letters alone.
std::vector<std::string_view> DecisiveParts() {
  constexpr size_t kShortest = 4;
  std::vector<std::string_view> parts;
  for (std::string_view pattern : KernelPatterns()) {
    while (!pattern.empty()) {
      const size_t bar = std::min(pattern.find('|'), pattern.size());
      std::string_view part = pattern.substr(0, bar);
      part.remove_prefix(part.starts_with('^') ? 1 : 0);
      if (part.size() >= kShortest &&
          std::all_of(part.begin(), part.end(), [](char c) { return c >= 'a' && c <= 'z'; })) {
        parts.push_back(part);
      }
      pattern.remove_prefix(std::min(bar + 1, pattern.size()));
    }
  }
  return parts;
}

}  // namespace

std::string_view DecisivePart(std::string_view lower) {
  static const std::vector<std::string_view> parts = DecisiveParts();
  std::string_view longest;
  for (const std::string_view part : parts) {
    const size_t at = part.size() > longest.size() ? lower.find(part) : std::string_view::npos;
    longest = at == std::string_view::npos ? longest : lower.substr(at, part.size());
  }
  return longest;
}

bool IsPublicWord(std::string_view lower) {
  static const PublicWords words;
  return words.Has(lower);
}

}  // namespace borescope::internal
