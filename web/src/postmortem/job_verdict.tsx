// Why the job ended: what was found, the most important first, with its evidence and what to do.
import { Help, Mark } from '../findings';
import { type Table, find, indices, rowsOf, textAt } from '../model';
import { plainWords, printable, prose } from '../units';

const MOST_RANKS = 80; // characters
const LINE = /^[^\s:;]+:\d+( \S+)?$/; // "train.py:41 step"

function Found({ table, row }: { table: Table; row: number }) {
  const text = (name: string) => textAt(find(table, name), row);
  const [ranks, where] = [printable(text('ranks')), printable(text('where'))];
  const isLine = LINE.test(where); // else a sentence
  return (
    <li>
      <Mark severity={text('severity')} />
      <div>
        <h3>{prose(text('finding'))} <small>{plainWords(printable(text('certainty')))}</small></h3>
        {(ranks !== '' || isLine) && (
          <p>
            {ranks !== '' && <b title={ranks}>{/^\d+$/.test(ranks) ? 'rank' : 'ranks'} {ranks.length > MOST_RANKS ? `${ranks.slice(0, MOST_RANKS)}…` : ranks}</b>}
            {ranks !== '' && isLine && ' at '}
            {isLine && <code>{where}</code>}
          </p>
        )}
        {where !== '' && !isLine && <p>Where: {where}</p>}
        <p><Help text={text('evidence')} /></p>
        <p class="help"><Help text={text('help')} /></p>
      </div>
    </li>
  );
}

export function JobVerdict({ table }: { table: Table }) {
  return <ol class="verdict whole job">{indices(rowsOf(table)).map((row) => <Found key={row} table={table} row={row} />)}</ol>;
}
