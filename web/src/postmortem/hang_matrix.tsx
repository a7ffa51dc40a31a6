// Who waits for whom: ranks against the operations in which some of them wait. A click shows a rank beside one that
// it waits for.
import { useMemo, useState } from 'preact/hooks';

import { type Section, type Table, find, indices, numberAt, rowsOf, tableOf, textAt } from '../model';
import { chooseFormat, formatNumber, printable, show } from '../units';
import { type Line, type Matrix, type Operation, type State, STATES, matrixOf, rankList, ranksIn } from './hang_model';

const MOST_RANKS_IN_LABEL = 34; // characters
const MOST_LISTED = 12; // operations

const shortList = (ranks: readonly number[]): string => {
  const list = rankList(ranks);
  return list.length <= MOST_RANKS_IN_LABEL ? list : `${list.slice(0, MOST_RANKS_IN_LABEL).replace(/[^,]*$/, '')}…`;
};

function label(line: Line): string {
  return line.ranks.length === 1 ? `rank ${line.ranks[0]}` : `${line.ranks.length.toLocaleString('en')} ranks: ${shortList(line.ranks)}`;
}

const wholeLabel = (line: Line): string => `${line.ranks.length === 1 ? 'rank' : 'ranks'} ${rankList(line.ranks)}`;

/** What is said of a rank beside its name. */
const noteOf = (line: Line): string =>
  line.kinds.length > 0 ? line.kinds.join(', ') : !line.hasDump ? 'no dump' : line.waiters > 0 ? `${line.waiters.toLocaleString('en')} wait for ${line.ranks.length === 1 ? 'it' : 'each'}` : '';

function Legend({ matrix }: { matrix: Matrix }) {
  const there = new Set(matrix.lines.flatMap((line) => line.cells));
  return (
    <ul class="legend">
      {(Object.keys(STATES) as State[]).filter((state) => there.has(state)).map((state) => (
        <li key={state}><i class={`cell ${state}`} aria-hidden="true">{STATES[state].letter}</i>{STATES[state].words}</li>
      ))}
      {there.has(undefined) && <li><i class="cell" aria-hidden="true"> </i>no member</li>}
    </ul>
  );
}

/** "since 22:47:17.548 UTC". */
function since(table: Table | undefined, row: number): string {
  const column = table && find(table, 'created_first_unix_ns');
  const cell = column?.values[row];
  return column === undefined || typeof cell !== 'number' ? '' : ` since ${formatNumber(cell, chooseFormat(column)).slice(11)}`;
}

function OperationList({ matrix, table }: { matrix: Matrix; table: Table | undefined }) {
  return (
    <ol class="matrix-operations">
      {matrix.operations.slice(0, MOST_LISTED).map((one, i) => (
        <li key={one.row}>
          <b>{i + 1}</b> {printable(one.name)} <small>of {printable(one.group) || 'the default group'}: {one.standing.toLocaleString('en')} of {one.states.size.toLocaleString('en')} wait there{since(table, one.row)}</small>
        </li>
      ))}
    </ol>
  );
}

interface Chosen {
  line: number;
  operation: number; // -1: none
}

const rowOf = (table: Table | undefined, rank: number): number =>
  table === undefined ? -1 : indices(rowsOf(table)).findIndex((row) => numberAt(find(table, 'rank'), row) === rank);

interface Facts {
  rank: number;
  words: [string, string][];
}

/** What the tables say of one rank. */
function factsOf(section: Section, rank: number, state: string): Facts {
  const [ranks, culprits] = [tableOf(section, 'hang_ranks'), tableOf(section, 'hang_culprits')];
  const [row, culprit] = [rowOf(ranks, rank), rowOf(culprits, rank)];
  const cell = (table: Table | undefined, name: string, at: number) => (table === undefined || at < 0 ? '' : printable(textAt(find(table, name), at)));
  const seq = ranks === undefined || row < 0 ? null : find(ranks, 'head_seq')?.values[row];
  const head = cell(ranks, 'head_operation', row);
  const issued = ranks === undefined || row < 0 ? undefined : find(ranks, 'last_issue_unix_ns');
  const last = issued?.values[row];
  const words: [string, string][] = [
    ['at fault', culprit < 0 ? '' : `${cell(culprits, 'kind', culprit)}, ${cell(culprits, 'certainty', culprit)}`],
    ['here', state],
    ['waits in', head === '' ? (row >= 0 && find(ranks!, 'dump')?.values[row] === false ? 'no dump' : 'nothing outstanding') : `${head} ${seq ?? ''} of ${cell(ranks, 'head_desc', row) || cell(ranks, 'head_group', row)}`],
    ['issued at', cell(ranks, 'head_line', row)],
    ['its host is at', cell(culprits, 'stack_line', culprit)],
    ['last issued at', cell(culprits, 'last_line', culprit)],
    ['last issued', issued === undefined || typeof last !== 'number' ? '' : formatNumber(last, chooseFormat(issued)).slice(11)],
    ['waits for', cell(ranks, 'waits_for', row)],
    ['late by', ranks === undefined || row < 0 || typeof find(ranks, 'late_ns')?.values[row] !== 'number' ? '' : show(numberAt(find(ranks, 'late_ns'), row), 'ns')],
  ];
  return { rank, words: words.filter(([, text]) => text !== '') };
}

function RankFacts({ facts }: { facts: Facts }) {
  return (
    <div>
      <h4>Rank {facts.rank}</h4>
      <dl>{facts.words.map(([term, text]) => <div key={term}><dt>{term}</dt><dd>{text}</dd></div>)}</dl>
    </div>
  );
}

/** The one whose lines are shown beside: whom it waits for, or who waits for it. */
function otherOf(section: Section, rank: number): number | null {
  const ranks = tableOf(section, 'hang_ranks');
  const row = rowOf(ranks, rank);
  const [first] = ranks === undefined || row < 0 ? [] : ranksIn(textAt(find(ranks, 'waits_for'), row));
  if (first !== undefined && first !== rank) {
    return first;
  }
  const waiting = ranks === undefined ? -1 : indices(rowsOf(ranks)).findIndex((one) => numberAt(find(ranks, 'rank'), one) !== rank && ranksIn(textAt(find(ranks, 'waits_for'), one)).includes(rank));
  return waiting < 0 ? null : numberAt(find(ranks!, 'rank'), waiting);
}

const stateWords = (operation: Operation | undefined, rank: number): string => {
  const state = operation?.states.get(rank);
  return operation === undefined ? '' : `${operation.name}: ${state === undefined ? 'no member' : STATES[state].words}`;
};

function Beside({ section, matrix, chosen, onClose }: { section: Section; matrix: Matrix; chosen: Chosen; onClose: () => void }) {
  const line = matrix.lines[chosen.line];
  const [rank] = line?.ranks ?? [];
  if (line === undefined || rank === undefined) {
    return null;
  }
  const operation = matrix.operations[chosen.operation];
  const other = otherOf(section, rank);
  return (
    <div class="details matrix-details" role="region" aria-label={`About rank ${rank}`}>
      <button type="button" class="close" aria-label="Close" onClick={onClose}>✕</button>
      {line.ranks.length > 1 && <p class="note">As rank {rank}: {wholeLabel(line)}.</p>}
      <div class="beside">
        <RankFacts facts={factsOf(section, rank, stateWords(operation, rank))} />
        {other !== null && <RankFacts facts={factsOf(section, other, stateWords(operation, other))} />}
      </div>
    </div>
  );
}

/** The cell that an event is in. */
function cellAt(target: EventTarget | null): Chosen | null {
  const cell = target instanceof Element ? target.closest<HTMLElement>('[data-line]') : null;
  return cell === null ? null : { line: Number(cell.dataset['line']), operation: Number(cell.dataset['operation'] ?? -1) };
}

function Grid({ matrix, chosen, choose }: { matrix: Matrix; chosen: Chosen | null; choose: (chosen: Chosen | null) => void }) {
  return (
    <div class="scroller matrix-scroller" tabIndex={0} role="region" aria-label="Ranks and the operations in which they wait">
      <table class="matrix" onClick={(event) => { const at = cellAt(event.target); if (at !== null) { choose(at); } }}>
        <thead>
          <tr><th scope="col">{matrix.ranks.toLocaleString('en')} ranks</th>{matrix.operations.map((one, i) => <th key={one.row} scope="col" class="number" title={`${printable(one.name)} of ${printable(one.group)}`}>{i + 1}</th>)}</tr>
        </thead>
        <tbody>
          {matrix.lines.map((line, i) => (
            <tr key={line.ranks[0]} class={chosen?.line === i ? 'selected' : ''}>
              <th scope="row" data-line={i} title={wholeLabel(line)} class={line.kinds.length > 0 ? 'culprit' : ''}>
                <button type="button" aria-expanded={chosen?.line === i}>{line.kinds.length > 0 && <span aria-hidden="true">✕ </span>}{label(line)}</button> <small>{printable(noteOf(line))}</small>
              </th>
              {line.cells.map((state, operation) => (
                <td key={operation} data-line={i} data-operation={operation} class={`cell ${state ?? ''}`} title={state === undefined ? undefined : `${wholeLabel(line).slice(0, 80)}, ${printable(matrix.operations[operation]?.name ?? '')}: ${STATES[state].words}`}>
                  {state === undefined ? '' : STATES[state].letter}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const more = (count: number, words: string): string => (count > 0 ? ` ${count.toLocaleString('en')} more ${words} are in the tables below.` : '');

export function HangMatrix({ section }: { section: Section }) {
  const matrix = useMemo(() => matrixOf({
    culprits: tableOf(section, 'hang_culprits'), operations: tableOf(section, 'hang_operations'),
    ranks: tableOf(section, 'hang_ranks'), mismatches: tableOf(section, 'hang_mismatches'),
  }), [section]);
  // Who is at fault is shown at once.
  const [chosen, choose] = useState<Chosen | null>((matrix.lines[0]?.kinds.length ?? 0) > 0 ? { line: 0, operation: -1 } : null);
  if (matrix.operations.length === 0) {
    return null;
  }
  return (
    <figure data-kind="hang" data-table="hang_operations">
      <figcaption>Who waits for whom <small>ranks, and the operations in which some of them wait; who is at fault comes first</small></figcaption>
      <Legend matrix={matrix} />
      <div class="matrix-box">
        <Grid matrix={matrix} chosen={chosen} choose={choose} />
        <div>
          <OperationList matrix={matrix} table={tableOf(section, 'hang_operations')} />
          {chosen !== null && <Beside section={section} matrix={matrix} chosen={chosen} onClose={() => choose(null)} />}
        </div>
      </div>
      <p class="note">A click on a rank shows its lines beside those of a rank that it waits for, or that waits for it.{more(matrix.moreOperations, 'operations')}{more(matrix.moreRanks, 'ranks')}</p>
    </figure>
  );
}
