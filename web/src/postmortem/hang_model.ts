// Who waits in which operation, from the tables of a post-mortem: a row for each rank, or for ranks that are all
// alike, and a column for each operation.
import { type Column, type Table, find, indices, numberAt, rowsOf, textAt } from '../model';

export type State = 'stuck' | 'stands' | 'mismatch' | 'started' | 'open' | 'missing' | 'unknown' | 'done';

/** What a cell says, in the order of the legend. */
export const STATES: Record<State, { letter: string; words: string }> = {
  stuck: { letter: 'X', words: 'stuck here' },
  missing: { letter: 'M', words: 'did not issue it: waited for' },
  mismatch: { letter: '≠', words: 'issued something else' },
  stands: { letter: 'W', words: 'waits here' },
  started: { letter: 's', words: 'its device began it' },
  open: { letter: 'o', words: 'issued it, waits before it' },
  unknown: { letter: '?', words: 'not known: no dump, or it ends before' },
  done: { letter: '·', words: 'finished it' },
};

export interface Operation {
  row: number; // of hang_operations
  name: string; // "all_reduce 17"
  group: string;
  standing: number; // ranks
  states: ReadonlyMap<number, State>;
}

export interface Line {
  ranks: number[]; // that are alike, ascending
  kinds: string[]; // of culprits: "never-issued"
  hasDump: boolean;
  waiters: number; // ranks that wait for each of these
  cells: (State | undefined)[]; // undefined: no member
}

export interface Matrix {
  ranks: number;
  operations: Operation[];
  moreOperations: number;
  lines: Line[];
  moreRanks: number;
}

const MOST_RANKS = 1 << 16;
const MOST_OPERATIONS = 40;
const MOST_LINES = 64;
const FOLD_BEYOND = 64; // ranks

/** The ranks of "0..7,9". */
export function ranksIn(list: string): number[] {
  const ranks: number[] = [];
  for (const part of list.split(',')) {
    const [, from = '', to = from] = /^(\d{1,9})(?:\.\.(\d{1,9}))?$/.exec(part.trim()) ?? [];
    for (let rank = Number(from); from !== '' && rank <= Number(to) && ranks.length < MOST_RANKS; ++rank) {
      ranks.push(rank);
    }
  }
  return ranks;
}

/** "0..7,9" of ascending ranks. */
export function rankList(ranks: readonly number[]): string {
  const parts: string[] = [];
  for (let i = 0; i < ranks.length;) {
    let end = i;
    while (end + 1 < ranks.length && ranks[end + 1] === ranks[end]! + 1) {
      ++end;
    }
    parts.push(end === i ? String(ranks[i]) : end === i + 1 ? `${ranks[i]},${ranks[end]}` : `${ranks[i]}..${ranks[end]}`);
    i = end + 1;
  }
  return parts.join(',');
}

const idOf = (table: Table, row: number): string => {
  const cell = (name: string) => textAt(find(table, name), row);
  return JSON.stringify([cell('group'), cell('operation'), String(find(table, 'seq')?.values[row] ?? '')]);
};

interface Culprits {
  kindsOf: ReadonlyMap<number, string[]>;
  stuck: ReadonlySet<string>; // "rank operation": who is stuck there
  evidence: ReadonlySet<string>;
}

const STUCK: readonly string[] = ['device-stuck', 'not-started', 'not-finished'];

function culpritsOf(table: Table | undefined): Culprits {
  const kindsOf = new Map<number, string[]>();
  const stuck = new Set<string>();
  const evidence = new Set<string>();
  for (const row of table === undefined ? [] : indices(rowsOf(table))) {
    const rank = numberAt(find(table!, 'rank'), row);
    const kind = textAt(find(table!, 'kind'), row);
    if (find(table!, 'primary')?.values[row] !== false) {
      kindsOf.set(rank, [...(kindsOf.get(rank) ?? []), kind]);
    }
    evidence.add(idOf(table!, row));
    if (STUCK.includes(kind)) {
      stuck.add(`${rank} ${idOf(table!, row)}`);
    }
  }
  return { kindsOf, stuck, evidence };
}

/** "rank group seq" of each difference. */
function mismatchesOf(table: Table | undefined): ReadonlySet<string> {
  return new Set(table === undefined ? [] : indices(rowsOf(table)).map((row) =>
    JSON.stringify([numberAt(find(table, 'rank'), row), textAt(find(table, 'group'), row), numberAt(find(table, 'seq'), row)])));
}

// Columns of ranks, those last that others hide.
const LISTS: readonly [string, State][] = [['unknown', 'unknown'], ['missing', 'missing'], ['open', 'open'], ['started', 'started'], ['done', 'done'], ['at_head', 'stands']];

function operationOf(table: Table, row: number, culprits: Culprits, mismatches: ReadonlySet<string>): Operation {
  const text = (name: string) => textAt(find(table, name), row);
  const [group, seq, id] = [text('group'), numberAt(find(table, 'seq'), row), idOf(table, row)];
  const states = new Map<number, State>();
  for (const rank of ranksIn(text('members'))) {
    states.set(rank, 'unknown');
  }
  for (const [column, state] of LISTS) {
    for (const rank of ranksIn(text(column))) {
      const isStuck = state === 'stands' && culprits.stuck.has(`${rank} ${id}`);
      const differs = mismatches.has(JSON.stringify([rank, group, seq]));
      states.set(rank, differs ? 'mismatch' : isStuck ? 'stuck' : state);
    }
  }
  return { row, name: `${text('operation')} ${seq}`, group: text('group_desc') || group, standing: ranksIn(text('at_head')).length, states };
}

/** Those that say who is at fault first, then those in which most ranks wait. */
function operationsOf(table: Table | undefined, culprits: Culprits, mismatches: ReadonlySet<string>): Operation[] {
  const all = table === undefined ? [] : indices(rowsOf(table)).map((row) => operationOf(table, row, culprits, mismatches));
  const place = ({ row, states }: Operation) =>
    (culprits.evidence.has(idOf(table!, row)) ? 0 : [...states.values()].includes('mismatch') ? 1 : 2);
  return all.sort((a, b) => place(a) - place(b) || b.standing - a.standing || a.row - b.row);
}

/** How many ranks wait for each. */
function waitersOf(ranks: Table | undefined): Map<number, number> {
  const waiters = new Map<number, number>();
  for (const row of ranks === undefined ? [] : indices(rowsOf(ranks))) {
    for (const rank of ranksIn(textAt(find(ranks!, 'waits_for'), row))) {
      waiters.set(rank, (waiters.get(rank) ?? 0) + 1);
    }
  }
  return waiters;
}

const cellsOf = (column: Column | undefined, table: Table | undefined): (number | string | boolean | null)[] =>
  table === undefined ? [] : indices(rowsOf(table)).map((row) => column?.values[row] ?? null);

/** Lines of ranks: culprits, then those that others wait for, then by rank. */
function linesOf(ranks: Table | undefined, operations: readonly Operation[], culprits: Culprits): { lines: Line[]; all: number } {
  const waiters = waitersOf(ranks);
  const dumps = new Map(cellsOf(ranks && find(ranks, 'rank'), ranks).map((rank, row) => [Number(rank), find(ranks!, 'dump')?.values[row] !== false]));
  const all = [...new Set([...dumps.keys(), ...culprits.kindsOf.keys(), ...operations.flatMap((one) => [...one.states.keys()])])].sort((a, b) => a - b);
  const lines = new Map<string, Line>();
  for (const rank of all) {
    const cells = operations.map((one) => one.states.get(rank));
    const kinds = culprits.kindsOf.get(rank) ?? [];
    const hasDump = dumps.get(rank) ?? false;
    const id = all.length > FOLD_BEYOND ? JSON.stringify([cells, kinds, hasDump, waiters.get(rank) ?? 0]) : String(rank);
    const line = lines.get(id);
    if (line === undefined) {
      lines.set(id, { ranks: [rank], kinds, hasDump, waiters: waiters.get(rank) ?? 0, cells });
    } else {
      line.ranks.push(rank);
    }
  }
  const place = (line: Line) => (line.kinds.length > 0 ? 0 : line.waiters > 0 ? 1 : 2);
  return { lines: [...lines.values()].sort((a, b) => place(a) - place(b) || a.ranks[0]! - b.ranks[0]!), all: all.length };
}

export function matrixOf(tables: { culprits?: Table | undefined; operations?: Table | undefined; ranks?: Table | undefined; mismatches?: Table | undefined }): Matrix {
  const culprits = culpritsOf(tables.culprits);
  const every = operationsOf(tables.operations, culprits, mismatchesOf(tables.mismatches));
  const operations = every.slice(0, MOST_OPERATIONS);
  const { lines, all } = linesOf(tables.ranks, operations, culprits);
  const shown = lines.slice(0, MOST_LINES);
  return {
    ranks: all,
    operations,
    moreOperations: every.length - operations.length,
    lines: shown,
    moreRanks: lines.slice(MOST_LINES).reduce((sum, line) => sum + line.ranks.length, 0),
  };
}
