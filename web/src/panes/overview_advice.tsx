// What a change would bring, by replay, and what the profiler itself cost.
import { useWidth } from '../hooks';
import { fitName } from '../measure';
import { type Report, type Table, find, indices, numberAt, rowsOf, sectionNamed, tableOf, textAt } from '../model';
import { useNavigation } from '../navigation';
import { printable, prose, show, showShare } from '../units';

const MOST_CHANGES = 3;
const NUMBER_PX = 150;
const HALF = / x 0\.5$/; // as all changes are that the report asks for
const LEAST_SHARE = 0.005; // of a step: less is nothing to write on a front page

/** "12.0 ms to 14.0 ms" of a step. */
const between = (table: Table, low: string, high: string, row: number): string =>
  `${show(numberAt(find(table, low), row), 'ns')} to ${show(numberAt(find(table, high), row), 'ns')}`;

/** The changes that save most of a step, the best first. */
export interface Changes {
  table: Table;
  rows: number[];
}

/** null: there are none worth a front page. */
export function changesOf(report: Report): Changes | null {
  const table = tableOf(sectionNamed(report, 'whatif'), 'ranking');
  if (table === undefined || table.comparison !== 'none') {
    return null;
  }
  const [saved, made] = [find(table, 'saved_share'), find(table, 'new_ns')];
  const rows = indices(rowsOf(table)).filter((row) => numberAt(saved, row) >= LEAST_SHARE && typeof made?.values[row] === 'number')
    .sort((a, b) => numberAt(saved, b) - numberAt(saved, a)).slice(0, MOST_CHANGES);
  return rows.length === 0 ? null : { table, rows };
}

/** Each change alone. */
export function BestChanges({ report, changes: { table, rows } }: { report: Report; changes: Changes }) {
  const { href } = useNavigation();
  const [box, width] = useWidth<HTMLDivElement>();
  const [saved, made] = [find(table, 'saved_share'), find(table, 'new_ns')];
  const hasRanks = new Set(find(table, 'rank')?.values).size > 1;
  const steps = tableOf(sectionNamed(report, 'steps'), 'steps');
  const hasSteps = steps !== undefined && rowsOf(steps) > 0;
  const scenarios = rows.map((row) => prose(textAt(find(table, 'scenario'), row)));
  const areHalf = scenarios.every((one) => HALF.test(one));
  const names = rows.map((row, i) => `${areHalf ? scenarios[i]!.replace(HALF, '') : scenarios[i]}${hasRanks ? ` · rank ${textAt(find(table, 'rank'), row)}` : ''}`);
  return (
    <div class="box names changes" ref={box}>
      <h3><a href={href('whatif')}>What would help most, each alone</a><small> {areHalf && 'at half its time, '}by replay; {hasSteps ? 'a step' : 'the recording'} takes {show(numberAt(find(table, 'step_ns'), rows[0]!), 'ns')}</small></h3>
      <ol>
        {rows.map((row, i) => (
          <li key={row}>
            <a href={href('whatif')} title={`${printable(textAt(find(table, 'scenario'), row))}: ${between(table, 'low_ns', 'high_ns', row)}`}>
              <span class="bar-label">{width > 0 ? fitName(names[i]!, width - NUMBER_PX, names) : names[i]}</span>
              <span class="bar-value">→ {show(numberAt(made, row), 'ns')} <small>−{showShare(numberAt(saved, row), 1)}</small></span>
              <span class="track" aria-hidden="true"><span style={{ width: `${Math.min(100, numberAt(saved, row) * 100)}%`, backgroundColor: 'var(--host)' }} /></span>
            </a>
          </li>
        ))}
      </ol>
    </div>
  );
}

// What the status of an estimate says of the cost of recording, where there is no estimate.
const UNKNOWN: Record<string, string> = {
  'no pace': 'What recording cost cannot be told: too few operators call others.',
  'other observer': 'What recording cost cannot be told: something else slows every operator, too.',
  refused: 'What recording cost cannot be told: the replay does not represent the recording.',
};

function costWords(table: Table, row: number): string {
  const number = (name: string) => numberAt(find(table, name), row);
  const status = textAt(find(table, 'status'), row);
  if (status === 'small') {
    return 'Recording cost less than 5 % of a step.';
  }
  const [recorded, estimate] = [number('recorded_ns'), number('estimate_ns')];
  return status === 'corrected' && recorded > 0 && estimate > 0
    ? `Recording cost about ${showShare(Math.max(0, recorded - estimate), recorded)} of a step: without the profiler it takes about ${show(estimate, 'ns')} (${between(table, 'low_ns', 'high_ns', row)}) rather than ${show(recorded, 'ns')}.`
    : UNKNOWN[status] ?? '';
}

/** What recording cost the device whose steps it made longest, in words; empty: nothing is known of it. */
export function recordingCost(report: Report): string {
  const table = tableOf(sectionNamed(report, 'summary'), 'true_time');
  if (table === undefined || table.comparison !== 'none') {
    return '';
  }
  const cost = (row: number) => numberAt(find(table, 'recorded_ns'), row) - (numberAt(find(table, 'estimate_ns'), row) || numberAt(find(table, 'recorded_ns'), row));
  const [row] = indices(rowsOf(table)).sort((a, b) => cost(b) - cost(a));
  if (row === undefined) {
    return '';
  }
  const isOneOfMany = rowsOf(table) > 1 && textAt(find(table, 'status'), row) === 'corrected';
  return `${costWords(table, row)}${isOneOfMany ? ` Of ${rowsOf(table)} devices, that which it slowed most.` : ''}`;
}

export function RecordingCost({ report, words }: { report: Report; words: string }) {
  const { href } = useNavigation();
  const hasWhatIf = tableOf(sectionNamed(report, 'whatif'), 'ranking') !== undefined;
  return <p class="note cost">{hasWhatIf ? <a href={href('whatif')}>The profiler</a> : 'The profiler'}: {words}</p>;
}
