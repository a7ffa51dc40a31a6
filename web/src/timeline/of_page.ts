// The timeline of the page, read and kept once, when something first asks for it.
import { TIMELINE_ELEMENT } from '../model';
import { type TimelineDocument, readTimeline } from './document';
import { Store } from './store';

export interface PageTimeline {
  document: TimelineDocument;
  store: Store;
}

let known: PageTimeline | null | undefined;

/** null: the page has none. */
export function timelineOfPage(): PageTimeline | null {
  if (known === undefined) {
    const data = readTimeline(document.getElementById(TIMELINE_ELEMENT)?.textContent);
    known = data === null ? null : { document: data, store: new Store(data) };
  }
  return known;
}
