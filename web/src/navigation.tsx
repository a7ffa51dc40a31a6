// The address of the page is its state: links, the back button and copies of the address all lead to the
// same pane, section and filters.
import { createContext } from 'preact';
import { useContext, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';

import { DRAWN } from './hooks';
import { type Report, TIMELINE } from './model';
import { type Filters, NO_FILTERS, type Route, formatRoute, parseRoute } from './route';

export interface Navigation {
  route: Route;
  /** Goes to a place; what is not given stays. "replace" leaves no step for the back button. */
  go: (to: Partial<Route>, how?: 'replace') => void;
  /** The address of a section, with the filters that are set and these. */
  href: (section: string, filters?: Partial<Filters>) => string;
}

const NavigationContext = createContext<Navigation>({
  route: { pane: '', section: '', filters: NO_FILTERS },
  go: () => undefined,
  href: () => '#',
});
export const NavigationProvider = NavigationContext.Provider;
export const useNavigation = (): Navigation => useContext(NavigationContext);

/** The filters that a pane is drawn with. */
const FiltersContext = createContext<Filters>(NO_FILTERS);
export const FiltersProvider = FiltersContext.Provider;
export const useFilters = (): Filters => useContext(FiltersContext);

function writeAddress(hash: string, replace: boolean): void {
  try {
    history[replace ? 'replaceState' : 'pushState'](null, '', hash);
  } catch {
    location.hash = hash; // frames without an origin of their own
  }
}

/** Shows the section of a route, or where its pane was left. */
function scrollTo(route: Route, top: number): void {
  const section = route.section === '' ? null : document.getElementById(route.section);
  if (section !== null) {
    section.scrollIntoView();
  } else {
    window.scrollTo({ top });
  }
}

const BY_HAND = ['wheel', 'pointerdown', 'touchmove', 'keydown'] as const;

/** Keeps what an address leads to in view while the page above it is drawn, until somebody moves on. */
function useKeptInView(route: Route, moves: number): void {
  useEffect(() => {
    const keep = () => requestAnimationFrame(() => route.section !== '' && scrollTo(route, 0));
    const stop = () => {
      removeEventListener(DRAWN, keep);
      BY_HAND.forEach((name) => removeEventListener(name, stop));
    };
    addEventListener(DRAWN, keep);
    BY_HAND.forEach((name) => addEventListener(name, stop, { passive: true }));
    return stop;
  }, [moves]);
}

/** The address that a click on a link of the page leads to, unless it is to open elsewhere. */
function clickedAddress(event: MouseEvent): string | null {
  const link = event.target instanceof Element ? event.target.closest('a[href^="#"]') : null;
  const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  return link !== null && isPlain && !event.defaultPrevented ? link.getAttribute('href') : null;
}

interface Arrival {
  route: Route;
  moves: number; // so far: each scrolls
  top: number;
}

export function useRoute(report: Report): Navigation {
  const [arrival, setArrival] = useState<Arrival>(() => ({ route: parseRoute(report, location.hash), moves: 0, top: 0 }));
  const current = useRef(arrival);
  const left = useRef(new Map<string, number>()); // where panes were left
  const arrive = (to: Route, moves: boolean, isReturn: boolean) => {
    const { route, moves: before } = current.current;
    left.current.set(route.pane, window.scrollY);
    const isSame = JSON.stringify(to.filters) === JSON.stringify(route.filters);
    const top = isReturn ? left.current.get(to.pane) ?? 0 : 0;
    current.current = { route: isSame ? { ...to, filters: route.filters } : to, moves: before + Number(moves), top };
    setArrival(current.current);
  };
  /** An address that says nothing of the look of the timeline leaves it as it is. */
  const withLook = (to: Route): Route => ({ ...to, look: to.look ?? current.current.route.look });
  const go: Navigation['go'] = (to, how) => {
    const next = withLook({ ...current.current.route, ...to });
    writeAddress(formatRoute(next), how === 'replace');
    arrive(next, to.pane !== undefined || to.section !== undefined, false);
  };
  useEffect(() => {
    history.scrollRestoration = 'manual';
    const changed = () => {
      const asked = parseRoute(report, location.hash);
      const next = withLook(asked);
      if (next.pane === TIMELINE && next.look !== asked.look) {
        writeAddress(formatRoute(next), true); // a copy of it shows what is seen here
      }
      arrive(next, true, true);
    };
    const clicked = (event: MouseEvent) => {
      const address = clickedAddress(event);
      if (address !== null) {
        event.preventDefault();
        go(parseRoute(report, address));
      }
    };
    addEventListener('hashchange', changed);
    document.addEventListener('click', clicked);
    return () => {
      removeEventListener('hashchange', changed);
      document.removeEventListener('click', clicked);
    };
  }, []);
  const { route, moves, top } = arrival;
  useLayoutEffect(() => {
    if (moves > 0 || route.section !== '') {
      scrollTo(route, top);
    }
  }, [moves]);
  useKeptInView(route, moves);
  return useMemo(() => ({
    route,
    go,
    href: (section, filters) => formatRoute({ ...parseRoute(report, `#${section}`), filters: { ...route.filters, ...filters } }),
  }), [route]);
}
