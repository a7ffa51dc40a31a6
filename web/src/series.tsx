// Lines over time: steps from change to change, as values hold until the next one.
import { useState } from 'preact/hooks';

import { lineColour } from './colours';
import { useWidth } from './hooks';
import { type Column, type Table, type View, find, indices, numberAt, rowsOf, textAt } from './model';
import { columnLabel, formatFor, maxOf, namingColumns, rowLabel, withUnit, formatNumber } from './units';

const HEIGHT = 220;
const LEFT = 64;
const BOTTOM = 28;
const TOP = 10;
const RIGHT = 12;

interface Line {
  name: string;
  label: string; // without the run; lines with one label have one colour
  isOther: boolean;
  points: [number, number][]; // by time
}

type Span = [number, number];

function linesOf(table: Table, view: View): Line[] {
  const x = find(table, view.x);
  const labels = namingColumns(view.labels.map((name) => find(table, name)).filter((c) => c !== undefined), indices(rowsOf(table)));
  const values = view.values.map((name) => find(table, name)).filter((c) => c !== undefined);
  const runs = table.comparison === 'joined' ? find(table, 'run') : undefined;
  const lines = new Map<string, Line>();
  for (const value of values) {
    for (const row of indices(rowsOf(table))) {
      if (value.values[row] === null || x === undefined) {
        continue;
      }
      const of = rowLabel(labels, row);
      const label = values.length > 1 ? `${columnLabel(value)} · ${of}` : of;
      const name = runs === undefined ? label : `${label} · ${textAt(runs, row)} run`;
      const line = lines.get(name) ?? { name, label, isOther: runs?.values[row] === 'other', points: [] };
      line.points.push([numberAt(x, row), numberAt(value, row)]);
      lines.set(name, line);
    }
  }
  const drawn = [...lines.values()].filter((line) => line.points.some((point) => point[1] !== 0));
  drawn.forEach((line) => line.points.sort((a, b) => a[0] - b[0]));
  return drawn;
}

/** Lines of the first labels, as many as there are colours. */
function firstLines(lines: Line[], most: number): Line[] {
  const labels = [...new Set(lines.map((line) => line.label))].slice(0, most);
  return lines.filter((line) => labels.includes(line.label));
}

function coloursOf(lines: Line[], tones: readonly string[]): (line: Line) => string {
  const labels = [...new Set(lines.map((line) => line.label))];
  return (line) => lineColour(tones, labels.indexOf(line.label));
}

const allPoints = (lines: Line[]) => lines.flatMap((line) => line.points);

function spanOf(lines: Line[]): Span {
  let [low, high] = [Infinity, -Infinity];
  for (const [x] of allPoints(lines)) {
    low = Math.min(low, x);
    high = Math.max(high, x);
  }
  return [low, high > low ? high : low + 1];
}

/** Round numbers that cover 0 to `largest`. */
export function ticks(largest: number, wanted: number): number[] {
  const raw = largest / wanted;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= raw) ?? 10);
  return indices(Math.floor(largest / step + 1e-9) + 1).map((i) => i * step);
}

function pathOf(line: Line, x: (value: number) => number, y: (value: number) => number): string {
  let path = '';
  for (const [at, value] of line.points) {
    path += path === '' ? `M${x(at).toFixed(1)},${y(value).toFixed(1)}` : `H${x(at).toFixed(1)}V${y(value).toFixed(1)}`;
  }
  return path;
}

function valueAt(line: Line, at: number): number | null {
  let value: number | null = null;
  for (const point of line.points) {
    if (point[0] > at) {
      break;
    }
    value = point[1];
  }
  return value;
}

export function hasSeries(table: Table, view: View): boolean {
  return allPoints(linesOf(table, view)).length > 1;
}

function Plot(props: {
  lines: Line[];
  tones: readonly string[];
  unit: string | null;
  along: string | null; // the unit of x: time, or numbers of steps
  title: string;
  width: number;
  zoom: Span | null;
  onZoom: (span: Span) => void;
}) {
  const { lines, unit, width } = props;
  const [pointer, setPointer] = useState<number | null>(null);
  const [from, setFrom] = useState<number | null>(null);
  const colour = coloursOf(lines, props.tones);
  const whole = spanOf(lines);
  const [begin, end] = props.zoom ?? whole;
  const largest = maxOf(allPoints(lines).map((point) => point[1]));
  const format = formatFor(unit, largest, Number.isInteger(largest));
  const timeFormat = { ...formatFor(props.along, end - begin, true), decimals: 0 };
  const inner = Math.max(50, width - LEFT - RIGHT);
  const x = (value: number) => LEFT + ((value - begin) / (end - begin)) * inner;
  const y = (value: number) => TOP + (1 - value / (largest * 1.05)) * (HEIGHT - TOP - BOTTOM);
  const back = (pixel: number) => begin + ((pixel - LEFT) / inner) * (end - begin);
  const clamp = (event: PointerEvent) => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    return Math.max(LEFT, Math.min(LEFT + inner, event.clientX - box.left));
  };
  const release = (event: PointerEvent) => {
    const to = clamp(event);
    if (from !== null && Math.abs(to - from) > 6) {
      props.onZoom([back(Math.min(from, to)), back(Math.max(from, to))]);
    }
    setFrom(null);
  };
  const isTime = props.along === 'ns';
  const offset = isTime ? begin - whole[0] : begin; // time counts from the first point
  const timeTicks = ticks(end - begin, Math.max(2, Math.floor(inner / 110))).filter((tick) => isTime || Number.isInteger(tick));
  const timeUnit = formatFor(props.along, Math.max(end - whole[0], 1), false);
  const step = ((timeTicks[1] ?? 1) / timeUnit.divisor) || 1;
  const isPrecise = props.zoom !== null;
  const decimals = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9)) + (isPrecise ? 1 : 0);
  const tickFormat = { ...timeUnit, decimals: Math.min(decimals, 6) };
  return (
    <div class="plot">
      <svg
        width={width}
        height={HEIGHT}
        role="img"
        aria-label={`${props.title}: ${lines.length} lines over ${isTime ? withUnit(end - begin, timeFormat) : `${end - begin} steps`}`}
        onPointerMove={(event) => setPointer(clamp(event))}
        onPointerLeave={() => setPointer(null)}
        onPointerDown={(event) => setFrom(clamp(event))}
        onPointerUp={release}
      >
        <clipPath id={`clip-${props.title.replace(/\W/g, '')}`}>
          <rect x={LEFT} y={0} width={inner} height={HEIGHT} />
        </clipPath>
        {ticks(largest, 4).map((value) => (
          <g key={value} class="axis">
            <line x1={LEFT} x2={LEFT + inner} y1={y(value)} y2={y(value)} />
            <text x={LEFT - 8} y={y(value) + 4} text-anchor="end">
              {formatNumber(value, { ...format, decimals: largest / format.divisor < 4 ? 1 : 0 })}
            </text>
          </g>
        ))}
        {timeTicks.map((value) => (
          <text key={value} class="tick" x={x(begin + value)} y={HEIGHT - 8} text-anchor={value === 0 ? 'start' : 'middle'}>
            {formatNumber(offset + value, tickFormat)}
          </text>
        ))}
        <text class="tick" x={LEFT + inner} y={HEIGHT - 8} text-anchor="end">{tickFormat.unit}</text>
        <text class="tick" x={4} y={TOP + 4}>{format.unit}</text>
        <g clip-path={`url(#clip-${props.title.replace(/\W/g, '')})`}>
          {lines.map((line) => (
            <path key={line.name} d={pathOf(line, x, y)} style={{ stroke: colour(line) }} class={line.isOther ? 'line other' : 'line'} />
          ))}
        </g>
        {from !== null && pointer !== null && (
          <rect class="brush" x={Math.min(from, pointer)} y={TOP} width={Math.abs(pointer - from)} height={HEIGHT - TOP - BOTTOM} />
        )}
        {pointer !== null && <line class="cursor" x1={pointer} x2={pointer} y1={TOP} y2={HEIGHT - BOTTOM} />}
      </svg>
      <ul class="legend">
        {lines.map((line) => {
          const value = pointer === null ? null : valueAt(line, back(pointer));
          return (
            <li key={line.name}>
              <i class={line.isOther ? 'hatched' : 'full'} style={{ backgroundColor: colour(line) }} aria-hidden="true" />
              {line.name}{value !== null && <small> {withUnit(value, format)}</small>}
            </li>
          );
        })}
      </ul>
    </div>
  );
}

export function Series({ table, view }: { table: Table; view: View }) {
  const [box, width] = useWidth<HTMLDivElement>();
  const [zoom, setZoom] = useState<Span | null>(null);
  const value: Column | undefined = find(table, view.values[0] ?? '');
  const all = linesOf(table, view);
  const tones = view.tones ?? ['compute'];
  const lines = firstLines(all, tones.length);
  return (
    <div ref={box}>
      {width > 0 && (
        <Plot lines={lines} tones={tones} unit={value?.unit ?? null} along={find(table, view.x)?.unit ?? null} title={view.title} width={width} zoom={zoom} onZoom={setZoom} />
      )}
      <p class="note">
        {all.length > lines.length && `${all.length - lines.length} more lines in the table below. `}
        {zoom === null ? 'Drag to zoom.' : <button type="button" onClick={() => setZoom(null)}>Show all</button>}
      </p>
    </div>
  );
}
