import type { CharacterAgent } from '../../../agents/agent.ts';
import type { Character } from '../../../characters/character.ts';
import { int16FromFloats } from '../../../voices/audio.ts';
import { cascade } from '../../../server/responders/responder.ts';
import { Session } from '../../../server/session/session.ts';
import { bargeInMs, defaultTurnDetection } from '../../../server/session/contract/settings.ts';
import type { EmbeddedVoices } from '../../../voices/synthesizers/embedded.ts';
import { pauseOf } from '../../../voices/turn-detectors/built-in.ts';
import { endOfTurnProbability } from '../../../voices/turn-detectors/end-of-turn.ts';
import type { Vad } from '../../../voices/vad.ts';
import {
  simulatedRecognizer,
  simulatedSynthesizer,
  simulatedVad,
  type Decoder,
  type SpokenBefore,
} from './simulated-engines.ts';
import { Loudspeaker } from './simulated-loudspeaker.ts';
import { SimulatedTime } from './simulated-time.ts';
import { fromDecibels, mix, rate, samplesIn } from './turns-sounds.ts';

export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** A scripted event: the sound in a user's microphone, while the character speaks or is silent. */
export interface Scene {
  readonly name: string;
  /** True if it comes while the character speaks. */
  readonly over: boolean;
  /**
   * `holds`: falls silent as soon as it is notified that a reply is held (`x=hold`, like the page). `stock`: does not know
   * that event.
   */
  readonly client: 'holds' | 'stock';
  /** 16 kHz. */
  readonly sound: Float32Array;
  /** Measured from the first audio of the reply, or from the start of the scene. */
  readonly atMs: number;
  /** Time spans of the user's speech in `sound`; the gaps between them are pauses inside the turn. */
  readonly voice: readonly Span[];
  /** The loudspeaker is audible in the microphone. */
  readonly echo?: { readonly delayMs: number; readonly decibels: number };
  /** Level of the noise in the room, in decibels of full scale. */
  readonly noiseDecibels: number;
  /** The scene ends when the sound is answered; otherwise `tailMs` after it. */
  readonly untilAnswered: boolean;
  readonly tailMs: number;
  readonly character: Character;
  readonly says: string;
}

/** Result of a scene. Times are from its start. */
export interface Observed {
  /** Start of the scene's sound. */
  readonly startMs: number;
  readonly endMs: number;
  /** Time spans in which the character was audible at the loudspeaker. */
  readonly heard: readonly Span[];
  readonly held: readonly number[];
  readonly resumed: readonly number[];
  /** Times at which replies were stopped by user speech. */
  readonly stopped: readonly number[];
  /** Times of the first audio of replies after the first one. */
  readonly answers: readonly number[];
  readonly transcripts: readonly string[];
  /** Speech that was sent a second time. */
  readonly repeatedMs: number;
}

/** Resources shared by all scenes. */
export interface SceneResources {
  readonly vad: Vad;
  readonly decoder: Decoder;
  readonly voices: EmbeddedVoices;
  readonly spoken: SpokenBefore;
  /** Noise of a room, looped under everything. */
  readonly room: Float32Array;
}

/** Length of one microphone packet. */
const packetMs = 20;
/** Time to the first audio of a phrase: typical of the embedded voices with a long phrase on two busy processors. */
const firstAudioMs = 60;
/** Longest duration of a scene. */
const longestMs = 60_000;
/** Time after the start of an answer at which the scene ends. */
const enoughMs = 200;

/** Plays one scene against a real session with its own clock. */
export async function playScene(scene: Scene, stage: SceneResources): Promise<Observed> {
  const time = new SimulatedTime();
  const speaker = new Loudspeaker();
  const { session, done } = openScene(scene, stage, time);
  const seen = watch(session, scene, time, speaker);
  if (scene.over) session.send({ type: 'reply', request: { inConversation: true } });
  let startMs = scene.over ? Infinity : scene.atMs;
  for (let packet = 0; ; packet += 1) {
    const nowMs = packet * packetMs;
    if (nowMs > longestMs) throw new Error(`Nothing becomes of scene ${scene.name}.`);
    if (startMs === Infinity && speaker.spans[0] !== undefined) startMs = speaker.spans[0].fromMs + scene.atMs;
    const endMs = startMs + (scene.sound.length / rate) * 1000;
    const answered =
      scene.untilAnswered && seen.answers.some((atMs) => atMs >= endMs - 1_000 && atMs < nowMs - enoughMs);
    if (nowMs > endMs + scene.tailMs || (answered && nowMs > endMs)) {
      session.close();
      await done;
      return { ...seen, startMs, endMs, heard: speaker.spansBy(nowMs) };
    }
    const samples = microphone(scene, stage, speaker, nowMs, startMs);
    await time.advance(packetMs);
    session.send({ type: 'audio', samples, sampleRate: rate });
    await time.advance(0);
  }
}

function microphone(
  scene: Scene,
  { room }: SceneResources,
  speaker: Loudspeaker,
  nowMs: number,
  startMs: number,
): Float32Array {
  const packet = new Float32Array(samplesIn(packetMs));
  const from = samplesIn(nowMs) % (room.length - packet.length);
  mix(packet, room.subarray(from, from + packet.length), 0, fromDecibels(scene.noiseDecibels));
  if (startMs !== Infinity) mix(packet, scene.sound, startMs - nowMs);
  if (scene.echo !== undefined) {
    const { delayMs, decibels } = scene.echo;
    mix(packet, speaker.soundAt(nowMs - delayMs, packetMs), 0, fromDecibels(decibels));
  }
  return packet;
}

function openScene({ character, client, says }: Scene, stage: SceneResources, time: SimulatedTime) {
  const { synthesizer, voice } = stage.voices.forCharacter(character.voice);
  let ids = 0;
  const session = new Session({
    responder: cascade({
      recognizer: simulatedRecognizer(time, stage.decoder),
      agent: scriptedMind(character, says),
      synthesizer: simulatedSynthesizer(time, synthesizer, stage.spoken, firstAudioMs),
      voice,
    }),
    vad: simulatedVad(time, stage.vad),
    turnDetector: {
      name: 'words and prosody',
      endOfTurnProbability: (turn, known) => Promise.resolve(endOfTurnProbability(pauseOf(turn, known))),
    },
    clock: time,
    settings: {
      scene: '',
      speaks: true,
      transcribes: true,
      speed: 1,
      turnDetection: defaultTurnDetection(character.turnTaking),
    },
    bargeInMs: bargeInMs(character.turnTaking),
    speculativeRepliesPerTurn: 3,
    stopsAtOnce: client === 'holds',
    aheadMs: 400,
    keptAudioMs: 60_000,
    newId: (kind) => `${kind}_${(ids += 1)}`,
    onFault: (fault) => console.error(fault),
  });
  return { session, done: session.run() };
}

/** An agent that always says the same text. */
function scriptedMind(character: Character, text: string): CharacterAgent {
  return {
    character,
    async *reply(_history, { signal }) {
      yield { type: 'reply-source', name: 'script' };
      for (const delta of text.split(/(?<=\s)/u)) {
        signal.throwIfAborted();
        yield { type: 'text-delta', text: delta };
      }
      yield { type: 'usage', inputTokens: 0, outputTokens: 0, cutShort: false };
    },
  };
}

type Seen = { -readonly [Key in 'held' | 'resumed' | 'stopped' | 'answers']: number[] } & {
  transcripts: string[];
  repeatedMs: number;
};

/** The client: plays what it receives, falls silent when told to, and records. */
function watch(session: Session, { client, over }: Scene, time: SimulatedTime, speaker: Loudspeaker): Seen {
  const seen: Seen = { held: [], resumed: [], stopped: [], answers: [], transcripts: [], repeatedMs: 0 };
  const sent = new Set<string>();
  const first = new Set<string>();
  void (async () => {
    for await (const event of session.events) {
      const nowMs = time.now();
      if (event.type === 'reply-audio') {
        speaker.play(event.samples, nowMs);
        const end = endOf(event.samples);
        if (end !== undefined && sent.has(end)) seen.repeatedMs += (event.samples.length / rate) * 1000;
        else if (end !== undefined) sent.add(end);
        if (first.has(event.replyId)) continue;
        first.add(event.replyId);
        if (!over || first.size > 1) seen.answers.push(nowMs);
      } else if (event.type === 'speech-started') speaker.stop(nowMs);
      else if (event.type === 'reply-held') {
        seen.held.push(nowMs);
        if (client === 'holds') speaker.stop(nowMs);
      } else if (event.type === 'reply-resumed') seen.resumed.push(nowMs);
      else if (event.type === 'transcript-final') seen.transcripts.push(event.text);
      else if (event.type === 'reply-ended' && event.end.reason === 'turn_detected') seen.stopped.push(nowMs);
    }
  })();
  return seen;
}

/** The last 10 ms of a block, to recognize repeated audio, which may start later. Undefined if they are silent. */
function endOf(samples: Float32Array): string | undefined {
  const last = int16FromFloats(samples.subarray(-samplesIn(10)));
  return last.some((value) => Math.abs(value) > 30) ? last.join(' ') : undefined;
}
