import { makeSvg } from '../browser/dom.js';
import { looks } from './looks.js';

/**
 * A shape of a face: its color and its path.
 *
 * @typedef {readonly [fill: string, path: string]} Shape
 */

/**
 * Description of one face, in a drawing of 100 by 100. Shapes are drawn in the order of the fields.
 *
 * @typedef {object} Look
 * @property {readonly [light: string, dark: string]} ground
 * @property {readonly Shape[]} behind hair behind the body
 * @property {readonly Shape[]} body
 * @property {{ halfWidth: number, chinY: number, jaw: number, skin: string, shade: string, ears?: boolean }} head
 * @property {readonly Shape[]} [skinMarks] cheeks, scars and lines, over the skin and under the eyes
 * @property {{ y: number, apart: number, iris: string, size?: number, white?: string }} eyes
 * @property {{ color: string, tilt: number, width: number, rise?: number }} brows
 * @property {string} nose
 * @property {{ y: number, width: number, lips: string }} mouth
 * @property {readonly Shape[]} front hair, beard, hat
 */

const INK = '#2a1a1e';

/**
 * Draws the face of one of our characters. Its parts move by the style sheet: it breathes, blinks and looks about, and
 * its mouth opens by `--voice`.
 *
 * @param {string} id
 * @returns {SVGElement | undefined} undefined for a character that has no face of ours
 */
export function face(id) {
  const look = Object.hasOwn(looks, id) ? looks[id] : undefined;
  if (look === undefined) return undefined;
  const { ground, behind, body, head, skinMarks = [], front } = look;
  const chest = makeSvg('g', { class: 'chest' }, ...paths(body, INK));
  const skull = makeSvg(
    'g',
    { class: 'skull' },
    ...(head.ears === false ? [] : earsOf(head)),
    ...paths([[head.skin, headPath(head)]], INK),
    ...paths(skinMarks),
    eyesOf(look),
    browsOf(look),
    makeSvg('path', { d: look.nose, fill: 'none', stroke: head.shade, 'stroke-width': 1.8, 'stroke-linecap': 'round' }),
    mouthOf(look),
    ...paths(front, INK),
  );
  return makeSvg(
    'svg',
    { viewBox: '0 0 100 100', class: 'face', 'aria-hidden': 'true' },
    makeSvg('rect', { width: 100, height: 100, fill: ground[1] }),
    makeSvg('circle', { cx: 38, cy: 32, r: 46, fill: ground[0] }),
    makeSvg('g', { class: 'skull' }, ...paths(behind, INK)),
    chest,
    skull,
  );
}

/**
 * @param {readonly Shape[]} shapes
 * @param {string} [outline]
 */
function paths(shapes, outline) {
  const line = outline === undefined ? {} : { stroke: outline, 'stroke-width': 1.3, 'stroke-linejoin': 'round' };
  return shapes.map(([fill, d]) => makeSvg('path', { d, fill, ...line }));
}

/** @param {Look['head']} head */
function headPath({ halfWidth: w, chinY, jaw }) {
  const left = 50 - w;
  const right = 50 + w;
  const cheekY = 44 + (chinY - 44) * 0.62;
  return `M${left} 44C${left} 21 ${right} 21 ${right} 44C${right} ${cheekY} ${50 + w * jaw} ${chinY} 50 ${chinY}C${50 - w * jaw} ${chinY} ${left} ${cheekY} ${left} 44Z`;
}

/** @param {Look['head']} head */
function earsOf({ halfWidth, skin }) {
  const line = { fill: skin, stroke: INK, 'stroke-width': 1.3 };
  return [50 - halfWidth, 50 + halfWidth].map((cx) => makeSvg('ellipse', { cx, cy: 51, rx: 3.4, ry: 5, ...line }));
}

/** @param {Look} look */
function eyesOf({ eyes, head }) {
  const { y, apart, iris, size = 1, white = '#fbf6ec' } = eyes;
  const sides = [50 - apart, 50 + apart];
  const oval = { rx: 4.6 * size, ry: 3.1 * size };
  const whites = sides.map((cx) => makeSvg('ellipse', { cx, cy: y, ...oval, fill: white }));
  const gaze = sides.flatMap((cx) => [
    makeSvg('circle', { cx, cy: y, r: 2.6 * size, fill: iris }),
    makeSvg('circle', { cx, cy: y, r: 1.3 * size, fill: INK }),
    makeSvg('circle', { cx: cx - 0.8, cy: y - 0.9, r: 0.7, fill: '#fff' }),
  ]);
  const lids = sides.map((cx) =>
    makeSvg('ellipse', { cx, cy: y, rx: oval.rx + 0.6, ry: oval.ry + 0.6, fill: head.skin }),
  );
  const lashes = sides.map((cx) =>
    makeSvg('path', {
      d: `M${cx - oval.rx} ${y - 0.8}Q${cx} ${y - oval.ry * 1.9} ${cx + oval.rx} ${y - 0.8}`,
      fill: 'none',
      stroke: INK,
      'stroke-width': 1.3,
      'stroke-linecap': 'round',
    }),
  );
  return makeSvg(
    'g',
    { class: 'eyes' },
    ...whites,
    makeSvg('g', { class: 'gaze' }, ...gaze),
    makeSvg('g', { class: 'lids' }, ...lids),
    ...lashes,
  );
}

/** @param {Look} look */
function browsOf({ eyes, brows }) {
  const { color, tilt, width, rise = 7 } = brows;
  const y = eyes.y - rise;
  const one = (/** @type {number} */ side) => {
    const inner = 50 + side * (eyes.apart - 4.5);
    const outer = 50 + side * (eyes.apart + 5);
    return `M${inner} ${y + tilt}Q${50 + side * eyes.apart} ${y - 1.6} ${outer} ${y - tilt * 0.4 + 0.8}`;
  };
  return makeSvg('path', {
    class: 'brows',
    d: one(-1) + one(1),
    fill: 'none',
    stroke: color,
    'stroke-width': width,
    'stroke-linecap': 'round',
  });
}

/** @param {Look} look */
function mouthOf({ mouth: { y, width, lips } }) {
  const line = { fill: 'none', stroke: lips, 'stroke-width': 2, 'stroke-linecap': 'round' };
  const half = width / 2;
  return makeSvg(
    'g',
    { class: 'mouth' },
    makeSvg('path', { d: `M${50 - half} ${y}Q50 ${y + 2.2} ${50 + half} ${y}`, ...line }),
    makeSvg(
      'g',
      { class: 'open' },
      makeSvg('ellipse', {
        cx: 50,
        cy: y + 0.8,
        rx: half * 0.8,
        ry: 4.4,
        fill: '#4a1620',
        stroke: lips,
        'stroke-width': 1.4,
      }),
      makeSvg('ellipse', { cx: 50, cy: y + 3, rx: half * 0.5, ry: 1.8, fill: '#b4545c' }),
    ),
  );
}
