#include "borescope/cli/options/aliases.h"

#include <algorithm>

namespace borescope::cli {
namespace {

const AliasRow* FindAlias(const VerbRow& verb, std::string_view option) {
  std::string name(option);
  std::replace(name.begin(), name.end(), '_', '-');
  const auto found = std::find_if(verb.aliases.begin(), verb.aliases.end(),
                                  [&](const AliasRow& row) { return row.from == name; });
  return found == verb.aliases.end() ? nullptr : &*found;
}

}  // namespace

std::vector<std::string> Translate(std::span<const std::string> words, const VerbRow* verb) {
  std::vector<std::string> out;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const size_t equals = std::min(word.find('='), word.size());
    const AliasRow* const row =
        verb == nullptr ? nullptr : FindAlias(*verb, std::string_view(word).substr(0, equals));
    if (row == nullptr) {
      out.push_back(word);
    } else if (row->use == AliasRow::Use::kRename) {
      out.push_back(std::string(row->to) + word.substr(equals));
    } else if (row->use == AliasRow::Use::kInput && equals < word.size()) {
      out.push_back(word.substr(equals + 1));
    } else if (row->use == AliasRow::Use::kIgnore && equals == word.size()) {
      i += 1;  // its value
    }
  }
  return out;
}

}  // namespace borescope::cli
