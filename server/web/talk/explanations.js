const BLOCKED =
  'The microphone is blocked for this page. Allow it with the icon next to the address bar, then tap the button again. Typing works without it.';
const INSECURE =
  'Browsers allow the microphone only on secure pages. Open this page on localhost or over https. Typing works without it.';

/** @type {Readonly<Record<string, string>>} */
const MICROPHONE_ERRORS = {
  NotAllowedError: BLOCKED,
  SecurityError: BLOCKED,
  NotFoundError: 'No microphone was found. Plug one in and tap the button again, or type.',
  NotReadableError:
    'The microphone cannot be opened. Another program may be using it, or the system may block the browser.',
  AbortError: 'The microphone could not be started. Tap the button to try again.',
};

/** @type {Readonly<Record<string, string>>} */
const SERVER_ERRORS = {
  invalid_api_key: 'The API key is not valid.',
  unknown_character: 'This character no longer exists. Choose another.',
  session_expired: 'The session reached the server’s time limit. Tap the button to start another.',
  low_confidence: 'Not understood. Please say it again, closer to the microphone.',
  insufficient_quota: 'The quota of this API key is used up.',
  ENGINE_TIMEOUT: 'A speech or language engine timed out. Please say it again.',
  ENGINE_UNAVAILABLE: 'A speech or language engine is unavailable. Try again later.',
  ENGINE_BAD_REPLY: 'A speech or language engine sent an unusable response. Please say it again.',
  ENGINE_REFUSED: 'A speech or language engine rejected the request.',
};

/** @type {Readonly<Record<string, string>>} */
const WARNINGS = {
  session_not_stored:
    'The server cannot store this conversation at the moment. You can go on, but a restart of the server would end it.',
  memory_not_stored:
    'The server cannot store what is said at the moment. You can go on, but the character may not remember it.',
};

/** Errors from harmless races between the page and the server. */
const HARMLESS = new Set(['response_cancel_not_active', 'conversation_already_has_active_response']);

/**
 * @returns {string | undefined} why the page cannot use a microphone; undefined if it can ask for
 *   one
 */
export function whyNoMicrophone() {
  if (navigator.mediaDevices?.getUserMedia !== undefined) return undefined;
  return globalThis.isSecureContext
    ? 'This browser does not support microphones on web pages. You can type instead.'
    : INSECURE;
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

/**
 * @param {{ code: string, message: string }} warning
 * @returns {string}
 */
export function explainWarning({ code, message }) {
  return `${WARNINGS[code] ?? message} (${code})`;
}

/** Message for a page that may not play audio. */
export const NO_SPEAKER = 'This page can play audio only on localhost or over https. You can type and read instead.';

/** @param {number} lostMs of user audio */
export function explainLostAudio(lostMs) {
  return `${(lostMs / 1000).toFixed(1)} s of audio were lost while the connection was down.`;
}

/**
 * @param {{ retryInMs: number, isBusy: boolean }} loss a `connection.lost` event
 * @returns {string}
 */
export function explainLoss({ retryInMs, isBusy }) {
  const cause = isBusy ? 'The server is busy.' : 'The connection was lost.';
  return retryInMs === 0 ? `${cause} Reconnecting…` : `${cause} Reconnecting in ${(retryInMs / 1000).toFixed(1)} s.`;
}

/**
 * @param {'flat' | 'unheard'} silence result of `SilenceWatch.chunk`
 * @returns {string}
 */
export function explainSilence(silence) {
  return silence === 'flat'
    ? 'No signal: the microphone sends only silence. Check that it is on, and that the right one is selected.'
    : 'No speech detected. Check that the right microphone is selected.';
}
