// The verbs of the library as the command line names them: options with dashes.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/schema.h"

namespace borescope::cli {

// Verbs asked for together.
using Verbs = std::span<const VerbInfo* const>;

// nullptr where there is none.
const VerbInfo* FindVerb(std::string_view name);
const TaskInfo* FindTask(std::string_view name);
// The parameter that the option `name` ("kernel-wait") sets; nullptr where the verb has none.
const ParameterInfo* FindParameter(const VerbInfo& verb, std::string_view name);
const ParameterInfo* FindParameter(Verbs verbs, std::string_view name);
const ParameterInfo* FindParameter(const TaskInfo& task, std::string_view name);

// "kernel_wait" -> "kernel-wait"
std::string OptionName(const ParameterInfo& parameter);

// The names of verbs, as the library takes them.
std::vector<std::string_view> NamesOf(Verbs verbs);

}  // namespace borescope::cli
