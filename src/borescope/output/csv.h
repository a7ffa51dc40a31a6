// Fields of CSV, for whoever writes lines of it.
#pragma once

#include <string>
#include <string_view>

namespace borescope::internal {

// RFC 4180: fields with separators, quotes or line ends are quoted, quotes doubled. Blanks at the
// ends too, which some readers would strip. Valid UTF-8, whatever it was before.
std::string CsvField(std::string_view raw);

}  // namespace borescope::internal
