// What was recorded, in a row of numbers, each a link to where it comes from; of two runs with what changed.
import { type Run, relativeChange } from './compare';
import { type DeviceTime, LEFT_OUT, NO_TIME, deviceTime, timeOfUnit } from './device_time';
import { type Report, type Table, find, indices, numberAt, rowsOf, sectionNamed, tableOf, textAt } from './model';
import { useNavigation } from './navigation';
import { sideOf } from './panes/overview_filters';
import { printable, show, showShare, sum } from './units';

interface Fact {
  label: string;
  value: string;
  note?: string;
  section: string; // that has it
  number?: number; // what is compared
  isShare?: boolean; // by a difference of points
}

/** What changed from the other run to this one; empty where it cannot be said. */
function changeOf({ number, isShare }: Fact, other: Fact): string {
  if (number === undefined || other.number === undefined) {
    return '';
  }
  const points = (number - other.number) * 100;
  return isShare === true ? `${points < 0 ? '−' : '+'}${Math.abs(points).toFixed(1)}\u00a0points` : relativeChange(number, other.number);
}

/** A fact of this run, and below it the other's. */
function FactView({ fact, other }: { fact: Fact; other: Fact | undefined }) {
  const { href } = useNavigation();
  const change = other === undefined ? '' : changeOf(fact, other);
  return (
    <div class="fact">
      <dt>{fact.label}</dt>
      <dd><a href={href(fact.section)}>{fact.value}{fact.note !== undefined && <small>{fact.note}</small>}</a>{change !== '' && <small class="changed">{change}</small>}</dd>
      {other !== undefined && <dd class="other"><small>other</small> {other.value}{other.note !== undefined && <small>{other.note}</small>}</dd>}
    </div>
  );
}

/** "1 x NAME" of each rank as "8 x NAME". */
function devicesOf(overview: Table): string {
  const column = find(overview, 'devices');
  const counts = new Map<string, number>();
  for (const one of indices(rowsOf(overview)).flatMap((row) => printable(textAt(column, row)).split(/[,;] (?=\d+ x )/))) {
    const [, count = '1', name = one] = /^(\d+) x (.*)$/.exec(one) ?? [];
    counts.set(name, (counts.get(name) ?? 0) + Number(count));
  }
  return [...counts].filter(([name]) => name !== '').map(([name, count]) => `${count} x ${name}`).join('; ');
}

const total = (table: Table, name: string): number => {
  const column = find(table, name);
  return column === undefined ? 0 : sum(column);
};

const most = (table: Table, name: string): number =>
  Math.max(0, ...indices(rowsOf(table)).map((row) => numberAt(find(table, name), row)));

/** What one step of a run takes, where two runs are compared by steps. */
interface OfUnit {
  unit: string;
  kernels: number;
}

function factsOf(overview: Table, time: DeviceTime, per: OfUnit | null): Fact[] {
  const ranks = rowsOf(overview);
  const world = most(overview, 'world_size');
  const span = per === null ? most(overview, 'span_ns') : time.whole;
  const kernels = per === null ? total(overview, 'kernels') : per.kernels;
  const steps = most(overview, 'steps');
  const a = per === null ? '' : ` a ${per.unit}`;
  return [
    { label: 'Devices', value: devicesOf(overview), section: 'info' },
    { label: 'Ranks', value: String(ranks), ...(world > ranks ? { note: ` of ${world}` } : {}), section: 'info' },
    { label: 'Steps', value: String(steps || ''), section: 'steps' },
    { label: `Time${a}`, value: show(span, 'ns'), section: 'breakdown', number: span },
    { label: `Kernels${a}`, value: show(kernels, 'count'), section: 'kernels', number: kernels },
    { label: 'Devices busy', value: time.whole > 0 ? showShare(time.busy, time.whole) : '', section: 'breakdown', number: time.busy / time.whole, isShare: true },
  ].filter((fact) => fact.value !== '');
}

/** Of two runs the time of one step of them. */
const unitTable = (report: Report): Table | undefined => {
  const time = tableOf(sectionNamed(report, 'diff'), 'diff_time');
  return report.units === null || report.units.unit === 'run' || time === undefined || rowsOf(time) === 0 ? undefined : time;
};

function ofUnit(report: Report, run: Run): OfUnit | null {
  const kernels = sideOf(tableOf(sectionNamed(report, 'kernels'), 'kernels'), run);
  return unitTable(report) === undefined ? null : { unit: report.units?.unit ?? '', kernels: kernels === undefined ? 0 : total(kernels, 'count') };
}

/** The time of all devices of a run, whatever the filters. */
function timeOf(report: Report, run: Run): DeviceTime {
  const time = unitTable(report);
  if (time !== undefined) {
    return timeOfUnit(time, run === 'this' ? 'test_ns' : 'base_ns', undefined);
  }
  const section = sectionNamed(report, 'breakdown');
  const [breakdown, leftOut] = [tableOf(section, 'breakdown'), tableOf(sectionNamed(report, 'summary'), LEFT_OUT)].map((table) => sideOf(table, run));
  const parts = section?.views.find((view) => view.table === 'breakdown')?.values ?? [];
  return breakdown === undefined ? NO_TIME : deviceTime(breakdown, parts, leftOut);
}

export function Facts({ report, overview }: { report: Report; overview: Table }) {
  const side = (run: Run) => {
    const table = sideOf(overview, run);
    return table === undefined ? [] : factsOf(table, timeOf(report, run), ofUnit(report, run));
  };
  const others = side('other');
  return (
    <dl class="facts">
      {side('this').map((fact) => (
        <FactView key={fact.label} fact={fact} other={others.find((one) => one.label === fact.label)} />
      ))}
    </dl>
  );
}
