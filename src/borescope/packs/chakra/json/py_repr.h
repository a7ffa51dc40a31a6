// Values as Python writes them with str(): the texts of arguments in a Chakra trace have this form.
#pragma once

#include <string>
#include <string_view>

namespace borescope::internal {

// Appends str() of one JSON value: [1, 'a', None]; a text that is the whole value stands as it is.
// Takes any bytes; what is no JSON comes out in part.
void AppendPythonStr(std::string_view json, std::string& out);

// The shortest digits that read back the same, as repr(): 0.1, 2.0, 1e-05, 1e+16, nan, inf.
void AppendPythonFloat(double value, std::string& out);

}  // namespace borescope::internal
