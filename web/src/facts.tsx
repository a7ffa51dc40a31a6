// What was recorded, in a row of numbers, each a link to where it comes from.
import { rowsOfRun } from './compare';
import { type Table, find, indices, numberAt, rowsOf, textAt } from './model';
import { useNavigation } from './navigation';
import { printable, show, showShare, sum } from './units';

interface Fact {
  label: string;
  value: string;
  note?: string;
  section: string; // that has it
}

/** A fact of this run, and below it the other's. */
function FactView({ fact, other }: { fact: Fact; other: Fact | undefined }) {
  const { href } = useNavigation();
  return (
    <div class="fact">
      <dt>{fact.label}</dt>
      <dd><a href={href(fact.section)}>{fact.value}{fact.note !== undefined && <small>{fact.note}</small>}</a></dd>
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

const total = (table: Table | undefined, name: string): number => {
  const column = table && find(table, name);
  return column === undefined ? 0 : sum(column);
};

const most = (table: Table, name: string): number =>
  Math.max(0, ...indices(rowsOf(table)).map((row) => numberAt(find(table, name), row)));

function factsOf(overview: Table, breakdown: Table | undefined): Fact[] {
  const ranks = rowsOf(overview);
  const world = most(overview, 'world_size');
  const busy = showShare(total(breakdown, 'busy_ns'), total(breakdown, 'span_ns'));
  return [
    { label: 'Devices', value: devicesOf(overview), section: 'info' },
    { label: 'Ranks', value: String(ranks), ...(world > ranks ? { note: ` of ${world}` } : {}), section: 'info' },
    { label: 'Steps', value: String(most(overview, 'steps') || ''), section: 'steps' },
    { label: 'Time', value: show(most(overview, 'span_ns'), 'ns'), section: 'breakdown' },
    { label: 'Kernels', value: show(total(overview, 'kernels'), 'count'), section: 'kernels' },
    { label: 'Devices busy', value: total(breakdown, 'span_ns') > 0 ? busy : '', section: 'breakdown' },
  ].filter((fact) => fact.value !== '');
}

export function Facts({ overview, breakdown }: { overview: Table; breakdown: Table | undefined }) {
  const side = (run: 'this' | 'other') => factsOf(rowsOfRun(overview, run), breakdown && rowsOfRun(breakdown, run));
  const others = overview.comparison === 'none' ? [] : side('other');
  return (
    <dl class="facts">
      {side('this').map((fact) => (
        <FactView key={fact.label} fact={fact} other={others.find((one) => one.label === fact.label)} />
      ))}
    </dl>
  );
}
