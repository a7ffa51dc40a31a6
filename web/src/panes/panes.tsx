// The panes and their tabs. All are in the document, so that a search of the browser finds what is in any
// of them and a print has all; one is shown.
import { useEffect, useRef } from 'preact/hooks';

import { usePrinting, useTurn } from '../hooks';
import { OVERVIEW, POSTMORTEM, type Pane, QUALITY, type Report, type Section, TIMELINE, hasTables } from '../model';
import { FiltersProvider, useNavigation } from '../navigation';
import { Lacks, SectionView } from '../section';
import { PostmortemPane } from '../postmortem/postmortem_pane';
import { heading } from '../units';
import { OverviewPane } from './overview_pane';
import { NotRecorded, QualitySection } from './quality_pane';
import { TimelinePane } from './timeline_pane';

const tabId = (pane: Pane) => `tab-${pane.name}`;
const panelId = (pane: Pane) => `pane-${pane.name}`;

/** Where a key leads from a tab. */
function tabAt(key: string, at: number, count: number): number | null {
  switch (key) {
    case 'ArrowRight':
    case 'ArrowDown':
      return (at + 1) % count;
    case 'ArrowLeft':
    case 'ArrowUp':
      return (at + count - 1) % count;
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
    default:
      return null;
  }
}

export function Tabs({ report }: { report: Report }) {
  const { route, go, href } = useNavigation();
  const list = useRef<HTMLDivElement>(null);
  const { panes } = report;
  const move = (event: KeyboardEvent) => {
    const at = panes.findIndex((pane) => pane.name === route.pane);
    const to = event.ctrlKey || event.altKey || event.metaKey ? null : tabAt(event.key, at, panes.length);
    const pane = to === null ? undefined : panes[to];
    if (pane !== undefined) {
      event.preventDefault();
      go({ pane: pane.name, section: '' });
      list.current?.querySelector<HTMLElement>(`#${tabId(pane)}`)?.focus();
    }
  };
  return (
    <nav aria-label="Panes">
      <div class="tabs" role="tablist" aria-label="Panes" ref={list} onKeyDown={move}>
        {panes.map((pane) => (
          <a
            key={pane.name} id={tabId(pane)} role="tab" href={href(pane.name)}
            class={pane.sections.length > 0 && !pane.sections.some(hasTables) ? 'empty' : ''}
            aria-selected={pane.name === route.pane} aria-controls={panelId(pane)} tabIndex={pane.name === route.pane ? 0 : -1}
          >
            {pane.title}
          </a>
        ))}
      </div>
    </nav>
  );
}

/** Links to the sections of a pane, if it has several. */
function Contents({ pane, sections, lacking }: { pane: Pane; sections: Section[]; lacking: Section[] }) {
  const { href } = useNavigation();
  return sections.length + lacking.length < 2 ? null : (
    <nav aria-label={`Sections of ${pane.title}`}>
      <ul>
        {sections.map((section) => <li key={section.name}><a href={href(section.name)}>{heading(section.name)}</a></li>)}
        {lacking.map((section) => <li key={section.name}><a class="empty" href={href(section.name)}>{heading(section.name)} <small>no answer</small></a></li>)}
      </ul>
    </nav>
  );
}

function PaneBody({ report, pane, isShown }: { report: Report; pane: Pane; isShown: boolean }) {
  const sections = pane.sections.filter((section) => hasTables(section) && pane.name !== OVERVIEW);
  const lacking = pane.sections.filter((section) => section.lack !== '');
  const missing = report.sections.filter((section) => section.lack !== '');
  return (
    <>
      {pane.name === OVERVIEW && <OverviewPane report={report} />}
      {pane.name === TIMELINE && <TimelinePane report={report} isShown={isShown} />}
      {pane.name === POSTMORTEM && <PostmortemPane report={report} />}
      <Contents pane={pane} sections={sections} lacking={lacking} />
      {pane.name === QUALITY && <QualitySection report={report} />}
      {sections.map((section) => <SectionView key={section.name} section={section} isShown={isShown} />)}
      {lacking.length > 0 && <Lacks sections={lacking} />}
      {pane.name === QUALITY && missing.length > 0 && <NotRecorded sections={missing} />}
    </>
  );
}

/** A pane is drawn when it is shown, else in its turn. One that is not shown is not drawn anew for each filter; it is when it is shown or printed. */
export function PanePanel({ report, pane }: { report: Report; pane: Pane }) {
  const { route, go } = useNavigation();
  const isPrinting = usePrinting();
  const isShown = route.pane === pane.name;
  const hasTurn = useTurn(false);
  const panel = useRef<HTMLDivElement>(null);
  const filters = useRef(route.filters);
  const isDrawn = useRef(false);
  if (isShown || isPrinting) {
    filters.current = route.filters;
  }
  isDrawn.current ||= isShown || isPrinting || hasTurn;
  useEffect(() => {
    const found = () => go({ pane: pane.name, section: '' }, 'replace');
    panel.current?.addEventListener('beforematch', found);
    return () => panel.current?.removeEventListener('beforematch', found);
  }, []);
  return (
    <div
      ref={panel} id={panelId(pane)} class="pane" role="tabpanel" aria-labelledby={tabId(pane)} tabIndex={-1}
      hidden={isShown ? false : 'until-found'} aria-hidden={!isShown}
    >
      <p class="pane-title" aria-hidden="true">{pane.title}</p>
      {isDrawn.current && (
        <FiltersProvider value={filters.current}><PaneBody report={report} pane={pane} isShown={isShown} /></FiltersProvider>
      )}
    </div>
  );
}
