// A page that `borescope open --report` serves of a folder that is being written: it asks where it
// came from whether there is a newer one, loads that, and stays where it was. Pages in files have no
// such element, and ask nothing of anybody.

interface News {
  version: number;
  text: string;
  problems: string[];
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

function restorePlace(): void {
  stored((storage) => {
    const place = storage.getItem(PLACE);
    storage.removeItem(PLACE);
    if (place !== null) {
      whenDrawn(() => scrollTo(0, Number(place)));
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
  stored((storage) => storage.setItem(PLACE, String(scrollY)));
  location.reload(); // keeps the part after "#"
}

function makeBanner(): HTMLElement {
  const banner = document.createElement('aside');
  banner.className = 'live';
  banner.setAttribute('role', 'status');
  document.body.prepend(banner);
  return banner;
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
  const version = document.querySelector('meta[name=borescope-live]')?.getAttribute('content');
  if (version === null || version === undefined) {
    return;
  }
  const banner = makeBanner();
  let shown = '';
  const ask = async (): Promise<void> => {
    try {
      const answer = await fetch('live', { cache: 'no-store' });
      const text = await answer.text();
      const news = JSON.parse(text) as News;
      if (String(news.version) !== version) {
        reload();
        return;
      }
      if (text !== shown) {
        show(banner, `Live: ${news.text}`, news.problems);
        shown = text;
      }
    } catch {
      shown = '';
      show(banner, 'No longer live: borescope open has ended.', []);
    }
    setTimeout(() => void ask(), INTERVAL_MS);
  };
  restorePlace();
  void ask();
}
