// The backward pass, on its own thread, with the gradient all-reduces it sets off.
#include "tests/support/model/scenario_model.h"

namespace borescope::scenario {
namespace {

constexpr int64_t kLayerElements = 12'596'224;
constexpr int64_t kEmbeddingElements = 32'768'000;

}  // namespace

void RankModel::Backward() {
  Scope note(r_, HostName::kBackward);
  PyScope frame(r_, config_.with_stack, HostName::kPyBackward);
  recorder_.SwitchThread(Thread::kBackward,
                         recorder_.now() + 9'000 + recorder_.random().Below(20'000));
  int64_t elements = 0;
  for (auto entry = tape_.rbegin(); entry != tape_.rend(); ++entry) {
    BackwardOf(*entry);
    // The embedding ends the pass; a block begins with its first norm.
    const bool ends_layer = entry + 1 == tape_.rend() || (entry + 1)->layer != entry->layer;
    if (!ends_layer) continue;
    elements += entry->layer == config_.layers ? 1024 * 1024 : kLayerElements;
    if (entry->layer % 2 == 0) {
      AllReduce(elements);
      elements = 0;
    }
  }
  AllReduce(kEmbeddingElements);
  const int64_t joined_ns = recorder_.now() + 6'000 + recorder_.random().Below(12'000);
  recorder_.SwitchThread(Thread::kMain, joined_ns);
}

void RankModel::BackwardOf(const TapeEntry& entry) {
  switch (entry.grad) {
    case Grad::kDiv:
    case Grad::kNll:
    case Grad::kLogSoftmax:
      return LossBackward(entry);
    case Grad::kAddmm:
      return AddmmBackward(entry);
    case Grad::kLayerNorm:
      return LayerNormBackward(entry);
    case Grad::kSdpa:
      return SdpaBackward(entry);
    case Grad::kGelu:
    case Grad::kAdd:
      return PointwiseBackward(entry);
    case Grad::kEmbedding:
      return EmbeddingBackward(entry);
  }
}

void RankModel::LossBackward(const TapeEntry& entry) {
  const bool is_div = entry.grad == Grad::kDiv;
  const bool is_nll = entry.grad == Grad::kNll;
  Scope evaluate(r_, is_div   ? HostName::kEvalDiv
                     : is_nll ? HostName::kEvalNll
                              : HostName::kEvalLogSoftmax);
  evaluate.Sequence(entry.sequence);
  Scope node(r_, is_div   ? HostName::kDivBackward
                 : is_nll ? HostName::kNllBackward
                          : HostName::kLogSoftmaxBackward);
  node.Sequence(entry.sequence, entry.flow);
  Scope op(r_, is_div   ? HostName::kDiv
               : is_nll ? HostName::kNllLossBackward
                        : HostName::kLogSoftmaxBackwardData);
  if (is_nll) recorder_.Copy(Kernel::kMemset, Stream::kCompute, 4096LL * 32000 * 4);
  recorder_.Launch(is_div   ? Kernel::kDiv
                   : is_nll ? Kernel::kNllBackward
                            : Kernel::kLogSoftmaxBackward);
}

void RankModel::AddmmBackward(const TapeEntry& entry) {
  {
    Scope evaluate(r_, HostName::kEvalAddmm);
    evaluate.Sequence(entry.sequence);
    {
      Scope node(r_, HostName::kAddmmBackward);
      node.Sequence(entry.sequence, entry.flow);
      for (const Kernel kernel : {Kernel::kGemmDgrad, Kernel::kGemmWgrad}) {
        {
          Scope t(r_, HostName::kT);
          Scope transpose(r_, HostName::kTranspose);
          Scope as_strided(r_, HostName::kAsStrided);
        }
        Scope mm(r_, HostName::kMm);
        recorder_.Launch(kernel);
      }
    }
    Scope sum(r_, HostName::kSum);
    Scope as_strided(r_, HostName::kAsStrided);
    recorder_.Launch(Kernel::kSum);
    recorder_.Free();
  }
  Accumulate();
}

void RankModel::LayerNormBackward(const TapeEntry& entry) {
  {
    Scope evaluate(r_, HostName::kEvalLayerNorm);
    evaluate.Sequence(entry.sequence);
    Scope node(r_, HostName::kLayerNormBackward);
    node.Sequence(entry.sequence, entry.flow);
    Scope op(r_, HostName::kNativeLayerNormBackward);
    {
      Scope empty(r_, HostName::kEmpty);
    }
    recorder_.Launch(Kernel::kLayerNormBackward);
    recorder_.Launch(Kernel::kLayerNormGamma);
    recorder_.Free();
  }
  Accumulate();
}

void RankModel::SdpaBackward(const TapeEntry& entry) {
  Scope evaluate(r_, HostName::kEvalSdpa);
  evaluate.Sequence(entry.sequence);
  Scope node(r_, HostName::kSdpaBackward);
  node.Sequence(entry.sequence, entry.flow);
  Scope op(r_, HostName::kSdpaBackwardOp);
  Scope flash(r_, HostName::kFlashBackwardOp);
  {
    Scope empty(r_, HostName::kEmpty);
  }
  recorder_.Launch(Kernel::kFlashBackwardDot);
  recorder_.Launch(Kernel::kFlashBackward);
  recorder_.Free();
}

void RankModel::PointwiseBackward(const TapeEntry& entry) {
  const bool is_gelu = entry.grad == Grad::kGelu;
  Scope evaluate(r_, is_gelu ? HostName::kEvalGelu : HostName::kEvalAdd);
  evaluate.Sequence(entry.sequence);
  Scope node(r_, is_gelu ? HostName::kGeluBackward : HostName::kAddBackward);
  node.Sequence(entry.sequence, entry.flow);
  // The gradient of a sum is passed on; no kernel is needed.
  if (is_gelu) {
    Scope op(r_, HostName::kGeluBackwardOp);
    recorder_.Launch(Kernel::kGeluBackward);
  }
  recorder_.Free();
}

void RankModel::EmbeddingBackward(const TapeEntry& entry) {
  {
    Scope evaluate(r_, HostName::kEvalEmbedding);
    evaluate.Sequence(entry.sequence);
    Scope node(r_, HostName::kEmbeddingBackward);
    node.Sequence(entry.sequence, entry.flow);
    Scope op(r_, HostName::kEmbeddingBackwardOp);
    Scope dense(r_, HostName::kEmbeddingDenseBackward);
    recorder_.Copy(Kernel::kMemset, Stream::kCompute, kEmbeddingElements * 2);
    recorder_.Launch(Kernel::kEmbeddingBackward);
    recorder_.Free();
  }
  Accumulate();
}

void RankModel::Accumulate() {
  Scope evaluate(r_, HostName::kEvalAccumulate);
  Scope node(r_, HostName::kAccumulate);
  if (recorder_.random().Below(4) == 0) {
    Scope detach(r_, HostName::kDetach);
    return;
  }
  Scope add(r_, HostName::kAddInPlace);
  recorder_.Launch(Kernel::kAccumulate);
}

void RankModel::AllReduce(int64_t elements) {
  if (!config_.HasCollectives()) return;
  const int32_t collective = static_cast<int32_t>(batch_->collectives.size());
  batch_->collectives.push_back({.elements = elements, .sequence = collective_sequence_++});
  HostEvent& comms = recorder_.Begin(HostName::kRecordParamComms);
  comms.collective = collective;
  {
    const StreamMark gradients = recorder_.Record(Stream::kCompute);
    recorder_.WaitOnDevice(Stream::kComm, gradients);
    Scope note(r_, HostName::kNcclAllReduce);
    recorder_.LaunchCollective(collective);
    recorder_.Record(Stream::kComm);
  }
  recorder_.End();
}

}  // namespace borescope::scenario
