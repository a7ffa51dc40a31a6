// Finer detail from the server that showed the page, for what the page itself has only merged. A page
// from a disk has no server and asks nobody.
import { readTimeline } from './document';
import { MOST_GRAIN_PX } from './levels';
import { type Stage } from './stage';

const MOST_KEPT = 8; // documents; the oldest is forgotten first
const EXACT_BELOW_NS = 1000; // a grain this fine is asked for as exact

/** What is asked for a view: somewhat more than it, on round times, so that a small move asks nothing new. */
export function wantedStretch(begin: number, end: number, width: number, whole: number): { begin: number; end: number; grain: number } {
  const raster = 2 ** Math.ceil(Math.log2(Math.max(1, end - begin)));
  const most = ((end - begin) / Math.max(1, width)) * MOST_GRAIN_PX;
  const grain = most < EXACT_BELOW_NS ? 0 : 4 ** Math.floor(Math.log(most) / Math.log(4));
  return {
    begin: Math.max(0, Math.floor(begin / raster) * raster),
    end: Math.min(Math.ceil(whole), Math.ceil(end / raster) * raster),
    grain,
  };
}

/** Asks for finer detail whenever the view has come to rest where there is only merged detail. */
export class Finer {
  private readonly asked = new Set<string>();
  private readonly sources: number[] = [];
  private hasFailed = false;

  constructor(private readonly stage: Stage) {}

  settled(): void {
    const { more } = this.stage.document;
    if (more === undefined || !location.protocol.startsWith('http') || this.hasFailed || this.stage.merged === 0) {
      return;
    }
    const { view, width, whole } = this.stage;
    const { begin, end, grain } = wantedStretch(view.begin, view.end, width, whole);
    const address = `${more}?begin=${begin}&end=${end}&grain=${grain}`;
    if (!this.asked.has(address)) {
      this.asked.add(address);
      void this.fetch(address);
    }
  }

  private async fetch(address: string): Promise<void> {
    try {
      const answer = await fetch(address);
      const document = answer.ok ? readTimeline(await answer.text()) : null;
      this.hasFailed = document === null;
      if (document !== null) {
        this.keep(document);
      }
    } catch {
      this.hasFailed = true; // the server has ended: the page goes on with what it has
    }
  }

  private keep(document: NonNullable<ReturnType<typeof readTimeline>>): void {
    this.stage.store.add(document);
    this.sources.push(this.stage.store.newestSource);
    if (this.sources.length > MOST_KEPT) {
      this.stage.store.remove(this.sources.shift()!);
      this.asked.clear(); // what was forgotten may be asked for again
    }
    this.stage.documentsChanged();
  }
}
