#include "borescope/engine/inputs/param_files.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "borescope/base/io/byte_source.h"
#include "borescope/base/io/paths.h"

namespace borescope::internal {
namespace {

// Nobody writes more than this by hand; a wrong file should not fill the memory.
constexpr size_t kMostBytes = size_t{1} << 20;

Result<std::string> ReadText(const std::string& path) {
  BS_ASSIGN(const std::unique_ptr<ByteSource> source, OpenFile(path));
  std::string text(kMostBytes + 1, '\0');
  Result<size_t> size = ReadFully(*source, text.data(), text.size());
  if (!size.ok()) {
    return InFile(path, size.error());
  }
  if (*size > kMostBytes) {
    return Error{ErrorCode::kInvalidArgument, "larger than 1 MiB", "is it the right file?", path};
  }
  text.resize(*size);
  return text;
}

// What cannot be found would answer as if nothing had been named.
Result<void> FindFolder(const std::string& path) {
  BS_ASSIGN(const FileKind kind, KindOf(path));
  if (kind == FileKind::kFolder) {
    return {};
  }
  return Error{ErrorCode::kInvalidArgument,
               kind == FileKind::kNothing ? "No such file or directory" : "no folder",
               {},
               path};
}

Result<void> ReadParam(ParamType type, ParamValue& value) {
  if (type == ParamType::kFolder) {
    return FindFolder(value.text);
  }
  if (type == ParamType::kFile) {
    BS_ASSIGN(value.content, ReadText(value.text));
  }
  return {};
}

Result<void> ReadParams(const AnalysisSpec& spec, Params& params) {
  for (const ParamSpec* param : spec.params) {
    for (ParamValue& value : params.values) {
      const Result<void> read =
          value.name == param->name ? ReadParam(param->type, value) : Result<void>();
      if (!read.ok()) {
        return OfParameter(ParameterName(param->name), read.error());
      }
    }
  }
  return {};
}

}  // namespace

Result<void> ReadParamFiles(std::span<const AnalysisSpec* const> specs, Params& params) {
  for (const AnalysisSpec* spec : specs) {
    BS_TRY(ReadParams(*spec, params));
  }
  return {};
}

}  // namespace borescope::internal
