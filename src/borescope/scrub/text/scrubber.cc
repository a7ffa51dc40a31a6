#include "borescope/scrub/text/scrubber.h"

#include <algorithm>
#include <iterator>

#include "borescope/base/text/text.h"
#include "borescope/scrub/text/new_names.h"

namespace borescope::internal {
namespace {

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

// Packages that anybody can have: their paths below the folder of packages say nothing.
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

// Where what may stay of a path begins.
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

// What was found, replaced; the rest as it is or, with names, word by word.
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

// "thread 4711 (python)", "stream 7": the number, and the name if any program may have it.
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

// Modules of one name are one module, wherever they are.
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
