// What is drawn from which level, for each track: worked out once for a view, as drawing, pointing and
// the tables all ask.
import { type Stretch, plan } from './levels';
import { type Store } from './store';
import { type Span } from './view';

export class Plans {
  private readonly known = new Map<number, Stretch[]>();
  private view: Span | null = null;
  private width = 0;

  constructor(private readonly store: Store) {}

  /** Forgets all: there are other documents. */
  clear(): void {
    this.known.clear();
  }

  /** The stretches of a track in a view on so many pixels. */
  of(track: number, view: Span, width: number): Stretch[] {
    if (view !== this.view || width !== this.width) {
      this.known.clear();
      [this.view, this.width] = [view, width];
    }
    const known = this.known.get(track);
    if (known !== undefined) {
      return known;
    }
    const made = plan(this.store.piecesOf(track), view.begin, view.end, (view.end - view.begin) / Math.max(1, width));
    this.known.set(track, made);
    return made;
  }
}
