// The shades of tones as pixels and as colours of text, read from the style sheet, so that both themes
// are those of the page.

export interface Theme {
  paper: string;
  panel: string;
  line: string;
  ink: string;
  quiet: string;
  accent: string;
  faint: string;
  sync: string;
  bad: string;
  font: string;
}

/** Steps from a merged box with little in it to a full one. */
export const SHADES = 8;

/** Colours of boxes as pixels of an ImageData: by tone, then by how full the box is; then the same
 *  for boxes that a search did not find. */
export interface Palette {
  theme: Theme;
  full: Uint32Array;
  pale: Uint32Array;
  text: string[]; // the colour of names on each of `full`
  css: string[]; // by tone
}

type Rgb = readonly [number, number, number];

const probe = document.createElement('canvas').getContext('2d', { willReadFrequently: true });

/** Any colour that the style sheet may give, as numbers. */
function rgbOf(colour: string): Rgb {
  if (probe === null) {
    return [128, 128, 128];
  }
  probe.fillStyle = '#808080';
  probe.fillStyle = colour;
  probe.fillRect(0, 0, 1, 1);
  const [red = 0, green = 0, blue = 0] = probe.getImageData(0, 0, 1, 1).data;
  return [red, green, blue];
}

const mix = (a: Rgb, b: Rgb, share: number): Rgb =>
  [0, 1, 2].map((i) => Math.round(a[i]! * share + b[i]! * (1 - share))) as unknown as Rgb;

const LITTLE_ENDIAN = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;
const pixel = ([red, green, blue]: Rgb): number =>
  (LITTLE_ENDIAN ? (255 << 24) | (blue << 16) | (green << 8) | red : (red << 24) | (green << 16) | (blue << 8) | 255) >>> 0;

/** Relative luminance by WCAG. */
function luminance(colour: Rgb): number {
  const [red, green, blue] = colour.map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

/** Black or white, whichever has more contrast. */
const textOn = (colour: Rgb): string => (luminance(colour) > 0.179 ? '#000000' : '#ffffff');

/** A variable of the style sheet as a colour, whatever theme decides it. */
function reader(element: HTMLElement): (name: string) => string {
  const style = getComputedStyle(element);
  const before = element.style.color;
  return (name) => {
    element.style.color = `var(--${name}, var(--other))`;
    const { color } = style;
    element.style.color = before;
    return color;
  };
}

const LEAST_SHADE = 0.3;
const PALE = 0.22;
const TONE = /^[\w-]+$/;

function themeOf(colour: (name: string) => string, element: HTMLElement): Theme {
  const [paper = '', panel = '', line = '', ink = '', quiet = '', accent = '', faint = '', sync = '', bad = ''] =
    ['paper', 'panel', 'line', 'ink', 'quiet', 'accent', 'faint', 'sync', 'bad'].map(colour);
  return { paper, panel, line, ink, quiet, accent, faint, sync, bad, font: getComputedStyle(element).fontFamily };
}

/** The palette of these tones as the element shows them. */
export function paletteOf(tones: readonly string[], element: HTMLElement): Palette {
  const colour = reader(element);
  const theme = themeOf(colour, element);
  const paper = rgbOf(theme.paper);
  const shades = tones.map((tone) => rgbOf(colour(TONE.test(tone) ? tone : 'other')));
  const shade = (tone: Rgb, step: number) => mix(tone, paper, LEAST_SHADE + (1 - LEAST_SHADE) * ((step + 1) / SHADES));
  const steps = [...Array(SHADES).keys()];
  return {
    theme,
    full: Uint32Array.from(shades.flatMap((tone) => steps.map((step) => pixel(shade(tone, step))))),
    pale: Uint32Array.from(shades.flatMap((tone) => steps.map((step) => pixel(mix(shade(tone, step), paper, PALE))))),
    text: shades.flatMap((tone) => steps.map((step) => textOn(shade(tone, step)))),
    css: shades.map(([red, green, blue]) => `rgb(${red} ${green} ${blue})`),
  };
}
