// Why the job ended: what was found, the most important first, with its evidence and what to do.
import { Help, Mark } from '../findings';
import { type Table, find, indices, rowsOf, textAt } from '../model';
import { plainWords, printable, prose } from '../units';

const MOST_RANKS = 80; // characters

function Found({ table, row }: { table: Table; row: number }) {
  const text = (name: string) => textAt(find(table, name), row);
  const [ranks, where] = [printable(text('ranks')), printable(text('where'))];
  return (
    <li>
      <Mark severity={text('severity')} />
      <div>
        <h3>{prose(text('finding'))} <small>{plainWords(printable(text('certainty')))}</small></h3>
        {(ranks !== '' || where !== '') && (
          <p>
            {ranks !== '' && <b title={ranks}>{/^\d+$/.test(ranks) ? 'rank' : 'ranks'} {ranks.length > MOST_RANKS ? `${ranks.slice(0, MOST_RANKS)}…` : ranks}</b>}
            {ranks !== '' && where !== '' && ' at '}
            {where !== '' && <code>{where}</code>}
          </p>
        )}
        <p><Help text={text('evidence')} /></p>
        <p class="help"><Help text={text('help')} /></p>
      </div>
    </li>
  );
}

export function JobVerdict({ table }: { table: Table }) {
  return <ol class="verdict whole job">{indices(rowsOf(table)).map((row) => <Found key={row} table={table} row={row} />)}</ol>;
}
