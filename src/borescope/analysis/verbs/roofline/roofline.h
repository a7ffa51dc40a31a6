// The tables of `roofline`; each is made in the file of its name. docs/how-it-works/roofline.md.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/flops/modelled_work.h"
#include "borescope/analysis/measures/flops/roofs.h"
#include "borescope/table/table.h"

namespace borescope::internal {

// One rank, modelled.
struct RooflineInput {
  const RankView& view;
  const Selected& selected;  // what is counted
  // Selected time that rates are of, per device with selected work: without a selection of time
  // what is after inherited work.
  const std::map<int64_t, IntervalSet>& time_of;
  const std::map<int64_t, int64_t>& inherited_ns;  // time before that, of the same devices
  const Roofs& roofs;
  const ModelledWork& work;                             // of the whole recording
  const std::vector<std::optional<RoofTime>>& at_roof;  // per call
};

// The selected work of one call.
struct CallTotals {
  int64_t kernels = 0;
  int64_t total_ns = 0;
};
CallTotals TotalsOf(const RooflineInput& in, const ModelledCall& call);

// How long the work of one call runs, and how much of it inside the selected time and on selected
// streams, whenever it was launched.
struct CallTime {
  int64_t total_ns = 0;
  int64_t inside_ns = 0;

  // The part of `amount`, which belongs to all of the work, that is inside. Work of no length is
  // inside.
  int64_t PartOf(int64_t amount) const { return PartOf(amount, inside_ns); }
  int64_t PartOf(int64_t amount, int64_t part_ns) const;
};
CallTime TimeOf(const RooflineInput& in, const ModelledCall& call);
// The same for one piece of work; 0 on a stream that is not selected.
int64_t InsideOf(const RooflineInput& in, DeviceId id);

// ledger.cc
Table LedgerTable(const RooflineInput& in);
// utilisation.cc
Table UtilisationTable(const RooflineInput& in);
// gemm_shapes.cc
Table TensorCoreMissesTable(const RooflineInput& in);
// The description of the key `direction`.
inline constexpr std::string_view kDirectionDoc = "forward, backward, recompute or update.";

// gemm_shapes.cc; by the keys of --by, too; finished, a row of each shape with statistics of the
// rates of its calls
Table GemmShapesTable(const RooflineInput& in, std::span<const std::string> by);
Table FinishGemmShapes(const Table& table);
// modelled_share.cc
Table ModelledShareTable(const RooflineInput& in);
Table FinishModelledShare(Table modelled);
Table RoofsTable(const RooflineInput& in);

}  // namespace borescope::internal
