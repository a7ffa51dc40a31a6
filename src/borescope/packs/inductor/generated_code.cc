#include "borescope/packs/inductor/generated_code.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <utility>
#include <vector>

#include "borescope/analysis/core/row.h"
#include "borescope/base/each_row.h"
#include "borescope/base/io/paths.h"
#include "borescope/packs/inductor/inductor.h"
#include "borescope/try.h"

namespace borescope::internal {
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
  BS_ASSIGN(std::string code, BeginOfFile(path, kMostBytes));
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
