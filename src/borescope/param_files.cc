#include "borescope/param_files.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "borescope/base/byte_source.h"

namespace borescope {
namespace {

// Nobody writes more than this by hand; a wrong file should not fill the memory.
constexpr size_t kMostBytes = size_t{1} << 20;

Result<std::string> ReadText(const std::string& path) {
  BS_ASSIGN(const std::unique_ptr<ByteSource> source, OpenFile(path));
  std::string text(kMostBytes + 1, '\0');
  Result<size_t> size = ReadFully(*source, text.data(), text.size());
  if (!size.ok()) {
    return Error{size.error().code, fmt::format("{}: {}", path, size.error().message)};
  }
  if (*size > kMostBytes) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("{}: larger than 1 MiB; is it the right file?", path)};
  }
  text.resize(*size);
  return text;
}

}  // namespace

Result<void> ReadParamFiles(std::span<const AnalysisSpec* const> specs, Params& params) {
  for (const AnalysisSpec* spec : specs) {
    for (const ParamSpec* param : spec->params) {
      for (ParamValue& value : params.values) {
        if (param->type != ParamType::kFile || value.name != param->name) {
          continue;
        }
        Result<std::string> text = ReadText(value.text);
        if (!text.ok()) {
          return Error{text.error().code,
                       fmt::format("--{}: {}", param->name, text.error().message)};
        }
        value.content = std::move(*text);
      }
    }
  }
  return {};
}

}  // namespace borescope
