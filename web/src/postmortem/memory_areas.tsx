// What memory held over time: areas of what was in use by category, the line of what the allocator had reserved, what
// the process may reserve, and requests that failed.
import { useMemo, useState } from 'preact/hooks';

import { useWidth } from '../hooks';
import { type Section, type Table, find, indices, numberAt, rowsOf, tableOf, textAt } from '../model';
import { ticks } from '../series';
import { maxOf, printable, show } from '../units';

const HEIGHT = 300;
const LEFT = 72;
const RIGHT = 12;
const TOP = 16;
const BOTTOM = 30;

// From the bottom up: what stays first.
export const CATEGORIES: readonly (readonly [string, string, string])[] = [
  ['before_recording_bytes', 'before recording', 'idle'],
  ['parameter_bytes', 'parameter', 'compute'],
  ['optimizer_state_bytes', 'optimizer state', 'host'],
  ['library_workspace_bytes', 'library workspace', 'tail'],
  ['held_bytes', 'held by the program', 'data'],
  ['gradient_bytes', 'gradient', 'comm'],
  ['activation_bytes', 'activation', 'copy'],
  ['temporary_bytes', 'temporary', 'device'],
];

interface Moment {
  at: number; // where it is drawn: `time`, or `event`
  time: number; // ns since the first; 0 where times are not known
  event: number; // its number in the recording
  parts: number[]; // by CATEGORIES
  allocated: number;
  reserved: number;
  failed: number; // bytes of a request that failed then; 0: none
}

interface Device {
  name: string;
  isTimed: boolean;
  moments: Moment[];
  peak: Moment;
  limit: readonly [number, number] | null; // what the process may reserve: at least, at most
  line: string; // of the program whose request failed last
}

export const keyOf = (table: Table, row: number): string => JSON.stringify([find(table, 'rank')?.values[row] ?? null, find(table, 'device')?.values[row] ?? null]);

export function nameOf(table: Table, row: number): string {
  const [rank, device] = [find(table, 'rank')?.values[row], numberAt(find(table, 'device'), row)];
  return typeof rank === 'number' ? `rank ${rank}, device ${device}` : `device ${device}`;
}

function deviceOf(table: Table, rows: number[], oom: Table | undefined): Device {
  const column = (name: string) => find(table, name);
  const [times, events] = [column('ts_unix_ns'), column('event')];
  const isTimed = times !== undefined && rows.every((row) => typeof times.values[row] === 'number');
  const [begin, first] = [numberAt(times, rows[0]!), numberAt(events, rows[0]!)];
  const columns = CATEGORIES.map(([name]) => column(name));
  const moments = rows.map((row) => {
    const parts = columns.map((one) => numberAt(one, row));
    const [time, event] = [isTimed ? Math.max(0, numberAt(times, row) - begin) : 0, Math.max(0, numberAt(events, row) - first)];
    return {
      at: isTimed ? time : event, time, event, parts, allocated: parts.reduce((sum, part) => sum + part, 0),
      reserved: numberAt(column('reserved_bytes'), row), failed: numberAt(column('failed_bytes'), row),
    };
  });
  const failures = oom === undefined ? [] : indices(rowsOf(oom)).filter((row) => keyOf(oom, row) === keyOf(table, rows[0]!));
  const last = failures[failures.length - 1];
  const [low, high] = [oom && find(oom, 'allowed_low_bytes'), oom && find(oom, 'allowed_high_bytes')];
  const hasLimit = last !== undefined && typeof low?.values[last] === 'number' && typeof high?.values[last] === 'number';
  return {
    name: nameOf(table, rows[0]!), isTimed, moments,
    peak: moments.reduce((most, one) => (one.allocated > most.allocated ? one : most)),
    limit: hasLimit ? [numberAt(low, last), numberAt(high, last)] : null,
    line: last === undefined ? '' : printable(textAt(find(oom!, 'line'), last)),
  };
}

/** The same with its moments by the number of their events. */
function byEvents(device: Device): Device {
  const moments = device.moments.map((moment) => ({ ...moment, at: moment.event }));
  return { ...device, isTimed: false, moments, peak: { ...device.peak, at: device.peak.event } };
}

const CROWDED = 0.1; // of the time: half of the states in so little of it cannot be told apart

/** Whether most of what happened lies in a small part of the time. */
function isCrowded({ isTimed, moments }: Device): boolean {
  const span = moments[moments.length - 1]!.at;
  const half = Math.floor(moments.length / 2);
  return isTimed && moments.length > 3 && moments.some((moment, i) => i >= half && moment.at - moments[i - half]!.at < span * CROWDED);
}

/** Each device of each snapshot; those with a request that failed first. */
function devicesOf(table: Table, oom: Table | undefined): Device[] {
  const rows = new Map<string, number[]>();
  for (const row of indices(rowsOf(table))) {
    const key = keyOf(table, row);
    const of = rows.get(key);
    of === undefined ? rows.set(key, [row]) : of.push(row);
  }
  const devices = [...rows.values()].map((of) => deviceOf(table, of, oom));
  const hasFailed = (one: Device) => one.moments.some((moment) => moment.failed > 0);
  return devices.sort((a, b) => Number(hasFailed(b)) - Number(hasFailed(a)));
}

/** The outline of a layer: a step at each moment, from `bottom` to `top`. */
function areaPath(moments: readonly Moment[], bottom: readonly number[], top: readonly number[], x: (at: number) => number, y: (bytes: number) => number, right: number): string {
  let path = '';
  moments.forEach((moment, i) => {
    path += i === 0 ? `M${x(moment.at).toFixed(1)},${y(top[i]!).toFixed(1)}` : `H${x(moment.at).toFixed(1)}V${y(top[i]!).toFixed(1)}`;
  });
  path += `H${right.toFixed(1)}`;
  for (let i = moments.length - 1; i >= 0; --i) {
    path += `V${y(bottom[i]!).toFixed(1)}H${x(moments[i]!.at).toFixed(1)}`;
  }
  return `${path}Z`;
}

const linePath = (moments: readonly Moment[], x: (at: number) => number, y: (bytes: number) => number, right: number): string =>
  `${moments.map((moment, i) => (i === 0 ? `M${x(0).toFixed(1)},${y(moment.reserved).toFixed(1)}` : `H${x(moment.at).toFixed(1)}V${y(moment.reserved).toFixed(1)}`)).join('')}H${right.toFixed(1)}`;

/** The sums of the layers from the bottom up, at each moment. */
function layersOf(moments: readonly Moment[]): number[][] {
  const layers = [moments.map(() => 0)];
  CATEGORIES.forEach((_, part) => layers.push(moments.map((moment, i) => layers[part]![i]! + moment.parts[part]!)));
  return layers;
}

const atOf = (device: Device, moment: Moment): string =>
  device.isTimed ? `${show(moment.at, 'ns')} after the recording began` : `at event ${moment.at.toLocaleString('en')}`;

function Legend({ device, moment }: { device: Device; moment: Moment }) {
  const there = CATEGORIES.map((_, part) => device.moments.some((one) => one.parts[part]! > 0));
  return (
    <ul class="legend">
      {CATEGORIES.map(([name, words, tone], part) => there[part] && (
        <li key={name}><i style={{ background: `var(--${tone})` }} aria-hidden="true" />{words} <small>{show(moment.parts[part]!, 'bytes')}</small></li>
      ))}
      <li><i class="rule" aria-hidden="true" />reserved <small>{show(moment.reserved, 'bytes')}</small></li>
      {device.limit !== null && <li><i class="rule limit" aria-hidden="true" />allowed <small>{limitWords(device.limit)}</small></li>}
      {device.moments.some((one) => one.failed > 0) && <li><i class="failed" aria-hidden="true" />request that failed</li>}
    </ul>
  );
}

const limitWords = ([low, high]: readonly [number, number]): string =>
  (show(low, 'bytes') === show(high, 'bytes') ? show(low, 'bytes') : `${show(low, 'bytes')} to ${show(high, 'bytes')}`);

function Plot({ device, width, pointed, point }: { device: Device; width: number; pointed: Moment | null; point: (moment: Moment | null) => void }) {
  const { moments, limit } = device;
  const inner = Math.max(60, width - LEFT - RIGHT);
  const tall = HEIGHT - TOP - BOTTOM;
  const right = LEFT + inner;
  const span = Math.max(1, moments[moments.length - 1]!.at);
  const failures = moments.filter((moment) => moment.failed > 0);
  const largest = Math.max(1, maxOf(moments.map((moment) => Math.max(moment.reserved, moment.allocated)), 1), limit?.[1] ?? 0, maxOf(failures.map((one) => one.reserved + one.failed), 0)) * 1.03;
  const x = (at: number) => LEFT + (inner * at) / span;
  const y = (bytes: number) => TOP + tall * (1 - bytes / largest);
  const layers = useMemo(() => layersOf(moments), [moments]);
  const move = (event: PointerEvent) => {
    const at = ((event.clientX - (event.currentTarget as Element).getBoundingClientRect().left - LEFT) / inner) * span;
    point(moments.reduce<Moment | null>((best, moment) => (moment.at <= at ? moment : best), null));
  };
  return (
    <svg
      width={width} height={HEIGHT} role="img" onPointerMove={move} onPointerLeave={() => point(null)}
      aria-label={`Memory of ${device.name} over time: at most ${show(device.peak.allocated, 'bytes')} in use, ${atOf(device, device.peak)}${failures.length > 0 ? `; ${failures.length} requests failed, the last of ${show(failures[failures.length - 1]!.failed, 'bytes')}` : ''}`}
    >
      <defs>
        <pattern id="failed-request" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect width="6" height="6" fill="var(--paper)" /><rect width="3.5" height="6" fill="var(--bad)" />
        </pattern>
      </defs>
      {ticks(largest, 4).map((tick) => (
        <g key={tick} class="axis">
          <line x1={LEFT} x2={right} y1={y(tick)} y2={y(tick)} />
          <text x={LEFT - 8} y={y(tick) + 4} text-anchor="end">{show(tick, 'bytes')}</text>
        </g>
      ))}
      {CATEGORIES.map(([name, , tone], part) => moments.some((moment) => moment.parts[part]! > 0) && (
        <path key={name} class="area" data-category={name} d={areaPath(moments, layers[part]!, layers[part + 1]!, x, y, right)} style={{ fill: `var(--${tone})` }} />
      ))}
      <path class="reserved" d={linePath(moments, x, y, right)} />
      {limit !== null && limit[1] > limit[0] && <rect class="allowed" x={LEFT} width={inner} y={y(limit[1])} height={Math.max(0, y(limit[0]) - y(limit[1]))} />}
      {limit !== null && <line class="limit" x1={LEFT} x2={right} y1={y(limit[1])} y2={y(limit[1])} />}
      {failures.map((moment, i) => {
        const wide = Math.max(6, Math.min(14, inner / 30));
        const left = Math.min(x(moment.at), right - wide);
        return (
          <g key={i} class="failure">
            <line x1={x(moment.at)} x2={x(moment.at)} y1={TOP} y2={TOP + tall} />
            <rect class="failed" x={left} width={wide} y={y(moment.reserved + moment.failed)} height={Math.max(1, y(moment.reserved) - y(moment.reserved + moment.failed))} fill="url(#failed-request)" />
          </g>
        );
      })}
      {pointed !== null && <line class="cursor" x1={x(pointed.at)} x2={x(pointed.at)} y1={TOP} y2={TOP + tall} />}
      <g class="axis">
        <text x={LEFT} y={HEIGHT - 8}>{device.isTimed ? 'recording begins' : 'first event'}</text>
        <text x={right} y={HEIGHT - 8} text-anchor="end">{device.isTimed ? `${show(span, 'ns')} later` : `event ${span.toLocaleString('en')}`}</text>
      </g>
    </svg>
  );
}

export function MemoryAreas({ section }: { section: Section }) {
  const [box, width] = useWidth<HTMLDivElement>();
  const [chosen, choose] = useState(0);
  const [pointed, point] = useState<Moment | null>(null);
  const table = tableOf(section, 'memory_areas');
  const devices = useMemo(() => (table === undefined || rowsOf(table) === 0 ? [] : devicesOf(table, tableOf(section, 'oom'))), [section]);
  const [axis, setAxis] = useState<'time' | 'events' | null>(null);
  const source = devices[chosen] ?? devices[0];
  const isByEvents = source !== undefined && source.isTimed && (axis === null ? isCrowded(source) : axis === 'events');
  const device = useMemo(() => (source !== undefined && isByEvents ? byEvents(source) : source), [source, isByEvents]);
  if (source === undefined || device === undefined) {
    return null;
  }
  const failed = [...device.moments].reverse().find((moment) => moment.failed > 0);
  const moment = pointed ?? failed ?? device.peak;
  const words = pointed !== null ? `${atOf(device, moment)}: ` : failed !== undefined ? 'When the last request failed: ' : `At the peak, ${atOf(device, moment)}: `;
  return (
    <figure data-kind="memory-areas" data-table="memory_areas">
      <figcaption>What memory held over time <small>{device.name}</small></figcaption>
      {(devices.length > 1 || source.isTimed) && (
        <div class="tools">
          {source.isTimed && (
            <span class="choices" role="group" aria-label="Along">
              <button type="button" aria-pressed={!isByEvents} onClick={() => { point(null); setAxis('time'); }}>Time</button>
              <button type="button" aria-pressed={isByEvents} onClick={() => { point(null); setAxis('events'); }}>Events</button>
            </span>
          )}
          {devices.length > 1 && <label class="choices">Device <select value={chosen} onChange={(event) => { point(null); choose(Number(event.currentTarget.value)); }}>
            {devices.map((one, i) => <option key={i} value={i}>{one.name}{one.moments.some((at) => at.failed > 0) ? ' (failed)' : ''}</option>)}
          </select></label>}
        </div>
      )}
      <Legend device={device} moment={moment} />
      <div ref={box} class="plot">
        {width > 0 && <Plot device={device} width={width} pointed={pointed} point={point} />}
        <p class="note">
          {words.charAt(0).toUpperCase() + words.slice(1)}{show(moment.allocated, 'bytes')} in use of {show(moment.reserved, 'bytes')} reserved{moment.failed > 0 && `; ${show(moment.failed, 'bytes')} were asked for and refused`}.
          {device.line !== '' && <> The request that failed last: <code>{device.line}</code>.</>}
        </p>
      </div>
    </figure>
  );
}
