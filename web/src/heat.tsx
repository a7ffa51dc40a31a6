// Heat maps: a row for each label, a column for each place; colours say how a cell relates to what is
// usual, by the palette of its row.
import { useMemo, useState } from 'preact/hooks';

import { cellTone } from './colours';
import { useWidth } from './hooks';
import { type Column, type Table, type View, find, indices, numberAt, rowsOf, textAt } from './model';
import { chooseFormat, columnLabel, formatCell, plainWords, printable, textOf } from './units';

const LEFT = 76;
const AXIS = 22;
const TALLEST = 16; // of a cell
const MOST_HEIGHT = 560;
const WIDEST = 96; // of a cell
const TOP = 6;
const TONES = ['less-3', 'less-2', 'less-1', 'same', 'more-1', 'more-2', 'more-3'];
const PIXELS_PER_LABEL = 14;
const PIXELS_PER_TICK = 64;

interface Grid {
  labels: string[];
  places: number[];
  cells: { row: number; line: number; column: number; tone: string }[];
}

const levelOf = (table: Table): Column | undefined => table.columns.find((column) => column.hints?.tones !== undefined);

function gridOf(table: Table, view: View): Grid {
  const label = find(table, view.labels[0] ?? '');
  const x = find(table, view.x);
  const level = levelOf(table);
  const rows = indices(rowsOf(table));
  const labels = [...new Set(rows.map((row) => textAt(label, row)))];
  const places = [...new Set(rows.map((row) => numberAt(x, row)))].sort((a, b) => a - b);
  const lineOf = new Map(labels.map((text, i) => [text, i]));
  const columnOf = new Map(places.map((place, i) => [place, i]));
  const cells = rows.map((row) => ({
    row,
    line: lineOf.get(textAt(label, row)) ?? 0,
    column: columnOf.get(numberAt(x, row)) ?? 0,
    tone: cellTone(level, row) ?? 'same',
  }));
  return { labels, places, cells };
}

export function hasHeat(table: Table, view: View): boolean {
  return table.comparison === 'none' && rowsOf(table) > 0 && find(table, view.x) !== undefined;
}

/** The cell in words: what is in its row after its keys, which come first. */
function words(table: Table, view: View, row: number): string {
  const first = table.columns.findIndex((column) => column.name === view.labels[0]);
  return table.columns
    .slice(first)
    .map((column) => `${columnLabel(column)} ${formatCell(column, chooseFormat(column), row)}`)
    .join(', ');
}

function Legend({ table }: { table: Table }) {
  const level = levelOf(table);
  const counts = new Map<string, number>();
  for (const row of indices(rowsOf(table))) {
    counts.set(textAt(level, row), (counts.get(textAt(level, row)) ?? 0) + 1);
  }
  const tones = Object.entries(level?.hints?.tones ?? {})
    .filter(([cell]) => counts.has(cell))
    .sort(([, a], [, b]) => TONES.indexOf(a) - TONES.indexOf(b));
  return (
    <ul class="legend">
      {tones.map(([cell, tone]) => (
        <li key={cell}><i style={{ background: `var(--${tone})` }} />{plainWords(printable(cell))} <small>{counts.get(cell)}</small></li>
      ))}
    </ul>
  );
}

/** Places that have room for their number, a tick apart. */
const ticksOf = (places: number[], width: number): number[] =>
  indices(places.length).filter((i) => i % Math.max(1, Math.ceil(PIXELS_PER_TICK / width)) === 0);

export function Heat({ table, view }: { table: Table; view: View }) {
  const [element, width] = useWidth<HTMLDivElement>();
  const [pointed, setPointed] = useState<number | null>(null);
  const { labels, places, cells } = useMemo(() => gridOf(table, view), [table, view]);
  const cellWidth = Math.min(WIDEST, Math.max(2, (width - LEFT) / places.length));
  const cellHeight = Math.min(TALLEST, MOST_HEIGHT / labels.length);
  const everyLabel = Math.max(1, Math.ceil(PIXELS_PER_LABEL / cellHeight));
  const bottom = TOP + labels.length * cellHeight;
  const unusual = cells.filter((cell) => cell.tone !== 'same').length;
  // Made again when the size changes, and not when the pointer moves.
  const drawn = useMemo(() => cells.map((cell) => (
    <rect
      key={cell.row}
      x={LEFT + cell.column * cellWidth}
      y={TOP + cell.line * cellHeight}
      width={cellWidth}
      height={cellHeight}
      shape-rendering="crispEdges"
      fill={`var(--${cell.tone})`}
    />
  )), [cells, cellWidth, cellHeight]);
  const rowAt = (event: PointerEvent): number | null => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left - LEFT) / cellWidth);
    const line = Math.floor((event.clientY - box.top - TOP) / cellHeight);
    return cells.find((cell) => cell.column === column && cell.line === line)?.row ?? null;
  };
  return (
    <div ref={element}>
      <Legend table={table} />
      <svg
        width={Math.max(width, 1)}
        height={bottom + AXIS}
        role="img"
        aria-label={`${view.title}: ${labels.length} rows, ${places.length} columns; ${unusual} cells are not as usual`}
        onPointerMove={(event) => setPointed(rowAt(event))}
        onPointerLeave={() => setPointed(null)}
      >
        {drawn}
        {labels.map((label, i) => i % everyLabel === 0 && (
          <text key={label} class="tick" x={LEFT - 6} y={TOP + (i + 0.5) * cellHeight + 4} text-anchor="end">{textOf(find(table, view.labels[0] ?? ''), label)}</text>
        ))}
        {ticksOf(places, cellWidth).map((i) => (
          <text key={i} class="tick" x={LEFT + i * cellWidth} y={bottom + 15}>{i === 0 ? `${view.x} ${places[i]}` : places[i]}</text>
        ))}
      </svg>
      <p class="note">{pointed === null ? ' ' : words(table, view, pointed)}</p>
    </div>
  );
}
