// Names as they are written into boxes: no longer than what is seen of the box.
import { printable, shortenName } from '../units';

const MOST_KEPT = 50_000;
const MOST_CHARACTERS = 200;
const LEAST_LEFT = 4; // characters of a name that is cut: "ncc…" says nothing
const MOST_READ = 4000; // characters of a name: more are never shown in a box

/** Shortened names by their number and the characters there is room for; making them again for every
 *  frame would take longer than drawing them. */
export class ShortNames {
  private readonly kept = new Map<number, string>();

  get(names: readonly string[], name: number, characters: number): string {
    const most = Math.min(MOST_CHARACTERS, characters);
    const key = name * (MOST_CHARACTERS + 1) + most;
    const known = this.kept.get(key);
    if (known !== undefined) {
      return known;
    }
    if (this.kept.size > MOST_KEPT) {
      this.kept.clear();
    }
    const whole = names[name] ?? '';
    const readable = whole.length > MOST_READ ? `${whole.slice(0, MOST_READ)}…` : whole;
    const label = shortenName(printable(readable), most);
    const short = label.includes('…') && label.replace(/…/g, '').trim().length < LEAST_LEFT ? '' : label;
    this.kept.set(key, short);
    return short;
  }
}
