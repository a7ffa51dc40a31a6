// The part of timeline_drawing.mjs that runs in the page.
const [WIDTH, HEIGHT, LINE, THICK] = [1100, 800, 16, 14];
const SHADES = ['#0072b2', '#e69f00', '#cc79a7', '#009e73', '#56b4e9', '#b5d6ec', '#bfe3d2', '#f3d9a4'];
const PIXELS = SHADES.map((shade) => {
  const value = parseInt(shade.slice(1), 16);
  return (0xff000000 | ((value & 255) << 16) | (value & 0xff00) | (value >> 16)) >>> 0;
});

const dataOf = (boxes, lines) => Array.from({ length: lines }, (_, y) => Array.from({ length: boxes }, (_, i) => ({
  x: (i * WIDTH) / boxes, wide: (WIDTH / boxes) * 0.8, shade: (i * 7 + y * 3) % SHADES.length,
})));

function clear(context) {
  context.fillStyle = '#ffffff';
  context.fillRect(0, 0, WIDTH, HEIGHT);
}

/** Boxes as pixels of lines that are `each` pixels apart. */
function fill(target, data, each) {
  data.forEach((row, y) => row.forEach(({ x, wide, shade }) => {
    const [from, offset] = [Math.floor(x), y * each * WIDTH];
    target.fill(PIXELS[shade], offset + from, offset + Math.min(WIDTH, Math.max(from + 1, Math.floor(x + wide))));
  }));
}

function rectangles(canvas, data) {
  const context = canvas.getContext('2d', { alpha: false });
  return () => {
    clear(context);
    data.forEach((row, y) => row.forEach(({ x, wide, shade }) => {
      context.fillStyle = SHADES[shade];
      context.fillRect(x, y * LINE, wide, THICK);
    }));
  };
}

function paths(canvas, data) {
  const context = canvas.getContext('2d', { alpha: false });
  return () => {
    clear(context);
    SHADES.forEach((colour, wanted) => {
      context.beginPath();
      data.forEach((row, y) => row.forEach(({ x, wide, shade }) => shade === wanted && context.rect(x, y * LINE, wide, THICK)));
      context.fillStyle = colour;
      context.fill();
    });
  };
}

function strips(canvas, data) {
  const context = canvas.getContext('2d', { alpha: false });
  const strip = Object.assign(document.createElement('canvas'), { width: WIDTH, height: data.length });
  const image = new ImageData(WIDTH, data.length);
  const target = new Uint32Array(image.data.buffer);
  return () => {
    clear(context);
    target.fill(0);
    fill(target, data, 1);
    strip.getContext('2d', { willReadFrequently: true }).putImageData(image, 0, 0);
    context.imageSmoothingEnabled = false;
    data.forEach((_, y) => context.drawImage(strip, 0, y, WIDTH, 1, 0, y * LINE, WIDTH, THICK));
  };
}

function pixels(canvas, data) {
  const context = canvas.getContext('2d', { alpha: false });
  const image = new ImageData(WIDTH, HEIGHT);
  const target = new Uint32Array(image.data.buffer);
  return () => {
    target.fill(0xffffffff);
    fill(target, data, LINE);
    for (let y = 0; y < data.length * LINE; ++y) {
      const first = y - (y % LINE);
      if (y > first && y < first + THICK) {
        target.copyWithin(y * WIDTH, first * WIDTH, (first + 1) * WIDTH);
      }
    }
    context.putImageData(image, 0, 0);
  };
}

const VERTEX = `#version 300 es
in vec4 box; in float shade; out float tone;
void main() {
  vec2 p = box.xy + vec2(gl_VertexID & 1, gl_VertexID >> 1) * box.zw;
  gl_Position = vec4(p.x / 550. - 1., 1. - p.y / 400., 0, 1);
  tone = shade;
}`;
const FRAGMENT = `#version 300 es
precision mediump float; in float tone; out vec4 colour;
void main() { colour = vec4(tone / 8., .5, 1. - tone / 8., 1); }`;

function programOf(gl) {
  const program = gl.createProgram();
  [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]].forEach(([type, text]) => {
    const shader = gl.createShader(type);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  });
  gl.linkProgram(program);
  return program;
}

function webgl(canvas, data) {
  const gl = canvas.getContext('webgl2');
  const program = programOf(gl);
  gl.useProgram(program);
  gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
  [['box', 4, 0], ['shade', 1, 16]].forEach(([name, size, offset]) => {
    const at = gl.getAttribLocation(program, name);
    gl.enableVertexAttribArray(at);
    gl.vertexAttribPointer(at, size, gl.FLOAT, false, 20, offset);
    gl.vertexAttribDivisor(at, 1);
  });
  return () => {
    const values = new Float32Array(data.flatMap((row, y) => row.flatMap(({ x, wide, shade }) => [x, y * LINE, wide, THICK, shade])));
    gl.bufferData(gl.ARRAY_BUFFER, values, gl.STREAM_DRAW);
    gl.clearColor(1, 1, 1, 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, values.length / 5);
  };
}

const WAYS = { rectangles, paths, strips, pixels, WebGL: webgl };

/** Draws so many boxes in each line in one way; what the frames took. */
globalThis.measure = async (way, boxes, lines, frames) => {
  const data = dataOf(boxes, lines);
  const canvas = Object.assign(document.createElement('canvas'), { width: WIDTH, height: HEIGHT });
  document.body.replaceChildren(canvas);
  const draw = WAYS[way](canvas, data);
  const [between, script] = [[], []];
  let last = performance.now();
  for (let i = 0; i < frames; ++i) {
    await new Promise(requestAnimationFrame);
    const now = performance.now();
    between.push(now - last);
    last = now;
    data.forEach((row) => row.forEach((box) => { box.x += 0.3; }));
    draw();
    script.push(performance.now() - now);
  }
  const at = (values, share) => [...values].sort((a, b) => a - b)[Math.floor(values.length * share)].toFixed(1);
  return `frame ${at(between, 0.5)} ms, 95 % ${at(between, 0.95)} ms, script ${at(script, 0.5)} ms`;
};
