// Search, zoom and range for those who use no keys, and what the keys are.
import { useEffect, useRef, useState } from 'preact/hooks';

import { printable, show } from '../units';
import { useChanges } from './changes';
import { KEY_HELP } from './keys';
import { NOTHING_FOUND, type Found, nextHit, search } from './search';
import { type Stage } from './stage';

const WAIT_MS = 150; // after the last letter

/** What a search of a text found so far. */
function useSearch(stage: Stage, text: string): Found {
  const [found, setFound] = useState<Found>(NOTHING_FOUND);
  useEffect(() => {
    if (text === '') {
      setFound(NOTHING_FOUND);
      stage.setMatches(null);
      return undefined;
    }
    let stop: (() => void) | undefined;
    const timer = setTimeout(() => {
      stop = search(stage.store, stage.whole, text, (now) => {
        setFound(now);
        stage.setMatches(now.matches);
      });
    }, WAIT_MS);
    return () => {
      clearTimeout(timer);
      stop?.();
    };
  }, [stage, text]);
  return found;
}

function foundWords({ events, isComplete, isCut }: Found): string {
  return `${events.toLocaleString('en')} ${events === 1 ? 'event' : 'events'}${isComplete ? '' : ' so far'}${isCut ? ', too many to visit all' : ''}`;
}

interface SearchProps {
  stage: Stage;
  input: { current: HTMLInputElement | null };
  search: string; // what the page around is filtered by
}

export function Search({ stage, input, search: outer }: SearchProps) {
  const [text, setText] = useState(outer);
  useEffect(() => setText(outer), [outer]);
  const wanted = text.trim();
  const found = useSearch(stage, wanted);
  const go = (direction: 1 | -1) => {
    const { selected, view } = stage;
    const from = selected === null ? view.begin - direction : selected.boxes.begin[selected.index]!;
    const hit = nextHit(found.hits, from, direction);
    if (hit !== undefined) {
      stage.reveal(hit);
    }
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === 'Enter') {
      go(event.shiftKey ? -1 : 1);
    } else if (event.key === 'Escape') {
      setText('');
    }
  };
  const canGo = found.isComplete && found.hits.length > 0;
  return (
    <>
      <input ref={input} type="search" placeholder="Search events" aria-label="Search events" value={text} onInput={(event) => setText(event.currentTarget.value)} onKeyDown={press} />
      {wanted !== '' && (
        <span class="choices">
          <button type="button" aria-label="Previous found" disabled={!canGo} onClick={() => go(-1)}>‹</button>
          <button type="button" aria-label="Next found" disabled={!canGo} onClick={() => go(1)}>›</button>
          <span role="status">{foundWords(found)}</span>
        </span>
      )}
    </>
  );
}

function RangeTools({ stage }: { stage: Stage }) {
  useChanges(stage, 'range');
  const { range } = stage;
  return range === null ? <button type="button" onClick={() => stage.setRange(stage.view)}>Seen time as range</button> : (
    <span class="choices">
      <span>Range {show(Math.round(range.end - range.begin), 'ns')}</span>
      <button type="button" onClick={() => { stage.select(null); stage.fit(); }}>Zoom to range</button>
      <button type="button" onClick={() => stage.setRange(null)}>No range</button>
    </span>
  );
}

function PathButton({ stage }: { stage: Stage }) {
  const [isOn, setOn] = useState(stage.showsPath);
  const change = () => {
    stage.showsPath = !isOn;
    setOn(!isOn);
    stage.redraw();
  };
  return <button type="button" aria-pressed={isOn} onClick={change}>Path arrows</button>;
}

export function KeyHelp() {
  const [isOpen, setOpen] = useState(false);
  const list = useRef<HTMLDListElement>(null);
  return (
    <>
      <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>Keys</button>
      {isOpen && (
        <dl ref={list} class="tl-keys">
          {KEY_HELP.map(([keys, action]) => <div key={keys}><dt>{keys}</dt><dd>{action}</dd></div>)}
        </dl>
      )}
    </>
  );
}

export function Tools({ stage, input, search: outer }: SearchProps) {
  const hasPath = stage.store.tracks.some((info) => info.kind === 'path');
  return (
    <div class="tools tl-tools">
      <Search stage={stage} input={input} search={outer} />
      <span class="choices">
        <button type="button" aria-label="Zoom in" onClick={() => stage.zoom(0.5)}>+</button>
        <button type="button" aria-label="Zoom out" onClick={() => stage.zoom(2)}>−</button>
        <button type="button" onClick={() => stage.showAll()}>All</button>
        {stage.exact[0] !== undefined && <button type="button" title={printable(stage.exact[0].why)} onClick={() => { stage.select(null); stage.setRange(null); stage.fit(); }}>Exact window</button>}
      </span>
      <RangeTools stage={stage} />
      {hasPath && <PathButton stage={stage} />}
      <KeyHelp />
    </div>
  );
}
