import { LIVE2D, mixed } from '../../client/mouth/viseme-tables.js';

/** @import { LipSync } from '../../client/types/api.d.ts' */

/**
 * Moves the mouth of the drawn face by what is heard, frame by frame, until nothing is heard any more. Without shapes the
 * style sheet opens it by the loudness.
 *
 * @param {LipSync} mouth
 */
export function moveLips(mouth) {
  const { style } = document.documentElement;
  const frame = () => {
    const weights = mouth.weightsAt();
    if (weights === undefined || mouth.sample === undefined) {
      for (const name of ['--mouth-open', '--mouth-wide', '--mouth-lag']) style.removeProperty(name);
    } else {
      const { ParamMouthOpenY: open = 0, ParamMouthForm: form = 0 } = mixed(LIVE2D, weights);
      style.setProperty('--mouth-open', open.toFixed(2));
      style.setProperty('--mouth-wide', (1 + 0.35 * form).toFixed(2));
      style.setProperty('--mouth-lag', '0s');
    }
    if (mouth.sample !== undefined) requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}
