// host_events and device_events as one table, so that grouping all events needs no sorting by
// SQLite.
#include "borescope/query/relations/device_columns.h"
#include "borescope/query/relations/host_columns.h"

namespace borescope::internal::query {
namespace {

using Rows = const RankRows&;

// Rows are those of host_events, then those of device_events.
uint32_t HostRows(Rows r) { return static_cast<uint32_t>(r.trace.host().size()); }
size_t HostAndDeviceRows(Rows r) { return HostRows(r) + r.trace.device().size(); }

Cell SideOf(Rows r, uint32_t row) { return Text(row < HostRows(r) ? "host" : "device"); }

Cell IdOf(Rows r, uint32_t row) {
  const uint32_t host_rows = HostRows(r);
  return Int(row < host_rows ? row : row - host_rows);
}

// What both tables have.
template <const ColumnSpec& kHost, const ColumnSpec& kDevice>
constexpr ColumnSpec Both(std::string_view doc = kHost.doc) {
  static_assert(kHost.name == kDevice.name && kHost.type == kDevice.type);
  return {kHost.name, kHost.type, kHost.spread, doc, [](Rows r, uint32_t row) {
            const uint32_t host_rows = HostRows(r);
            return row < host_rows ? kHost.get(r, row) : kDevice.get(r, row - host_rows);
          }};
}

template <const ColumnSpec& kHost>
constexpr ColumnSpec HostOnly() {
  return {kHost.name, kHost.type, kHost.spread, kHost.doc,
          [](Rows r, uint32_t row) { return row < HostRows(r) ? kHost.get(r, row) : Null(); }};
}

template <const ColumnSpec& kDevice>
constexpr ColumnSpec DeviceOnly() {
  return {kDevice.name, kDevice.type, kDevice.spread, kDevice.doc, [](Rows r, uint32_t row) {
            const uint32_t host_rows = HostRows(r);
            return row < host_rows ? Null() : kDevice.get(r, row - host_rows);
          }};
}

constexpr ColumnSpec kEvents[] = {
    kRank,
    {"side", kText, kFew, "host or device: the table of its id.", SideOf},
    {"id", kInteger, kKey, "Row number in host_events or device_events.", IdOf},
    Both<host::kTs, device::kTs>(),
    Both<host::kDur, device::kDur>(),
    Both<host::kEnd, device::kEnd>(),
    Both<host::kName, device::kName>(),
    Both<host::kKind, device::kKind>("What it is, in the words of its table."),
    HostOnly<host::kPid>(),
    HostOnly<host::kTid>(),
    DeviceOnly<device::kGpu>(),
    DeviceOnly<device::kStream>(),
    DeviceOnly<device::kProcess>(),
    Both<host::kCorrelation, device::kCorrelation>("Correlation number."),
    Both<host::kExternalId, device::kExternalId>(),
    Both<host::kStep, device::kStep>("Number of the step in which it starts, or its launch does.")};

constexpr Relation kEventRelations[] = {{"events", "host_events and device_events together.",
                                         HostAndDeviceRows, nullptr, kEvents, false}};

}  // namespace

std::span<const Relation> EventRelations() { return kEventRelations; }

}  // namespace borescope::internal::query
