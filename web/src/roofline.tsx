// Operators by arithmetic intensity and rate, both on logarithmic axes, under the peaks of the device.
import { useMemo, useState } from 'preact/hooks';

import { type Run, rowsOfRun, sideOf } from './compare';
import { filterTable } from './filters';
import { useWidth } from './hooks';
import { fitName, textWidth } from './measure';
import { type Column, type Table, type View, find, indices, numberAt, rowsOf, textAt } from './model';
import { useFilters } from './navigation';
import { chooseFormat, formatNumber, maxOf, plainWords, printable, show, showShare, withUnit } from './units';

const HEIGHT = 340;
const LEFT = 56;
const BOTTOM = 40;
const TOP = 14;
const RIGHT = 14;
const MOST_DECADES = 4; // below the place of the roofs
const MOST_NAMED = 12; // of those with most time
const LIST_PX = 380;
const WIDE_PX = 900; // from which on the list is beside the plot
const LABEL_PX = 170;
const LABEL_TALL = 13;

interface Point {
  row: number; // of its table: that of operators, or of what counters measured
  run: Run;
  isMeasured?: boolean;
  x: number; // FLOP per byte
  y: number; // TFLOP/s
  weight: number; // 0 to 1, by time
}

interface Roof {
  name: string;
  tflops: number;
}

function pointsOfRun(table: Table, view: View, run: Run): Point[] {
  const side = sideOf(table, run);
  const x = find(side, view.values[0] ?? '');
  const y = find(side, view.values[1] ?? '');
  const time = find(side, 'total_ns');
  return indices(rowsOf(side))
    .map((row) => ({ row, run, x: numberAt(x, row), y: numberAt(y, row), weight: numberAt(time, row) }))
    .filter((point) => point.x > 0 && point.y > 0);
}

/** Of the other run first, so that this one is drawn above. */
function pointsOf(table: Table, view: View): Point[] {
  const others = table.comparison === 'none' ? [] : pointsOfRun(table, view, 'other');
  const points = [...others, ...pointsOfRun(table, view, 'this')];
  const most = maxOf(points.map((point) => point.weight), 1);
  return points.map((point) => ({ ...point, weight: point.weight / most }));
}

/** What counters measured in another run of the program: an operator of a rank each. */
function measuredPoints(measured: Table | undefined): Point[] {
  if (measured === undefined || measured.comparison !== 'none') {
    return [];
  }
  const column = (name: string) => find(measured, name);
  const most = maxOf(indices(rowsOf(measured)).map((row) => numberAt(column('total_ns'), row)), 1);
  return indices(rowsOf(measured))
    .map((row): Point => ({ row, run: 'this', isMeasured: true, x: numberAt(column('intensity'), row), y: numberAt(column('tflops'), row), weight: numberAt(column('total_ns'), row) / most }))
    .filter((point) => point.x > 0 && point.y > 0);
}

/** From what the model says of an operator to what was measured. */
function measuredWays(table: Table, points: readonly Point[], measured: Table | undefined, found: readonly Point[]): [Point, Point][] {
  const modelled = new Map(points.filter((point) => point.run === 'this').map((point) => [textAt(find(table, 'op'), point.row), point]));
  return measured === undefined ? [] : found.flatMap((point) => {
    const from = modelled.get(textAt(find(measured, 'op'), point.row));
    return from === undefined ? [] : [[from, point] as [Point, Point]];
  });
}

/** The way of each operator that both runs have. */
function pairsOf(points: Point[]): [Point, Point][] {
  const others = new Map(points.filter((point) => point.run === 'other').map((point) => [point.row, point]));
  return points.flatMap((point) => {
    const other = point.run === 'this' ? others.get(point.row) : undefined;
    return other === undefined ? [] : [[other, point] as [Point, Point]];
  });
}

/** Peaks of the first device, one for each distinct rate. */
function roofsOf(all: Table | undefined): { flat: Roof[]; gbps: number; device: string } {
  const roofs = all && rowsOfRun(all, 'this');
  const flat: Roof[] = [];
  for (const column of roofs?.columns ?? []) {
    const match = /^(\w+)_tflops$/.exec(column.name);
    const rate = numberAt(column, 0);
    const same = flat.find((roof) => roof.tflops === rate);
    if (match?.[1] !== undefined && rate > 0) {
      same === undefined ? flat.push({ name: match[1], tflops: rate }) : (same.name += `, ${match[1]}`);
    }
  }
  const column = (name: string): Column | undefined => roofs && find(roofs, name);
  return { flat, gbps: numberAt(column('memory_gbps'), 0), device: printable(textAt(column('device'), 0)) };
}

export function hasRoofline(table: Table, view: View): boolean {
  return pointsOf(table, view).length > 0;
}

const decades = (low: number, high: number) =>
  indices(Math.round(high - low) + 1).map((i) => Math.round(low) + i);

function power(exponent: number): string {
  return exponent >= -3 && exponent <= 5 ? (10 ** exponent).toLocaleString('en', { maximumFractionDigits: 3 }) : `1e${exponent}`;
}

/** The decade in which the smallest of `values` lies that is not left out: a few stray operators do
 *  not decide. */
function lowDecade(values: number[], high: number): number {
  const exponents = values.map(Math.log10).filter((exponent) => exponent >= Math.floor(high - MOST_DECADES));
  return Math.floor(Math.min(high, ...exponents));
}

/** Points of this run by time, as many as are named. */
const namedOf = (points: Point[]): Point[] =>
  points.filter((point) => point.run === 'this').sort((a, b) => b.weight - a.weight).slice(0, MOST_NAMED);

const nameOf = (table: Table, point: Point): string => printable(textAt(find(sideOf(table, point.run), 'op'), point.row));
const diamond = (x: number, y: number, size: number): string => `M${x - size},${y}L${x},${y - size}L${x + size},${y}L${x},${y + size}Z`;
const radius = (point: Point): number => 4 + 10 * Math.sqrt(point.weight);

interface Label {
  point: Point;
  text: string;
  left: number;
  top: number;
}

/** "1 aten::mm" beside each dot, or its number alone where names would lie on each other. */
function labelsOf(table: Table, named: Point[], names: readonly string[], at: (point: Point) => [number, number], right: number): Label[] {
  const labels: Label[] = [];
  const isFree = (left: number, top: number, width: number) => labels.every((other) =>
    left > other.left + textWidth(other.text) || left + width < other.left || Math.abs(top - other.top) >= LABEL_TALL);
  named.forEach((point, i) => {
    const [x, y] = at(point);
    const texts = [`${i + 1} ${fitName(nameOf(table, point), LABEL_PX, names)}`, String(i + 1)];
    const around = (text: string): Label[] => {
      const [away, width] = [radius(point) + 3, textWidth(text)];
      const places: [number, number][] = [[x + away, y + 4], [x - away - width, y + 4], [x - width / 2, y - away], [x - width / 2, y + away + 9]];
      return places.map(([left, top]) => ({ point, text, left, top }));
    };
    const isIn = ({ left, text }: Label) => left > LEFT && left + textWidth(text) < right;
    const free = texts.flatMap(around).find((label) => isIn(label) && isFree(label.left, label.top, textWidth(label.text)));
    labels.push(free ?? { point, text: String(i + 1), left: x - 4, top: y + 4 });
  });
  return labels;
}

/** What is named in the plot, with its numbers; pointing at one shows its dot. */
function List({ table, named, names, near, hasPeaks, onPoint }: { table: Table; named: Point[]; names: readonly string[]; near: Point | null; hasPeaks: boolean; onPoint: (point: Point | null) => void }) {
  const side = sideOf(table, 'this');
  const number = (name: string, row: number) => numberAt(find(side, name), row);
  return (
    <ol class="roof-list">
      {named.map((point, i) => (
        <li key={point.row} class={near?.row === point.row && near.isMeasured !== true ? 'near' : ''}>
          <button type="button" onPointerEnter={() => onPoint(point)} onFocus={() => onPoint(point)} onBlur={() => onPoint(null)} onPointerLeave={() => onPoint(null)} title={nameOf(table, point)}>
            <span>{i + 1}</span>
            <span class="bar-label">{fitName(nameOf(table, point), LIST_PX - 190, names)}</span>
            <span class="bar-value">{show(number('total_ns', point.row), 'ns')}</span>
            <span class="bar-value">{hasPeaks && find(side, 'roof_share')?.values[point.row] !== null ? showShare(number('roof_share', point.row), 1) : ''}</span>
          </button>
        </li>
      ))}
    </ol>
  );
}

function Tooltip({ table, point, hasPeaks }: { table: Table; point: Point; hasPeaks: boolean }) {
  const side = sideOf(table, point.run);
  const cell = (name: string) => find(side, name);
  const time = cell('total_ns');
  const name = printable(textAt(cell('op'), point.row));
  const shapes = printable(textAt(cell('shapes'), point.row));
  return (
    <div class="tip" role="status">
      <b>{name}</b> {printable(textAt(cell('dtypes'), point.row))}
      {shapes !== '' && <> · {shapes}</>}{table.comparison !== 'none' && ` · ${point.run} run`}<br />
      {show(numberAt(time, point.row), 'ns')} in {textAt(cell('count'), point.row)} calls{hasPeaks && ', '}
      {hasPeaks && `${showShare(numberAt(cell('roof_share'), point.row), 1)} of the roof, bound by ${plainWords(printable(textAt(cell('bound'), point.row)))}`}<br />
      {point.y.toPrecision(4)} TFLOP/s at {point.x.toPrecision(4)} FLOP/byte
    </div>
  );
}

/** "2.10 times" of a measured and a modelled amount; empty where one is not known. */
const timesWords = (measured: Table, name: string, row: number): string => {
  const ratio = find(measured, name)?.values[row];
  return typeof ratio === 'number' ? `${ratio.toFixed(2)} times` : '';
};

function MeasuredTip({ measured, point }: { measured: Table; point: Point }) {
  const text = (name: string) => printable(textAt(find(measured, name), point.row));
  const [flops, reads] = [timesWords(measured, 'flops_ratio', point.row), timesWords(measured, 'read_ratio', point.row)];
  const verdicts = [text('flops_verdict'), text('bytes_verdict')].filter((one) => one !== '').map(plainWords);
  return (
    <div class="tip" role="status">
      <b>{text('op')}</b> as counters measured it in another run{text('rank') !== '' && `, rank ${text('rank')}`}<br />
      {[flops === '' ? '' : `${flops} the FLOPs of the model`, reads === '' ? '' : `${reads} the bytes read`, ...verdicts].filter((one) => one !== '').join(' · ')}<br />
      {point.y.toPrecision(4)} TFLOP/s at {point.x.toPrecision(4)} FLOP/byte of device memory
    </div>
  );
}

function MeasuredLegend() {
  return (
    <ul class="legend points">
      <li><i class="dot" style={{ background: 'var(--compute)' }} aria-hidden="true" />by the model: every input read once, every output written once</li>
      <li><i class="diamond" aria-hidden="true" />as counters measured it, joined to the model by a line</li>
    </ul>
  );
}

function PointLegend() {
  return (
    <ul class="legend runs">
      <li><i class="full dot" aria-hidden="true" />this run</li>
      <li><i class="hollow dot" aria-hidden="true" />other run, joined to this one by a line</li>
    </ul>
  );
}

function Plot({ table, view, roofs, measured, width, named, names, near, setNear }: {
  named: Point[]; names: readonly string[]; table: Table; view: View; roofs: Table | undefined; measured: Table | undefined; width: number; near: Point | null; setNear: (point: Point | null) => void;
}) {
  const modelled = pointsOf(table, view);
  const counted = useMemo(() => measuredPoints(measured), [measured]);
  const all = [...modelled, ...counted];
  const { flat, gbps, device } = roofsOf(roofs);
  const peak = maxOf([...flat.map((roof) => roof.tflops), ...all.map((point) => point.y)]);
  const ridge = gbps > 0 ? (peak * 1e3) / gbps : 1;
  const lowX = lowDecade(all.map((point) => point.x), 0);
  const highX = Math.ceil(Math.log10(maxOf(all.map((point) => point.x), ridge * 10)));
  const lowY = lowDecade(all.map((point) => point.y), Math.log10(peak) - 2);
  const highY = Math.log10(peak * 2.5);
  const points = all.filter((point) => point.x >= 10 ** lowX && point.y >= 10 ** lowY);
  const shownCounted = points.filter((point) => point.isMeasured === true);
  const inner = Math.max(50, width - LEFT - RIGHT);
  const tall = HEIGHT - TOP - BOTTOM;
  const x = (value: number) => LEFT + ((Math.log10(value) - lowX) / (highX - lowX)) * inner;
  const y = (value: number) => TOP + (1 - (Math.log10(value) - lowY) / (highY - lowY)) * tall;
  const every = inner / (highX - lowX) < 62 ? 2 : 1; // decades between two numbers
  const slope = (rate: number) => (rate * 1e3) / gbps; // where memory gives this rate
  const move = (event: PointerEvent) => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const distance = (point: Point) =>
      Math.hypot(x(point.x) - event.clientX + box.left, y(point.y) - event.clientY + box.top);
    const [nearest] = [...points].sort((a, b) => distance(a) - distance(b));
    setNear(nearest !== undefined && distance(nearest) < 24 ? nearest : null);
  };
  const bottomRate = Math.max(10 ** lowY, (10 ** lowX * gbps) / 1e3);
  return (
    <div class="plot">
      {table.comparison !== 'none' && <PointLegend />}
      {counted.length > 0 && <MeasuredLegend />}
      <svg width={width} height={HEIGHT} role="img" aria-label={`${view.title}: ${points.length - shownCounted.length} operators on ${device}${shownCounted.length > 0 ? `, ${shownCounted.length} measured ${shownCounted.length === 1 ? 'point' : 'points'}` : ''}`} onPointerMove={move} onPointerLeave={() => setNear(null)}>
        {decades(lowY, Math.floor(highY)).map((exponent) => (
          <g key={exponent} class="axis">
            <line x1={LEFT} x2={LEFT + inner} y1={y(10 ** exponent)} y2={y(10 ** exponent)} />
            <text x={LEFT - 8} y={y(10 ** exponent) + 4} text-anchor="end">{power(exponent)}</text>
          </g>
        ))}
        {decades(lowX, highX).map((exponent) => (
          <g key={exponent} class="axis">
            <line x1={x(10 ** exponent)} x2={x(10 ** exponent)} y1={TOP} y2={TOP + tall} />
            {(highX - exponent) % every === 0 && (
              <text x={x(10 ** exponent)} y={HEIGHT - 22} text-anchor={exponent === highX ? 'end' : 'middle'}>{power(exponent)}</text>
            )}
          </g>
        ))}
        <text class="tick" x={LEFT + inner} y={HEIGHT - 5} text-anchor="end">FLOP per byte</text>
        <text class="tick" x={LEFT + 6} y={TOP + 12}>TFLOP/s</text>
        {gbps > 0 && flat.length > 0 && (
          <g class="roof">
            <line x1={x(slope(bottomRate))} y1={y(bottomRate)} x2={x(slope(peak))} y2={y(peak)} />
            {flat.map((roof) => {
              const above = flat.some((other) => other.tflops > roof.tflops && y(roof.tflops) - y(other.tflops) < 15);
              return (
              <g key={roof.name}>
                <line x1={x(slope(roof.tflops))} x2={LEFT + inner} y1={y(roof.tflops)} y2={y(roof.tflops)} />
                <text x={LEFT + inner - 2} y={y(roof.tflops) + (above ? 12 : -4)} text-anchor="end">{roof.name}</text>
              </g>
              );
            })}
          </g>
        )}
        {measuredWays(table, points.filter((point) => point.isMeasured !== true), measured, shownCounted).map(([from, to]) => (
          <line key={`measured ${to.row}`} class="way measured" x1={x(from.x)} y1={y(from.y)} x2={x(to.x)} y2={y(to.y)} />
        ))}
        {pairsOf(points.filter((point) => point.isMeasured !== true)).map(([from, to]) => (
          <line key={from.row} class="way" x1={x(from.x)} y1={y(from.y)} x2={x(to.x)} y2={y(to.y)} />
        ))}
        {shownCounted.map((point) => (
          <path key={`measured ${point.row}`} class={`point measured${near === point || (near?.isMeasured === true && near.row === point.row) ? ' near' : ''}`} d={diamond(x(point.x), y(point.y), radius(point))} />
        ))}
        {points.filter((point) => point.isMeasured !== true).map((point) => (
          <circle
            key={`${point.run} ${point.row}`}
            class={`point ${point.run}${near?.row === point.row && near.run === point.run && near.isMeasured !== true ? ' near' : ''}`}
            cx={x(point.x)}
            cy={y(point.y)}
            r={radius(point)}
          />
        ))}
        {labelsOf(table, named, names, (point) => [x(point.x), y(point.y)], LEFT + inner).filter((label) => points.some((point) => point.isMeasured !== true && point.row === label.point.row)).map((label) => (
          <text key={label.point.row} class="point-label" x={label.left} y={label.top}>{label.text}</text>
        ))}
      </svg>
      {near?.isMeasured === true && measured !== undefined ? <MeasuredTip measured={measured} point={near} /> : near !== null ? <Tooltip table={table} point={near} hasPeaks={gbps > 0} /> : (
        <div class="tip">
          {gbps === 0 && 'The peaks of the device are not known. '}
          {device}{gbps > 0 && <>: memory {formatNumber(gbps, chooseFormat())} GB/s, {flat.map((roof) => `${roof.name} ${withUnit(roof.tflops, { ...chooseFormat(), decimals: 1 })} TFLOP/s`).join('; ')}. </>}Areas are by time; point at one for all about it.{all.length > points.length && ` ${all.length - points.length} of ${all.length} points lie far below and are in the table only.`}
        </div>
      )}
    </div>
  );
}

export function Roofline(given: { table: Table; view: View; roofs: Table | undefined; measured?: Table | undefined }) {
  const filters = useFilters();
  const measured = useMemo(() => given.measured && filterTable(given.measured, filters).table, [given.measured, filters]);
  const props = { ...given, measured };
  const [box, width] = useWidth<HTMLDivElement>();
  const [near, setNear] = useState<Point | null>(null);
  const isWide = width >= WIDE_PX;
  const named = useMemo(() => namedOf(pointsOf(props.table, props.view)), [props.table, props.view]);
  const names = useMemo(() => named.map((point) => nameOf(props.table, point)), [named]);
  return (
    <div ref={box} class={isWide ? 'roofline wide' : 'roofline'}>
      {width > 0 && (
        <>
          <Plot {...props} width={isWide ? width - LIST_PX - 20 : width} named={named} names={names} near={near} setNear={setNear} />
          <List table={props.table} named={named} names={names} near={near} hasPeaks={roofsOf(props.roofs).gbps > 0} onPoint={setNear} />
        </>
      )}
    </div>
  );
}
