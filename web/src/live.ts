// A page that `borescope open --report` serves of a folder that is being written: it asks where it
// came from whether there is a newer one, loads that, and stays where it was. What is being recorded
// is shown above the report, as it comes. Pages in files have no such element, and ask nothing of
// anybody.
import { type LiveRun, showLiveRuns } from './live_steps';

interface News {
  version: number;
  text: string;
  problems: string[];
  runs: LiveRun[];
}

const INTERVAL_MS = 1000;
const PLACE = 'borescope-live-place';

// Storage may be switched off; the page then begins at its top.
function stored(use: (storage: Storage) => void): void {
  try {
    use(sessionStorage);
  } catch {
    // As said.
  }
}

// Where the page is about to go, until it is drawn: a newer page may come before that.
let waiting: string | null = null;

function restorePlace(): void {
  stored((storage) => {
    const place = storage.getItem(PLACE);
    storage.removeItem(PLACE);
    waiting = place;
    if (place !== null) {
      whenDrawn(() => {
        scrollTo(0, Number(place));
        waiting = null;
      });
    }
  });
}

// Sections are drawn one after the other; before that the place may not be there yet.
function whenDrawn(then: () => void): void {
  if (document.documentElement.dataset.drawn === 'all') {
    then();
  } else {
    requestAnimationFrame(() => whenDrawn(then));
  }
}

function reload(): void {
  if (!isWaiting()) { // the first report begins at its top, and whoever scrolls meanwhile stays there
    stored((storage) => storage.setItem(PLACE, waiting ?? String(scrollY)));
  }
  location.reload(); // keeps the part after "#"
}

function makeBanner(): HTMLElement {
  const banner = document.createElement('div');
  banner.className = 'live';
  banner.setAttribute('role', 'status');
  document.body.prepend(banner);
  return banner;
}

// Not within the banner, which is read out whenever it changes.
function makeRuns(banner: HTMLElement): HTMLElement {
  const runs = document.createElement('div');
  runs.className = 'live-runs';
  runs.hidden = true;
  runs.setAttribute('role', 'region');
  runs.setAttribute('aria-label', 'What is being recorded');
  banner.after(runs);
  return runs;
}

const versionOfPage = (): string | null =>
  document.querySelector('meta[name=borescope-live]')?.getAttribute('content') ?? null;

/** Whether the page holds no report yet, and waits for one. */
export const isWaiting = (): boolean => versionOfPage() === '0';

/** What stands in the place of the report until there is one. */
export function showWaiting(root: HTMLElement): void {
  const [main, heading] = [document.createElement('main'), document.createElement('h1')];
  heading.textContent = 'No report yet';
  main.append(heading);
  root.replaceChildren(main);
}

function show(banner: HTMLElement, text: string, problems: string[]): void {
  const line = document.createElement('p');
  line.textContent = text;
  const list = document.createElement('ul');
  for (const problem of problems) {
    const item = document.createElement('li');
    item.textContent = problem;
    list.append(item);
  }
  banner.replaceChildren(line, ...(problems.length === 0 ? [] : [list]));
}

export function followLivePage(): void {
  const version = versionOfPage();
  if (version === null) {
    return;
  }
  const banner = makeBanner();
  const runs = makeRuns(banner);
  let [shown, drawn] = ['', ''];
  const ask = async (): Promise<void> => {
    try {
      const answer = await fetch('live', { cache: 'no-store' });
      const text = await answer.text();
      const news = JSON.parse(text) as News;
      if (String(news.version) !== version) {
        reload();
        return;
      }
      const said = JSON.stringify([news.text, news.problems]);
      if (said !== shown) {
        show(banner, `Live: ${news.text}`, news.problems);
        shown = said;
      }
      if (text !== drawn) {
        showLiveRuns(runs, news.runs);
        drawn = text;
      }
    } catch {
      shown = '';
      show(banner, 'No longer live: borescope open has ended.', []);
    }
    setTimeout(() => void ask(), INTERVAL_MS);
  };
  if (!isWaiting()) { // else the place is kept for the first report
    restorePlace();
  }
  void ask();
}
