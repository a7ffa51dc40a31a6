// The verdict: what costs the time, with its numbers, and the way to where they come from.
import { useMemo, useState } from 'preact/hooks';

import { againstOf, runsAt } from './compare';
import { cutToLines } from './cut_text';
import { usePrinting, useWidth } from './hooks';
import { textWidth } from './measure';
import { TIMELINE_ELEMENT, type Report, type Table, find, indices, rowsOf, textAt } from './model';
import { useNavigation } from './navigation';
import { type Place, placesOf } from './places';
import { heading, prose } from './units';

const MOST_AT_FIRST = 6;
const MOST_LINKS = 2;
const EVIDENCE_LINES = 2;
const SEVERITY_MARK: Record<string, string> = { error: '✕', warning: '▲', info: 'i' };
const ONLY: Record<string, string> = { this: 'not in the other run', other: 'only in the other run' };

export function Mark({ severity }: { severity: string }) {
  return (
    <span class={`mark ${severity}`} role="img" aria-label={severity}>{SEVERITY_MARK[severity] ?? '·'}</span>
  );
}

/** `names` between back quotes as code. */
export function Help({ text }: { text: string }) {
  return <>{prose(text).split('`').map((part, i) => (i % 2 === 1 ? <code key={i}>{part}</code> : part))}</>;
}

function ShowMe({ places, finding }: { places: Place[]; finding: string }) {
  const { href } = useNavigation();
  return (
    <>
      {places.slice(0, MOST_LINKS).map(({ section, filters }, i) => (
        <a key={section} class="show-me" href={href(section, filters)} aria-label={`Show me ${heading(section)}: ${finding}`}>
          {i === 0 && 'Show me '}{heading(section)}
        </a>
      ))}
    </>
  );
}

/** What a finding rests on, in two lines: the rest is its tooltip, and comes with the advice. */
function Evidence({ text, isWhole }: { text: string; isWhole: boolean }) {
  const [box, width] = useWidth<HTMLParagraphElement>();
  const isPrinting = usePrinting();
  const shown = useMemo(() => (isWhole || isPrinting || width === 0 ? text : cutToLines(text, width, EVIDENCE_LINES, textWidth)), [text, isWhole, isPrinting, width]);
  return <p class={isWhole ? '' : 'evidence'} ref={box} title={text}><Help text={shown} /></p>;
}

function Finding({ report, table, row }: { report: Report; table: Table; row: number }) {
  const [isAdvising, setAdvising] = useState(false);
  const text = (name: string) => textAt(find(table, name), row);
  const title = prose(text('finding'));
  const only = table.comparison === 'matched' ? ONLY[runsAt(table, row)] : undefined;
  const other = textAt(againstOf(table, 'evidence'), row);
  return (
    <li class={only === undefined ? '' : `only-${runsAt(table, row)}`}>
      <Mark severity={text('severity')} />
      <div>
        <div class="finding">
          <h4>{title}{only !== undefined && <small> {only}</small>}</h4>
          <ShowMe places={placesOf(report, table, row, document.getElementById(TIMELINE_ELEMENT) !== null)} finding={title} />
          <button type="button" class="link" aria-expanded={isAdvising} aria-label={`What to do: ${title}`} onClick={() => setAdvising(!isAdvising)}>What to do</button>
        </div>
        <Evidence text={prose(text('evidence'))} isWhole={isAdvising} />
        {only === undefined && other !== '' && other !== text('evidence') && (
          <p class="help">Other run: {prose(other)}</p>
        )}
        <p class={isAdvising ? 'help' : 'help advice'}><Help text={text('help')} /></p>
      </div>
    </li>
  );
}

export function Findings({ report, table }: { report: Report; table: Table }) {
  const [isWhole, setWhole] = useState(false);
  const rows = indices(rowsOf(table));
  const more = rows.length - MOST_AT_FIRST;
  return (
    <>
      <ol class={isWhole ? 'verdict whole' : 'verdict'}>
        {rows.map((row) => <Finding key={row} report={report} table={table} row={row} />)}
      </ol>
      {more > 0 && <p class="note"><button type="button" onClick={() => setWhole(!isWhole)}>{isWhole ? 'Fewer findings' : more === 1 ? '1 more finding' : `${more} more findings`}</button></p>}
    </>
  );
}
