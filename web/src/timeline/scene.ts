// What a picture of the timeline is made from, and where times lie in it.
import { type Arrow } from './arrows';
import { type Boxes } from './boxes';
import { type ExactWindow } from './document';
import { type Piece, type Stretch } from './levels';
import { type Palette } from './palette';
import { type Layout } from './rows';
import { type Store } from './store';
import { type Span } from './view';

/** A box: where it is kept. */
export interface Spot {
  track: number;
  piece: Piece;
  boxes: Boxes;
  index: number;
}

export interface Scene {
  store: Store;
  layout: Layout;
  palette: Palette;
  view: Span;
  stretchesOf: (track: number) => readonly Stretch[]; // what of the view is drawn from which level
  width: number; // pixels of the page
  height: number;
  top: number; // the pixel of the layout at the upper edge
  matches: Uint8Array | null; // by name: 1 where a search found it; null: there is no search
  selected: Spot | null;
  arrows: readonly Arrow[]; // of what is selected
  hovered: Spot | null;
  range: Span | null;
  exact: readonly ExactWindow[]; // where events are exact, if that is not everywhere
  showsPath: boolean; // arrows along the critical path
}

/** The pixel of a time. */
export const xOf = (scene: Scene, ns: number): number =>
  ((ns - scene.view.begin) / (scene.view.end - scene.view.begin)) * scene.width;

/** The time of a pixel. */
export const nsAt = (view: Span, width: number, x: number): number => view.begin + (x / width) * (view.end - view.begin);

/** The boxes of a track in a stretch: of its level, or until that is unpacked of the nearest one that is. */
export function boxesIn(store: Store, track: number, stretch: Stretch): { boxes: Boxes; piece: Piece } | null {
  const wanted = store.boxes(track, stretch.piece);
  if (wanted !== null) {
    return { boxes: wanted, piece: stretch.piece };
  }
  const covering = store.piecesOf(track).filter((piece) => piece.begin <= stretch.begin && piece.end >= stretch.end && piece.grain > stretch.piece.grain);
  for (const piece of covering.sort((a, b) => a.grain - b.grain)) {
    const boxes = store.ready(track, piece);
    if (boxes !== null) {
      return { boxes, piece };
    }
  }
  return null;
}

/** The stretch of a track at a time. */
export const stretchAt = (scene: Pick<Scene, 'stretchesOf'>, track: number, ns: number): Stretch | undefined =>
  scene.stretchesOf(track).find((stretch) => ns >= stretch.begin && ns <= stretch.end);

export const isSame = (a: Spot | null, b: Spot | null): boolean =>
  a !== null && b !== null && a.boxes === b.boxes && a.index === b.index;
