// Recurrent layers: per step, layer and direction the products of the input and of the hidden state
// with the weights of all gates.
#include <algorithm>

#include "borescope/opmodel/cost_builder.h"
#include "borescope/opmodel/families.h"

namespace borescope::internal::opmodel {
namespace {

// Where a schema has its arguments. Behind the mode come the hidden size, the size of a projection
// if the schema has one, the number of layers, and four behind that whether there are two
// directions.
struct RnnLayout {
  RnnArgs schema;
  size_t hx, cx, mode;
  bool has_projection;
  int64_t passes;  // backward: one product for each of two gradients
};

constexpr RnnLayout kRnnLayouts[] = {
    {kRnnCudnn, 4, 5, 6, true, 1},
    {kRnnMiopen, 3, 4, 5, false, 1},
    {kRnnCudnnBackward, 4, 5, 10, true, 2},
};

struct Mode {
  int64_t gates, elementwise;  // FLOPs per element of the hidden state
};
constexpr Mode kModes[] = {{1, 2}, {1, 2}, {4, 10}, {3, 9}};  // relu, tanh, lstm, gru

struct RnnShape {
  Mode mode;
  int64_t hidden, layers, directions;
};

// Of all layers: multiply-adds per token, and numbers of weights.
struct RnnSize {
  Quantity multiply_adds, weights;
};

RnnSize SizeOf(const RnnShape& shape, int64_t input) {
  const Quantity rows = Quantity(shape.mode.gates) * shape.hidden * shape.directions;
  const Quantity deeper = Quantity(shape.hidden) * shape.directions + shape.hidden;
  const Quantity columns = Quantity(input) + shape.hidden + deeper * (shape.layers - 1);
  constexpr int kBiases = 2;
  return {rows * columns, rows * (columns + Quantity(shape.layers) * kBiases)};
}

std::optional<RnnShape> ShapeOf(const OpCall& call, const RnnLayout& layout) {
  const size_t layers_at = layout.mode + (layout.has_projection ? 3 : 2);
  const auto mode = call.args.Integer(layout.mode);
  const auto hidden = call.args.Integer(layout.mode + 1);
  const auto layers = call.args.Integer(layers_at);
  const auto is_bidirectional = call.args.Bool(layers_at + 4);
  if (!mode || !hidden || !layers || !is_bidirectional) return std::nullopt;
  if (*mode < 0 || *mode >= static_cast<int64_t>(std::size(kModes))) return std::nullopt;
  return RnnShape{kModes[*mode], *hidden, *layers, *is_bidirectional ? 2 : 1};
}

}  // namespace

OpCost RecurrentLayers(const OpCall& call) {
  const RnnLayout& layout =
      *std::ranges::find(kRnnLayouts, static_cast<RnnArgs>(call.model.variant), &RnnLayout::schema);
  const OpTensor* x = call.args.Tensor(0);
  if (x == nullptr) return Failure(call, CostStatus::kMissingShapes);
  const auto shape = ShapeOf(call, layout);
  if (!shape) return Failure(call, CostStatus::kNeedsValues);
  const bool has_projection =
      layout.has_projection && call.args.Integer(layout.mode + 2).value_or(0) != 0;
  if (x->rank() < 2 || shape->layers < 1 || shape->hidden < 1 || has_projection) {
    return Failure(call, CostStatus::kBadShapes);
  }
  const Quantity tokens = Product(Leading(x->dims, 1));
  const Quantity states = tokens * shape->directions * shape->hidden;
  const RnnSize size = SizeOf(*shape, x->dims.back());
  CostBuilder cost(call);
  cost.Read(*x).Read(size.weights, x->type);
  cost.Read(call.args.Tensor(layout.hx)).Read(call.args.Tensor(layout.cx));
  if (layout.passes == 2) {
    cost.Read(states * 2, x->type).Write(*x).Write(size.weights, x->type);
  } else {
    cost.Write(states, x->type);
  }
  return cost.MultiplyAdds(tokens * size.multiply_adds * layout.passes, x->type)
      .Vector(states * shape->layers * shape->mode.elementwise * layout.passes)
      .Finish();
}

// (products of input, products of hidden state, state, bias, bias): what is left of a cell.
OpCost RecurrentCell(const OpCall& call) {
  const OpTensor* input = call.args.Tensor(0);
  const OpTensor* hidden = call.args.Tensor(1);
  const OpTensor* state = call.args.Tensor(2);
  if (input == nullptr || hidden == nullptr || state == nullptr) {
    return Failure(call, CostStatus::kMissingShapes);
  }
  const bool is_lstm = call.model.variant == kLstmCell;
  const Quantity states = Elements(*state);
  CostBuilder cost(call);
  return cost.Type(state->type)
      .Read(*input)
      .Read(*hidden)
      .Read(*state)
      .Read(call.args.Tensor(3))
      .Read(call.args.Tensor(4))
      .PerElement(states)
      .Write(states * (is_lstm ? 2 : 1), state->type)
      .Write(states * (is_lstm ? 4 : 5), state->type)  // what backward needs
      .Finish();
}

}  // namespace borescope::internal::opmodel
