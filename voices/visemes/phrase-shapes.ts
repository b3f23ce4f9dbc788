import { durationMs, type AudioFrame } from '../audio.ts';
import type { MouthMovement, SpeechChunk, TimedPhone, TimedWord } from '../synthesizer.ts';
import type { AlignReply, AlignRequest } from './aligner.ts';
import type { Alignment } from './alignment.ts';
import { frameMs } from './mel-frames.ts';
import { movementBetween, visemesOf, withPauses } from './visemes-of-phones.ts';

/** Distance from its end up to which a continuing sound is not aligned yet, because later audio may change it. */
const unsureMs = 120;
/** The least new sound for which a phrase is aligned again. */
const leastNewMs = 200;
/**
 * Distances above which an alignment is no use: on average so far, and around one place. The same words in two voices
 * have 0.7 to 0.95, with noise at 10 dB up to 1; other words have 1.02, a second that is missing 1.3 where it is missing.
 */
const mostOnAverage = 1.0;
const mostAtOnce = 1.25;
/** The mouth of one phrase. All times are milliseconds from the beginning of its sound. */
export interface PhraseShapes {
  /** Takes the next sound of the phrase, as it arrives. */
  take(chunk: SpeechChunk): void;
  /** All of its sound has come. */
  end(): void;
  /** Returns the time up to which the movement is known by now. */
  readonly knownMs: number;
  /** Returns the movement in a stretch that is known; undefined if the reference does not fit there. */
  between(fromMs: number, toMs: number): MouthMovement | undefined;
  /** Settles when the movement of all sound that came is known, or cannot be. */
  settled(): Promise<void>;
  close(): void;
}

/** A phrase as a reference voice speaks it. */
export interface ReferenceSpeech extends Pick<AudioFrame, 'samples' | 'sampleRate'> {
  readonly phones: readonly TimedPhone[];
}

interface PhraseParts {
  /** Undefined if there is nothing to speak. */
  readonly reference: Promise<ReferenceSpeech | undefined>;
  readonly soundsOf: (word: string) => Promise<readonly TimedPhone[]>;
  readonly align: (request: Omit<AlignRequest, 'phrase'>) => Promise<AlignReply>;
}

/** Follows one phrase: by the times of its words if the engine tells them, otherwise by alignment, again and again. */
export class AlignedPhrase implements PhraseShapes {
  readonly #parts: PhraseParts;
  #reference: ReferenceSpeech | undefined;
  #sampleRate = 0;
  #takenMs = 0;
  #isOver = false;
  #isClosed = false;
  /** Sound that the thread does not have, and how much it was asked to align. */
  #waiting: Float32Array[] = [];
  #askedMs = 0;
  #isAligning = false;
  #hasReference = false;
  /** Phones of the words whose times the engine has reported. */
  readonly #told: TimedPhone[] = [];
  #mouth: MouthMovement | undefined;
  #alignment: Alignment | undefined;
  #knownMs = 0;
  #work: Promise<void>;

  constructor(parts: PhraseParts) {
    this.#parts = parts;
    this.#work = parts.reference.then(
      (reference) => {
        this.#reference = reference;
        this.#align();
      },
      // Without a reference the shapes are found in the sound.
      () => undefined,
    );
  }

  get knownMs(): number {
    return this.#knownMs;
  }

  take({ frame, words, wordsAreExact }: SpeechChunk): void {
    const startMs = this.#takenMs;
    this.#takenMs += durationMs(frame);
    this.#sampleRate = frame.sampleRate;
    if (wordsAreExact === true && words !== undefined) return this.#takeWords(words, startMs, this.#takenMs);
    this.#waiting.push(frame.samples.slice());
    this.#align();
  }

  end(): void {
    this.#isOver = true;
    this.#align();
  }

  between(fromMs: number, toMs: number): MouthMovement | undefined {
    if (this.#mouth === undefined || toMs > this.#knownMs + 1) return undefined;
    if (this.#alignment !== undefined && !fits(this.#alignment, fromMs, toMs)) return undefined;
    return movementBetween(this.#mouth, fromMs, toMs);
  }

  async settled(): Promise<void> {
    let work: Promise<void>;
    do {
      work = this.#work;
      await work;
    } while (work !== this.#work);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#askedMs > 0) this.#ask([], true).catch(() => undefined);
  }

  #takeWords(words: readonly TimedWord[], startMs: number, untilMs: number): void {
    const before = this.#work;
    const asked = Promise.all(words.map(({ text }) => this.#parts.soundsOf(text)));
    this.#work = (async () => {
      const [sounds] = await Promise.all([asked, before]);
      for (const [index, word] of words.entries())
        this.#told.push(...spread(sounds[index] ?? [], word.startMs + startMs, word.endMs + startMs));
      const phones = withPauses(this.#told, untilMs);
      this.#mouth = { basis: 'words', visemes: visemesOf(phones), phones };
      this.#knownMs = untilMs;
    })();
  }

  /** Aligns the audio received so far, one call at a time, if enough of it is new. */
  #align(): void {
    const [untilMs, isOver] = [this.#takenMs, this.#isOver];
    const isDue = untilMs - this.#askedMs >= leastNewMs || (isOver && this.#knownMs < untilMs);
    if (this.#isClosed || this.#isAligning || this.#reference === undefined || untilMs === 0 || !isDue) return;
    if (this.#told.length > 0) return;
    const { phones } = this.#reference;
    this.#isAligning = true;
    this.#askedMs = untilMs;
    this.#work = this.#ask(this.#waiting.splice(0)).then(
      (alignment) => {
        this.#isAligning = false;
        if (alignment === undefined) return;
        this.#alignment = alignment;
        const moved = warped(phones, alignment, untilMs);
        this.#mouth = { basis: 'aligned', visemes: visemesOf(moved), phones: moved };
        this.#knownMs = Math.max(this.#knownMs, isOver ? untilMs : untilMs - unsureMs);
        this.#align();
      },
      () => undefined,
    );
  }

  #ask(samples: readonly Float32Array[], isOver?: true): Promise<AlignReply> {
    const reference = this.#hasReference ? undefined : this.#reference;
    this.#hasReference = true;
    const { samples: spoken, sampleRate = 0 } = reference ?? {};
    return this.#parts.align({
      sampleRate: this.#sampleRate,
      samples,
      ...(spoken === undefined ? {} : { reference: { samples: spoken, sampleRate } }),
      ...(isOver === undefined ? {} : { isOver }),
    });
  }
}

/** The sounds of a reference at the times at which the aligned sound says them. */
function warped(phones: readonly TimedPhone[], { places }: Alignment, untilMs: number): TimedPhone[] {
  let frame = 0;
  const starts = phones.map(({ startMs }) => {
    const place = Math.floor(startMs / frameMs);
    while (frame < places.length && (places[frame] as number) < place) frame += 1;
    return frame >= places.length ? untilMs : Math.min(untilMs, frame * frameMs + (startMs % frameMs));
  });
  let latestMs = 0;
  const ordered = starts.map((startMs) => (latestMs = Math.max(latestMs, startMs)));
  return phones.map(({ sound }, index) => ({
    sound,
    startMs: index === 0 ? 0 : (ordered[index] as number),
    endMs: ordered[index + 1] ?? untilMs,
  }));
}

function fits({ distances }: Alignment, fromMs: number, toMs: number): boolean {
  const so = distances.subarray(0, Math.ceil(toMs / frameMs));
  const here = so.subarray(Math.floor(fromMs / frameMs));
  const average = so.reduce((sum, one) => sum + one, 0) / Math.max(1, so.length);
  return average <= mostOnAverage && here.every((one) => one <= mostAtOnce);
}

/** The sounds of a word, stretched over its time. */
function spread(sounds: readonly TimedPhone[], startMs: number, endMs: number): TimedPhone[] {
  const spoken = sounds.filter(({ sound }) => sound !== '');
  const length = spoken.reduce((sum, phone) => sum + phone.endMs - phone.startMs, 0);
  let atMs = startMs;
  return spoken.map((phone) => {
    const fromMs = atMs;
    atMs += ((endMs - startMs) * (phone.endMs - phone.startMs)) / length;
    return { sound: phone.sound, startMs: fromMs, endMs: atMs };
  });
}
