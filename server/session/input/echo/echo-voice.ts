import type { ListeningInput, Utterance } from '../utterance.ts';
import { concatSamples, durationMs, floatsFromInt16, type AudioFrame } from '../../../../voices/audio.ts';
import type { TranscriptPart } from '../../../../voices/recognizer.ts';
import { cosine, type SpeakerEncoder } from '../../../../voices/speaker-encoder.ts';
import type { SessionContext } from '../../history/context.ts';
import type { SpokenContent, Sounded } from '../../contract/item.ts';

/** Shorter sounds say nothing about a voice. */
const leastMs = 500;
/** Most voiced audio of an overlap that is compared, from its end: the user may speak up in the middle of an echo. */
const heardMs = 1_500;
/** The overlap is compared again after this much more audio. */
const moreMs = 500;
/** Most audio compared from a known voice. */
const knownMs = 3_000;
/** Utterances from which the user's voice is enrolled. */
const mostEnrolled = 5;
/** Threshold while the user's voice is unknown: a share of the character's similarity to itself. */
const likeness = 0.8;

interface Look {
  readonly untilMs: number;
  readonly own?: boolean;
}

/** There is a new verdict on whose voice an utterance is. */
export interface VoiceJudged {
  readonly type: 'voice-judged';
  readonly utterance: Utterance;
}

/**
 * Decides if an overlap is the character's own voice: more similar to the voice being played than to the user's. Works
 * if the echo is not cancelled, and not transcribed as it was said.
 */
export class OwnVoiceDetector {
  readonly #encoder: SpeakerEncoder;
  readonly #context: Pick<SessionContext<ListeningInput | VoiceJudged>, 'post' | 'onFault'>;
  readonly #stop = new AbortController();
  readonly #looks = new WeakMap<Utterance, Look>();
  /** Embeddings of the character's voice, and the length of the audio they were made from. */
  #character: { readonly spokenMs: number; readonly voice: Promise<readonly Float32Array[]> } | undefined;
  /** Transcripts of utterances that are being compared. */
  readonly #waiting = new Map<Utterance, TranscriptPart>();
  #noise: Promise<Float32Array> | undefined;
  #user: Float32Array | undefined;
  #enrolled = 0;

  constructor(
    encoder: SpeakerEncoder,
    context: Pick<SessionContext<ListeningInput | VoiceJudged>, 'post' | 'onFault'>,
  ) {
    this.#encoder = encoder;
    this.#context = context;
  }

  /** True for the character's own voice; undefined until `voice-judged` comes. `isOver`: the overlap has ended. */
  isOwn(utterance: Utterance, isOver: boolean): boolean | undefined {
    const { over, voiced } = utterance;
    if (over === undefined || voiced === undefined) return false;
    if (voiced.toMs - voiced.fromMs < leastMs) return isOver ? false : undefined;
    const look = this.#looks.get(utterance);
    if (look !== undefined && voiced.toMs - look.untilMs < moreMs) return look.own;
    this.#looks.set(utterance, { untilMs: voiced.toMs });
    void this.#look(utterance, over(), voiced.toMs);
    return undefined;
  }

  /** Notes if the utterance's voice is the character's. False while that is unknown: `part` is posted again. */
  attributes(utterance: Utterance, part: TranscriptPart): boolean {
    const isOwn = this.isOwn(utterance, true);
    if (isOwn === undefined) this.#waiting.set(utterance, part);
    else utterance.hasOwnVoice = isOwn;
    return isOwn !== undefined;
  }

  /** Enrolls the user's voice from an utterance over which the character was silent. */
  enroll(utterance: Utterance): void {
    const { voiced } = utterance;
    if (this.#enrolled >= mostEnrolled || utterance.over !== undefined || voiced === undefined) return;
    if (voiced.toMs - voiced.fromMs < 2 * leastMs) return;
    this.#enrolled += 1;
    this.#embed(lastVoiced(utterance, knownMs)).then(
      (voice) =>
        (this.#user = this.#user === undefined ? voice : voice.map((value, at) => value + (this.#user?.[at] ?? 0))),
      (fault: unknown) => this.#report(fault),
    );
  }

  close(): void {
    this.#stop.abort(new Error('the session has ended'));
  }

  async #look(utterance: Utterance, sounded: Sounded, untilMs: number): Promise<void> {
    const own = await this.#judge(lastVoiced(utterance, heardMs), sounded).catch((fault: unknown) => {
      this.#report(fault);
      return false;
    });
    if (this.#stop.signal.aborted || this.#looks.get(utterance)?.untilMs !== untilMs) return;
    this.#looks.set(utterance, { untilMs, own });
    const part = this.#waiting.get(utterance);
    this.#waiting.delete(utterance);
    this.#context.post(
      part === undefined ? { type: 'voice-judged', utterance } : { type: 'transcript', utterance, part },
    );
  }

  async #judge(heard: AudioFrame, { spoken, toMs }: Sounded): Promise<boolean> {
    if (spoken === undefined || durationMs(heard) < leastMs) return false;
    const [voice, one, other] = await this.#voiceOf(spoken, toMs);
    if (voice === undefined) return false;
    if (!(await this.#tellsVoices(voice, one, other))) return false;
    const incoming = await this.#embed(heard);
    const alike = cosine(incoming, voice);
    if (this.#user !== undefined) return alike > cosine(incoming, this.#user);
    return one !== undefined && other !== undefined && alike >= likeness * cosine(one, other);
  }

  /** Embeddings of the character's voice, and of the two halves of its audio; none if too little was spoken. */
  #voiceOf(spoken: SpokenContent, toMs: number): Promise<readonly Float32Array[]> {
    const clip = lastSpoken(spoken, toMs);
    const spokenMs = durationMs(clip);
    const known = this.#character;
    if (known !== undefined && known.spokenMs >= spokenMs) return known.voice;
    if (spokenMs < 2 * leastMs) return Promise.resolve([]);
    const middle = clip.samples.length >> 1;
    const halves = [clip.samples.subarray(0, middle), clip.samples.subarray(middle)];
    const clips = [clip, ...halves.map((samples) => ({ ...clip, samples }))];
    const voice = Promise.all(clips.map((one) => this.#embed(one)));
    this.#character = { spokenMs, voice };
    return voice;
  }

  /** True if noise is less like the character than the character itself; otherwise the encoder is ignored. */
  async #tellsVoices(voice: Float32Array, one = voice, other = voice): Promise<boolean> {
    this.#noise ??= this.#embed(noiseAt(this.#encoder.sampleRate));
    return cosine(voice, await this.#noise) < likeness * cosine(one, other);
  }

  #embed(clip: AudioFrame): Promise<Float32Array> {
    return this.#encoder.embed(clip, { signal: this.#stop.signal });
  }

  #report(fault: unknown): void {
    if (!this.#stop.signal.aborted) this.#context.onFault(fault);
  }
}

/** Returns one second of noise, always the same: generator of Numerical Recipes. */
function noiseAt(sampleRate: number): AudioFrame {
  let state = 1;
  const samples = Float32Array.from({ length: sampleRate }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return 0.2 * (state / 2 ** 31 - 1);
  });
  return { samples, sampleRate, atMs: 0 };
}

function lastVoiced(utterance: Utterance, mostMs: number): AudioFrame {
  const { samples, sampleRate, atMs } = utterance.tail();
  const { fromMs, toMs } = utterance.voiced ?? { fromMs: atMs, toMs: atMs };
  const place = (ms: number): number => Math.max(0, Math.round(((ms - atMs) / 1000) * sampleRate));
  return { samples: samples.subarray(place(Math.max(fromMs, toMs - mostMs)), place(toMs)), sampleRate, atMs: 0 };
}

/** Returns the last part of a reply's audio that is kept, up to `toMs`. */
function lastSpoken({ audio, sampleRate }: SpokenContent, toMs: number): AudioFrame {
  const keptSamples = audio.reduce((sum, { length }) => sum + length, 0);
  const end = Math.min(keptSamples, Math.round((toMs / 1000) * sampleRate));
  const start = Math.max(0, end - Math.round((knownMs / 1000) * sampleRate));
  let at = 0;
  const pieces = audio.map((block) => {
    const piece = block.subarray(Math.max(0, start - at), Math.max(0, end - at));
    at += block.length;
    return piece;
  });
  return { samples: concatSamples(pieces.map((piece) => floatsFromInt16(piece))), sampleRate, atMs: 0 };
}
