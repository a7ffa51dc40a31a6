// A job that hung, died or ran out of memory: the verdict, who waits for whom, and memory over time; the tables of
// all of it are below.
import { Help, Mark } from '../findings';
import { type Report, type Table, find, indices, rowsOf, sectionNamed, tableOf, textAt } from '../model';
import { plainWords, printable, prose } from '../units';
import { HangMatrix } from './hang_matrix';
import { MemoryAreas } from './memory_areas';
import { MemoryMap } from './memory_map';

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

/** Why the job ended: what was found, the most important first, with its evidence and what to do. */
function JobVerdict({ table }: { table: Table }) {
  return <ol class="verdict whole job">{indices(rowsOf(table)).map((row) => <Found key={row} table={table} row={row} />)}</ol>;
}

export function PostmortemPane({ report }: { report: Report }) {
  const verdict = tableOf(sectionNamed(report, 'findings'), 'postmortem');
  const [hang, memory] = [sectionNamed(report, 'hang'), sectionNamed(report, 'memory')];
  return (
    <section id="postmortem" aria-labelledby="section-postmortem">
      <h2 id="section-postmortem">Verdict</h2>
      {verdict !== undefined && rowsOf(verdict) > 0 && <JobVerdict table={verdict} />}
      {hang !== undefined && <HangMatrix section={hang} />}
      {memory !== undefined && <MemoryAreas section={memory} />}
      {memory !== undefined && <MemoryMap section={memory} />}
    </section>
  );
}
