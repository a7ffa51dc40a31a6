// Field numbers of the messages of a Chakra execution trace. Those of values: EtValueField.
#pragma once

#include <cstdint>

namespace borescope::internal::et {

namespace attribute {
constexpr uint32_t kName = 1, kDoc = 2;
}
namespace list {
constexpr uint32_t kValues = 1;
}
namespace metadata_field {
constexpr uint32_t kVersion = 1, kAttr = 2;
}
namespace node_field {
constexpr uint32_t kId = 1, kName = 2, kType = 3, kCtrlDeps = 4, kDataDeps = 5, kStart = 6,
                   kDuration = 7, kInputs = 8, kOutputs = 9, kAttr = 10;
}
namespace io_field {
constexpr uint32_t kValues = 1, kShapes = 2, kTypes = 3;
}

}  // namespace borescope::internal::et
