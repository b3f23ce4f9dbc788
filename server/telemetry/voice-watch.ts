import type { Character } from '../../characters/character.ts';
import { concatSamples } from '../../voices/audio.ts';
import { cosine, type SpeakerEncoder } from '../../voices/speaker-encoder.ts';
import type { Voice } from '../../voices/synthesizer.ts';
import { readWav } from '../../voices/dsp/wav.ts';
import type { SessionEvent } from '../session/contract/events.ts';

export interface VoiceSimilarity {
  readonly replyId: string;
  /** Cosine of the speaker embeddings, -1 to 1; comparable only for the same encoder and basis. */
  readonly similarity: number;
  /** Basis of the comparison: the reference clip or, without one, the character's first reply on this server. */
  readonly basis: 'reference' | 'first_reply';
}

/** Measures how similar each reply's voice is to the character's own. */
export interface VoiceWatch {
  /** Follows one session by its events. `tell` is called at most once per reply, some time after its audio. */
  follow(character: Character, tell: (similarity: VoiceSimilarity) => void): (event: SessionEvent) => void;
  close(): void;
}

export interface VoiceWatchParts {
  readonly encoder: SpeakerEncoder;
  /** Returns the voice of a character; undefined if an omni model chooses its own. */
  readonly voiceOf: (character: Character) => Voice | undefined;
  readonly onFault: (fault: unknown) => void;
}

/** Audio taken from the start of each reply; equal lengths let samples of several sessions share a batch. */
const heardMs = 3_000;
/** Minimum duration: shorter replies give unreliable embeddings. */
const leastMs = 1_500;
/** Maximum samples waiting for the encoder; further replies are skipped. */
const mostAtOnce = 4;

/** Opens the voice watch for all sessions of a server. It costs a session only a copy of three seconds of audio. */
export function openVoiceWatch({ encoder, voiceOf, onFault }: VoiceWatchParts): VoiceWatch {
  const gone = new AbortController();
  const { signal } = gone;
  /** Embeddings of the clips by character; undefined without a clip, in which case the first reply is used. */
  const clips = new Map<string, Promise<Float32Array | undefined>>();
  const firstReplies = new Map<string, Float32Array>();
  let underway = 0;

  async function embedClip(character: Character): Promise<Float32Array | undefined> {
    const voice = voiceOf(character);
    return voice?.kind === 'reference' ? encoder.embed(await readWav(voice.wavPath), { signal }) : undefined;
  }

  async function judge(sample: Sample, character: Character): Promise<VoiceSimilarity | undefined> {
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
          .then((similarity) => similarity !== undefined && tell(similarity))
          .catch((fault: unknown) => !signal.aborted && onFault(fault))
          .finally(() => (underway -= 1));
      });
    },
    close: () => gone.abort(new Error('the server stops')),
  };
}

/** Beginning of a reply's audio. */
interface Sample {
  readonly replyId: string;
  readonly sampleRate: number;
  readonly blocks: Float32Array[];
}

/** Extracts from a session's events one sample per reply, as soon as there is enough audio. */
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
