// A page that `borescope open --report` serves with finer detail of its timeline: the command ends when
// it has heard of no page for a while, so the page says that it is open. Pages in files have no such
// element, and ask nothing of anybody.

const INTERVAL_MS = 15_000;

export function sayThatItIsOpen(): void {
  const has = (name: string) => document.querySelector(`meta[name=${name}]`) !== null;
  if (!has('borescope-served') || has('borescope-live')) { // a live page asks for news anyway
    return;
  }
  const timer = setInterval(() => {
    fetch(location.pathname, { method: 'HEAD', cache: 'no-store' }).catch(() => clearInterval(timer));
  }, INTERVAL_MS);
}
