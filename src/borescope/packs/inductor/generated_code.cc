#include "borescope/packs/inductor/generated_code.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "borescope/analysis/core/row.h"
#include "borescope/base/check.h"
#include "borescope/base/each_row.h"
#include "borescope/base/io/byte_source.h"
#include "borescope/base/io/paths.h"
#include "borescope/base/stop.h"
#include "borescope/base/text/text.h"
#include "borescope/packs/inductor/inductor.h"
#include "borescope/try.h"

namespace borescope::internal {

namespace {

constexpr std::string_view kTritonPrefix = "triton_";
constexpr std::string_view kFused = "_fused_";

struct PrefixRow {
  std::string_view prefix;
  InductorCategory category;
};

// The first match wins.
constexpr PrefixRow kPrefixes[] = {
    {"triton_poi_", InductorCategory::kPointwise},
    {"triton_red_", InductorCategory::kReduction},
    {"triton_per_", InductorCategory::kPersistentReduction},
    {"triton_tem_", InductorCategory::kTemplate},
    {"triton_for_", InductorCategory::kForeach},
    {"triton_spl_", InductorCategory::kSplitScan},
    {"triton_", InductorCategory::kTritonOther},
};

// Operators whose names contain an underscore after the first letter, sorted by bytes.
constexpr std::string_view kOps[] = {
    "_adaptive_avg_pool2d",
    "_adaptive_avg_pool2d_backward",
    "_conj_physical",
    "_efficient_attention_forward",
    "_embedding_bag",
    "_flash_attention_forward",
    "_fused_rms_norm",
    "_fused_rms_norm_backward",
    "_local_scalar_dense",
    "_log_softmax",
    "_log_softmax_backward_data",
    "_native_batch_norm_legit",
    "_native_batch_norm_legit_functional",
    "_native_batch_norm_legit_no_training",
    "_prelu_kernel",
    "_scaled_dot_product_efficient_attention",
    "_scaled_dot_product_flash_attention",
    "_scaled_mm",
    "_softmax",
    "_softmax_backward_data",
    "_to_copy",
    "_unsafe_index",
    "_unsafe_index_put",
    "_unsafe_masked_index",
    "_unsafe_view",
    "_weight_norm_interface",
    "adaptive_avg_pool2d",
    "adaptive_max_pool2d",
    "add_rms_norm",
    "all_gather_into_tensor",
    "all_reduce",
    "all_to_all_single",
    "as_strided",
    "as_strided_scatter",
    "avg_pool2d",
    "avg_pool2d_backward",
    "batch_norm",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "bitwise_and",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "broadcast_in_dim",
    "broadcast_to",
    "clamp_max",
    "clamp_min",
    "constant_pad_nd",
    "convert_element_type",
    "convolution_backward",
    "copy_",
    "cross_entropy",
    "diagonal_copy",
    "embedding_dense_backward",
    "empty_like",
    "empty_permuted",
    "empty_strided",
    "expand_as",
    "expand_copy",
    "fill_",
    "flex_attention",
    "flex_attention_backward",
    "floor_divide",
    "full_like",
    "gelu_backward",
    "grid_sampler_2d",
    "group_norm",
    "hardsigmoid_backward",
    "hardswish_backward",
    "hardtanh_backward",
    "index_add",
    "index_copy",
    "index_put",
    "index_select",
    "inductor_lookup_seed",
    "inductor_randint",
    "inductor_random",
    "inductor_seeds",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "leaky_relu_backward",
    "lift_fresh_copy",
    "linalg_vector_norm",
    "log_sigmoid_forward",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "masked_fill",
    "masked_scatter",
    "max_pool2d_with_indices",
    "max_pool2d_with_indices_backward",
    "mean_dim",
    "mse_loss",
    "mse_loss_backward",
    "native_batch_norm",
    "native_batch_norm_backward",
    "native_dropout",
    "native_dropout_backward",
    "native_group_norm",
    "native_group_norm_backward",
    "native_layer_norm",
    "native_layer_norm_backward",
    "new_empty",
    "new_empty_strided",
    "new_full",
    "new_ones",
    "new_zeros",
    "nll_loss",
    "nll_loss_backward",
    "nll_loss_forward",
    "ones_like",
    "pixel_shuffle",
    "rand_like",
    "randn_like",
    "reduce_scatter_tensor",
    "reflection_pad1d",
    "reflection_pad2d",
    "repeat_interleave",
    "replication_pad2d",
    "rms_norm",
    "scalar_tensor",
    "scaled_dot_product_attention",
    "scatter_add",
    "scatter_reduce",
    "searchsorted",
    "select_backward",
    "select_scatter",
    "sigmoid_backward",
    "silu_backward",
    "slice_backward",
    "slice_scatter",
    "smooth_l1_loss",
    "split_with_sizes",
    "std_mean",
    "sym_size",
    "tanh_backward",
    "threshold_backward",
    "transpose_copy",
    "unsafe_split",
    "unsqueeze_copy",
    "upsample_bicubic2d",
    "upsample_bilinear2d",
    "upsample_nearest2d",
    "upsample_nearest2d_backward",
    "var_mean",
    "view_as_complex",
    "view_as_real",
    "view_copy",
    "wait_tensor",
    "zeros_like",
};

// The length of the longest known operator at the begin of the text that is followed by "_" or the
// end.
size_t KnownOp(std::string_view text) {
  size_t length = 0;
  for (const std::string_view op : kOps) {
    if (op.size() > length && text.starts_with(op) &&
        (text.size() == op.size() || text[op.size()] == '_')) {
      length = op.size();
    }
  }
  return length;
}

// The length of one word with the underscores before it.
size_t Word(std::string_view text) {
  const size_t letter = std::min(text.find_first_not_of('_'), text.size());
  return std::min(text.find('_', letter), text.size());
}

// "add_mul_3" -> "add_mul", "3" -> "".
std::string_view WithoutNumber(std::string_view text) {
  const size_t last = text.find_last_not_of("0123456789");
  if (last == std::string_view::npos) {
    return {};
  }
  const bool has_number = last + 1 < text.size() && text[last] == '_';
  return has_number ? text.substr(0, last) : text;
}

// Whether the whole text is a specialisation of arguments, "0d1d2de": indices from 0 on, each
// followed by its letters, with at least one letter in all.
bool IsSpecialisation(std::string_view text) {
  size_t at = 0;
  bool has_letter = false;
  for (size_t index = 0; at < text.size(); ++index) {
    const std::string number = std::to_string(index);
    if (!text.substr(at).starts_with(number)) {
      return false;
    }
    at += number.size();
    while (at < text.size() && (text[at] == 'd' || text[at] == 'c' || text[at] == 'e')) {
      has_letter = true;
      ++at;
    }
  }
  return has_letter;
}

bool IsAten(std::string_view kernel) {
  return Contains(kernel, "at::native") || Contains(kernel, "at_cuda_detail");
}

}  // namespace

std::string_view InductorCategoryName(InductorCategory category) {
  constexpr std::string_view kNames[] = {"triton_pointwise",
                                         "triton_reduction",
                                         "triton_persistent_reduction",
                                         "triton_template",
                                         "triton_foreach",
                                         "triton_split_scan",
                                         "triton_other",
                                         "triton_user",
                                         "gemm",
                                         "conv",
                                         "attention",
                                         "collective",
                                         "copy",
                                         "aten",
                                         "other"};
  static_assert(std::size(kNames) == static_cast<size_t>(InductorCategory::kCount));
  BS_DCHECK(category < InductorCategory::kCount);
  return kNames[static_cast<size_t>(category)];
}

InductorCategory InductorCategoryOf(std::string_view kernel, KernelClass kernel_class,
                                    bool by_triton) {
  for (const PrefixRow& row : kPrefixes) {
    if (kernel.starts_with(row.prefix)) {
      return row.category;
    }
  }
  if (by_triton) {
    return InductorCategory::kTritonUser;
  }
  switch (kernel_class) {
    case KernelClass::kGemm:
      return InductorCategory::kGemm;
    case KernelClass::kConv:
      return InductorCategory::kConv;
    case KernelClass::kAttention:
      return InductorCategory::kAttention;
    case KernelClass::kCollective:
      return InductorCategory::kCollective;
    case KernelClass::kCopy:
      return InductorCategory::kCopy;
    default:
      return IsAten(kernel) ? InductorCategory::kAten : InductorCategory::kOther;
  }
}

bool IsGenerated(InductorCategory category) { return category <= InductorCategory::kTritonOther; }

std::vector<std::string_view> FusedOps(std::string_view kernel) {
  std::vector<std::string_view> ops;
  const std::string_view name = WithoutSpecialisation(kernel);
  const size_t fused = name.find(kFused);
  if (!name.starts_with(kTritonPrefix) || fused == std::string_view::npos) {
    return ops;
  }
  std::string_view rest = WithoutNumber(name.substr(fused + kFused.size()));
  while (!rest.empty()) {
    const size_t known = KnownOp(rest);
    const size_t length = known != 0 ? known : Word(rest);
    if (rest.substr(0, length).find_first_not_of('_') != std::string_view::npos) {
      ops.push_back(rest.substr(0, length));
    }
    rest.remove_prefix(std::min(length + 1, rest.size()));
  }
  return ops;
}

std::string_view WithoutSpecialisation(std::string_view kernel) {
  const size_t bar = kernel.rfind('_');
  if (bar == std::string_view::npos || !IsSpecialisation(kernel.substr(bar + 1))) {
    return kernel;
  }
  return kernel.substr(0, bar);
}

namespace {

namespace fs = std::filesystem;

// For each row of the table of kernels.
using Codes = std::vector<std::optional<InductorCode>>;

// The columns that carry codes from map to finish. If files differ between ranks, the largest text
// and number count; a file that only some ranks could read counts as read.
constexpr std::string_view kFileRead = "file_read";
constexpr std::string_view kFileAten = "file_aten";
constexpr std::string_view kFileNodes = "file_nodes";
constexpr std::string_view kFileGigabytes = "file_gigabytes";

// The text between the brackets after `label`, on one line of a comment.
std::string BracketsBehind(std::string_view code, std::string_view label) {
  constexpr size_t kLongest = 2000;
  const size_t at = code.find(label);
  if (at == code.npos) return {};
  std::string_view line = code.substr(at + label.size());
  line = line.substr(0, std::min(line.find('\n'), kLongest));
  const size_t end = line.find(']');
  return end == line.npos ? std::string() : std::string(line.substr(0, end));
}

std::optional<double> NumberBehind(std::string_view code, std::string_view label) {
  const size_t at = code.find(label);
  if (at == code.npos) return std::nullopt;
  std::string_view text = code.substr(at + label.size());
  const size_t begin = text.find_first_not_of(" :");
  if (begin == text.npos) return std::nullopt;
  text.remove_prefix(begin);
  double number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_good = error == std::errc() && number > 0 && number < 1e9;
  return is_good ? std::optional(number) : std::nullopt;
}

// Where the code of a kernel may be. `recorded` comes from the trace; only the names of the file
// and of its folder are used.
std::vector<fs::path> PlacesOf(const std::string& recorded, const fs::path& folder) {
  const fs::path source(recorded);
  if (source.extension() != ".py" || source.filename() == ".py") return {};
  const fs::path name = source.filename();
  const fs::path parent = source.parent_path().filename();
  std::vector<fs::path> places;
  if (!parent.empty() && parent != "." && parent != "..") {
    places.push_back(folder / parent / name);
  }
  places.push_back(folder / name);
  return places;
}

// Reads files inside of one folder, also if links lead elsewhere, each once.
class KernelFiles {
 public:
  // `folder`: what the user named; empty: no file is looked at. kIo if the system cannot say where
  // that is.
  static Result<KernelFiles> In(const std::string& folder) {
    if (folder.empty()) return KernelFiles({});
    BS_ASSIGN(std::string real, PathWithoutLinks(folder));
    return KernelFiles(std::move(real));
  }

  Result<std::optional<InductorCode>> Find(const std::string& recorded) {
    if (folder_.empty()) return std::optional<InductorCode>();
    for (const fs::path& place : PlacesOf(recorded, folder_)) {
      BS_ASSIGN(std::optional<InductorCode> code, At(place.string()));
      if (code.has_value()) return code;
    }
    return std::optional<InductorCode>();
  }

 private:
  explicit KernelFiles(fs::path folder) : folder_(std::move(folder)) {}

  Result<std::optional<InductorCode>> At(const std::string& place) {
    const auto [found, is_new] = known_.try_emplace(place);
    if (is_new) {
      BS_ASSIGN(const std::string real, PathWithoutLinks(place));
      BS_ASSIGN(const std::optional<std::string> code,
                IsInside(real) ? ReadGeneratedCode(real)
                               : Result<std::optional<std::string>>(std::nullopt));
      if (code.has_value()) {
        found->second = ParseInductorCode(*code);
      }
    }
    return found->second;
  }

  bool IsInside(const fs::path& real) const {
    return std::mismatch(folder_.begin(), folder_.end(), real.begin(), real.end()).first ==
           folder_.end();
  }

  fs::path folder_;                                           // without links
  std::map<std::string, std::optional<InductorCode>> known_;  // by place
};

// The code of every row of the table that has a file; no place for any other.
Result<Codes> CodesOf(const Table& kernels, const std::string& folder) {
  const Column& source = *kernels.Find("source");
  BS_ASSIGN(KernelFiles files, KernelFiles::In(folder));
  Codes codes(kernels.rows());
  for (const size_t row : EachIndex(kernels.rows())) {
    if (!source.IsMissing(row)) {
      BS_ASSIGN(codes[row], files.Find(std::get<StringValues>(source.values)[row]));
    }
  }
  return codes;
}

void PushText(Column& column, const std::string& text) {
  text.empty() ? PushMissing(column) : Push(column, text);
}

// The bytes that all calls of a row move: as recorded, or else from the file of the kernel.
std::optional<double> BytesOf(const Table& kernels, const Codes& codes, size_t row) {
  const Column& recorded = *kernels.Find("moved_bytes");
  if (!recorded.IsMissing(row)) {
    return static_cast<double>(std::get<IntValues>(recorded.values)[row]);
  }
  if (!codes[row].has_value() || !codes[row]->gigabytes.has_value()) return std::nullopt;
  const int64_t calls = std::get<IntValues>(kernels.Find("calls")->values)[row];
  return *codes[row]->gigabytes * 1e9 * static_cast<double>(calls);
}

// Bytes per nanosecond, which are 1e9 bytes per second.
std::vector<std::optional<double>> RatesOf(const Table& kernels, const Codes& codes) {
  const IntValues& total_ns = std::get<IntValues>(kernels.Find("total_ns")->values);
  std::vector<std::optional<double>> rates(kernels.rows());
  for (size_t row = 0; row < rates.size(); ++row) {
    const std::optional<double> bytes = BytesOf(kernels, codes, row);
    if (bytes.has_value() && total_ns[row] > 0) {
      rates[row] = *bytes / static_cast<double>(total_ns[row]);
    }
  }
  return rates;
}

// The bandwidth of the device's memory, in 1e9 bytes per second.
std::optional<double> BandwidthIn(const Table& time) {
  const Column& peak = *time.Find("memory_gbps");
  const bool is_known = peak.size() > 0 && !peak.IsMissing(0);
  return is_known ? std::optional(std::get<FloatValues>(peak.values)[0]) : std::nullopt;
}

void AddRates(const std::vector<std::optional<double>>& rates, std::optional<double> bandwidth,
              Table& kernels) {
  kernels.columns.reserve(kernels.columns.size() + 2);  // keeps the references below valid
  Column& rate =
      AddFloat(kernels, "gbps", Unit::kGigabytesPerSecond, Role::kDerived,
               "Bytes as recorded, else by the kernel's file x calls, / total: at least so much "
               "was moved.");
  Column& share = AddFloat(kernels, "bandwidth_share", Unit::kShare, Role::kDerived,
                           "That / the bandwidth of the device's memory.");
  for (const std::optional<double>& gbps : rates) {
    PushOptional(rate, gbps);
    const bool has_share = gbps.has_value() && bandwidth.value_or(0) > 0;
    has_share ? Push(share, *gbps / *bandwidth) : PushMissing(share);
  }
}

void AddOrigins(const Codes& codes, Table& kernels) {
  kernels.columns.reserve(kernels.columns.size() + 2);  // keeps the references below valid
  Column& aten = AddString(kernels, "original_aten", Role::kDerived,
                           "Operators of the model that were fused, by the kernel's file.");
  Column& nodes = AddString(kernels, "source_nodes", Role::kDerived,
                            "Nodes of the model's Python behind it, by the kernel's file.");
  for (const std::optional<InductorCode>& read : codes) {
    const InductorCode code = read.value_or(InductorCode{});
    PushText(aten, code.original_aten);
    PushText(nodes, code.source_nodes);
  }
}

void PushCode(const std::optional<InductorCode>& code, Table& kernels) {
  const auto push = [&](std::string_view name, const auto& value) {
    code.has_value() ? PushOptional(*kernels.Find(name), std::optional(value(*code)))
                     : PushMissing(*kernels.Find(name));
  };
  push(kFileRead, [](const InductorCode&) { return true; });
  push(kFileAten, [](const InductorCode& one) { return std::string_view(one.original_aten); });
  push(kFileNodes, [](const InductorCode& one) { return std::string_view(one.source_nodes); });
  PushOptional(*kernels.Find(kFileGigabytes), code.has_value() ? code->gigabytes : std::nullopt);
}

// Removes the columns of the codes from the table and returns their values.
Codes TakeCodes(Table& kernels) {
  Codes codes(kernels.rows());
  const Column& gigabytes = *kernels.Find(kFileGigabytes);
  for (size_t row = 0; row < codes.size(); ++row) {
    if (kernels.Find(kFileRead)->IsMissing(row)) continue;
    codes[row] = InductorCode{.original_aten = Texts(kernels, kFileAten)[row],
                              .source_nodes = Texts(kernels, kFileNodes)[row]};
    if (!gigabytes.IsMissing(row)) codes[row]->gigabytes = Floats(kernels, kFileGigabytes)[row];
  }
  std::erase_if(kernels.columns, [](const Column& column) {
    return column.name == kFileRead || column.name == kFileAten || column.name == kFileNodes ||
           column.name == kFileGigabytes;
  });
  return codes;
}

template <class Optionals>
bool HasAny(const Optionals& values) {
  return std::any_of(values.begin(), values.end(),
                     [](const auto& value) { return value.has_value(); });
}

}  // namespace

Result<std::optional<std::string>> ReadGeneratedCode(const std::string& path) {
  constexpr size_t kMostBytes = size_t{4} << 20;
  BS_ASSIGN(const FileKind kind, KindOf(path));
  if (kind != FileKind::kFile) return std::optional<std::string>();
  BS_ASSIGN(const std::unique_ptr<ByteSource> source, OpenFile(path));
  BS_ASSIGN(std::string code, InFile(path, ReadUpTo(*source, kMostBytes)));
  return std::optional(std::move(code));
}

InductorCode ParseInductorCode(std::string_view code) {
  return {.original_aten = BracketsBehind(code, "Original ATen: ["),
          .source_nodes = BracketsBehind(code, "Source Nodes: ["),
          .gigabytes = NumberBehind(code, "'kernel_num_gb'")};
}

Result<Tables> ReadKernelFiles(Tables tables, const Params& params) {
  Table& kernels = tables.front();
  BS_ASSIGN(const Codes codes, CodesOf(kernels, std::string(params.Text(kInductorCacheParam))));
  AddBool(kernels, kFileRead, Role::kMax, "Whether the kernel's file could be read.");
  AddString(kernels, kFileAten, Role::kMax, "Operators that were fused, by the kernel's file.");
  AddString(kernels, kFileNodes, Role::kMax, "Nodes of the model's Python, by the kernel's file.");
  AddFloat(kernels, kFileGigabytes, Unit::kNone, Role::kMax,
           "1e9 bytes a call moves, by the kernel's file.");
  for (const std::optional<InductorCode>& code : codes) {
    PushCode(code, kernels);
  }
  return tables;
}

void UseKernelFiles(Table& kernels, const Table& time) {
  if (kernels.Find(kFileRead) == nullptr) return;
  const Codes codes = TakeCodes(kernels);
  if (const auto rates = RatesOf(kernels, codes); HasAny(rates)) {
    AddRates(rates, BandwidthIn(time), kernels);
  }
  if (HasAny(codes)) {
    AddOrigins(codes, kernels);
  }
}

}  // namespace borescope::internal
