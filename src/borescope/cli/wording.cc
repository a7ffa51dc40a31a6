#include <algorithm>
#include <string_view>

#include "borescope/error.h"

namespace borescope::cli {
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

std::string Worded(const Error& error) { return WithOptions(error.Sentence()); }

}  // namespace borescope::cli
