/** Elements that use the space bar themselves. */
const USES_SPACE = 'input, textarea, select, button, a, summary, dialog, [contenteditable]';

/**
 * A conversation in which the user may speak only while holding something.
 *
 * @typedef {object} Holdable
 * @property {boolean} isPushToTalk
 * @property {boolean} hasMicrophone
 * @property {() => void} press
 * @property {() => void} release
 */

/**
 * Lets the user hold the space bar or the conversation button while speaking, if push-to-talk is on.
 *
 * @param {HTMLButtonElement} button
 * @param {() => Holdable | undefined} current the conversation
 */
export function openPushToTalk(button, current) {
  const held = () => {
    const talk = current();
    return talk?.isPushToTalk === true && talk.hasMicrophone ? talk : undefined;
  };
  button.addEventListener('pointerdown', (event) => {
    if (held() === undefined) return;
    button.setPointerCapture(event.pointerId);
    held()?.press();
  });
  for (const type of /** @type {const} */ (['pointerup', 'pointercancel']))
    button.addEventListener(type, () => held()?.release());
  document.addEventListener('keydown', (event) => {
    if (!isFor(event, button) || held() === undefined) return;
    event.preventDefault();
    if (!event.repeat) held()?.press();
  });
  document.addEventListener('keyup', (event) => {
    if (!isFor(event, button) || held() === undefined) return;
    event.preventDefault();
    held()?.release();
  });
  // A key that is let go in another window is never reported.
  addEventListener('blur', () => held()?.release());
}

/**
 * @param {KeyboardEvent} event
 * @param {HTMLButtonElement} button
 */
function isFor({ key, target }, button) {
  if (key !== ' ' || !(target instanceof Element)) return false;
  return target === button || target.closest(USES_SPACE) === null;
}
