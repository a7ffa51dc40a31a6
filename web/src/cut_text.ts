// Sentences in little room: as much as some lines hold, cut where a person would.

const MARK = '…';
const LEAST_PART = 0.4; // of what fits, so that a cut between parts leaves enough of it

/** How many lines words take, one after the other. */
function linesOf(words: readonly string[], width: number, widthOf: (text: string) => number): number {
  const blank = widthOf(' ');
  let [lines, at] = [1, 0];
  for (const word of words) {
    const wide = widthOf(word);
    if (at > 0 && at + blank + wide > width) {
      ++lines;
      at = 0;
    }
    at += (at > 0 ? blank : 0) + wide;
    lines += Math.max(0, Math.ceil(at / width) - 1); // a word that is wider than a line is broken
    at = at > width ? at % width : at;
  }
  return lines;
}

/** The text if it takes no more than `lines` lines of a width, else its beginning up to the end of a part ("; " and ", "
 *  separate them), or of a word where that would leave too little, and a mark. */
export function cutToLines(text: string, width: number, lines: number, widthOf: (text: string) => number): string {
  const words = text.split(' ');
  const fits = (count: number) => linesOf(count === words.length ? words : [...words.slice(0, count), MARK], width, widthOf) <= lines;
  if (fits(words.length)) {
    return text;
  }
  let count = words.length - 1;
  while (count > 1 && !fits(count)) {
    --count;
  }
  for (const end of [';', ',']) {
    let part = count;
    while (part > 0 && !words[part - 1]!.endsWith(end)) {
      --part;
    }
    if (part >= Math.max(1, count * LEAST_PART)) {
      return `${words.slice(0, part).join(' ')} ${MARK}`;
    }
  }
  return `${words.slice(0, count).join(' ')} ${MARK}`;
}
