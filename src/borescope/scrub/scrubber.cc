#include "borescope/scrub/scrubber.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/text/text.h"
#include "borescope/index/names/kernel_class.h"
#include "borescope/opmodel/devices/tensor_cores.h"

namespace borescope::internal {

namespace {

struct SipState {
  uint64_t a, b, c, d;

  void Rounds(int count) {
    for (int i = 0; i < count; ++i) {
      a += b;
      c += d;
      b = std::rotl(b, 13) ^ a;
      d = std::rotl(d, 16) ^ c;
      a = std::rotl(a, 32);
      c += b;
      a += d;
      b = std::rotl(b, 17) ^ c;
      d = std::rotl(d, 21) ^ a;
      c = std::rotl(c, 32);
    }
  }
  void Add(uint64_t word) {
    d ^= word;
    Rounds(2);
    a ^= word;
  }
};

// Up to eight bytes as a little-endian number.
uint64_t WordOf(std::string_view bytes) {
  uint64_t word = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    word |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  return word;
}

}  // namespace

uint64_t KeyedHash(const HashKey& key, std::string_view text) {
  SipState state{key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d,
                 key[0] ^ 0x6c7967656e657261, key[1] ^ 0x7465646279746573};
  const uint64_t last = static_cast<uint64_t>(text.size()) << 56;
  for (; text.size() >= 8; text.remove_prefix(8)) {
    state.Add(WordOf(text.substr(0, 8)));
  }
  state.Add(last | WordOf(text));
  state.c ^= 0xff;
  state.Rounds(4);
  return state.a ^ state.b ^ state.c ^ state.d;
}

HashKey RandomHashKey() {
  std::random_device device;
  const auto word = [&] { return uint64_t{device()} << 32 | device(); };
  return {word(), word()};
}

HashKey HashKeyOf(std::string_view text) {
  constexpr HashKey kFirst = {0x626f726573636f70, 0x652073637275622e};
  constexpr HashKey kSecond = {0x9e3779b97f4a7c15, 0xff51afd7ed558ccd};
  return {KeyedHash(kFirst, text), KeyedHash(kSecond, text)};
}

namespace {

// The hash as 16 hexadecimal digits.
std::string KeyedDigits(const HashKey& key, std::string_view text) {
  return fmt::format("{:016x}", KeyedHash(key, text));
}

// The words that stay in names, besides those of the examples by which kernels are recognised:
// words that profilers, frameworks and their libraries use.
constexpr std::string_view kPublicWords =
    // Profilers and what they write.
    "profiler step iteration pytorch optimizer zero grad args kwargs seq op id ids sizes input "
    "output inputs outputs name names mod type dtype shape shapes tensor tensors trace marker "
    "metrics monitor gpu cpu cuda hip xpu user range start end process event record function param "
    "comms barrier execute context generation prefill decode graph capture replay launch memcpy "
    "memset pageable pinned device host htod dtoh dtod ptop peer array unified stream wait "
    "synchronize synchronization lib libs so nvtx roctx ncclgroup group default pg undefined world "
    "annotation python overhead right instant ac fwdbwd ns us ms "
    // Training.
    "train training eval forward backward fwd bwd loss batch epoch data dataloader loader dataset "
    "load iter processing single base next enumerate dequeue enqueue microbatch stage pipeline "
    "checkpoint evaluate accumulate autograd engine node compiled aot sgd adam adamw adagrad "
    "adamax rmsprop lamb nadam zero clip norm scaler update sync unscale model module modules nn "
    "call impl self main run distributed ddp fsdp all reduce gather scatter broadcast send recv "
    "sendrecv coalesced allreduce allgather reducescatter alltoall isend irecv nccl rccl gloo mpi "
    "ucc xccl dev generic sum prod avg min max ring tree simple ll storage one rank "
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
    // Devices, and what profilers say about them.
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
  // Adds each run of at least two letters or digits, and each run of at least two letters.
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

// The alternatives in the patterns of kernels that consist of letters alone.
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

// The longest part of a word, in lower case, by which a kind of kernel is recognised; empty if
// there is none.
std::string_view DecisivePart(std::string_view lower) {
  static const std::vector<std::string_view> parts = DecisiveParts();
  std::string_view longest;
  for (const std::string_view part : parts) {
    const size_t at = part.size() > longest.size() ? lower.find(part) : std::string_view::npos;
    longest = at == std::string_view::npos ? longest : lower.substr(at, part.size());
  }
  return longest;
}

// Whether the word, in lower case, is one that stays.
bool IsPublicWord(std::string_view lower) {
  static const PublicWords words;
  return words.Has(lower);
}

bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsOther(char c) { return static_cast<unsigned char>(c) >= 0x80; }
bool IsLetter(char c) { return IsUpper(c) || IsLower(c) || IsOther(c); }
bool IsRunCharacter(char c) { return IsLetter(c) || IsDigit(c); }

template <class Is>
size_t EndOf(std::string_view text, size_t at, const Is& is) {
  while (at < text.size() && is(text[at])) {
    ++at;
  }
  return at;
}

// Letters that form no word by which anything is recognised.
std::string Letters(const HashKey& key, std::string_view word) {
  constexpr std::string_view kAlphabet = "jkqvwxyz";
  constexpr int kCount = 15;
  uint64_t hash = KeyedHash(key, word);
  std::string letters;
  for (int i = 0; i < kCount; ++i, hash >>= 3) {
    letters += kAlphabet[hash & 7];
  }
  return letters;
}

// The end of the word of CamelCase that begins at `at`: "Dev" of "DevKernel", "HTTP" of "HTTPPort".
size_t CamelEnd(std::string_view run, size_t at) {
  const size_t upper = EndOf(run, at, IsUpper);
  const size_t lower = EndOf(run, upper, [](char c) { return IsLower(c) || IsOther(c); });
  const bool is_acronym = upper > at + 1 && lower > upper;
  return is_acronym ? upper - 1 : lower;
}

// Replaces each part of a word in CamelCase separately.
std::string NewParts(std::string_view word, const HashKey& key) {
  std::string result;
  for (size_t at = 0; at < word.size();) {
    const size_t end = std::max(CamelEnd(word, at), at + 1);
    const std::string_view part = word.substr(at, end - at);
    result +=
        part.size() == 1 || IsPublicWord(LowerCase(part)) ? std::string(part) : Letters(key, part);
    at = end;
  }
  return result;
}

// Replaces a run of letters between digits, unless it is public, or parts of it are.
std::string NewWord(std::string_view word, const HashKey& key) {
  const std::string lower = LowerCase(word);
  if (word.size() == 1 || IsPublicWord(lower)) {
    return std::string(word);
  }
  const std::string_view decisive = DecisivePart(lower);
  if (decisive.empty()) {
    return NewParts(word, key);
  }
  const auto at = static_cast<size_t>(decisive.data() - lower.data());
  return NewParts(word.substr(0, at), key) + std::string(word.substr(at, decisive.size())) +
         NewParts(word.substr(at + decisive.size()), key);
}

// Whether single letters between digits spell a word.
bool IsSpelled(std::string_view run) {
  constexpr int kMost = 3;
  int singles = 0;
  for (size_t at = 0; at < run.size();) {
    const size_t end = EndOf(run, at, IsLetter);
    singles += end == at + 1 && run[at] != 'x' && run[at] != 'X' ? 1 : 0;
    at = std::max(end, at + 1);
  }
  return singles > kMost;
}

std::string NewRun(std::string_view run, const HashKey& key) {
  if (IsPublicWord(LowerCase(run))) {
    return std::string(run);
  }
  if (IsSpelled(run)) {
    return Letters(key, run);
  }
  std::string result;
  for (size_t at = 0; at < run.size();) {
    const size_t end = EndOf(run, at, IsLetter);
    if (end == at) {
      const size_t digits = EndOf(run, at, IsDigit);
      result += run.substr(at, digits - at);
      at = digits;
    } else {
      result += NewWord(run.substr(at, end - at), key);
      at = end;
    }
  }
  return result;
}

std::string NewWords(std::string_view text, const HashKey& key) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const size_t end = EndOf(text, at, IsRunCharacter);
    if (end == at) {
      result += text[at++];
    } else {
      result += NewRun(text.substr(at, end - at), key);
      at = end;
    }
  }
  return result;
}

// Functions of runtimes have the same names in every program.
bool IsRuntimeCall(std::string_view name) {
  constexpr std::string_view kPrefixes[] = {"cuda",     "cu",   "hip", "hsa_", "roctx",
                                            "nccl",     "xpu",  "ur",  "ze",   "MPI_",
                                            "pthread_", "sem_", "poll"};
  return std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [&](std::string_view prefix) { return name.starts_with(prefix); }) &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return (IsRunCharacter(c) && !IsOther(c)) || c == '_'; });
}

// "torch/nn/modules/module.py(1532): _call_impl", and nothing after it.
bool IsFrameOfTorch(std::string_view name) {
  const auto is_plain = [](char c) {
    return (IsRunCharacter(c) && !IsOther(c)) || c == '_' || c == '/' || c == '.';
  };
  const size_t path = EndOf(name, 0, is_plain);
  if (!name.starts_with("torch/") || path >= name.size() || name[path] != '(') {
    return false;
  }
  const size_t line = EndOf(name, path + 1, IsDigit);
  return name.substr(line).starts_with("): ") && EndOf(name, line + 3, is_plain) == name.size();
}

// Whether it is an operator or frame of PyTorch itself, or a call of a runtime.
bool IsPublicName(std::string_view name, TextUse use) {
  constexpr std::string_view kSpaces[] = {"aten::", "prims::", "c10d::", "nccl:", "quantized::"};
  const auto is_plain = [](char c) {
    return (IsRunCharacter(c) && !IsUpper(c) && !IsOther(c)) || c == '_' || c == '.' || c == ':';
  };
  if (use == TextUse::kCall && IsRuntimeCall(name)) {
    return true;
  }
  if (use == TextUse::kFrame && IsFrameOfTorch(name)) {
    return true;
  }
  return std::any_of(std::begin(kSpaces), std::end(kSpaces),
                     [&](std::string_view space) { return name.starts_with(space); }) &&
         std::all_of(name.begin(), name.end(), is_plain);
}

// A new name for a kernel, module or annotation, word by word. Words that every program may use, by
// which analyses distinguish kinds of work, stay, and so do numbers and the characters between
// words. Any other word becomes letters that are derived from it and the key.
std::string NewName(std::string_view name, TextUse use, const HashKey& key) {
  const bool holds_secrets = !FindSensitive(name).empty();
  return !holds_secrets && IsPublicName(name, use) ? std::string(name) : NewWords(name, key);
}

bool IsAlnum(char c) { return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool ConsistsOf(std::string_view text, std::string_view others) {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return IsAlnum(c) || others.find(c) != std::string_view::npos;
  });
}

bool IsNumberText(std::string_view text) {
  constexpr std::string_view kNumberWords[] = {"True", "False", "true", "false", "None",  "null",
                                               "inf",  "-inf",  "nan",  "NaN",   "<None>"};
  return std::all_of(text.begin(), text.end(),
                     [](char c) {
                       return IsDigit(c) ||
                              std::string_view("+-.,eE[]() jL").find(c) != std::string_view::npos;
                     }) ||
         std::find(std::begin(kNumberWords), std::end(kNumberWords), text) !=
             std::end(kNumberWords);
}

// "cuda:0".
bool IsDeviceText(std::string_view text) {
  constexpr std::string_view kDevices[] = {"cpu",  "cuda", "hip",  "xpu",
                                           "mtia", "hpu",  "meta", "mps"};
  const size_t colon = std::min(text.find(':'), text.size());
  const std::string_view number = text.substr(std::min(colon + 1, text.size()));
  return std::find(std::begin(kDevices), std::end(kDevices), text.substr(0, colon)) !=
             std::end(kDevices) &&
         std::all_of(number.begin(), number.end(), IsDigit);
}

// "0x7f3e...", or digits.
bool IsPlaceText(std::string_view text) {
  text.remove_prefix(text.starts_with("0x") || text.starts_with("0X") ? 2 : 0);
  constexpr size_t kLongest = 20;
  return text.size() <= kLongest && std::all_of(text.begin(), text.end(), [](char c) {
           return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == '-';
         });
}

bool IsHexText(std::string_view text) { return text.starts_with("0x") && IsPlaceText(text); }

// Public packages: their paths below the folder of packages identify nobody.
bool IsPublicPackage(std::string_view path) {
  constexpr std::string_view kPackages[] = {
      "torch",     "torchvision", "torchaudio",        "numpy",      "triton", "transformers",
      "vllm",      "deepspeed",   "megatron",          "accelerate", "apex",   "flash_attn",
      "xformers",  "lightning",   "pytorch_lightning", "jax",        "jaxlib", "flax",
      "fairscale", "sglang",      "diffusers",         "tqdm"};
  const std::string_view first = path.substr(0, path.find('/'));
  return std::find(std::begin(kPackages), std::end(kPackages), first) != std::end(kPackages) &&
         ConsistsOf(path, "/_.-+") && FindSensitive(path).empty();
}

// The begin of the part of a path that may stay.
size_t PublicTail(std::string_view path) {
  for (const std::string_view folder : {"/site-packages/", "/dist-packages/"}) {
    const size_t at = path.rfind(folder);
    if (at != std::string_view::npos && IsPublicPackage(path.substr(at + folder.size()))) {
      return at + 1;
    }
  }
  constexpr std::string_view kEndings[] = {".py", ".pyx", ".cc", ".cpp", ".cu",  ".cuh",  ".c",
                                           ".h",  ".hpp", ".so", ".ptx", ".hip", ".cubin"};
  const size_t slash = path.find_last_of("/\\");
  const std::string_view file = path.substr(slash == std::string_view::npos ? 0 : slash + 1);
  const bool is_source = std::any_of(std::begin(kEndings), std::end(kEndings),
                                     [&](std::string_view end) { return file.ends_with(end); }) ||
                         Contains(file, ".so.");
  const bool stays = is_source && ConsistsOf(file, "_.-+") && FindSensitive(file).empty();
  return stays ? path.size() - file.size() : path.size();
}

}  // namespace

std::string Scrubber::Replaced(std::string_view word, std::string_view text) const {
  return std::string(word) + "-" + KeyedDigits(rules_.key, text);
}

std::string Scrubber::WithoutFolders(std::string_view path) const {
  const size_t tail = PublicTail(path);
  const std::string_view head = path.substr(0, tail);
  if (head.empty()) {
    return std::string(path);
  }
  const std::string_view rest = path.substr(tail);
  return Replaced("path", head) + (rest.empty() ? "" : "/") + std::string(rest);
}

// Replaces sensitive parts; the rest stays as it is or, with `names`, is replaced word by word.
std::string Scrubber::Redacted(std::string_view text, TextUse use) const {
  const bool renames = use == TextUse::kWord || (rules_.names && use <= TextUse::kLastName);
  const auto rest = [&](std::string_view part) {
    return renames ? NewName(part, use, rules_.key) : std::string(part);
  };
  std::string clean;
  size_t from = 0;
  for (const SensitiveSpan& span : FindSensitive(text)) {
    clean += rest(text.substr(from, span.begin - from));
    const std::string_view found = text.substr(span.begin, span.end - span.begin);
    clean += span.kind == Sensitive::kPath && !renames ? WithoutFolders(found)
                                                       : Replaced(SensitiveWord(span.kind), found);
    from = span.end;
  }
  return clean + rest(text.substr(from));
}

// "thread 4711 (python)", "stream 7": keeps the number, and the name if any program may have it.
std::string Scrubber::ThreadText(std::string_view text) const {
  constexpr std::string_view kCommon[] = {"python",          "python3",     "pt_main_thread",
                                          "pt_data_worker",  "pt_data_pin", "pt_nccl_watchdg",
                                          "pt_nccl_heartbt", "Main Thread", "MainThread",
                                          "Spans",           "Traces",      "cuda-EvtHandlr"};
  const auto is_common = [&](std::string_view name) {
    return name.empty() ||
           std::find(std::begin(kCommon), std::end(kCommon), name) != std::end(kCommon) ||
           (name.starts_with("pt_autograd_") &&
            std::all_of(name.begin() + 12, name.end(), IsDigit)) ||
           std::all_of(name.begin(), name.end(), IsDigit);
  };
  for (const std::string_view kind : {"thread ", "stream "}) {
    if (!text.starts_with(kind)) {
      continue;
    }
    const std::string_view rest = text.substr(kind.size());
    const size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    const std::string_view behind = Trimmed(rest.substr(digits));
    const bool is_named = behind.starts_with('(') && behind.ends_with(')') && behind.size() > 1;
    if (digits != 0 && (behind.empty() || is_named)) {
      const std::string_view name = behind.empty() ? behind : behind.substr(1, behind.size() - 2);
      return is_common(name) ? std::string(text)
                             : std::string(kind) + std::string(rest.substr(0, digits)) + " (" +
                                   Replaced("name", name) + ")";
    }
  }
  return is_common(text) ? std::string(text) : Replaced("thread", text);
}

// Modules with the same name are the same module, wherever they are.
std::string Scrubber::ModuleText(std::string_view text) const {
  const std::string_view file = text.substr(text.find_last_of('/') + 1);
  const bool is_library = Contains(file, ".so") || file.starts_with("python") ||
                          (file.starts_with('[') && file.ends_with(']'));
  return is_library && !rules_.names && ConsistsOf(file, "_.-+[]") && FindSensitive(file).empty()
             ? std::string(file)
             : Replaced("module", file);
}

std::string Scrubber::ValueText(std::string_view text) const {
  const bool is_number = IsNumberText(text) && FindSensitive(text).empty();
  return is_number || IsDeviceText(text) || IsHexText(text) ? std::string(text)
                                                            : Replaced("text", text);
}

std::string Scrubber::Compute(std::string_view text, TextUse use) const {
  switch (use) {
    case TextUse::kThread:
      return ThreadText(text);
    case TextUse::kPath:
      return rules_.names ? Replaced("path", text) : WithoutFolders(text);
    case TextUse::kValue:
      return ValueText(text);
    case TextUse::kModule:
      return ModuleText(text);
    case TextUse::kPlace:
      return IsPlaceText(text) ? std::string(text) : Replaced("place", text);
    default:
      return Redacted(text, use);
  }
}

std::string_view Scrubber::Clean(std::string_view text, TextUse use) {
  if (text.empty()) {
    return {};
  }
  Results& results = results_[static_cast<size_t>(use)];
  last_ = text;
  const auto known = results.find(last_);
  if (known != results.end()) {
    return known->second;
  }
  if (results.size() >= kMostRemembered) {
    results.clear();
  }
  std::string clean = Compute(text, use);
  if (clean != text) {
    ++changed_;
    if (rules_.names && use <= TextUse::kLastName) {
      names_.emplace(clean, text);
    }
  }
  return results.emplace(last_, std::move(clean)).first->second;
}

}  // namespace borescope::internal
