const BLOCKED =
  'The microphone is blocked for this page. Allow it with the icon beside the address, then tap the button again. Typing works meanwhile.';
const INSECURE =
  'The browser gives no microphone to a page on an insecure address. Open it as localhost or over https. Typing works meanwhile.';

/** @type {Readonly<Record<string, string>>} */
const MICROPHONE_ERRORS = {
  NotAllowedError: BLOCKED,
  SecurityError: BLOCKED,
  NotFoundError: 'No microphone was found. Plug one in and tap the button again, or type.',
  NotReadableError:
    'The microphone cannot be opened. Perhaps another program holds it, or the system forbids it to the browser.',
  AbortError: 'The microphone could not be started. Tap the button to try again.',
};

/** @type {Readonly<Record<string, string>>} */
const SERVER_ERRORS = {
  invalid_api_key: 'The server does not accept this key.',
  unknown_character: 'This character is no longer here. Choose another.',
  session_expired: 'This talk reached the time limit of the server. Tap the button to begin another.',
  low_confidence: 'Not understood. Please say it again, closer to the microphone.',
  insufficient_quota: 'The allowance of this key is used up.',
  ENGINE_TIMEOUT: 'Part of the server took too long to answer. Please say it again.',
  ENGINE_UNAVAILABLE: 'Part of the server cannot be reached just now.',
  ENGINE_BAD_REPLY: 'Part of the server answered with something unusable. Please say it again.',
  ENGINE_REFUSED: 'Part of the server refused to answer this.',
};

/** Errors from harmless races between the page and the server. */
const HARMLESS = new Set(['response_cancel_not_active', 'conversation_already_has_active_response']);

/**
 * @returns {string | undefined} why the page cannot use a microphone; undefined if it can ask for
 *   one
 */
export function whyNoMicrophone() {
  if (navigator.mediaDevices?.getUserMedia !== undefined) return undefined;
  return globalThis.isSecureContext ? 'This browser offers no microphone to web pages. You can type.' : INSECURE;
}

/**
 * @param {unknown} error error from `getUserMedia`
 * @returns {string}
 */
export function explainMicrophone(error) {
  const name = error instanceof Error ? error.name : '';
  return MICROPHONE_ERRORS[name] ?? `The microphone could not be opened (${name || String(error)}).`;
}

/**
 * @param {{ code?: string | null, message?: string } | undefined} error
 * @returns {string | undefined} undefined if there is nothing to report
 */
export function explainServer(error) {
  const code = error?.code ?? '';
  if (HARMLESS.has(code)) return undefined;
  const known = SERVER_ERRORS[code];
  if (known !== undefined) return `${known} (${code})`;
  const message = error?.message || 'The server reported an error.';
  return code === '' ? message : `${message} (${code})`;
}

/** Message for a page that may not play audio. */
export const NO_SPEAKER = 'This page can only play voices on localhost or over https. You can type and read meanwhile.';

/** @param {number} lostMs of user audio */
export function explainLostSound(lostMs) {
  return `${(lostMs / 1000).toFixed(1)} s of sound did not arrive while the connection was away.`;
}

/**
 * @param {{ retryInMs: number, isBusy: boolean }} loss a `connection.lost` event
 * @returns {string}
 */
export function explainLoss({ retryInMs, isBusy }) {
  const cause = isBusy ? 'The server is full.' : 'The connection was lost.';
  return retryInMs === 0 ? `${cause} Trying again…` : `${cause} Trying again in ${(retryInMs / 1000).toFixed(1)} s.`;
}

/**
 * @param {'flat' | 'unheard'} silence result of `SilenceWatch.chunk`
 * @returns {string}
 */
export function explainSilence(silence) {
  return silence === 'flat'
    ? 'I hear nothing at all: the microphone delivers pure silence. Is it switched on, and the right one chosen?'
    : 'I hear nothing: is the right microphone chosen?';
}
