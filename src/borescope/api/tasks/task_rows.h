// The tasks of the library, as its schema describes them. Internal to api/.
#pragma once

#include <span>
#include <string_view>

namespace borescope {

struct TaskParameterRow {
  std::string_view name;  // with dashes, as all that follows is of ParameterInfo
  std::string_view type;
  std::string_view placeholder;
  std::string_view doc;
  std::string_view group = "question";
  std::string_view default_text = {};
  std::string_view choice = {};  // of a choice: its values, with "|" between them
};

struct TaskRow {
  std::string_view name;
  std::string_view summary;
  std::string_view example;
  std::span<const std::string_view> shared = {};  // parameters that are those of verbs
  std::span<const TaskParameterRow> own = {};
};
std::span<const TaskRow> TaskRows();

}  // namespace borescope
