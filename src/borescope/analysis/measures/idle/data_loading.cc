#include "borescope/analysis/measures/idle/data_loading.h"

#include <algorithm>

#include "borescope/base/text/text.h"

namespace borescope::internal {
namespace {

// As PyTorch's loader and what most training loops call it.
constexpr std::string_view kWords[] = {"DataLoader", "dataloader", "data_load"};

}  // namespace

std::vector<char> FindDataLoading(const Trace& trace, std::string_view also) {
  std::vector<char> is_loading(trace.strings().size());
  for (uint32_t name = 0; name < is_loading.size(); ++name) {
    const auto is_in = [text = trace.Text(StringId{name})](std::string_view word) {
      return Contains(text, word);
    };
    const bool loads =
        std::any_of(std::begin(kWords), std::end(kWords), is_in) || (!also.empty() && is_in(also));
    is_loading[name] = loads ? 1 : 0;
  }
  return is_loading;
}

std::vector<char> FindArrivals(const Trace& trace) {
  std::vector<char> is_arrival(trace.strings().size());
  for (uint32_t name = 0; name < is_arrival.size(); ++name) {
    is_arrival[name] =
        Contains(trace.Text(StringId{name}), "_MultiProcessingDataLoaderIter") ? 1 : 0;
  }
  return is_arrival;
}

}  // namespace borescope::internal
