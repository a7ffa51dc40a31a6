// The forward pass. Each differentiable op goes on the tape, which the backward pass reads.
#include "tests/support/model/scenario_model.h"

namespace borescope::scenario {
namespace {

constexpr int64_t kActivationBytes = 4096 * 1024 * 2;

}  // namespace

const RankModel::TapeEntry& RankModel::Remember(Grad grad, int layer, Kernel kernel) {
  return tape_.emplace_back(TapeEntry{.grad = grad,
                                      .sequence = recorder_.NextSequence(),
                                      .flow = recorder_.NextFlow(),
                                      .layer = layer,
                                      .kernel = kernel});
}

void RankModel::AllocateOutput(int64_t bytes) {
  Scope empty(r_, HostName::kEmpty);
  recorder_.Allocate(bytes);
}

void RankModel::Forward() {
  Scope note(r_, HostName::kForward);
  PyScope frame(r_, config_.with_stack, HostName::kPyTrainStep);
  tape_.clear();
  Embedding();
  for (int layer = 0; layer < config_.layers; ++layer) Block(layer);
  LayerNorm(config_.layers);
  Linear(config_.layers, 4 * config_.layers, Kernel::kGemmWide);
  Loss();
}

void RankModel::Block(int layer) {
  PyScope frame(r_, config_.with_stack, HostName::kPyBlock, layer);
  LayerNorm(layer);
  Linear(layer, 4 * layer, Kernel::kGemmForward);
  Attention(layer);
  Linear(layer, 4 * layer + 1, Kernel::kGemmForward);
  Add(layer);
  LayerNorm(layer);
  Linear(layer, 4 * layer + 2, Kernel::kGemmWide);
  Gelu(layer);
  Linear(layer, 4 * layer + 3, Kernel::kGemmWide);
  Add(layer);
}

void RankModel::Embedding() {
  const TapeEntry entry = Remember(Grad::kEmbedding, 0);
  Scope embedding(r_, HostName::kEmbedding);
  embedding.Sequence(entry.sequence, entry.flow);
  Scope select(r_, HostName::kIndexSelect);
  AllocateOutput(kActivationBytes);
  recorder_.Launch(Kernel::kEmbedding);
}

void RankModel::LayerNorm(int layer) {
  const int64_t sequence = recorder_.sequence();
  Scope outer(r_, HostName::kLayerNorm);
  outer.Sequence(sequence);
  const TapeEntry entry = Remember(Grad::kLayerNorm, layer);
  Scope inner(r_, HostName::kNativeLayerNorm);
  inner.Sequence(entry.sequence, entry.flow);
  AllocateOutput(kActivationBytes);
  recorder_.Launch(Kernel::kLayerNorm);
}

void RankModel::Linear(int layer, int number, Kernel kernel) {
  PyScope module(r_, config_.with_stack, HostName::kPyLinear, number);
  PyScope builtin(r_, config_.with_stack, HostName::kPyBuiltinLinear);
  const int64_t sequence = recorder_.sequence();
  Scope linear(r_, HostName::kLinear);
  linear.Sequence(sequence);
  {
    Scope t(r_, HostName::kT);
    Scope transpose(r_, HostName::kTranspose);
    Scope as_strided(r_, HostName::kAsStrided);
  }
  const TapeEntry entry = Remember(Grad::kAddmm, layer, kernel);
  Scope addmm(r_, HostName::kAddmm);
  addmm.Sequence(entry.sequence, entry.flow);
  recorder_.Allocate(kActivationBytes);
  if (number % 4 == 0) recorder_.Call(Api::kFuncSetAttribute, 900);
  recorder_.Launch(kernel);
}

void RankModel::Attention(int layer) {
  for (int i = 0; i < 3; ++i) Scope view(r_, HostName::kView);
  const int64_t sequence = recorder_.sequence();
  Scope sdpa(r_, HostName::kSdpa);
  sdpa.Sequence(sequence);
  const TapeEntry entry = Remember(Grad::kSdpa, layer);
  Scope flash(r_, HostName::kSdpaFlash);
  flash.Sequence(entry.sequence, entry.flow);
  Scope forward(r_, HostName::kFlashForward);
  AllocateOutput(kActivationBytes);
  recorder_.Launch(Kernel::kFlashForward);
}

void RankModel::Gelu(int layer) {
  const TapeEntry entry = Remember(Grad::kGelu, layer);
  Scope gelu(r_, HostName::kGelu);
  gelu.Sequence(entry.sequence, entry.flow);
  recorder_.Allocate(4 * kActivationBytes);
  recorder_.Launch(Kernel::kGelu);
}

void RankModel::Add(int layer) {
  const TapeEntry entry = Remember(Grad::kAdd, layer);
  Scope add(r_, HostName::kAdd);
  add.Sequence(entry.sequence, entry.flow);
  recorder_.Allocate(kActivationBytes);
  recorder_.Launch(Kernel::kAdd);
}

void RankModel::Loss() {
  {
    Scope loss(r_, HostName::kCrossEntropy);
    loss.Sequence(recorder_.sequence());
    {
      Scope outer(r_, HostName::kLogSoftmax);
      outer.Sequence(recorder_.sequence());
      const TapeEntry entry = Remember(Grad::kLogSoftmax, config_.layers);
      Scope inner(r_, HostName::kLogSoftmaxInner);
      inner.Sequence(entry.sequence, entry.flow);
      AllocateOutput(4096LL * 32000 * 4);
      recorder_.Launch(Kernel::kLogSoftmax);
    }
    Scope nd(r_, HostName::kNllLossNd);
    nd.Sequence(recorder_.sequence());
    Scope nll(r_, HostName::kNllLoss);
    nll.Sequence(recorder_.sequence());
    const TapeEntry entry = Remember(Grad::kNll, config_.layers);
    Scope forward(r_, HostName::kNllLossForward);
    forward.Sequence(entry.sequence, entry.flow);
    recorder_.Launch(Kernel::kNll);
  }
  // Dividing by a number calls itself with a tensor: an op inside an op of the same name.
  Scope outer(r_, HostName::kDiv);
  outer.Sequence(recorder_.sequence());
  const TapeEntry entry = Remember(Grad::kDiv, config_.layers);
  Scope inner(r_, HostName::kDiv);
  inner.Sequence(entry.sequence, entry.flow);
  recorder_.Launch(Kernel::kDiv);
}

}  // namespace borescope::scenario
