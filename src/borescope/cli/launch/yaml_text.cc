#include "borescope/cli/launch/yaml_text.h"

namespace borescope::cli {

std::string YamlText(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
    }
    quoted += c;
  }
  return quoted + "\"";
}

std::string ContainerArgument(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    escaped += c == '$' ? "$$" : std::string(1, c);
  }
  return YamlText(escaped);
}

}  // namespace borescope::cli
