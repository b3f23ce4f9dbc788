import type { SessionPatch } from '../../server/protocol/client-events.ts';
import type { NetworkConditions } from './pipe.ts';

/** One action or wait of a person. Plain data, so that a failing run can be printed. */
export type Step =
  | { readonly do: 'say'; readonly text: string; readonly wordMs: number }
  | { readonly do: 'babble'; readonly words: number; readonly wordMs: number }
  | { readonly do: 'cough' | 'wait' | 'freeze'; readonly ms: number }
  | { readonly do: 'hear'; readonly words: number; readonly withinMs?: number }
  | { readonly do: 'hear out' }
  | { readonly do: 'commit' | 'ask' | 'greet' | 'interrupt' | 'mute' | 'unmute' | 'hang up' | 'vanish' }
  | { readonly do: 'await'; readonly event: string }
  | { readonly do: 'write'; readonly text: string }
  | { readonly do: 'send'; readonly event: { readonly type: string; readonly [field: string]: unknown } }
  | { readonly do: 'cut'; readonly downMs: number }
  | { readonly do: 'weather'; readonly weather: Partial<NetworkConditions> }
  | { readonly do: 'meanwhile'; readonly steps: readonly Step[] }
  | { readonly do: 'stop server'; readonly graceMs: number }
  | { readonly do: 'kill server' };

/** Says words at 300 ms each unless given, and continues when they are said. */
export function say(text: string, wordMs = 300): Step {
  return { do: 'say', text, wordMs };
}

/** Says this many new words. */
export function babble(words: number, wordMs = 300): Step {
  return { do: 'babble', words, wordMs };
}

/** Makes a sound that is not a word. */
export function cough(ms: number): Step {
  return { do: 'cough', ms };
}

export function wait(ms: number): Step {
  return { do: 'wait', ms };
}

/** Continues once this many more words of the character have started to play, or after `withinMs` if given. */
export function hear(words: number, withinMs?: number): Step {
  return { do: 'hear', words, ...(withinMs === undefined ? {} : { withinMs }) };
}

/** Continues once a reply has come and has been played completely. */
export const hearOut: Step = { do: 'hear out' };

/** Continues once the next server event of this type arrives. */
export function until(event: string): Step {
  return { do: 'await', event };
}

/** Sends typed text, as our page does. */
export function write(text: string): Step {
  return { do: 'write', text };
}

/** Sends any client event. */
export function send(event: { readonly type: string; readonly [field: string]: unknown }): Step {
  return { do: 'send', event };
}

/** Changes the session. */
export function update(session: SessionPatch): Step {
  return send({ type: 'session.update', session: { type: 'realtime', ...session } });
}

/** Push to talk: ends the utterance. */
export const commit: Step = { do: 'commit' };

/** Asks for a reply. */
export const ask: Step = { do: 'ask' };

/** Makes the character speak first. */
export const greet: Step = { do: 'greet' };

/** Presses the button that stops the reply. */
export const interrupt: Step = { do: 'interrupt' };

export const mute: Step = { do: 'mute' };
export const unmute: Step = { do: 'unmute' };
export const hangUp: Step = { do: 'hang up' };
/** The client dies without closing the connection, and so does its network. */
export const vanish: Step = { do: 'vanish' };

/** Breaks the connection and refuses new ones for a while. */
export function cut(downMs = 0): Step {
  return { do: 'cut', downMs };
}

/** Stops all data on the current connection for a while, without telling either side. */
export function freeze(ms: number): Step {
  return { do: 'freeze', ms };
}

export function weather(change: Partial<NetworkConditions>): Step {
  return { do: 'weather', weather: change };
}

/** Performs these steps while the following ones go on. */
export function meanwhile(...steps: readonly Step[]): Step {
  return { do: 'meanwhile', steps };
}

/** Kills the server. Another replaces it, with nothing but the stored sessions. */
export const killServer: Step = { do: 'kill server' };

/** Stops the server, as SIGTERM does. No other replaces it. */
export function stopServer(graceMs: number): Step {
  return { do: 'stop server', graceMs };
}
