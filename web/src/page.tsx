// The page: its header, the tabs of the panes, the filters of all, and the panes.
import { useEffect, useMemo, useState } from 'preact/hooks';

import { FilterBar, TEXT_FILTER_ID } from './filter_bar';
import { HelpDialog } from './help';
import { CountedProvider, countedOf } from './limits';
import { POSTMORTEM, type Report, TIMELINE } from './model';
import { type Navigation, NavigationProvider, useRoute } from './navigation';
import { PanePanel, Tabs } from './panes/panes';
import { RangeView } from './range_view';
import { ThemeButton } from './theme';
import { printable } from './units';

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.matches('input, select, textarea');

/** Keys of the whole page, where nobody types. */
function useKeys(report: Report, { go }: Navigation, onHelp: () => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (isTyping(event.target) || event.ctrlKey || event.altKey || event.metaKey) {
        return;
      }
      const pane = /^\d$/.test(event.key) ? report.panes[(Number(event.key) + 9) % 10] : undefined;
      if (event.key === '/') {
        event.preventDefault();
        document.getElementById(TEXT_FILTER_ID)?.focus();
      } else if (event.key === '?') {
        onHelp();
      } else if (pane !== undefined) {
        go({ pane: pane.name, section: '' });
      }
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}

function Header({ report, onHelp }: { report: Report; onHelp: () => void }) {
  return (
    <header>
      <div>
        <p class="brand">Borescope {report.panes[0]?.name === POSTMORTEM ? 'post-mortem' : 'report'}</p>
        <h1>{printable(report.title)}</h1>
        {report.against !== '' && <p class="against">against the other run, <b>{printable(report.against)}</b></p>}
      </div>
      <div class="buttons">
        <button type="button" onClick={onHelp} aria-label="Help: keys, filters, addresses">?</button>
        <ThemeButton />
      </div>
    </header>
  );
}

export function Page({ report }: { report: Report }) {
  const navigation = useRoute(report);
  const [isHelping, setHelping] = useState(false);
  useKeys(report, navigation, () => setHelping(true));
  const counted = useMemo(() => countedOf(report), [report]);
  return (
    <NavigationProvider value={navigation}>
    <CountedProvider value={counted}>
      <Header report={report} onHelp={() => setHelping(true)} />
      <div class="bar">
        <Tabs report={report} />
        <FilterBar report={report} />
      </div>
      <main>
        {navigation.route.pane !== TIMELINE && <RangeView />}
        {report.panes.map((pane) => <PanePanel key={pane.name} report={report} pane={pane} />)}
      </main>
      <footer>
        Made by Borescope {report.version}; the page is complete in itself and asks nothing of a
        network. It contains Preact and fflate (MIT licence).
      </footer>
      {isHelping && <HelpDialog onClose={() => setHelping(false)} />}
    </CountedProvider>
    </NavigationProvider>
  );
}
