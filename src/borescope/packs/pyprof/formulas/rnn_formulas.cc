// Cells of recurrent networks: x[B,X], h[B,H]; an LSTM has 4 gates, a GRU 3.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "borescope/base/text/text.h"
#include "borescope/packs/pyprof/formulas/formula.h"

namespace borescope::internal::pyprof {
namespace {

constexpr std::string_view kCellGemms[] = {"sgemm", "884gemm", "hgemm"};

struct Cell {
  int64_t b = 0, x = 0, h = 0, gates = 0;
  Operand operand;  // for its type

  int64_t gate_rows() const { return gates * h; }
};

struct Gemm {
  std::string_view name;  // "layer": of the input; "recur": of the state
  int64_t m = 0, n = 0, k = 0;
};

std::optional<Cell> CellOf(const PyProfCall& call) {
  constexpr int64_t kLargest = int64_t{1} << 31;
  if (call.args.size() < 2) return std::nullopt;
  const auto x = TensorOf(call.args.data());
  const auto h = TensorOf(&call.args[1]);
  if (!x || !h || x->shape.size() != 2 || h->shape.size() != 2) return std::nullopt;
  const Cell cell{x->shape[0], x->shape[1], h->shape[1], call.mod == "LSTMCell" ? 4 : 3, *x};
  const bool is_sane = cell.b < kLargest && cell.x < kLargest && cell.h < kLargest;
  return is_sane && h->shape[0] == cell.b ? std::optional(cell) : std::nullopt;
}

// "AxB", the tile of a block of threads: the one part between underscores with an x in it.
std::optional<std::pair<int64_t, int64_t>> TileOf(std::string_view kernel) {
  while (!kernel.empty()) {
    const size_t end = std::min(kernel.find('_'), kernel.size());
    const std::string_view part = kernel.substr(0, end);
    kernel.remove_prefix(std::min(end + 1, kernel.size()));
    const size_t x = part.find('x');
    if (x == std::string_view::npos || Contains(part, "slice")) continue;
    const auto a = ParseNumber<int32_t>(part.substr(0, x));
    const auto b = ParseNumber<int32_t>(part.substr(x + 1));
    return a && b ? std::optional(std::pair(*a, *b)) : std::nullopt;
  }
  return std::nullopt;
}

// Which product a backward kernel computes, by the rows its grid covers.
std::optional<Gemm> BackwardGemm(const Cell& cell, const PyProfKernel& kernel) {
  const auto tile = TileOf(kernel.name);
  if (!tile || kernel.grid_x < 0 || kernel.grid_y < 0) return std::nullopt;
  const Quantity rows = Quantity(tile->first) * kernel.grid_x;
  const bool is_recurrent = rows == Quantity(cell.h);
  if (!is_recurrent && rows != Quantity(cell.x)) return std::nullopt;
  const std::string_view name = is_recurrent ? "recur" : "layer";
  const int64_t m = is_recurrent ? cell.h : cell.x;
  if (kernel.name.ends_with("_nn")) return Gemm{name, m, cell.b, cell.gate_rows()};
  const Quantity columns = Quantity(tile->second) * kernel.grid_y;
  if (!kernel.name.ends_with("_nt") || columns != Quantity(cell.gate_rows())) return std::nullopt;
  return Gemm{name, m, cell.gate_rows(), cell.b};
}

PyProfWork GemmWork(const Case& one, const Cell& cell, const Gemm& gemm) {
  return {
      .op = one.call.op,
      .params = fmt::format("gemm={},M={},N={},K={},{},", gemm.name, gemm.m, gemm.n, gemm.k,
                            ShortType(cell.operand.dtype)),
      .flops = Quantity(2) * gemm.m * gemm.n * gemm.k,
      .bytes = Quantity(cell.operand.size) *
               (Quantity(gemm.m) * gemm.k + Quantity(gemm.k) * gemm.n + Quantity(gemm.m) * gemm.n)};
}

PyProfWork CellWork(const Case& one, const Cell& cell) {
  PyProfWork work{.op = one.call.op,
                  .params = fmt::format("cell={},X={},H={},B={},{},", one.call.mod, cell.x, cell.h,
                                        cell.b, ShortType(cell.operand.dtype))};
  if (!one.kernel.is_backward) {
    const Quantity state = Quantity(cell.h) * cell.b;
    work.bytes =
        Quantity(cell.operand.size) * (Quantity(2) * cell.gates * state + Quantity(3) * state);
  }
  return work;
}

}  // namespace

std::optional<PyProfWork> RnnCell(const Case& one) {
  const auto cell = CellOf(one.call);
  if (!cell) return std::nullopt;
  std::optional<PyProfWork> work;
  const PyProfKernel& kernel = one.kernel;
  const bool has_gemm = Contains(kernel.name, "gemm");
  if (!kernel.is_backward && kernel.sub % 3 < 2) {
    const bool is_layer = kernel.sub % 3 == 0;
    work = GemmWork(
        one, *cell,
        {is_layer ? "layer" : "recur", cell->gate_rows(), cell->b, is_layer ? cell->x : cell->h});
  } else if (kernel.is_backward && ContainsAny(kernel.name, kCellGemms)) {
    const auto gemm = BackwardGemm(*cell, kernel);
    if (!gemm) return std::nullopt;
    work = GemmWork(one, *cell, *gemm);
  } else {
    work = CellWork(one, *cell);
  }
  work->tc = has_gemm ? TensorCores(kernel.name) : "-";
  return work;
}

}  // namespace borescope::internal::pyprof
