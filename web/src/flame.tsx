// Nested frames, each as wide as its time. Click or Enter zooms, arrow keys move, Escape goes back.
// Of two runs they are as wide as in one of them, and coloured by what changed.
import { useEffect, useMemo, useState } from 'preact/hooks';

import { type Run, againstOf, relativeChange, showChange } from './compare';
import { type Drawn, type Frame, absent, drawnOf, framesByRow, matched, neighbour, treeOf } from './flame_tree';
import { useWidth } from './hooks';
import { type Table, type View, find, indices, numberAt, rowsOf } from './model';
import { columnLabel, maxOf, plainWords, shortenName, show, showShare } from './units';

const ROW = 20;
const CHARACTER_PX = 7.1;

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

/** The kinds of frames there are. */
function KindLegend({ table }: { table: Table }) {
  const tones = Object.entries(find(table, 'kind')?.hints?.tones ?? {});
  return (
    <ul class="legend kinds" aria-label="Colours: kinds of frames">
      {tones.map(([kind, tone]) => (
        <li key={kind}><i class={`tone-${tone}`} aria-hidden="true" />{plainWords(kind)}</li>
      ))}
    </ul>
  );
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

function Frames(props: { drawn: Drawn; zoom: Frame; root: Frame; width: number; wanted: string; by: Measure | null; onZoom: (frame: Frame) => void; onPoint: (frame: Frame | null) => void }) {
  const { zoom, root, width, wanted, by } = props;
  const { frames, first } = props.drawn;
  const shown = new Set(frames);
  const level = (frame: Frame) => (frame === root ? 0 : frame.depth - first + 1);
  const levels = maxOf(frames.map(level)) + 1;
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
        const label = wide > 24 ? shortenName(frame.name, Math.max(2, Math.floor((wide - 6) / CHARACTER_PX))) : '';
        return (
          <button
            type="button"
            key={frame.row}
            data-row={frame.row}
            data-label={label}
            class={`frame ${by !== null ? changeClass(timesOther(frame, root, by)) : `tone-${frame.tone}`}${hit ? ' hit' : wanted === '' ? '' : ' miss'}`}
            style={{ left: `${left}px`, width: `${Math.max(0.5, wide - 1)}px`, top: `${level(frame) * ROW}px` }}
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

/** What of the tree is not drawn, and how to see it. */
function LeftOut({ drawn, isWhole, onTrunk }: { drawn: Drawn; isWhole: boolean; onTrunk: () => void }) {
  const around = drawn.leftOut;
  return around === 0 && !isWhole && !drawn.isCut ? null : (
    <p class="note">
      {around > 0 && `${around} ${around === 1 ? 'frame' : 'frames'} around all of it ${around === 1 ? 'is' : 'are'} left out. `}
      {(around > 0 || isWhole) && <button type="button" onClick={onTrunk}>{isWhole ? 'Leave out what is around all' : 'Show what is around'}</button>}
      {drawn.isCut && ' Deeper frames are seen when zoomed in.'}
    </p>
  );
}

function Choice({ label, isChosen, onChoose }: { label: string; isChosen: boolean; onChoose: () => void }) {
  return <button type="button" aria-pressed={isChosen} onClick={onChoose}>{label}</button>;
}

const MEASURES: readonly (readonly [Measure, string])[] = [['time', 'by time'], ['share', 'by share']];
const RUNS: readonly Run[] = ['this', 'other'];

/** `text` is searched for from the start, and when it changes. */
export function Flame({ table, view, text }: { table: Table; view: View; text: string }) {
  const [box, width] = useWidth<HTMLDivElement>();
  const isPair = table.comparison === 'matched';
  const values = valuesOf(table, view);
  const [value, setValue] = useState(values[0] ?? '');
  const [widths, setWidths] = useState<Run>('this');
  const [measure, setMeasure] = useState<Measure>('time');
  const by = isPair ? measure : null;
  const [zoomRow, setZoomRow] = useState(-1);
  const [search, setSearch] = useState(text);
  useEffect(() => setSearch(text), [text]);
  const [isWhole, setWhole] = useState(false);
  const [pointedRow, setPointedRow] = useState<number | null>(null);
  const root = useMemo(() => treeOf(table, value, widths), [table, value, widths]);
  const byRow = useMemo(() => framesByRow(root), [root]);
  const found = byRow.get(zoomRow) ?? root;
  const zoom = found.value > 0 ? found : root;
  const wanted = search.trim().toLowerCase();
  const drawn = width > 0 && root.value > 0 ? drawnOf(zoom, root, width, isWhole) : null;
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
      {isPair ? <ChangeLegend /> : <KindLegend table={table} />}
      <div ref={box} onPointerLeave={() => setPointedRow(null)}>
        {drawn !== null && (
          <Frames
            drawn={drawn} zoom={zoom} root={root} width={width} wanted={wanted} by={by}
            onZoom={(frame) => setZoomRow(frame.row)} onPoint={(frame) => setPointedRow(frame?.row ?? null)}
          />
        )}
      </div>
      <div class="tip">
        <b>{tip.name}</b>{tip.kind !== '' && ` ${tip.kind}`}: {told(tip, root, by)}{!isPair && ' of all'}
      </div>
      {drawn !== null && <LeftOut drawn={drawn} isWhole={isWhole} onTrunk={() => setWhole(!isWhole)} />}
      {isPair && <Absent root={root} widths={widths} onShow={() => setWidths(widths === 'this' ? 'other' : 'this')} />}
    </div>
  );
}
