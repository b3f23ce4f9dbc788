import type { SessionPatch } from '../../server/protocol/client-events.ts';
import type { Weather } from './pipe.ts';

/** One thing that a person does, or waits for. Plain data, so that a run that fails can be printed. */
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
  | { readonly do: 'weather'; readonly weather: Partial<Weather> }
  | { readonly do: 'meanwhile'; readonly steps: readonly Step[] }
  | { readonly do: 'stop server'; readonly graceMs: number }
  | { readonly do: 'kill server' };

/** Says words at a pace of 300 ms unless told otherwise, and goes on when they are said. */
export function say(text: string, wordMs = 300): Step {
  return { do: 'say', text, wordMs };
}

/** Says so many words that nobody has said before. */
export function babble(words: number, wordMs = 300): Step {
  return { do: 'babble', words, wordMs };
}

/** Makes a sound that is no word. */
export function cough(ms: number): Step {
  return { do: 'cough', ms };
}

export function wait(ms: number): Step {
  return { do: 'wait', ms };
}

/** Goes on once so many more words of the character have begun to sound; with `withinMs`, then at the latest. */
export function hear(words: number, withinMs?: number): Step {
  return { do: 'hear', words, ...(withinMs === undefined ? {} : { withinMs }) };
}

/** Goes on once a reply has come and all that is being said was heard. */
export const hearOut: Step = { do: 'hear out' };

/** Goes on once the next server event of this type comes. */
export function until(event: string): Step {
  return { do: 'await', event };
}

/** Types something, as our page does. */
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

/** Push to talk: what was said is all. */
export const commit: Step = { do: 'commit' };

/** Asks for a reply. */
export const ask: Step = { do: 'ask' };

/** Has the character speak first. */
export const greet: Step = { do: 'greet' };

/** Presses the button that stops the reply. */
export const interrupt: Step = { do: 'interrupt' };

export const mute: Step = { do: 'mute' };
export const unmute: Step = { do: 'unmute' };
export const hangUp: Step = { do: 'hang up' };
/** The client dies without a word; its network with it. */
export const vanish: Step = { do: 'vanish' };

/** Breaks the connection, and does not let another be had for a while. */
export function cut(downMs = 0): Step {
  return { do: 'cut', downMs };
}

/** For a while nothing passes over the connection there is, and neither side is told. */
export function freeze(ms: number): Step {
  return { do: 'freeze', ms };
}

export function weather(change: Partial<Weather>): Step {
  return { do: 'weather', weather: change };
}

/** Does these while the steps that follow go on. */
export function meanwhile(...steps: readonly Step[]): Step {
  return { do: 'meanwhile', steps };
}

/** The server dies at once, and another takes its place, with nothing but what was stored. */
export const killServer: Step = { do: 'kill server' };

/** Somebody stops the server, as SIGTERM does. No other takes its place. */
export function stopServer(graceMs: number): Step {
  return { do: 'stop server', graceMs };
}
