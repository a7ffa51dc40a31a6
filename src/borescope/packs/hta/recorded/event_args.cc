#include "borescope/packs/hta/recorded/event_args.h"

namespace borescope::internal {
namespace {

constexpr HtaArgType kInt = HtaArgType::kInt;
constexpr HtaArgType kFloat = HtaArgType::kFloat;
constexpr HtaArgType kValue = HtaArgType::kValue;

constexpr HtaArg kArgs[] = {
    {"stream", "stream", kInt, -1, {}, "Stream (queue) of the device; -1 for none."},
    {"correlation", "correlation", kInt, -1, {}, "Correlation number of call and work."},
    {"bytes", "bytes", kInt, -1, {}, "Bytes of a copy."},
    {"memory_bw_gbps", "memory bandwidth (GB/s)", kFloat, 0, {}, "Recorded rate of a copy."},
    {"wait_on_stream", "wait_on_stream", kInt, -1, {}, "The stream that is waited for."},
    {"wait_on_cuda_event_record_corr_id",
     "wait_on_cuda_event_record_corr_id",
     kInt,
     -1,
     {},
     "Correlation number of the call that recorded the event that is waited for."},
    {"input_dims", "Input Dims", kValue, 0, R"("-1")", "Shapes of inputs, as JSON."},
    {"input_type", "Input type", kValue, 0, R"("-1")", "Types of inputs, as JSON."},
    {"input_strides", "Input Strides", kValue, 0, R"("-1")", "Strides of inputs, as JSON."},
    {"external_id", "External id", kInt, -1, {}, "Number that ties work to its operator."},
    {"python_id", "Python id", kInt, -1, {}, "Number of a Python frame."},
    {"python_parent_id", "Python parent id", kInt, -1, {}, "Number of the frame around it."},
    {"collective_name", "Collective name", kValue, 0, R"("")", "Name of the collective, as JSON."},
    {"in_msg_nelems", "In msg nelems", kInt, 0, {}, "Elements that a collective takes."},
    {"out_msg_nelems", "Out msg nelems", kInt, 0, {}, "Elements that it gives."},
    {"msg_dtype", "dtype", kValue, 0, R"("")", "Their type, as JSON."},
    {"group_size", "Group size", kInt, 0, {}, "Ranks that take part."},
    {"process_rank", "Rank", kInt, -1, {}, "Rank of the process, as the event says."},
    {"in_split_size", "In split size", kValue, 0, R"("[]")", "Elements for each rank, as JSON."},
    {"out_split_size", "Out split size", kValue, 0, R"("[]")", "Elements of each rank, as JSON."},
};

}  // namespace

std::span<const HtaArg> HtaArgs() { return kArgs; }

}  // namespace borescope::internal
