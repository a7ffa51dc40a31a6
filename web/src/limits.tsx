// What limits a kernel, as counters of another run measured it: how near it came to the peaks of the device, and what
// its operator did against what the model of the operator says.
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';

import { type Report, type Table, find, indices, numberAt, rowsOf, sectionNamed, tableOf, textAt } from './model';
import { useNavigation } from './navigation';
import { plainWords, printable, show, showShare } from './units';

/** The tables of counters of a page; undefined where no report of counters was given. */
interface Counted {
  light: Table | undefined; // speed_of_light: without percentages of the peaks there is none
  ops: Table | undefined; // counter_ops
  flops: Table | undefined; // counter_flops, which has the operator of each kernel
}

const CountedContext = createContext<Counted | undefined>(undefined);
export const CountedProvider = CountedContext.Provider;

/** Those of a report of one run. */
export function countedOf(report: Report): Counted | undefined {
  const sections = [sectionNamed(report, 'counters'), sectionNamed(report, 'roofline')];
  const table = (name: string) => sections.map((section) => tableOf(section, name)).find((one) => one !== undefined && one.comparison === 'none' && rowsOf(one) > 0);
  const [light, ops] = [table('speed_of_light'), table('counter_ops')];
  return light === undefined && ops === undefined ? undefined : { light, ops, flops: table('counter_flops') };
}

const LIMITERS: Record<string, string> = {
  'near peak': 'near the peak of the device: one of compute and memory is at 80 % or above',
  'small grid': 'its grid is small: less than one wave of blocks',
  latency: 'latency: neither compute nor memory reaches 60 % of its peak',
  balanced: 'compute and memory alike',
  compute: 'compute',
  memory: 'memory',
};

/** A name and the same without its middle, as timelines have long ones, are one. */
function isSameName(whole: string, name: string): boolean {
  const middle = name.indexOf('…');
  return whole === name || (middle > 0 && whole.length >= name.length && whole.startsWith(name.slice(0, middle)) && whole.endsWith(name.slice(middle + 1)));
}

/** "1,2,3" of "grid 1,2,3 block 32,1,1" and of "1, 2, 3"; empty where there is none. */
const sizeIn = (text: string): string => /^(?:grid )?(\d+), ?(\d+), ?(\d+)/.exec(text)?.slice(1).join(',') ?? '';

/** Rows of kernels of this name, most time first; of one grid alone where `detail` has it. */
function rowsOfKernel(light: Table | undefined, name: string, rank: number | null, detail: string): number[] {
  if (light === undefined) {
    return [];
  }
  const [names, ranks, grids] = [find(light, 'kernel'), find(light, 'rank'), find(light, 'grid')];
  const rows = indices(rowsOf(light)).filter((row) => isSameName(printable(textAt(names, row)), name) && (rank === null || numberAt(ranks, row) === rank));
  const wanted = sizeIn(detail);
  const exact = wanted === '' ? [] : rows.filter((row) => sizeIn(textAt(grids, row)) === wanted);
  return (exact.length > 0 ? exact : rows).sort((a, b) => numberAt(find(light, 'total_ns'), b) - numberAt(find(light, 'total_ns'), a));
}

/** "12.3 % of its peak"; empty where it is not known. */
function share(table: Table, name: string, row: number): string {
  const column = find(table, name);
  return typeof column?.values[row] === 'number' ? showShare(numberAt(column, row), 1) : '';
}

/** "2.1 MB measured, 1.0 MB by the model: × 2.10". */
function against(table: Table, row: number, measured: string, model: string, unit: string): string {
  const [mine, modelled] = [find(table, measured), find(table, model)];
  if (typeof mine?.values[row] !== 'number') {
    return '';
  }
  const words = `${show(numberAt(mine, row), unit)} measured`;
  const expected = numberAt(modelled, row);
  return expected > 0 ? `${words}, ${show(expected, unit)} by the model: × ${(numberAt(mine, row) / expected).toFixed(2)}` : words;
}

export function Fact({ label, value }: { label: string; value: string }) {
  return value === '' ? null : <div><dt>{label}</dt><dd>{value}</dd></div>;
}

function OpFacts({ ops, op, rank }: { ops: Table; op: string; rank: number }) {
  const row = indices(rowsOf(ops)).find((one) => textAt(find(ops, 'op'), one) === op && numberAt(find(ops, 'rank'), one) === rank);
  if (row === undefined) {
    return null;
  }
  const verdicts = ['flops_verdict', 'bytes_verdict'].map((name) => textAt(find(ops, name), row)).filter((text) => text !== '');
  // What vector units did says nothing about a matrix operator whose own operations were not counted.
  const isUnknown = textAt(find(ops, 'flops_verdict'), row) === 'not measured';
  const flops = isUnknown ? 'not measured' : against(ops, row, 'tensor_flops', 'matrix_flops', 'flops') || against(ops, row, 'vector_ops', 'vector_flops', 'flops');
  return (
    <>
      <Fact label={`FLOPs of ${printable(op)}`} value={flops} />
      <Fact label="read from device memory" value={against(ops, row, 'dram_read', 'model_read', 'bytes')} />
      <Fact label="written to it" value={against(ops, row, 'dram_written', 'model_written', 'bytes')} />
      <Fact label="verdict" value={verdicts.map((text) => plainWords(printable(text))).join('; ')} />
    </>
  );
}

function LightFacts({ light, row }: { light: Table; row: number }) {
  const text = (column: string) => printable(textAt(find(light, column), row));
  const limit = text('occupancy_limit');
  const [reached, most] = [share(light, 'occupancy', row), share(light, 'occupancy_max', row)];
  const levels = [['compute', 'compute'], ['memory', 'memory'], ['dram', 'device memory'], ['l2', 'L2'], ['l1', 'L1'], ['tensor', 'matrix units']] as const;
  const waves = find(light, 'waves')?.values[row];
  return (
    <>
      <Fact label="limiter" value={LIMITERS[text('limiter')] ?? text('limiter')} />
      <Fact label="of the peak" value={levels.map(([column, words]) => [words, share(light, column, row)]).filter(([, value]) => value !== '').map(([words, value]) => `${words} ${value}`).join(', ')} />
      <Fact label="nearest to its peak" value={text('inner')} />
      <Fact label="occupancy" value={reached === '' ? '' : `${reached}${most === '' ? '' : ` of ${most} at most`}${limit === '' ? '' : `, by ${plainWords(limit)}`}`} />
      <Fact label="waves of blocks" value={typeof waves === 'number' ? waves.toFixed(2) : ''} />
      <Fact label="beyond the peak" value={`${show(numberAt(find(light, 'beyond_ns'), row), 'ns')} of ${show(numberAt(find(light, 'total_ns'), row), 'ns')}`} />
    </>
  );
}

/** The operator of the kernels of a name, and a rank that has it; null: not known. */
function opOf({ light, flops, ops }: Counted, row: number | undefined, name: string, rank: number | null): { op: string; rank: number } | null {
  const table = row !== undefined ? light : flops;
  const at = row ?? (flops === undefined ? -1 : indices(rowsOf(flops)).findIndex((one) =>
    isSameName(printable(textAt(find(flops, 'kernel'), one)), name) && (rank === null || numberAt(find(flops, 'rank'), one) === rank)));
  const op = table === undefined || at < 0 ? '' : textAt(find(table, 'op'), at);
  const isThere = ops !== undefined && op !== '' && find(ops, 'op')?.values.includes(op);
  return isThere && table !== undefined ? { op, rank: numberAt(find(table, 'rank'), at) } : null;
}

/** What limits the kernels of a name; nothing where no counters were measured of them. */
export function KernelLimits({ name, rank = null, detail = '' }: { name: string; rank?: number | null; detail?: string }) {
  const counted = useContext(CountedContext);
  const { href } = useNavigation();
  const rows = rowsOfKernel(counted?.light, name, rank, detail);
  const [row] = rows;
  const op = counted === undefined ? null : opOf(counted, row, name, rank);
  if (counted === undefined || (row === undefined && op === null)) {
    return null;
  }
  const { light, ops } = counted;
  const grid = light === undefined || row === undefined ? '' : printable(textAt(find(light, 'grid'), row));
  const sizes = light === undefined ? 0 : new Set(rows.map((one) => `${textAt(find(light, 'grid'), one)} ${textAt(find(light, 'block'), one)}`)).size;
  return (
    <div class="limits">
      <h4>{row === undefined ? 'What its operator did' : 'What limits it'} <small>measured by counters in another run{sizes > 1 && `; of ${sizes} sizes that with most time, grid ${grid}`}</small></h4>
      <dl>
        {light !== undefined && row !== undefined && <LightFacts light={light} row={row} />}
        {ops !== undefined && op !== null && <OpFacts ops={ops} op={op.op} rank={op.rank} />}
      </dl>
      <p class="note">{row === undefined && 'What limits it was not measured: that takes the sections SpeedOfLight and Occupancy of ncu. '}<a href={href('counters')}>All counters</a></p>
    </div>
  );
}
