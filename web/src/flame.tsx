// Nested frames, each as wide as its time. Click or Enter zooms, arrow keys move, Escape goes back.
import { useMemo, useState } from 'preact/hooks';

import { useWidth } from './hooks';
import { type Table, type View, find, indices, numberAt, rowsOf, textAt } from './model';
import { columnLabel, printable, shorten, show, showShare } from './units';

const ROW = 20;
const MOST_LEVELS = 40;
const LEAST_PX = 0.7;
const CHARACTER_PX = 7.1;

export interface Frame {
  row: number; // -1: everything
  name: string;
  kind: string;
  value: number;
  depth: number;
  begin: number; // where it starts, in the unit of value
  parent: Frame | null;
  children: Frame[];
}

/** The tree of rows in preorder. Children lie side by side from the start of their parent. */
export function treeOf(table: Table, value: string): Frame {
  const column = find(table, value);
  const [names, kinds, depths] = ['name', 'kind', 'depth'].map((name) => find(table, name));
  const root: Frame = { row: -1, name: 'all', kind: '', value: 0, depth: -1, begin: 0, parent: null, children: [] };
  const path: Frame[] = [root];
  for (const row of indices(rowsOf(table))) {
    const depth = Math.min(numberAt(depths, row), path.length - 1);
    path.length = depth + 1;
    const parent = path[depth] ?? root;
    const last = parent.children[parent.children.length - 1];
    const begin = last === undefined ? parent.begin : last.begin + last.value;
    const frame: Frame = {
      row, begin, parent, depth, children: [],
      name: printable(textAt(names, row)), kind: textAt(kinds, row), value: numberAt(column, row),
    };
    parent.children.push(frame);
    path.push(frame);
  }
  root.value = root.children.reduce((total, child) => total + child.value, 0);
  return root;
}

export function hasFlame(table: Table, view: View): boolean {
  return find(table, 'depth') !== undefined && view.values.some((value) => treeOf(table, value).value > 0);
}

/** Frames wide enough to be seen, the path to `zoom` first. */
function visible(zoom: Frame, width: number): Frame[] {
  const frames: Frame[] = [];
  for (let frame: Frame | null = zoom; frame !== null; frame = frame.parent) {
    frames.unshift(frame);
  }
  const visit = (frame: Frame) => {
    for (const child of frame.children) {
      if ((child.value / zoom.value) * width >= LEAST_PX && child.depth < MOST_LEVELS) {
        frames.push(child);
        visit(child);
      }
    }
  };
  visit(zoom);
  return frames;
}

/** Time in frames that match, those inside another match counted with it. */
function matched(frame: Frame, wanted: string): number {
  if (frame.row >= 0 && frame.name.toLowerCase().includes(wanted)) {
    return frame.value;
  }
  return frame.children.reduce((total, child) => total + matched(child, wanted), 0);
}

const KIND_CLASS: Record<string, string> = {
  annotation: 'kind-annotation', op: 'kind-op', runtime: 'kind-runtime', python: 'kind-python',
};

function neighbour(frame: Frame, key: string, shown: Set<Frame>): Frame | null {
  const siblings = frame.parent?.children.filter((one) => shown.has(one)) ?? [];
  const at = siblings.indexOf(frame);
  switch (key) {
    case 'ArrowUp':
      return frame.parent;
    case 'ArrowDown':
      return frame.children.find((child) => shown.has(child)) ?? null;
    case 'ArrowLeft':
      return siblings[at - 1] ?? null;
    case 'ArrowRight':
      return siblings[at + 1] ?? null;
    default:
      return null;
  }
}

function Frames(props: { zoom: Frame; root: Frame; width: number; wanted: string; onZoom: (frame: Frame) => void; onPoint: (frame: Frame | null) => void }) {
  const { zoom, root, width, wanted } = props;
  const frames = visible(zoom, width);
  const shown = new Set(frames);
  const levels = Math.max(...frames.map((frame) => frame.depth)) + 2;
  const place = (frame: Frame): [number, number] => {
    const begin = Math.max(frame.begin, zoom.begin);
    const end = Math.min(frame.begin + frame.value, zoom.begin + zoom.value);
    return [((begin - zoom.begin) / zoom.value) * width, ((end - begin) / zoom.value) * width];
  };
  const press = (event: KeyboardEvent, frame: Frame) => {
    const next = neighbour(frame, event.key, shown);
    if (event.key === 'Escape') {
      props.onZoom(root);
    } else if (next !== null) {
      event.preventDefault();
      const all = (event.currentTarget as Element).parentElement;
      all?.querySelector<HTMLElement>(`[data-row="${next.row}"]`)?.focus();
    }
  };
  return (
    <div class="flame" style={{ height: `${levels * ROW}px` }} role="group" aria-label="Flame graph; arrow keys move, Enter zooms, Escape shows all">
      {frames.map((frame) => {
        const [left, wide] = place(frame);
        const hit = wanted !== '' && frame.row >= 0 && frame.name.toLowerCase().includes(wanted);
        const label = wide > 24 ? shorten(frame.name, Math.max(2, Math.floor((wide - 6) / CHARACTER_PX))) : '';
        return (
          <button
            type="button"
            key={frame.row}
            data-row={frame.row}
            data-label={label}
            class={`frame ${KIND_CLASS[frame.kind] ?? 'kind-other'}${hit ? ' hit' : wanted === '' ? '' : ' miss'}`}
            style={{ left: `${left}px`, width: `${Math.max(0.5, wide - 1)}px`, top: `${(frame.depth + 1) * ROW}px` }}
            tabIndex={frame === zoom ? 0 : -1}
            aria-label={`${frame.name}: ${show(frame.value, 'ns')}, ${showShare(frame.value, root.value)}`}
            onClick={() => props.onZoom(frame)}
            onFocus={() => props.onPoint(frame)}
            onPointerEnter={() => props.onPoint(frame)}
            onKeyDown={(event) => press(event, frame)}
          />
        );
      })}
    </div>
  );
}

export function Flame({ table, view }: { table: Table; view: View }) {
  const [box, width] = useWidth<HTMLDivElement>();
  const values = view.values.filter((value) => treeOf(table, value).value > 0);
  const [value, setValue] = useState(values[0] ?? '');
  const [zoomRow, setZoomRow] = useState(-1);
  const [search, setSearch] = useState('');
  const [pointed, setPointed] = useState<Frame | null>(null);
  const root = useMemo(() => treeOf(table, value), [table, value]);
  const byRow = useMemo(() => {
    const rows = new Map<number, Frame>();
    const visit = (frame: Frame) => {
      rows.set(frame.row, frame);
      frame.children.forEach(visit);
    };
    visit(root);
    return rows;
  }, [root]);
  const found = byRow.get(zoomRow) ?? root;
  const zoom = found.value > 0 ? found : root;
  const wanted = search.trim().toLowerCase();
  const told = pointed ?? zoom;
  return (
    <div>
      <div class="tools">
        <input type="search" placeholder="Search frames" aria-label="Search frames" value={search} onInput={(event) => setSearch(event.currentTarget.value)} />
        {wanted !== '' && <span role="status">{showShare(matched(root, wanted), root.value)} in matching frames</span>}
        {values.length > 1 && values.map((one) => (
          <button type="button" key={one} aria-pressed={one === value} onClick={() => setValue(one)}>
            {columnLabel({ name: one, type: 'int', unit: 'ns', doc: '', values: [] })}
          </button>
        ))}
        <button type="button" disabled={zoom === root} onClick={() => setZoomRow(-1)}>Show all</button>
      </div>
      <div ref={box} onPointerLeave={() => setPointed(null)}>
        {width > 0 && <Frames zoom={zoom} root={root} width={width} wanted={wanted} onZoom={(frame) => setZoomRow(frame.row)} onPoint={setPointed} />}
      </div>
      <div class="tip">
        <b>{told.name}</b>{told.kind !== '' && ` ${told.kind}`}: {show(told.value, 'ns')}, {showShare(told.value, root.value)} of all
      </div>
    </div>
  );
}
