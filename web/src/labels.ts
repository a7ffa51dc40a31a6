// Short labels for names that appear together: what output/names/ of the engine does, for widths that
// only the page knows. tests/data/labels/cases.txt has cases that both must agree on.

type Kind = 'noise' | 'head' | 'inner' | 'operator' | 'tile';

interface Token {
  begin: number;
  end: number;
  kind: Kind;
}

interface NameText {
  text: string;
  tokens: Token[];
}

/** How wide a character is, in any unit. */
export type GlyphWidth = (glyph: string) => number;

const MARK = '…';
const ROUNDING = 1e-6;
const LONGEST_TOKEN = 16; // characters of a word with the punctuation after it
const LEAST_CAMEL = 8; // "TrivialOffset|Calculator", but not "CUDA|Functor"
const MOST_AT_EACH_END = 8;
const MOST_ROUNDS = 6;
const LEAST_OF_WORD = 4; // bytes; "bf1" is not the beginning of bf16 to anybody
const FIRST_SHARE = 2.5; // of the room for one piece that others need room beside; less in later rounds
const BETWEEN = ' · '; // names that are one label are parsed each
const UNNAMED = ['(anonymous namespace)::', '{anonymous}::', '<unnamed>::'];
const CLONES = [' [clone .kd]', '.kd'];

const isLetter = (c: string | undefined) => c !== undefined && (/[0-9A-Za-z$~]/.test(c) || c >= '\u0080');
const isInWord = (c: string | undefined) => isLetter(c) || c === '_';
const isLow = (c: string | undefined) => c !== undefined && c >= '\udc00' && c <= '\udfff'; // the rest of a character
const encoder = new TextEncoder();
const byteCount = (text: string) => (/^[\0-\x7f]*$/.test(text) ? text.length : encoder.encode(text).length);
const hasTile = (text: string) => /[0-9]x[0-9]/.test(text);
const isOperator = (word: string) => /Functor|functor|_kernel_|Epilogue|Ops?$/.test(word);
const isNamespace = (word: string) => /^[a-z]|_NS$/.test(word);

type Range = [number, number];

/** Whether a person would cut a text there: beside a mark, or between the words of a name such as TensorIterator or
 *  ncclDevKernel. */
export const isWordEnd = (text: string, at: number): boolean =>
  !isLetter(text[at - 1]) || !isLetter(text[at]) || /^[a-z][A-Z]/.test(text.slice(at - 1, at + 1));

/** The folders of the file of a Python function, "torch/nn/" of "torch/nn/module.py(7): forward"; empty where there are
 *  none. The name of the file and the function say what it is. */
function foldersOf(name: string, begin: number, end: number): Range {
  const part = name.slice(begin, end);
  const suffix = part.indexOf('.py(');
  if (suffix < 0 || !/^\.py\([0-9]+\): /.test(part.slice(suffix, suffix + 64))) {
    return [0, 0];
  }
  let [first, last] = [suffix, suffix];
  for (; first > 0; --first) {
    const c = part[first - 1];
    if (!isInWord(c) && c !== '/' && c !== '.' && c !== '-') {
      break;
    }
    last = c === '/' && last === suffix ? first : last;
  }
  return last === suffix ? [0, 0] : [begin + first, begin + last];
}

class Tokenizer {
  private depth = 0;
  private wordBegin = 0;
  private wordEnd = 0;
  private wordToken = 0;
  private isOperator = false;
  private readonly name: string;

  constructor(name: string, private at: number, end: number, private readonly folders: Range, private readonly tokens: Token[]) {
    this.name = name.slice(0, end);
  }

  run(isNoise: boolean): void {
    while (this.at < this.name.length) {
      if (!this.takeNoise()) {
        this.takeToken();
      }
      const last = this.tokens.at(-1);
      if (isNoise && last !== undefined) {
        last.kind = 'noise';
      }
    }
  }

  /** How long that is which is noise as a whole and begins here. */
  private noiseHere(): number {
    const [begin, end] = this.folders;
    if (this.at === begin && end > begin && end <= this.name.length) {
      return end - begin;
    }
    return UNNAMED.find((unnamed) => this.name.startsWith(unnamed, this.at))?.length ?? 0;
  }

  private takeNoise(): boolean {
    const length = this.noiseHere();
    if (length > 0) {
      this.tokens.push({ begin: this.at, end: this.at + length, kind: 'noise' });
      this.at += length;
    }
    return length > 0;
  }

  private takeToken(): void {
    const [begin, depth] = [this.at, this.depth];
    this.takeMarks(); // before the first word, or more than a word takes with it
    const hasWord = isLetter(this.name[this.at]) && (this.at === begin || !this.isBehindScope());
    if (hasWord) {
      this.beginWord();
      this.takeLetters();
    }
    const isScope = hasWord && this.at === this.wordEnd && this.name.startsWith('::', this.at) && isNamespace(this.word());
    if (hasWord && !isLetter(this.name[this.at])) {
      this.takeMarks();
    }
    const kind: Kind = hasTile(this.name.slice(begin, this.at)) ? 'tile'
      : hasWord && this.isOperator ? 'operator' : depth === 0 ? 'head' : 'inner';
    this.tokens.push({ begin, end: this.at, kind });
    if (isScope) {
      for (const token of this.tokens.slice(this.wordToken)) {
        token.kind = 'noise';
      }
    }
  }

  private isBehindScope(): boolean {
    return this.name.startsWith('::', this.at - 2) && this.at >= 2;
  }

  /** A word that goes on after an underscore or a cut has begun before. */
  private beginWord(): void {
    if (this.at < this.wordEnd) {
      return;
    }
    [this.wordBegin, this.wordEnd, this.wordToken] = [this.at, this.at, this.tokens.length];
    while (isInWord(this.name[this.wordEnd])) {
      ++this.wordEnd;
    }
    this.isOperator = this.depth > 0 && isOperator(this.word());
  }

  private word(): string {
    return this.name.slice(this.wordBegin, this.wordEnd);
  }

  private takeLetters(): void {
    for (let count = 0; isLetter(this.name[this.at]); ++this.at) {
      const begins = !isLow(this.name[this.at]);
      const isCamel = count >= LEAST_CAMEL && /[a-z][A-Z]/.test(this.name.slice(this.at - 1, this.at + 1));
      count += begins ? 1 : 0;
      if (begins && (count > LONGEST_TOKEN || isCamel)) {
        break;
      }
    }
  }

  private takeMarks(): void {
    for (let count = 0; this.at < this.name.length && !isLetter(this.name[this.at]); ++count) {
      if (count === LONGEST_TOKEN || this.noiseHere() > 0) {
        return;
      }
      this.countBracket();
      ++this.at;
      if (this.isBehindScope()) {
        return;
      }
    }
  }

  private countBracket(): void {
    const c = this.name[this.at] ?? '';
    const isArrow = c === '>' && this.name[this.at - 1] === '-';
    if ('<([{'.includes(c)) {
      ++this.depth;
    } else if ('>)]}'.includes(c) && this.depth > 0 && !isArrow) {
      --this.depth;
    }
  }
}

/** Where the parameters at the end of a signature begin, or -1: "Memcpy HtoD (Pinned -> Device)" has
 *  none, as a list follows its function without a blank. */
function parametersAt(name: string): number {
  let depth = 0;
  for (let i = name.endsWith(')') ? name.length - 1 : -1; i >= 0; --i) {
    if (name[i] === ')') {
      ++depth;
    } else if (name[i] === '(' && --depth === 0) {
      return name[i - 1] === ' ' ? -1 : i || -1;
    }
  }
  return -1;
}

function bareRange(name: string): Range {
  const end = parametersAt(name);
  return end < 0 ? [0, name.length] : [name.slice(0, end).startsWith('void ') ? 5 : 0, end];
}

/** A name without its parameters and a leading "void". */
export const bareName = (name: string): string => name.slice(...bareRange(name));

function functionOf(name: string): Range {
  let length = name.length;
  for (const clone of CLONES) {
    if (name.slice(0, length).endsWith(clone) && length > clone.length) {
      length -= clone.length;
    }
  }
  let [begin, end] = bareRange(name.slice(0, length));
  if (end - begin === length) {
    return [0, length];
  }
  let depth = 0;
  for (let i = begin; i < end; ++i) {
    const c = name[i] ?? '';
    depth += '<({'.includes(c) ? 1 : '>)}'.includes(c) && depth > 0 ? -1 : 0;
    begin = c === ' ' && depth === 0 && i + 1 < end ? i + 1 : begin;
  }
  return [begin, end];
}

function withoutNoise(name: NameText): NameText {
  const plain: NameText = { text: '', tokens: [] };
  for (const token of name.tokens.filter((one) => one.kind !== 'noise')) {
    const begin = plain.text.length;
    plain.text += name.text.slice(token.begin, token.end);
    plain.tokens.push({ begin, end: plain.text.length, kind: token.kind });
  }
  return plain.tokens.length > 0 ? plain : name;
}

/** How long that is which stands there between two names: in labels of charts, in sequences of kernels. */
const betweenAt = (name: string, at: number) => (name[at] === '|' ? 1 : name.startsWith(BETWEEN, at) ? BETWEEN.length : 0);

/** The kernel's name in "kernel:NAME x 0.5", as scenarios of `whatif` are called; else the whole. */
function kernelOf(part: string): Range {
  const found = /^kernel:(.+) x [0-9.]{1,8}$/su.exec(part);
  return found === null ? [0, part.length] : ['kernel:'.length, 'kernel:'.length + (found[1] ?? '').length];
}

function parseName(name: string, withNoise: boolean): NameText {
  const parsed: NameText = { text: name, tokens: [] };
  for (let begin = 0; begin < name.length;) {
    let end = begin;
    while (end < name.length && betweenAt(name, end) === 0) {
      ++end;
    }
    const [partBegin, partEnd] = kernelOf(name.slice(begin, end)).map((at) => begin + at) as Range;
    if (partBegin > begin) {
      parsed.tokens.push({ begin, end: partBegin, kind: 'head' });
    }
    const [bareBegin, bareEnd] = functionOf(name.slice(partBegin, partEnd)).map((at) => partBegin + at) as Range;
    const folders = foldersOf(name, bareBegin, bareEnd);
    new Tokenizer(name, partBegin, bareBegin, folders, parsed.tokens).run(true);
    new Tokenizer(name, bareBegin, bareEnd, folders, parsed.tokens).run(false);
    new Tokenizer(name, bareEnd, partEnd, folders, parsed.tokens).run(true);
    if (partEnd < end) {
      parsed.tokens.push({ begin: partEnd, end, kind: 'head' });
    }
    begin = end + betweenAt(name, end);
    if (begin > end) {
      parsed.tokens.push({ begin: end, end: begin, kind: 'head' });
    }
  }
  return withNoise ? parsed : withoutNoise(parsed);
}

function tokenAt(name: NameText, at: number): number {
  let [low, high] = [0, name.tokens.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((name.tokens[middle]?.begin ?? 0) <= at) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return Math.max(0, low - 1);
}

const commonBegin = (a: string, b: string): number => {
  let common = 0;
  while (common < a.length && common < b.length && a[common] === b[common]) {
    ++common;
  }
  return common;
};

/** For each of the sorted texts the places at which others that begin like it go on differently. */
function findBranches(texts: readonly string[]): number[][] {
  const found: Set<number>[] = texts.map(() => new Set());
  const common = texts.map((text, i) => (i === 0 ? 0 : commonBegin(texts[i - 1] ?? '', text)));
  const pass = (forks: number[], at: number, of: Set<number> | undefined) => {
    while (forks.length > 0 && (forks.at(-1) ?? 0) >= at) {
      forks.pop();
    }
    forks.push(at);
    [...forks.slice(0, MOST_AT_EACH_END), ...forks.slice(-MOST_AT_EACH_END)].forEach((fork) => of?.add(fork));
  };
  const [before, after]: [number[], number[]] = [[], []];
  for (let i = 1; i < texts.length; ++i) {
    pass(before, common[i] ?? 0, found[i]);
  }
  for (let i = texts.length - 1; i >= 1; --i) {
    pass(after, common[i] ?? 0, found[i - 1]);
  }
  return found.map((places) => [...places].sort((a, b) => a - b));
}

class Ruler {
  readonly mark: number;

  constructor(readonly width: number, private readonly glyph: GlyphWidth) {
    this.mark = glyph(MARK);
  }

  of(text: string): number {
    let width = 0;
    for (const glyph of text) {
      width += this.glyph(glyph);
    }
    return width;
  }

  fits(text: string): boolean {
    return text.length <= 64 * this.width && this.of(text) <= this.width + ROUNDING;
  }

  /** The longest beginning that is at most so wide. */
  begin(text: string, width: number): string {
    let [end, used] = [0, 0];
    for (const glyph of text) {
      used += this.glyph(glyph);
      if (used > width + ROUNDING) {
        break;
      }
      end += glyph.length;
    }
    return text.slice(0, end);
  }
}

/** Keeps pieces of tokens as long as there is room. */
class LabelMaker {
  private room: number;
  private readonly kept: ([number, number] | undefined)[];

  constructor(private readonly name: NameText, private readonly ruler: Ruler) {
    this.room = ruler.width - ruler.mark + ROUNDING; // nothing but the mark
    this.kept = name.tokens.map(() => undefined);
  }

  isFull(): boolean {
    return this.room <= 0;
  }

  isKept(token: number): boolean {
    return this.kept[token] !== undefined;
  }

  keep(token: number): boolean {
    const whole = this.name.tokens[token];
    if (whole === undefined || this.isKept(token)) {
      return whole !== undefined;
    }
    const left = token > 0 && this.kept[token - 1]?.[1] !== whole.begin;
    const right = token + 1 < this.kept.length && this.kept[token + 1]?.[0] !== whole.end;
    return this.take(token, whole.begin, whole.end, this.ruler.mark * (Number(left) + Number(right) - 1));
  }

  /** A token that has no more than `most`, or as much of it from a place on, up to the end of a word if that is not much
   *  less. */
  keepFrom(token: number, place: number, most: number): void {
    const whole = this.name.tokens[token];
    if (whole === undefined || this.isKept(token)) {
      return;
    }
    if (this.ruler.of(this.name.text.slice(whole.begin, whole.end)) <= most && this.keep(token)) {
      return;
    }
    const touches = token > 0 ? this.kept[token - 1]?.[1] === place : place === 0;
    const marks = touches ? 0 : this.ruler.mark;
    const begin = place > whole.begin && isLow(this.name.text[place]) ? place - 1 : place;
    const piece = this.ruler.begin(this.name.text.slice(begin, whole.end), Math.min(most, this.room - marks));
    const words = this.name.text.slice(begin, this.wordsEnd(begin, begin + piece.length));
    const kept = 2 * byteCount(words) >= byteCount(piece) ? words : piece;
    if (kept !== '') {
      this.take(token, begin, begin + kept.length, marks);
    }
  }

  /** The beginning of a token that follows a kept one, as far as that is whole words, or a part of one that is too long
   *  for a token; false where there is none that says anything. */
  keepWords(token: number): boolean {
    const whole = this.name.tokens[token];
    if (whole === undefined) {
      return false;
    }
    const { text } = this.name;
    const mark = this.kept[token - 1]?.[1] === whole.begin ? 0 : this.ruler.mark;
    const most = whole.begin + this.ruler.begin(text.slice(whole.begin, whole.end), this.room - mark).length;
    const isOfLongWord = !isWordEnd(text, whole.begin) || !isWordEnd(text, whole.end);
    const end = isOfLongWord ? most : this.wordsEnd(whole.begin, most);
    return byteCount(text.slice(whole.begin, end)) >= LEAST_OF_WORD && this.take(token, whole.begin, end, mark);
  }

  /** The last place up to `end` where a person would cut; `begin` where there is none. */
  private wordsEnd(begin: number, end: number): number {
    let at = end;
    while (at > begin && !isWordEnd(this.name.text, at)) {
      --at;
    }
    return at;
  }

  text(): string {
    let [label, end] = ['', 0];
    for (const piece of this.kept) {
      if (piece !== undefined) {
        label += (piece[0] === end ? '' : MARK) + this.name.text.slice(...piece);
        end = piece[1];
      }
    }
    return end === this.name.text.length ? label : label + MARK;
  }

  private take(token: number, begin: number, end: number, marks: number): boolean {
    const needed = this.ruler.of(this.name.text.slice(begin, end)) + marks;
    if (needed > this.room) {
      return false;
    }
    this.room -= needed;
    this.kept[token] = [begin, end];
    return true;
  }
}

/** A name on the way to its label. */
interface Entry {
  name: string;
  text: NameText;
  hasNoise: boolean;
  fits: boolean;
  telling: number[];
  first: number[];
  round: number; // of telling it apart
  label: string;
}

/** The ends of the head by turns: of names without brackets, both. */
function keepEnds(name: NameText, begin: number, label: LabelMaker): void {
  let [first, last] = [begin, name.tokens.length];
  let [moreFirst, moreLast] = [true, true];
  const isHead = (i: number) => name.tokens[i]?.kind === 'head' || label.isKept(i);
  while (first < last && (moreFirst || moreLast) && !label.isFull()) {
    moreFirst = moreFirst && isHead(first) && label.keep(first);
    first += moreFirst ? 1 : 0;
    moreLast = moreLast && first < last && isHead(last - 1) && label.keep(last - 1);
    last -= moreLast ? 1 : 0;
  }
}

/** What follows the kept part, and the beginning of one more token, where that is words. */
function extend(name: NameText, label: LabelMaker): void {
  for (let i = 1; i < name.tokens.length && !label.isFull(); ++i) {
    if (label.isKept(i - 1) && !label.keep(i) && label.keepWords(i)) {
      return;
    }
  }
}

function pieces({ text: name, first: wanted, telling, round }: Entry, ruler: Ruler): string {
  if (name.tokens.length === 0 || ruler.mark > ruler.width) {
    return '';
  }
  const label = new LabelMaker(name, ruler);
  const first = Math.max(0, name.tokens.findIndex((token) => token.kind !== 'noise'));
  const most = wanted.length === 0 ? ruler.width : ruler.width / (FIRST_SHARE + round);
  label.keepFrom(first, name.tokens[first]?.begin ?? 0, most);
  wanted.forEach((place) => label.keepFrom(tokenAt(name, place), place, most));
  const keepAll = (kind: Kind) => {
    for (let i = 0; i < name.tokens.length && !label.isFull(); ++i) {
      if (name.tokens[i]?.kind === kind) {
        label.keep(i);
      }
    }
  };
  keepAll('tile');
  telling.forEach((place) => label.keep(tokenAt(name, place)));
  keepAll('operator');
  keepEnds(name, first, label);
  extend(name, label);
  return label.text();
}

function alikeOf(entries: readonly Entry[]): Entry[][] {
  const byLabel = new Map<string, Entry[]>();
  for (const entry of entries) {
    const group = byLabel.get(entry.label);
    if (group === undefined) {
      byLabel.set(entry.label, [entry]);
    } else {
      group.push(entry);
    }
  }
  return [...byLabel.values()].filter((group) => group.length > 1);
}

const byText = (a: Entry, b: Entry) => (a.text.text < b.text.text ? -1 : a.text.text > b.text.text ? 1 : 0);

/** The branches of a group, which it sorts; nothing where two have the same text. */
function branchesOf(group: Entry[]): number[][] | undefined {
  const texts = group.sort(byText).map((entry) => entry.text.text);
  return texts.some((text, i) => text === texts[i - 1]) ? undefined : findBranches(texts);
}

/** Shows what tells the entries of a group from each other, before all else. */
function tellApart(group: Entry[], ruler: Ruler): void {
  let branches = group.some((entry) => entry.hasNoise) ? undefined : branchesOf(group);
  if (branches === undefined) {
    for (const entry of group.filter((one) => !one.hasNoise)) {
      Object.assign(entry, { text: parseName(entry.name, true), hasNoise: true, first: [], telling: [] });
    }
    branches = branchesOf(group);
  }
  group.forEach((entry, i) => {
    if (!entry.fits) {
      entry.first = [...(branches?.[i] ?? []), ...entry.first];
      entry.label = pieces(entry, ruler);
      ++entry.round;
    }
  });
}

function numbered(label: string, number: number, ruler: Ruler): string {
  const end = `${MARK}#${number}`;
  const room = ruler.width - ruler.of(end);
  return room < 0 ? '' : ruler.begin(label, room).replace(/…+$/, '') + end;
}

/** Numbers those that still look alike, in the order of their names. */
function numberAlike(entries: readonly Entry[], ruler: Ruler): void {
  const taken = new Set(entries.map((entry) => entry.label));
  for (const group of alikeOf(entries)) {
    const keeper = group.find((entry) => entry.fits) ?? group[0];
    const shared = keeper?.label ?? '';
    let number = 1;
    for (const entry of group) {
      let label = shared;
      while (entry !== keeper && label !== '' && taken.has(label)) {
        label = numbered(shared, ++number, ruler);
      }
      entry.label = label === '' ? shared : label;
      taken.add(label);
    }
  }
}

function firstLabel(entry: Entry, ruler: Ruler): string {
  const bare = bareName(entry.name);
  return entry.fits ? entry.name
    : ruler.fits(bare) ? bare : ruler.fits(entry.text.text) ? entry.text.text : pieces(entry, ruler);
}

function findTelling(entries: readonly Entry[]): void {
  const byPlain = new Map<string, Entry>();
  for (const entry of entries) {
    if (!byPlain.has(entry.text.text)) {
      byPlain.set(entry.text.text, entry);
    }
  }
  const texts = [...byPlain.keys()].sort();
  const branches = findBranches(texts);
  texts.forEach((text, i) => {
    const entry = byPlain.get(text);
    if (entry !== undefined) {
      entry.telling = branches[i] ?? [];
    }
  });
}

/** A label for each of `names`, at most `width` wide: of a name that is too long what tells it from the
 *  others. Labels of names that differ do, too; where no piece of a name tells, by a number. */
export function labelNames(names: readonly string[], width: number, glyph: GlyphWidth): Map<string, string> {
  const ruler = new Ruler(width, glyph);
  const distinct = [...new Set(names)].sort();
  if (distinct.every((name) => ruler.fits(name))) {
    return new Map(distinct.map((name) => [name, name]));
  }
  const entries: Entry[] = distinct.map((name) => ({
    name, text: parseName(name, false), hasNoise: false, fits: ruler.fits(name), telling: [], first: [], round: 0, label: '',
  }));
  findTelling(entries);
  for (const entry of entries) {
    entry.label = firstLabel(entry, ruler);
  }
  for (let round = 0; round < MOST_ROUNDS; ++round) {
    const alike = alikeOf(entries);
    if (alike.length === 0) {
      break;
    }
    alike.forEach((group) => tellApart(group, ruler));
  }
  numberAlike(entries, ruler);
  return new Map(entries.map((entry) => [entry.name, entry.label]));
}
