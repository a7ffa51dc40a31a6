#include "core/rule_options.h"

#include <cstring>

#include "core/text.h"

namespace borescope::inject {

bool NameRule::Matches(const char* name, size_t name_length) const {
  const bool fits = is_prefix ? name_length >= length : name_length == length;
  return is_set() && fits && memcmp(name, text, length) == 0;
}

NameRule ParseNameRule(const char* value, size_t length) {
  NameRule rule;
  rule.length = static_cast<uint32_t>(DecodePercent(value, length, rule.text, sizeof(rule.text)));
  rule.is_prefix = rule.length > 1 && rule.text[rule.length - 1] == '*';
  if (rule.is_prefix) --rule.length;
  return rule;
}

}  // namespace borescope::inject
