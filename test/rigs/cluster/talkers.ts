import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { openTalk } from '../../../server/client/open-talk.js';
import type { Talk, TalkEvent } from '../../../server/client/types/api.d.ts';
import { pcm16FromFloats } from '../../../voices/audio.ts';
import { silence } from '../../fakes/vad.ts';

/** The fake voice says a word in 100 ms. */
const samplesPerWord = 2_400;
const samplesPerMs = 24;
/** A player that has less than this left to play when sound arrives has not paused. */
const audibleGapMs = 20;
/** Longest wait for the last reply of a conversation that ends. */
const patienceMs = 15_000;

/** What clients noticed that may not be noticed. */
export interface Faults {
  /** Events of replies without their counterpart, and those that came twice. */
  misplacedEvents: number;
  /** Samples of replies more or fewer than their words have. */
  misplacedSamples: number;
  /** Replies that knew of more or fewer turns than there were. */
  misremembered: number;
  /** Replies that ended early; the rest came in another one. */
  cutReplies: number;
  /** Sessions that were resumed as restarted ones. */
  restarts: number;
  /** Sessions that had to begin again. */
  newSessions: number;
}

/** One client that talks without a pause, and what it noticed. */
export interface Talker {
  readonly talk: Talk;
  readonly faults: Faults;
  /** Times from the loss of a connection to its return. */
  readonly backMs: number[];
  /** Times from the end of a sentence to the first sound of its reply. */
  readonly firstAudioMs: number[];
  /** Pauses within replies at a listener who plays what arrives at once. */
  readonly gapsMs: number[];
  readonly isAway: boolean;
  readonly turns: number;
  readonly resumeToken: string;
  /** Settles when all turns are done; never without a number of turns. */
  readonly done: Promise<void>;
  /** Lets the reply come that is awaited, and says no more. */
  rest(): Promise<void>;
  /** Rests, and ends the conversation. */
  stop(): Promise<void>;
}

export interface TalkerOptions {
  readonly url: string;
  /** Without end unless given. */
  readonly turns?: number | undefined;
  /** Every second turn is spoken, not written. */
  readonly speaks?: boolean | undefined;
  /** Called for every event of the server. */
  readonly onEvent?: (() => void) | undefined;
}

/** Opens a session and says one sentence after the other. The nodes run on `server-process.ts`. */
export function startTalker({ url, turns = Infinity, speaks = false, onEvent }: TalkerOptions): Talker {
  const ended = Promise.withResolvers<void>();
  let lostAtMs: number | undefined;
  let isStopping = false;
  let turn = newTurn('');
  const faults = noFaults();
  const backMs: number[] = [];
  const firstAudioMs: number[] = [];
  const gapsMs: number[] = [];
  let count = 0;
  const say = (): void => {
    if (speaks && count % 2 === 1) {
      const pitch = (count % 20) + 3;
      turn = newTurn(`utterance ${pitch} of 600 ms`);
      send(talk, Float32Array.of(...utterance(pitch), ...silence(1_000)));
    } else {
      turn = newTurn(`story ${count}`);
      talk.say(turn.said);
    }
  };
  const hear = (samples: number): void => {
    const nowMs = performance.now();
    if (turn.samples === 0) firstAudioMs.push(nowMs - turn.saidAtMs);
    else if (nowMs - turn.playedAtMs > audibleGapMs) gapsMs.push(nowMs - turn.playedAtMs);
    turn.playedAtMs = Math.max(turn.playedAtMs, nowMs) + samples / samplesPerMs;
    turn.samples += samples;
  };
  const finish = (): void => {
    const answer = `So you told me ${turn.said} after ${count} others and that is it.`;
    const counts = [...turn.text.matchAll(/after (\d+)/g)].map(([, others]) => Number(others));
    if (counts.length === 0 || counts.some((others) => others !== count)) faults.misremembered += 1;
    faults.misplacedEvents += turn.created.size;
    const misplaced = turn.samples - answer.split(' ').length * samplesPerWord;
    faults.misplacedSamples += Math.abs(misplaced);
    // A fault that comes once in many runs is told whole.
    if (misplaced !== 0) console.error(`${misplaced} samples misplaced in “${turn.text}”, restarts ${faults.restarts}`);
    count += 1;
    if (isStopping || count >= turns) ended.resolve();
    else say();
  };
  const take = (event: TalkEvent): void => {
    onEvent?.();
    if (event.type === 'connection.lost') lostAtMs ??= performance.now();
    else if (event.type === 'connection.open') {
      if (lostAtMs !== undefined) backMs.push(performance.now() - lostAtMs);
      const isFirst = lostAtMs === undefined && count === 0;
      lostAtMs = undefined;
      if (event.isRestarted) faults.restarts += 1;
      if (event.isNew && !isFirst) faults.newSessions += 1;
      if (event.isNew) {
        count = 0;
        say();
      }
    } else if (event.type === 'response.output_audio.delta') hear(event.pcm16.length / 2);
    else if (event.type === 'response.output_audio_transcript.delta') turn.text += event.delta;
    else if (event.type === 'response.created') {
      if (turn.created.has(event.response.id)) faults.misplacedEvents += 1;
      turn.created.add(event.response.id);
    } else if (event.type === 'response.done') {
      if (!turn.created.delete(event.response.id)) faults.misplacedEvents += 1;
      if (event.response.status === 'completed') finish();
      else faults.cutReplies += 1;
    }
  };
  const talk = openTalk({ url, character: 'alice', WebSocket, onEvent: take });
  const rest = async (): Promise<void> => {
    isStopping = true;
    await Promise.race([ended.promise, pause(patienceMs)]);
  };
  return {
    talk,
    faults,
    backMs,
    firstAudioMs,
    gapsMs,
    get isAway() {
      return lostAtMs !== undefined;
    },
    get turns() {
      return count;
    },
    get resumeToken() {
      return (talk as { resumption?: { token: string } }).resumption?.token ?? '';
    },
    done: ended.promise,
    rest,
    async stop() {
      await rest();
      talk.close();
    },
  };
}

export function noFaults(): Faults {
  return { misplacedEvents: 0, misplacedSamples: 0, misremembered: 0, cutReplies: 0, restarts: 0, newSessions: 0 };
}

/** Sum of what several clients noticed. */
export function allFaults(talkers: readonly Talker[]): Faults {
  const sum = noFaults();
  for (const { faults } of talkers) for (const key of Object.keys(sum) as (keyof Faults)[]) sum[key] += faults[key];
  return sum;
}

/** The same without what a kill may cause: the rest of a cut reply comes in another one, and sessions say they were restarted. */
export function faultsBeyondKills(talkers: readonly Talker[]): Faults {
  return { ...allFaults(talkers), cutReplies: 0, restarts: 0 };
}

function newTurn(said: string) {
  return { said, created: new Set<string>(), samples: 0, text: '', saidAtMs: performance.now(), playedAtMs: 0 };
}

/** Speech whose pitch the nodes' recognizer tells. */
export function utterance(pitch: number): Float32Array {
  const perSample = (2 * Math.PI * pitch * 100) / 24_000;
  return Float32Array.from({ length: 24 * 600 }, (_, at) => 0.4 * Math.sin(at * perSample + 0.1));
}

/** Sends audio in blocks of 40 ms, faster than real time. */
function send(talk: Talk, samples: Float32Array): void {
  for (let offset = 0; offset < samples.length; offset += 960)
    talk.sendAudio(new Uint8Array(pcm16FromFloats(samples.subarray(offset, offset + 960))));
}
