import type { Character } from '../../characters/character.ts';
import { concatSamples } from '../../voices/audio.ts';
import { cosine, type SpeakerEncoder } from '../../voices/speaker-encoder.ts';
import type { Voice } from '../../voices/synthesizer.ts';
import { readWav } from '../../voices/dsp/wav.ts';
import type { SessionEvent } from '../session/contract/events.ts';

/** How like itself a character sounded in one reply. */
export interface Likeness {
  readonly replyId: string;
  /** Cosine of the speaker embeddings, -1 to 1; comparable for one encoder and one basis only. */
  readonly similarity: number;
  /** What it was held against: the clip that is cloned, or the character's first reply on this server where none is. */
  readonly basis: 'reference' | 'first_reply';
}

/** Hears what characters say, and tells how like themselves they sound. */
export interface VoiceWatch {
  /** Follows one session: give what it returns every event. `tell` is called at most once a reply, some time after its sound. */
  follow(character: Character, tell: (likeness: Likeness) => void): (event: SessionEvent) => void;
  close(): void;
}

export interface VoiceWatchParts {
  readonly encoder: SpeakerEncoder;
  /** Who speaks as a character; undefined where it is a model's own affair. */
  readonly voiceOf: (character: Character) => Voice | undefined;
  readonly onFault: (fault: unknown) => void;
}

/** Of each reply the first seconds are heard: alike in length, so that those of several sessions share a run. */
const heardMs = 3_000;
/** Shorter replies tell little of a voice. */
const leastMs = 1_500;
/** Samples on their way to the encoder; beyond that replies go unheard, rather than wait for an encoder that is too slow. */
const mostAtOnce = 4;

/** Opens the watch over all sessions of a server. It costs a session nothing but a copy of three seconds. */
export function openVoiceWatch({ encoder, voiceOf, onFault }: VoiceWatchParts): VoiceWatch {
  const gone = new AbortController();
  const { signal } = gone;
  /** By character: the embedding of its clip, and where there is none, of its first reply. */
  const clips = new Map<string, Promise<Float32Array | undefined>>();
  const firstReplies = new Map<string, Float32Array>();
  let underway = 0;

  async function embedClip(character: Character): Promise<Float32Array | undefined> {
    const voice = voiceOf(character);
    return voice?.kind === 'reference' ? encoder.embed(await readWav(voice.wavPath), { signal }) : undefined;
  }

  async function judge(sample: Sample, character: Character): Promise<Likeness | undefined> {
    const { id } = character;
    const reading = clips.get(id) ?? embedClip(character);
    clips.set(id, reading);
    reading.catch(() => clips.delete(id));
    const clip = await reading;
    const frame = { samples: concatSamples(sample.blocks), sampleRate: sample.sampleRate, atMs: 0 };
    const embedding = await encoder.embed(frame, { signal });
    const expected = clip ?? firstReplies.get(id);
    if (expected === undefined) {
      firstReplies.set(id, embedding);
      return undefined;
    }
    const basis = clip === undefined ? 'first_reply' : 'reference';
    return { replyId: sample.replyId, similarity: cosine(expected, embedding), basis };
  }

  return {
    follow(character, tell) {
      return sampled((sample) => {
        if (underway >= mostAtOnce || signal.aborted) return;
        underway += 1;
        judge(sample, character)
          .then((likeness) => likeness !== undefined && tell(likeness))
          .catch((fault: unknown) => !signal.aborted && onFault(fault))
          .finally(() => (underway -= 1));
      });
    },
    close: () => gone.abort(new Error('the server stops')),
  };
}

/** The beginning of a reply's sound. */
interface Sample {
  readonly replyId: string;
  readonly sampleRate: number;
  readonly blocks: Float32Array[];
}

/** Takes the events of a session, gives a sample of each reply once there is enough of it. */
function sampled(take: (sample: Sample) => void): (event: SessionEvent) => void {
  const open = new Map<string, Sample & { ms: number }>();
  return (event) => {
    if (event.type === 'reply-started' && event.speaks) {
      open.set(event.replyId, { replyId: event.replyId, sampleRate: 0, blocks: [], ms: 0 });
    } else if (event.type === 'reply-audio') {
      const sample = open.get(event.replyId);
      if (sample === undefined) return;
      const { samples, sampleRate } = event;
      const wanted = samples.subarray(0, Math.round(((heardMs - sample.ms) / 1000) * sampleRate));
      sample.blocks.push(wanted);
      const next = { ...sample, sampleRate, ms: sample.ms + (wanted.length / sampleRate) * 1000 };
      open.set(event.replyId, next);
      if (next.ms < heardMs - 0.1) return;
      open.delete(event.replyId);
      take(next);
    } else if (event.type === 'reply-ended') {
      const sample = open.get(event.replyId);
      open.delete(event.replyId);
      if (sample !== undefined && sample.ms >= leastMs) take(sample);
    }
  };
}
