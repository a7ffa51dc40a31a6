#include "borescope/analysis/measures/counter_join/counted_work.h"

#include "borescope/opmodel/devices/tensor_cores.h"

namespace borescope::internal {

namespace {

void AddKnown(std::optional<double>& sum, const std::optional<double>& more) {
  sum = sum.has_value() && more.has_value() ? std::optional(*sum + *more) : std::nullopt;
}

}  // namespace

void CountedSums::Add(const CountedSums& more) {
  for (const auto member :
       {&CountedSums::tensor_flops, &CountedSums::vector_flops, &CountedSums::dram_read,
        &CountedSums::dram_written, &CountedSums::dram_bytes, &CountedSums::l2_bytes}) {
    AddKnown(this->*member, more.*member);
  }
  not_counted.insert(more.not_counted.begin(), more.not_counted.end());
}

CountedWork::CountedWork(const RankView& view, const RankCounters& counters,
                         const ModelledWork& work)
    : view_(view), counters_(counters), work_(work) {}

KnownFlops CountedWork::TensorFlopsOf(DeviceId id) {
  const MeasuredKernel* const measured = counters_.MeasuredOf(id);
  if (measured == nullptr) return {};
  const WorkInfo& info = work_.info[id.value];
  const ModelledCall* const call = info.call == kNoCall ? nullptr : &work_.calls[info.call];
  const bool is_of_matrix_op =
      call != nullptr && IsMatrixFamily(call->cost().family) && info.role == KernelRole::kMain;
  const uint32_t text = view_.trace.device().name[id.value].value;
  const auto [known, is_new] = names_.try_emplace({text, is_of_matrix_op});
  if (is_new) {
    const std::string_view name = view_.trace.Name(id);
    known->second = {MatrixUseOf(name, is_of_matrix_op), OperandFormat(name)};
  }
  return TensorFlops(*measured,
                     {.by_name = known->second.first,
                      .format = known->second.second,
                      .type = call == nullptr ? ScalarType::kUnknown : call->cost().type});
}

CountedSums CountedWork::OfKernel(DeviceId id, const MeasuredKernel& measured) {
  const KnownFlops tensor = TensorFlopsOf(id);
  CountedSums sums{.tensor_flops = tensor.flops,
                   .vector_flops = measured.vector_flops,
                   .dram_read = measured.dram_read,
                   .dram_written = measured.dram_written,
                   .dram_bytes = measured.dram_bytes,
                   .l2_bytes = measured.l2_bytes};
  if (!tensor.not_counted.empty()) sums.not_counted.insert(tensor.not_counted);
  return sums;
}

std::optional<CountedSums> CountedWork::SumsOf(std::span<const DeviceId> works) {
  CountedSums sums;
  bool has_any = false;
  for (const DeviceId id : works) {
    if (view_.trace.device().kind[id.value] != DeviceKind::kKernel) continue;
    const MeasuredKernel* const measured = counters_.MeasuredOf(id);
    if (measured == nullptr) return std::nullopt;
    sums.Add(OfKernel(id, *measured));
    has_any = true;
  }
  return has_any ? std::optional(std::move(sums)) : std::nullopt;
}

}  // namespace borescope::internal
