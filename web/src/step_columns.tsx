// Steps in the order of time, a column each: a click chooses one, a drag the time of several.
import { useMemo, useState } from 'preact/hooks';

import { colourOf } from './colours';
import { lastingOf, momentsOf } from './filters';
import { useWidth } from './hooks';
import { type Column, type Table, type View, find, indices, numberAt, rowsOf, takeRows } from './model';
import { useNavigation } from './navigation';
import type { Filters } from './route';
import { columnLabel, formatFor, maxOf, rowLabel, show, showShare, sum, withUnit } from './units';

const HEIGHT = 84;
const COMPACT_HEIGHT = 72;
const LEFT = 64;
const BOTTOM = 18;
const TOP = 16;
const WIDEST = 64; // of a column
const WIDEST_ALONE = 200; // where nothing is beside it
const LEAST_PX = 3;
const MOST_ROWS_OF_CHARTS = 6;
const DRAG_PX = 6;
const LEAST_STEPS_TO_COMPARE = 3; // two have no usual length
const LEAST_RATIO = 1.05; // less is as usual

/** Whether rows are steps with a place in time. Of two runs they are not: their times are not comparable. */
export function hasSteps(table: Table, view: View): boolean {
  const [steps, begins] = [find(table, 'step'), find(table, 'begin_offset_ns')];
  const isOfSteps = table.comparison === 'none' && view.labels.includes('step') && begins !== undefined;
  return isOfSteps && new Set(steps?.values.filter((step) => step !== null)).size > 1;
}

interface Step {
  row: number;
  step: number;
  begin: number;
  end: number;
  parts: number[];
  length: number;
}

function stepsOf(table: Table, parts: Column[], rows: number[]): Step[] {
  const column = (name: string) => find(table, name);
  const momentOf = momentsOf(table);
  return rows
    .filter((row) => typeof column('step')?.values[row] === 'number')
    .map((row) => {
      const begin = momentOf?.(row) ?? 0;
      const values = parts.map((part) => numberAt(part, row));
      const length = values.reduce((total, value) => total + value, 0);
      return { row, step: numberAt(column('step'), row), begin, end: begin + lastingOf(table, row, column('span_ns')), parts: values, length };
    })
    .sort((a, b) => a.begin - b.begin || a.step - b.step);
}

/** The longest of each stretch of steps, so that there are no more than `most`. */
function thinned(steps: Step[], most: number): { steps: Step[]; each: number } {
  const each = Math.max(1, Math.ceil(steps.length / most));
  const longest = (from: number) => steps.slice(from, from + each).reduce((a, b) => (b.length > a.length ? b : a));
  return { steps: indices(Math.ceil(steps.length / each)).map((i) => longest(i * each)), each };
}

/** Of each step the row of the rank that took longest. */
function longestOfEach(table: Table): Table {
  const [steps, lengths] = [find(table, 'step'), find(table, 'length_ns') ?? find(table, 'span_ns')];
  const longest = new Map<unknown, number>();
  for (const row of indices(rowsOf(table))) {
    const before = longest.get(steps?.values[row]);
    if (before === undefined || numberAt(lengths, row) > numberAt(lengths, before)) {
      longest.set(steps?.values[row], row);
    }
  }
  return takeRows(table, [...longest.values()]);
}

const medianOf = (values: number[]): number => [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? 0;

const slowestOf = (steps: Step[]): Step => steps.reduce((a, b) => (b.length > a.length ? b : a));

/** What is left of a run where only this step is looked at. */
function filtersOf(table: Table, step: Step): Partial<Filters> {
  const rank = find(table, 'rank')?.values[step.row];
  return { rank: typeof rank === 'number' ? rank : null, step: step.step };
}

/** "step 5, 12 ms (1.4 x the median)", where there are enough to have a median. */
function slowestWords(steps: Step[]): string {
  const slowest = slowestOf(steps);
  const median = medianOf(steps.map((step) => step.length));
  const isLonger = steps.length >= LEAST_STEPS_TO_COMPARE && median > 0 && slowest.length / median >= LEAST_RATIO;
  const ratio = isLonger ? `, ${(slowest.length / median).toFixed(2)} × the median` : '';
  return `step ${slowest.step}: ${show(slowest.length, 'ns')}${ratio}`;
}

function Columns(props: { title: string; steps: Step[]; parts: Column[]; largest: number; width: number; height: number }) {
  const { parts, largest, width, height } = props;
  const { go, route } = useNavigation();
  const [from, setFrom] = useState<number | null>(null);
  const [pointer, setPointer] = useState<number | null>(null);
  const inner = Math.max(40, width - LEFT - 4);
  const { steps, each } = useMemo(() => thinned(props.steps, Math.floor(inner / LEAST_PX)), [props.steps, inner]);
  const wide = Math.min(height === COMPACT_HEIGHT ? WIDEST_ALONE : WIDEST, inner / steps.length);
  const tall = height - TOP - BOTTOM;
  const y = (value: number) => TOP + tall * (1 - value / largest);
  const slowest = steps.reduce((best, step, i) => (step.length > (steps[best]?.length ?? 0) ? i : best), 0);
  const at = (event: PointerEvent) => event.clientX - (event.currentTarget as Element).getBoundingClientRect().left;
  const index = (pixel: number) => Math.max(0, Math.min(steps.length - 1, Math.floor((pixel - LEFT) / wide)));
  const release = (event: PointerEvent) => {
    const to = at(event);
    const [first, last] = [steps[index(Math.min(from ?? to, to))], steps[index(Math.max(from ?? to, to))]];
    const one = steps[index(to)];
    if (from !== null && Math.abs(to - from) > DRAG_PX && first !== undefined && last !== undefined) {
      go({ filters: { ...route.filters, time: [first.begin, Math.max(last.end, first.begin + 1)] } });
    } else if (from !== null && one !== undefined) {
      go({ filters: { ...route.filters, step: route.filters.step === one.step ? null : one.step } });
    }
    setFrom(null);
  };
  const pointed = pointer === null ? undefined : steps[index(pointer)];
  const chosen = steps.findIndex((step) => step.step === route.filters.step);
  const first = chosen >= 0 ? chosen : slowest; // whose number is written in any case
  const labelled = new Set([0, first, steps.length - 1]);
  const isFree = (i: number) => i === first || Math.abs(i - first) * wide > 40;
  return (
    <svg
      class="steps" width={width} height={height} role="img"
      aria-label={`${props.title}: ${props.steps.length} steps in the order of time; the longest is ${slowestWords(props.steps)}`}
      onPointerDown={(event) => setFrom(at(event))} onPointerUp={release}
      onPointerMove={(event) => setPointer(at(event))} onPointerLeave={() => { setPointer(null); setFrom(null); }}
    >
      <g class="axis">
        <line x1={LEFT} x2={LEFT + inner} y1={y(0)} y2={y(0)} />
        <text x={LEFT - 6} y={y(largest) + 8} text-anchor="end">{show(largest, 'ns')}</text>
        <text x={LEFT - 6} y={y(0)} text-anchor="end">0</text>
      </g>
      {steps.map((step, i) => {
        let top = 0;
        return step.parts.map((value, part) => {
          top += value;
          return value > 0 && (
            <rect
              key={part} x={LEFT + i * wide} y={y(top)} width={Math.max(1, wide - (wide > 4 ? 1 : 0))} height={(tall * value) / largest}
              style={{ fill: colourOf(parts[part]!) }}
            />
          );
        });
      })}
      {chosen >= 0 && <rect class="chosen" x={LEFT + chosen * wide} y={TOP - 1} width={Math.max(2, wide)} height={tall + 2} />}
      {[...labelled].filter(isFree).map((i) => (
        <text key={i} class="tick" x={LEFT + (i + 0.5) * wide} y={height - 4} text-anchor={i === 0 && wide < 30 ? 'start' : 'middle'}>{steps[i]?.step}</text>
      ))}
      {from !== null && pointer !== null && (
        <rect class="brush" x={Math.min(from, pointer)} y={TOP} width={Math.abs(pointer - from)} height={tall} />
      )}
      {pointed !== undefined && (
        <text class="tick" x={Math.min(LEFT + inner, Math.max(LEFT + 150, pointer ?? 0))} y={11} text-anchor="end">
          step {pointed.step}: {show(pointed.length, 'ns')}{each > 1 && `, the longest of ${each}`}
        </text>
      )}
    </svg>
  );
}

function Legend({ parts }: { parts: Column[] }) {
  const whole = parts.reduce((total, part) => total + sum(part), 0);
  const format = formatFor(parts[0]?.unit ?? null, maxOf(parts.map(sum), 0), true);
  return (
    <ul class="legend">
      {parts.map((part) => (
        <li key={part.name} title={part.doc}>
          <i style={{ background: colourOf(part) }} aria-hidden="true" />
          {columnLabel(part)} <small>{withUnit(sum(part), format)} · {showShare(sum(part), whole)}</small>
        </li>
      ))}
    </ul>
  );
}

interface Facet {
  label: string;
  steps: Step[];
}

/** A row of columns for each device, in their order. */
function facetsOf(table: Table, parts: Column[]): Facet[] {
  const keys = ['rank', 'gpu'].map((name) => find(table, name)).filter((column) => column !== undefined);
  const rows = new Map<string, number[]>();
  for (const row of indices(rowsOf(table))) {
    const label = rowLabel(keys, row);
    rows.set(label, [...(rows.get(label) ?? []), row]);
  }
  return [...rows].map(([label, of]) => ({ label, steps: stepsOf(table, parts, of) })).filter((facet) => facet.steps.length > 0);
}

/** `compact`: one row of columns, of each step the device that took longest. `more` says more about the longest step. */
export function StepColumns({ table, view, compact, more }: { table: Table; view: View; compact?: boolean; more?: ((filters: Partial<Filters>) => preact.ComponentChild) | undefined }) {
  const [box, width] = useWidth<HTMLDivElement>();
  const source = useMemo(() => (compact ? longestOfEach(table) : table), [table, compact]);
  const parts = useMemo(() => view.values.map((name) => find(source, name)).filter((part) => part !== undefined && sum(part) > 0) as Column[], [source, view]);
  const facets = useMemo(() => (compact ? [{ label: '', steps: stepsOf(source, parts, indices(rowsOf(source))) }] : facetsOf(source, parts)), [source, parts, compact]);
  const drawn = facets.slice(0, MOST_ROWS_OF_CHARTS).filter((facet) => facet.steps.length > 0);
  const largest = maxOf(drawn.flatMap((facet) => facet.steps.map((step) => step.length)), 1);
  return (
    <div ref={box}>
      {!compact && <Legend parts={parts} />}
      {width > 0 && drawn.map((facet) => (
        <div key={facet.label} class="facet">
          {facets.length > 1 && <p class="facet-label">{facet.label} <small>longest {slowestWords(facet.steps)}</small></p>}
          <Columns title={facets.length > 1 ? facet.label : view.title} steps={facet.steps} parts={parts} largest={largest} width={width} height={compact ? COMPACT_HEIGHT : HEIGHT} />
        </div>
      ))}
      {drawn[0] !== undefined && facets.length === 1 && <p class="note">Longest: {slowestWords(drawn[0].steps)}.{more?.(filtersOf(source, slowestOf(drawn[0].steps)))}{!compact && ' Click for a step, drag for a stretch of time.'}</p>}
      {facets.length > drawn.length && <p class="note">{facets.length - drawn.length} more devices in the table below; choose a rank to see its steps.</p>}
    </div>
  );
}
