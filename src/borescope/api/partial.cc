#include "borescope/partial.h"

#include <utility>
#include <vector>

#include "borescope/api/access.h"
#include "borescope/engine/partial/join_partials.h"
#include "borescope/engine/partial/partial_bytes.h"
#include "borescope/engine/partial/run_partials.h"

namespace borescope {
namespace {

std::vector<internal::PartialData> Insides(std::span<const Partial> partials) {
  std::vector<internal::PartialData> insides;
  insides.reserve(partials.size());
  for (const Partial& partial : partials) {
    insides.push_back(PartialAccess::Inside(partial));
  }
  return insides;
}

}  // namespace

struct Partial::Data {
  internal::PartialData partial;
};

Partial PartialAccess::Make(internal::PartialData partial) {
  Partial handle;
  handle.data_ = std::make_shared<const Partial::Data>(Partial::Data{std::move(partial)});
  return handle;
}

const internal::PartialData& PartialAccess::Inside(const Partial& partial) {
  return partial.data_->partial;
}

Result<std::string> Partial::Serialize() const {
  internal::Result<std::string> bytes = internal::SerializePartial(data_->partial);
  if (!bytes.ok()) {
    return PublicError(bytes.error());
  }
  return std::move(*bytes);
}

Result<Partial> Partial::Parse(std::string_view bytes, std::string_view name) {
  internal::Result<internal::PartialData> partial = internal::ParsePartial(bytes, name);
  if (!partial.ok()) {
    const std::string paths[] = {std::string(name)};
    return PublicError(partial.error(), paths);
  }
  return PartialAccess::Make(std::move(*partial));
}

Result<Answer> Reduce(std::span<const Partial> partials, const Display& display) {
  internal::RunOptions shown;
  shown.sort = display.sort;
  shown.top = display.top;
  internal::Result<internal::Answer> answer = internal::ReducePartials(Insides(partials), shown);
  if (!answer.ok()) {
    return PublicError(answer.error());
  }
  return AnswerAccess::Make(std::move(*answer));
}

Result<Partial> Merge(std::span<const Partial> partials) {
  internal::Result<internal::PartialData> merged = internal::MergePartials(Insides(partials));
  if (!merged.ok()) {
    return PublicError(merged.error());
  }
  return PartialAccess::Make(std::move(*merged));
}

}  // namespace borescope
