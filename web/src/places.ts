// Where the evidence of a finding is seen: its moment on the timeline, and the sections of the verbs that its
// advice names, narrowed to the rank, step or kernel that its evidence names.
import { lastingOf, momentsOf } from './filters';
import { momentOf } from './moments';
import { type Report, type Section, TIMELINE, type Table, find, hasTables, indices, rowsOf, sectionNamed, tableOf, textAt } from './model';
import type { Filters } from './route';

export interface Place {
  section: string; // or the timeline
  filters: Partial<Filters>;
}

const COMPARED = 20; // characters of a name, which texts may shorten in its middle

const verbsIn = (help: string): string[] => [...help.matchAll(/`borescope ([a-z-]+)/g)].map((match) => match[1] ?? '');

/** The number after the word, if there is one and always the same. */
function numberAfter(word: string, text: string): number | null {
  const numbers = new Set([...text.matchAll(new RegExp(`\\b${word} (\\d{1,15})\\b`, 'g'))].map((match) => Number(match[1])));
  return numbers.size === 1 ? [...numbers][0] ?? null : null;
}

/** When a step was, on the rank that is meant or on the first. */
function timeOfStep(steps: Table | undefined, step: number, rank: number | null): Filters['time'] {
  const momentOf = steps === undefined ? null : momentsOf(steps);
  if (steps === undefined || momentOf === null) {
    return null;
  }
  const row = indices(rowsOf(steps)).find((at) =>
    find(steps, 'step')?.values[at] === step && (rank === null || find(steps, 'rank')?.values[at] === rank));
  const begin = row === undefined ? null : momentOf(row);
  return row === undefined || begin === null ? null : [begin, begin + Math.max(1, lastingOf(steps, row, find(steps, 'span_ns')))];
}

/** The kernel whose name the evidence begins with. */
function kernelIn(kernels: Table | undefined, evidence: string): string {
  const names = kernels && find(kernels, 'name');
  const start = (name: string) => name.replace(/^void /, '').slice(0, COMPARED);
  const row = kernels && indices(rowsOf(kernels)).find((at) => evidence.startsWith(start(textAt(names, at))) && textAt(names, at).length > 2);
  return row === undefined ? '' : textAt(names, row);
}

/** Of these filters those that some table of the section can be narrowed by. */
function narrowed(section: Section, filters: Partial<Filters>): Partial<Filters> {
  const has = (column: string) => section.tables.some((sized) => find(sized.table, column) !== undefined);
  return {
    rank: has('rank') ? filters.rank ?? null : null,
    step: has('step') ? filters.step ?? null : null,
    text: section.name === 'kernels' ? filters.text ?? '' : '',
  };
}

export function placesOf(report: Report, verdict: Table, row: number, hasTimeline: boolean): Place[] {
  const text = (name: string) => textAt(find(verdict, name), row);
  const evidence = text('evidence');
  const [rank, step] = [numberAfter('rank', evidence), numberAfter('step', evidence)];
  const kernel = kernelIn(tableOf(sectionNamed(report, 'kernels'), 'kernels'), evidence);
  const own = momentOf(verdict, row); // which the finding names itself
  const time = own !== null ? own.time : step === null ? null : timeOfStep(tableOf(sectionNamed(report, 'steps'), 'steps'), step, rank);
  const first = [...(step !== null ? ['steps'] : []), ...(kernel !== '' ? ['kernels'] : [])];
  const sections = [...new Set([...first, ...verbsIn(text('help'))])]
    .map((name) => sectionNamed(report, name))
    .filter((section): section is Section => section !== undefined && hasTables(section) && section.name !== 'summary');
  const places: Place[] = sections.map((section) => ({ section: section.name, filters: narrowed(section, { rank, step, text: kernel }) }));
  return time !== null && hasTimeline ? [{ section: TIMELINE, filters: { rank: own?.rank ?? rank, time } }, ...places] : places;
}
