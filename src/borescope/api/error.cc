#include "borescope/error.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "borescope/api/access.h"
#include "borescope/base/text/text.h"

namespace borescope {
namespace {

ErrorCode PublicCode(internal::ErrorCode code) {
  switch (code) {
    case internal::ErrorCode::kIo:
      return ErrorCode::kIo;
    case internal::ErrorCode::kUnsupportedFormat:
      return ErrorCode::kUnsupportedFormat;
    case internal::ErrorCode::kCorrupt:
      return ErrorCode::kCorrupt;
    case internal::ErrorCode::kMissingData:
      return ErrorCode::kMissingData;
    case internal::ErrorCode::kInvalidArgument:
      return ErrorCode::kInvalidArgument;
    case internal::ErrorCode::kCancelled:
      return ErrorCode::kCancelled;
  }
  return ErrorCode::kIo;
}

// Takes "FILE: " off the beginning of `text`, of the longest path that fits.
std::string TakeFile(std::string_view& text, std::span<const std::string> paths) {
  std::string file;
  for (const std::string& path : paths) {
    if (path.size() > file.size() && text.starts_with(path + ": ")) {
      file = path;
    }
  }
  text.remove_prefix(file.empty() ? 0 : file.size() + 2);
  return file;
}

// Takes "byte N: " off the beginning.
std::optional<uint64_t> TakeOffset(std::string_view& text) {
  constexpr std::string_view kByte = "byte ";
  const size_t end = text.find(": ");
  if (!text.starts_with(kByte) || end == std::string_view::npos) {
    return std::nullopt;
  }
  uint64_t offset = 0;
  const char* const last = text.data() + end;
  const auto [stop, problem] = std::from_chars(text.data() + kByte.size(), last, offset);
  if (problem != std::errc() || stop != last) {
    return std::nullopt;
  }
  text.remove_prefix(end + 2);
  return offset;
}

bool IsOfName(char c) { return (c >= 'a' && c <= 'z') || c == '-' || internal::IsDigit(c); }

// "--kernel-wait" becomes `kernel_wait`, in backquotes; the first of them is stored in `parameter`.
std::string WithoutDashes(std::string_view text, std::string& parameter) {
  std::string result;
  while (!text.empty()) {
    const size_t at = text.find("--");
    result += text.substr(0, at);
    if (at == std::string_view::npos) {
      break;
    }
    text.remove_prefix(at + 2);
    const auto* const end = std::find_if_not(text.begin(), text.end(), IsOfName);
    std::string name(text.begin(), end);
    text.remove_prefix(name.size());
    std::replace(name.begin(), name.end(), '-', '_');
    result += name.empty() ? "--" : "`" + name + "`";
    parameter = parameter.empty() ? name : parameter;
  }
  return result;
}

bool Names(const std::string& text, const std::string& name) {
  return text.find(name) != std::string::npos;
}

// "`by`: cannot …" names its parameter in a field of its own, from which Sentence() puts it back.
void DropParameter(Error& error) {
  const std::string name = "`" + error.parameter + "`";
  const std::string prefix = name + ": ";
  if (!error.parameter.empty() && error.message.starts_with(prefix) &&
      !Names(error.message.substr(prefix.size()), name) && !Names(error.hint, name)) {
    error.message.erase(0, prefix.size());
  }
}

}  // namespace

std::string Error::Sentence() const {
  std::string sentence = file.empty() ? "" : file + ": ";
  sentence += offset.has_value() ? "byte " + std::to_string(*offset) + ": " : "";
  const std::string name = parameter.empty() ? "" : "`" + parameter + "`";
  const bool is_named = Names(message, name) || Names(hint, name);
  sentence += is_named ? "" : name + ": ";
  sentence += message;
  return sentence + (hint.empty() ? "" : "; " + hint);
}

Error PublicError(const internal::Error& error, std::span<const std::string> paths) {
  std::string_view text = error.message;
  Error result;
  result.code = PublicCode(error.code);
  result.file = TakeFile(text, paths);
  result.offset = TakeOffset(text);
  const size_t end = text.find("; ");
  result.message = WithoutDashes(text.substr(0, end), result.parameter);
  if (end != std::string_view::npos) {
    result.hint = WithoutDashes(text.substr(end + 2), result.parameter);
  }
  DropParameter(result);
  return result;
}

}  // namespace borescope
