/** @import { Viseme } from '../types/api.d.ts' */

/** @typedef {Readonly<Record<Viseme, Readonly<Record<string, number>>>>} Weights */

/** The 15 shapes, in the order of OVRLipSync and OpenXR: the index is the number that they use. */
export const VISEMES = /** @type {readonly Viseme[]} */ (
  Object.freeze(['sil', 'PP', 'FF', 'TH', 'DD', 'kk', 'CH', 'SS', 'nn', 'RR', 'aa', 'E', 'ih', 'oh', 'ou'])
);

/** Weights of VRM 1.0 expressions. @type {Weights} */
export const VRM = {
  sil: {},
  PP: {},
  FF: { ih: 0.15 },
  TH: { ih: 0.25 },
  DD: { ih: 0.25 },
  kk: { aa: 0.2 },
  CH: { ou: 0.4 },
  SS: { ih: 0.3 },
  nn: { ih: 0.25 },
  RR: { ou: 0.3 },
  aa: { aa: 1 },
  E: { ee: 0.8 },
  ih: { ih: 1 },
  oh: { oh: 1 },
  ou: { ou: 1 },
};

/** Values of Live2D's standard mouth parameters. @type {Weights} */
export const LIVE2D = Object.freeze({
  sil: live2d(0, 0),
  PP: live2d(0, 0),
  FF: live2d(0.1, 0.2),
  TH: live2d(0.2, 0.1),
  DD: live2d(0.2, 0.2),
  kk: live2d(0.25, 0),
  CH: live2d(0.2, -0.5),
  SS: live2d(0.1, 0.5),
  nn: live2d(0.2, 0.1),
  RR: live2d(0.25, -0.3),
  aa: live2d(1, 0),
  E: live2d(0.5, 0.4),
  ih: live2d(0.35, 1),
  oh: live2d(0.7, -0.6),
  ou: live2d(0.35, -1),
});

/** Start values of ARKit's blend shapes: tone them down by rig. @type {Weights} */
export const ARKIT = {
  sil: {},
  PP: both({ mouthRollUpper: 0.8, mouthRollLower: 0.8 }),
  FF: both({ mouthRollLower: 1, mouthShrugUpper: 1 }, { mouthDimple: 1 }),
  TH: both({ mouthRollUpper: 0.6, tongueOut: 0.4, jawOpen: 0.2 }),
  DD: both({ mouthFunnel: 0.5, jawOpen: 0.2 }, { mouthPress: 0.8 }),
  kk: both({ mouthFunnel: 0.3, jawOpen: 0.15 }, { mouthLowerDown: 0.4, mouthDimple: 0.3 }),
  CH: both({ mouthPucker: 0.5, jawOpen: 0.2 }),
  SS: both({ jawOpen: 0.1 }, { mouthPress: 0.8, mouthLowerDown: 0.5 }),
  nn: both({ mouthFunnel: 0.3, jawOpen: 0.15 }, { mouthLowerDown: 0.4, mouthDimple: 0.3 }),
  RR: both({ mouthPucker: 0.5, jawOpen: 0.2 }),
  aa: both({ jawOpen: 0.6 }),
  E: both({ jawOpen: 0.3 }, { mouthPress: 0.8, mouthDimple: 1 }),
  ih: both({ jawOpen: 0.2 }, { mouthPress: 0.6, mouthDimple: 0.6 }),
  oh: both({ mouthPucker: 1, jawOpen: 0.2, jawForward: 0.6 }),
  ou: both({ mouthFunnel: 1 }),
};

/** Viseme ids of Azure and SAPI. @type {Readonly<Record<Viseme, number>>} */
export const AZURE = {
  sil: 0,
  PP: 21,
  FF: 18,
  TH: 17,
  DD: 19,
  kk: 20,
  CH: 16,
  SS: 15,
  nn: 19,
  RR: 13,
  aa: 2,
  E: 4,
  ih: 6,
  oh: 3,
  ou: 7,
};

/** Shapes of Rhubarb Lip Sync. @type {Readonly<Record<Viseme, string>>} */
export const RHUBARB = {
  sil: 'X',
  PP: 'A',
  FF: 'G',
  TH: 'B',
  DD: 'B',
  kk: 'B',
  CH: 'F',
  SS: 'B',
  nn: 'B',
  RR: 'E',
  aa: 'D',
  E: 'C',
  ih: 'B',
  oh: 'E',
  ou: 'F',
};

/**
 * Mixes the weights of a table, such as `ARKIT`, by the weights of the shapes.
 *
 * @param {Weights} table
 * @param {Partial<Record<Viseme, number>>} shapes
 * @returns {Record<string, number>}
 */
export function mixed(table, shapes) {
  /** @type {Record<string, number>} */
  const sum = {};
  for (const [viseme, weight] of Object.entries(shapes)) {
    for (const [name, value] of Object.entries(table[/** @type {Viseme} */ (viseme)]))
      sum[name] = (sum[name] ?? 0) + weight * value;
  }
  return sum;
}

/**
 * @param {number} open
 * @param {number} form
 */
function live2d(open, form) {
  return { ParamMouthOpenY: open, ParamMouthForm: form };
}

/**
 * @param {Record<string, number>} single
 * @param {Record<string, number>} [sided] shapes of which there is a left and a right one
 */
function both(single, sided = {}) {
  const pairs = Object.entries(sided).flatMap(([name, value]) => [
    [`${name}Left`, value],
    [`${name}Right`, value],
  ]);
  return { ...single, ...Object.fromEntries(pairs) };
}
