// Whatever the bytes are: a .et ends in an Error or can be checked, shown and drawn; a linked trace
// ends in an Error or can be planned and written, and what is written can be read; a host trace
// ends in an Error or can be written.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/base/check.h"
#include "borescope/chakra/et_check.h"
#include "borescope/chakra/et_draw.h"
#include "borescope/chakra/et_json.h"
#include "borescope/chakra/et_plan.h"
#include "borescope/chakra/host_trace.h"
#include "borescope/chakra/link_writer.h"

namespace {

using borescope::Result;

void TryEt(std::string_view bytes) {
  const Result<borescope::EtFile> et = borescope::ReadEt(bytes);
  if (!et.ok()) {
    return;
  }
  std::vector<borescope::CheckRow> rows;
  borescope::CheckEt("fuzz", *et, rows);
  borescope::StringSink sink;
  static_cast<void>(borescope::WriteEtJson(bytes, sink));
  static_cast<void>(borescope::WriteEtJsonAsReference(bytes, sink));
  static_cast<void>(borescope::WriteEtDot(bytes, sink));
  static_cast<void>(borescope::WriteEtGraphml(bytes, true, sink));
}

void TryPlan(const borescope::LinkedTrace& linked, const Result<borescope::EtPlan>& plan) {
  if (!plan.ok()) {
    return;
  }
  borescope::StringSink sink;
  BS_CHECK(borescope::WriteEt(linked, *plan, sink).ok());
  BS_CHECK(borescope::ReadEt(sink.text()).ok());
}

void TryHost(const std::string& bytes) {
  const Result<borescope::chakra::HostTrace> host = borescope::chakra::ReadHostTrace(bytes);
  if (!host.ok()) {
    return;
  }
  borescope::chakra::LinkPlan plan;
  plan.hosts.resize(host->nodes.size());
  borescope::StringSink sink;
  static_cast<void>(
      borescope::chakra::WriteLinked(*host, plan, borescope::chakra::JsonForm::kIndented, sink));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  TryEt(bytes);
  TryHost(bytes);
  const Result<borescope::LinkedTrace> linked = borescope::ParseLinkedTrace(bytes, "fuzz");
  if (linked.ok()) {
    TryPlan(*linked, borescope::PlanEt(*linked));
    TryPlan(*linked, borescope::PlanEtAsReference(*linked));
  }
  return 0;
}
