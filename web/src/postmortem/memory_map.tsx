// Where memory lies at the peak, when a request failed, and at the end: the segments of the allocator in the order of
// their addresses, in rows as the words of a text are, with blocks in the colours of their categories and what is free
// hatched.
import { useMemo, useState } from 'preact/hooks';

import { useWidth } from '../hooks';
import { type Section, type Table, find, indices, numberAt, rowsOf, tableOf, textAt } from '../model';
import { printable, show } from '../units';
import { CATEGORIES, keyOf, nameOf } from './memory_areas';

const ROW = 16; // height of a row
const GAP = 5; // between rows
const MOST_ROWS = 16;
const PIECES_A_ROW = 12;

const MOMENTS: readonly (readonly [string, string, string])[] = [
  ['oom', 'Failure', 'When the last request failed'],
  ['peak', 'Peak', 'At the peak'],
  ['end', 'End', 'At the end of the recording'],
];
const TONES: ReadonlyMap<string, string> = new Map([...CATEGORIES.map(([, words, tone]) => [words, tone] as const), ['pending', 'sync'] as const]);

interface Piece {
  begin: number; // bytes of all pieces before it
  bytes: number;
  free: number;
  blocks: number;
  segment: number;
  category: string;
  line: string;
}

interface Layout {
  key: string; // of its device
  name: string;
  moment: string;
  pieces: Piece[];
  total: number;
  free: number;
  segments: number;
}

/** The maps of all devices at all moments. */
function mapsOf(table: Table): Layout[] {
  const maps = new Map<string, Layout>();
  const [moments, segments, categories, bytes, free, blocks, lines] = ['moment', 'segment', 'category', 'bytes', 'free_bytes', 'blocks', 'line'].map((name) => find(table, name));
  for (const row of indices(rowsOf(table))) {
    const [key, moment] = [keyOf(table, row), textAt(moments!, row)];
    const id = `${key} ${moment}`;
    const map: Layout = maps.get(id) ?? { key, name: nameOf(table, row), moment, pieces: [], total: 0, free: 0, segments: 0 };
    maps.set(id, map);
    const piece: Piece = {
      begin: map.total, bytes: numberAt(bytes, row), free: numberAt(free, row), blocks: numberAt(blocks, row), segment: numberAt(segments, row),
      category: textAt(categories!, row), line: lines === undefined ? '' : printable(textAt(lines, row)),
    };
    map.pieces.push(piece);
    map.total += piece.bytes;
    map.free += piece.free;
    map.segments = Math.max(map.segments, piece.segment + 1);
  }
  return [...maps.values()].filter((map) => map.total > 0);
}

/** What the free bytes of a device are for the request that failed last, in words; empty if none failed. */
function forRequest(oom: Table | undefined, key: string): string {
  const row = oom === undefined ? undefined : indices(rowsOf(oom)).filter((one) => keyOf(oom, one) === key).pop();
  if (oom === undefined || row === undefined) {
    return '';
  }
  const parts = ([['usable_bytes', 'usable'], ['too_small_bytes', 'in pieces that are too small'], ['other_pool_bytes', 'of the other pool'], ['other_stream_bytes', 'of other streams'], ['private_pool_bytes', 'of private pools']] as const)
    .map(([name, words]) => [numberAt(find(oom, name), row), words] as const)
    .filter(([bytes]) => bytes > 0)
    .map(([bytes, words]) => `${show(bytes, 'bytes')} ${words}`);
  const asked = show(numberAt(find(oom, 'rounded_bytes'), row), 'bytes');
  return parts.length === 0 ? '' : ` For the ${asked} that were asked for these are: ${parts.join(', ')}.`;
}

const wordsOf = (piece: Piece): string => {
  const what = piece.category === 'free' ? 'free' : piece.category === 'pending' ? 'freed, but a stream may still use it' : piece.category;
  const some = piece.category !== 'free' && piece.free > 0 ? `, ${show(piece.free, 'bytes')} of it free` : '';
  return `${show(piece.bytes, 'bytes')} in segment ${piece.segment + 1}: ${what}${piece.blocks > 1 ? `, ${piece.blocks.toLocaleString('en')} blocks` : ''}${some}`;
};

function Rows({ map, width, pointed, point }: { map: Layout; width: number; pointed: Piece | null; point: (piece: Piece | null) => void }) {
  const rows = Math.max(1, Math.min(MOST_ROWS, Math.ceil(map.pieces.length / PIECES_A_ROW)));
  const each = map.total / rows; // bytes
  const wide = Math.max(60, width);
  const height = rows * (ROW + GAP) - GAP;
  const x = (bytes: number) => (wide * bytes) / each;
  const move = (event: PointerEvent) => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const row = Math.min(rows - 1, Math.max(0, Math.floor((event.clientY - box.top) / (ROW + GAP))));
    const at = row * each + (Math.min(Math.max(0, event.clientX - box.left), wide - 1) / wide) * each;
    point(map.pieces.reduce<Piece | null>((best, piece) => (piece.begin <= at ? piece : best), null));
  };
  return (
    <svg width={wide} height={height} role="img" onPointerMove={move} onPointerLeave={() => point(null)} aria-label={`Memory of ${map.name} by address: ${map.segments} segments with ${show(map.total, 'bytes')}, ${show(map.free, 'bytes')} of them free`}>
      <defs>
        <pattern id="free-memory" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect width="5" height="5" fill="var(--paper)" /><rect width="1.2" height="5" fill="var(--quiet)" />
        </pattern>
      </defs>
      {map.pieces.map((piece, i) => {
        const boxes = [];
        const end = piece.begin + piece.bytes;
        const tone = TONES.get(piece.category);
        const fill = piece.category === 'free' ? 'url(#free-memory)' : `var(--${tone ?? 'idle'})`;
        const begins = i === 0 || map.pieces[i - 1]!.segment !== piece.segment;
        for (let row = Math.floor(piece.begin / each); row < rows && row * each < end; ++row) {
          const [left, right] = [Math.max(piece.begin, row * each), Math.min(end, (row + 1) * each)];
          if (right > left) {
            boxes.push(<rect key={row} class="piece" data-category={piece.category} x={x(left - row * each)} y={row * (ROW + GAP)} width={Math.max(0.4, x(right - left))} height={ROW} style={{ fill }} stroke={pointed === piece ? 'var(--ink)' : 'none'} stroke-width={1.5} />);
          }
        }
        const row = Math.min(rows - 1, Math.floor(piece.begin / each));
        return (
          <g key={i}>
            {boxes}
            {begins && <line x1={x(piece.begin - row * each)} x2={x(piece.begin - row * each)} y1={row * (ROW + GAP) - 2} y2={row * (ROW + GAP) + ROW + 2} stroke="var(--ink)" stroke-width={map.segments > 200 ? 0.4 : 1} />}
          </g>
        );
      })}
    </svg>
  );
}

function Legend({ map }: { map: Layout }) {
  const bytes = new Map<string, number>();
  for (const { category, bytes: of, free } of map.pieces) {
    bytes.set(category, (bytes.get(category) ?? 0) + (category === 'free' ? free : of - free));
  }
  return (
    <ul class="legend">
      {[...TONES].map(([category, tone]) => (bytes.get(category) ?? 0) > 0 && (
        <li key={category}><i style={{ background: `var(--${tone})` }} aria-hidden="true" />{category} <small>{show(bytes.get(category)!, 'bytes')}</small></li>
      ))}
      <li><i style={{ background: 'repeating-linear-gradient(45deg, var(--quiet) 0 1.2px, var(--paper) 1.2px 4px)', border: '1px solid var(--quiet)' }} aria-hidden="true" />free <small>{show(map.free, 'bytes')}</small></li>
      <li><i style={{ width: '1px', height: '14px', background: 'var(--ink)', verticalAlign: '-2px' }} aria-hidden="true" />a segment begins</li>
    </ul>
  );
}

export function MemoryMap({ section }: { section: Section }) {
  const [box, width] = useWidth<HTMLDivElement>();
  const [device, choose] = useState('');
  const [moment, setMoment] = useState('');
  const [pointed, point] = useState<Piece | null>(null);
  const table = tableOf(section, 'memory_map');
  const maps = useMemo(() => (table === undefined ? [] : mapsOf(table)), [section]);
  const devices = [...new Map(maps.map((map) => [map.key, map.name]))];
  // Those with a request that failed first, as in the areas over time.
  devices.sort(([a], [b]) => Number(maps.some((map) => map.key === b && map.moment === 'oom')) - Number(maps.some((map) => map.key === a && map.moment === 'oom')));
  const key = devices.some(([one]) => one === device) ? device : devices[0]?.[0];
  const there = MOMENTS.filter(([name]) => maps.some((map) => map.key === key && map.moment === name));
  const chosen = there.find(([name]) => name === moment) ?? there[0];
  const map = maps.find((one) => one.key === key && one.moment === chosen?.[0]);
  if (map === undefined || chosen === undefined) {
    return null;
  }
  const rest = chosen[0] === 'oom' ? forRequest(tableOf(section, 'oom'), map.key) : '';
  return (
    <figure data-kind="memory-map" data-table="memory_map">
      <figcaption>Where memory lies <small>{map.name}</small></figcaption>
      {(there.length > 1 || devices.length > 1) && (
        <div class="tools">
          {there.length > 1 && (
            <span class="choices" role="group" aria-label="Moment">
              {there.map(([name, words]) => <button key={name} type="button" aria-pressed={name === chosen[0]} onClick={() => { point(null); setMoment(name); }}>{words}</button>)}
            </span>
          )}
          {devices.length > 1 && <label class="choices">Device <select value={key} onChange={(event) => { point(null); choose(event.currentTarget.value); }}>
            {devices.map(([one, name]) => <option key={one} value={one}>{name}</option>)}
          </select></label>}
        </div>
      )}
      <Legend map={map} />
      <div ref={box} class="plot">
        {width > 0 && <Rows map={map} width={width} pointed={pointed} point={point} />}
        <p class="note">
          {pointed !== null
            ? <>{wordsOf(pointed)}{pointed.line !== '' && <>, <code>{pointed.line}</code></>}.</>
            : <>{chosen[2]}: {show(map.total, 'bytes')} in {map.segments.toLocaleString('en')} {map.segments === 1 ? 'segment' : 'segments'}, by address; {show(map.free, 'bytes')} of it free.{rest}</>}
        </p>
      </div>
    </figure>
  );
}
