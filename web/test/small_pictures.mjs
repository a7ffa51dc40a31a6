// Pictures of the page, made small: what is compared with those that are committed. A pixel of them is the
// mean of many of the screen, so that the edges of letters do not matter and what lies elsewhere does.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

const LEVELS = 16; // of each colour: a file of few colours is small
const VISIBLE = 32; // of 255: a pixel that differs by as much looks different
export const MOST_MEAN = 2; // of 255, over all pixels
export const MOST_DIFFERENT = 0.006; // of all pixels

/** Runs in the browser: the picture with a pixel for each square of `factor`, as a PNG in base64. */
async function shrink({ source, factor, levels }) {
  const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${source}`)).blob());
  const [width, height] = [Math.floor(image.width / factor), Math.floor(image.height / factor)];
  const large = new OffscreenCanvas(image.width, image.height).getContext('2d');
  large.drawImage(image, 0, 0);
  const pixels = large.getImageData(0, 0, image.width, image.height).data;
  const small = new ImageData(width, height);
  for (let at = 0; at < width * height; ++at) {
    const [x, y] = [(at % width) * factor, Math.floor(at / width) * factor];
    for (let colour = 0; colour < 3; ++colour) {
      let sum = 0;
      for (let row = y; row < y + factor; ++row) {
        for (let column = x; column < x + factor; ++column) {
          sum += pixels[(row * image.width + column) * 4 + colour];
        }
      }
      small.data[at * 4 + colour] = Math.round(Math.round((sum / factor / factor / 255) * (levels - 1)) / (levels - 1) * 255);
    }
    small.data[at * 4 + 3] = 255;
  }
  const canvas = new OffscreenCanvas(width, height);
  canvas.getContext('2d').putImageData(small, 0, 0);
  const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: 'image/png' })).arrayBuffer());
  return btoa(String.fromCharCode(...bytes));
}

/** Runs in the browser: how far two pictures differ. Not at all, if only a line of pixels is missing at an edge. */
async function measure({ one, other, visible }) {
  const read = async (source) => {
    const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${source}`)).blob());
    const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
    context.drawImage(image, 0, 0);
    return context.getImageData(0, 0, image.width, image.height);
  };
  const [a, b] = [await read(one), await read(other)];
  if (a.width !== b.width || a.height !== b.height) {
    return { mean: 255, different: 1 };
  }
  let [sum, different] = [0, 0];
  for (let at = 0; at < a.data.length; at += 4) {
    const apart = [0, 1, 2].map((colour) => Math.abs(a.data[at + colour] - b.data[at + colour]));
    sum += apart.reduce((all, each) => all + each, 0) / 3;
    different += Math.max(...apart) > visible ? 1 : 0;
  }
  return { mean: sum / (a.data.length / 4), different: different / (a.data.length / 4) };
}

/** What is shown now, made smaller by `factor`; `tool` is another page, without a policy, in which that is worked out. */
export async function smallPicture(page, tool, factor) {
  const source = (await page.screenshot({ animations: 'disabled', caret: 'hide' })).toString('base64');
  return tool.evaluate(shrink, { source, factor, levels: LEVELS });
}

export const compare = (tool, one, other) => tool.evaluate(measure, { one, other, visible: VISIBLE });

export const looksSame = ({ mean, different }) => mean <= MOST_MEAN && different <= MOST_DIFFERENT;

export const read = (path) => (existsSync(path) ? readFileSync(path).toString('base64') : null);
export const write = (path, picture) => writeFileSync(path, Buffer.from(picture, 'base64'));

/** The widths of texts in the font of the page: those of another font are others. */
export const fontOf = (page) => page.evaluate(() => {
  const context = document.createElement('canvas').getContext('2d');
  const widths = [];
  for (const font of [`13px ${getComputedStyle(document.body).fontFamily}`, `600 20px ${getComputedStyle(document.body).fontFamily}`, '11px ui-monospace, monospace']) {
    context.font = font;
    widths.push(Math.round(context.measureText('Where the device time goes 0123456789 %').width * 10) / 10);
  }
  return widths;
});
