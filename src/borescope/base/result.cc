#include "borescope/base/result.h"

#include <algorithm>

namespace borescope {

std::string Error::Sentence() const {
  const std::string name = "`" + parameter + "`";
  const bool is_named = parameter.empty() || cause.find(name) != std::string::npos;
  std::string sentence = is_named ? "" : name + ": ";
  if (line.has_value()) {
    sentence += (file.empty() ? "line " : file + ":") + std::to_string(*line) + ": ";
  } else if (!file.empty()) {
    sentence += file + ": ";
  }
  sentence += offset.has_value() ? "byte " + std::to_string(*offset) + ": " : "";
  sentence += cause;
  return sentence + (remedy.empty() ? "" : "; " + remedy);
}

namespace {

bool IsOfName(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }

}  // namespace

std::string WithOptions(std::string_view text) {
  std::string worded;
  while (!text.empty()) {
    const size_t begin = text.find('`');
    worded += text.substr(0, begin);
    if (begin == std::string_view::npos) {
      break;
    }
    text.remove_prefix(begin + 1);
    const size_t end = text.find('`');
    std::string name(text.substr(0, end));
    const bool is_name = end != std::string_view::npos && !name.empty() &&
                         std::all_of(name.begin(), name.end(), IsOfName);
    if (!is_name) {
      worded += '`';
      continue;
    }
    std::replace(name.begin(), name.end(), '_', '-');
    worded += "--" + name;
    text.remove_prefix(end + 1);
  }
  return worded;
}

}  // namespace borescope

namespace borescope::internal {

std::string ParameterName(std::string_view option) {
  std::string name(option);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

Error InFile(std::string_view file, Error error) {
  if (error.file.empty()) {
    error.file = file;
  }
  return error;
}

Error OfParameter(std::string_view parameter, Error error) {
  if (error.parameter.empty()) {
    error.parameter = parameter;
  }
  return error;
}

std::string TextWithoutFile(Error error, std::string_view file) {
  if (error.file == file) {
    error.file.clear();
  }
  return WithOptions(error.Sentence());
}

Error About(std::string_view subject, Error error) {
  error.cause.insert(0, std::string(subject) + ": ");
  return error;
}

}  // namespace borescope::internal
