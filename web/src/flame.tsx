// Nested frames, each as wide as its time. Click or Enter zooms, arrow keys move, Escape goes back.
// Of two runs they are as wide as in one of them, and coloured by what changed.
import { useMemo, useState } from 'preact/hooks';

import { type Run, againstOf, relativeChange, showChange } from './compare';
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
  value: number; // its width
  mine: number; // in this run
  other: number; // in the other one
  depth: number;
  begin: number; // where it starts, in the unit of value
  parent: Frame | null;
  children: Frame[];
}

/** The tree of rows in preorder. Children lie side by side from the start of their parent. */
export function treeOf(table: Table, value: string, widths: Run): Frame {
  const column = find(table, value);
  const against = againstOf(table, value);
  const [names, kinds, depths] = ['name', 'kind', 'depth'].map((name) => find(table, name));
  const root: Frame = { row: -1, name: 'all', kind: '', value: 0, mine: 0, other: 0, depth: -1, begin: 0, parent: null, children: [] };
  const path: Frame[] = [root];
  for (const row of indices(rowsOf(table))) {
    const depth = Math.min(numberAt(depths, row), path.length - 1);
    path.length = depth + 1;
    const parent = path[depth] ?? root;
    const last = parent.children[parent.children.length - 1];
    const begin = last === undefined ? parent.begin : last.begin + last.value;
    const [mine, other] = [numberAt(column, row), numberAt(against, row)];
    const frame: Frame = {
      row, begin, parent, depth, mine, other, children: [],
      name: printable(textAt(names, row)), kind: textAt(kinds, row), value: widths === 'this' ? mine : other,
    };
    parent.children.push(frame);
    path.push(frame);
  }
  for (const child of root.children) {
    root.value += child.value;
    root.mine += child.mine;
    root.other += child.other;
  }
  return root;
}

/** The values there is something of, in this run or the other. */
function valuesOf(table: Table, view: View): string[] {
  const largest = (name: string) =>
    Math.max(0, ...[find(table, name), againstOf(table, name)].map((column) =>
      indices(rowsOf(table)).reduce((most, row) => Math.max(most, numberAt(column, row)), 0)));
  return view.values.filter((name) => largest(name) > 0);
}

export function hasFlame(table: Table, view: View): boolean {
  return find(table, 'depth') !== undefined && valuesOf(table, view).length > 0;
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
  kernel: 'kind-kernel', memcpy: 'kind-copy', memset: 'kind-copy',
};

// Classes of change, from much less to much more, up to these multiples of the other run.
const CHANGES: readonly (readonly [number, string, string])[] = [
  [0.5, 'less-3', 'half or less'],
  [0.8, 'less-2', '−20 % or less'],
  [0.95, 'less-1', '−5 % or less'],
  [1.05, 'same', 'within 5 %'],
  [1.25, 'more-1', '+5 % or more'],
  [2, 'more-2', '+25 % or more'],
  [Infinity, 'more-3', 'twice or more'],
];

/** What frames of two runs are compared by. */
type Measure = 'time' | 'share';

/** How many times the other run's. */
function timesOther(frame: Frame, root: Frame, by: Measure): number {
  const runs = by === 'time' || root.mine === 0 || root.other === 0 ? 1 : root.other / root.mine;
  return frame.other > 0 ? (frame.mine / frame.other) * runs : frame.mine > 0 ? Infinity : 1;
}

function changeClass(times: number): string {
  const [, name] = CHANGES.find(([most]) => (most < 1 ? times <= most : times < most)) ?? CHANGES[6]!;
  return `change-${name}`;
}

function ChangeLegend() {
  return (
    <ul class="legend changes" aria-label="Colours: time in this run against the other">
      {CHANGES.map(([, name, label]) => (
        <li key={name}><i class={`change-${name}`} aria-hidden="true" />{label.replace(' %', '\u00a0%')}</li>
      ))}
    </ul>
  );
}

/** "12 ms, 40 %" of a frame; of two runs what both say. */
function told(frame: Frame, root: Frame, by: Measure | null): string {
  if (by === null) {
    return `${show(frame.value, 'ns')}, ${showShare(frame.value, root.value)}`;
  }
  if (by === 'share') {
    const shares = [showShare(frame.mine, root.mine), showShare(frame.other, root.other)];
    return `${show(frame.mine, 'ns')}, ${shares[0]} of this run; ${show(frame.other, 'ns')}, ${shares[1]} of the other`;
  }
  const change = frame.mine === 0 || frame.other === 0
    ? '' : ` (${relativeChange(frame.mine, frame.other)})`;
  return `${show(frame.mine, 'ns')} in this run, ${show(frame.other, 'ns')} in the other, ${showChange(frame.mine - frame.other, 'ns')}${change}`;
}

/** The outermost frames that the shown run does not have. */
function absent(frame: Frame): Frame[] {
  return frame.children.flatMap((child) => (child.value === 0 && child.mine + child.other > 0 ? [child] : absent(child)));
}

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

function Frames(props: { zoom: Frame; root: Frame; width: number; wanted: string; by: Measure | null; onZoom: (frame: Frame) => void; onPoint: (frame: Frame | null) => void }) {
  const { zoom, root, width, wanted, by } = props;
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
            class={`frame ${by !== null ? changeClass(timesOther(frame, root, by)) : KIND_CLASS[frame.kind] ?? 'kind-other'}${hit ? ' hit' : wanted === '' ? '' : ' miss'}`}
            style={{ left: `${left}px`, width: `${Math.max(0.5, wide - 1)}px`, top: `${(frame.depth + 1) * ROW}px` }}
            tabIndex={frame === zoom ? 0 : -1}
            aria-label={`${frame.name}: ${told(frame, root, by)}`}
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

/** What the shown run does not have, and the way to it. */
function Absent({ root, widths, onShow }: { root: Frame; widths: Run; onShow: () => void }) {
  const frames = absent(root);
  const time = frames.reduce((total, frame) => total + frame.mine + frame.other, 0);
  const where = widths === 'this' ? 'the other run' : 'this run';
  return frames.length === 0 ? null : (
    <p class="note">
      Only in {where}: {frames.length.toLocaleString('en')} {frames.length === 1 ? 'frame' : 'frames'} with
      all below, {show(time, 'ns')}. <button type="button" onClick={onShow}>Show {where}</button>
    </p>
  );
}

function framesByRow(root: Frame): Map<number, Frame> {
  const rows = new Map<number, Frame>();
  const visit = (frame: Frame) => {
    rows.set(frame.row, frame);
    frame.children.forEach(visit);
  };
  visit(root);
  return rows;
}

function Choice({ label, isChosen, onChoose }: { label: string; isChosen: boolean; onChoose: () => void }) {
  return <button type="button" aria-pressed={isChosen} onClick={onChoose}>{label}</button>;
}

const MEASURES: readonly (readonly [Measure, string])[] = [['time', 'by time'], ['share', 'by share']];
const RUNS: readonly Run[] = ['this', 'other'];

export function Flame({ table, view }: { table: Table; view: View }) {
  const [box, width] = useWidth<HTMLDivElement>();
  const isPair = table.comparison === 'matched';
  const values = valuesOf(table, view);
  const [value, setValue] = useState(values[0] ?? '');
  const [widths, setWidths] = useState<Run>('this');
  const [measure, setMeasure] = useState<Measure>('time');
  const by = isPair ? measure : null;
  const [zoomRow, setZoomRow] = useState(-1);
  const [search, setSearch] = useState('');
  const [pointedRow, setPointedRow] = useState<number | null>(null);
  const root = useMemo(() => treeOf(table, value, widths), [table, value, widths]);
  const byRow = useMemo(() => framesByRow(root), [root]);
  const found = byRow.get(zoomRow) ?? root;
  const zoom = found.value > 0 ? found : root;
  const wanted = search.trim().toLowerCase();
  const tip = (pointedRow === null ? undefined : byRow.get(pointedRow)) ?? zoom;
  return (
    <div>
      <div class="tools">
        <input type="search" placeholder="Search frames" aria-label="Search frames" value={search} onInput={(event) => setSearch(event.currentTarget.value)} />
        {wanted !== '' && <span role="status">{showShare(matched(root, wanted), root.value)} in matching frames</span>}
        {values.length > 1 && values.map((one) => (
          <Choice key={one} label={columnLabel({ name: one, type: 'int', unit: 'ns', doc: '', values: [] })} isChosen={one === value} onChoose={() => setValue(one)} />
        ))}
        {isPair && (
          <>
            <span class="choices">
              Widths {RUNS.map((run) => (
                <Choice key={run} label={`${run} run`} isChosen={run === widths} onChoose={() => setWidths(run)} />
              ))}
            </span>
            <span class="choices">
              Colours {MEASURES.map(([one, label]) => (
                <Choice key={one} label={label} isChosen={one === measure} onChoose={() => setMeasure(one)} />
              ))}
            </span>
          </>
        )}
        <button type="button" disabled={zoom === root} onClick={() => setZoomRow(-1)}>Show all</button>
      </div>
      {isPair && <ChangeLegend />}
      <div ref={box} onPointerLeave={() => setPointedRow(null)}>
        {width > 0 && root.value > 0 && (
          <Frames
            zoom={zoom} root={root} width={width} wanted={wanted} by={by}
            onZoom={(frame) => setZoomRow(frame.row)} onPoint={(frame) => setPointedRow(frame?.row ?? null)}
          />
        )}
      </div>
      <div class="tip">
        <b>{tip.name}</b>{tip.kind !== '' && ` ${tip.kind}`}: {told(tip, root, by)}{!isPair && ' of all'}
      </div>
      {isPair && <Absent root={root} widths={widths} onShow={() => setWidths(widths === 'this' ? 'other' : 'this')} />}
    </div>
  );
}
