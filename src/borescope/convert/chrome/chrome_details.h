// Arguments that both host and device events of a Chrome trace have.
#pragma once

#include "borescope/convert/chrome/chrome_text.h"

namespace borescope::internal {

// `row` of Collectives; nothing for kNoDetail.
inline void WriteCollective(const Trace& trace, uint32_t row, ChromeArgs& args) {
  if (row == kNoDetail) {
    return;
  }
  const Collectives& rows = trace.collectives();
  args.Name("\"Collective name\":", rows.collective[row]);
  args.Text("\"dtype\":", rows.dtype[row]);
  args.Int("\"In msg nelems\":", rows.in_elems[row]);
  args.Int("\"Out msg nelems\":", rows.out_elems[row]);
  args.Int("\"Group size\":", rows.group_size[row]);
  args.Text("\"Process Group Name\":", rows.group[row]);
  args.Text("\"Process Group Description\":", rows.group_desc[row]);
  args.Text("\"Process Group Ranks\":", rows.ranks[row]);
  args.Int("\"Seq\":", rows.sequence[row]);
}

}  // namespace borescope::internal
