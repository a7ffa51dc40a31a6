// Texts in YAML.
#pragma once

#include <string>
#include <string_view>

namespace borescope::cli {

// The text as a double-quoted scalar, which no reader takes for a number, a date or a boolean.
// REQUIRES: UTF-8 without control characters.
std::string YamlText(std::string_view text);

// The same for an argument of a container: Kubernetes puts the values of variables in place of
// $(NAME), but not of $$(NAME).
std::string ContainerArgument(std::string_view text);

}  // namespace borescope::cli
