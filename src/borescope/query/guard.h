// What a statement may do: read. Everything else is refused by name.
#pragma once

#include <string>

#include "borescope/base/sqlite/sqlite.h"

namespace borescope::internal::query {

class Guard {
 public:
  Guard() = default;
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  // Watches the statements of `database` from now on; has to outlive it.
  void Watch(SqlDatabase& database);

  // What the last statement was refused for: "ATTACH"; empty when it was not.
  const std::string& refused() const { return refused_; }
  void Forget() { refused_.clear(); }

 private:
  static int Decide(void* guard, int action, const char* first, const char* second, const char*,
                    const char*);
  std::string refused_;
};

}  // namespace borescope::internal::query
