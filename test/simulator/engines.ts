import type { AgentOptions, CharacterAgent, ReplyPart } from '../../agents/agent.ts';
import type { Message } from '../../agents/chat.ts';
import { performanceScript } from '../../agents/output/performance.ts';
import type { Character } from '../../characters/character.ts';
import { EngineError } from '../../voices/engine.ts';
import type { SpeechRecognizer, TranscriptPart } from '../../voices/recognizer.ts';
import type { SpeechSynthesizer, TimedWord } from '../../voices/synthesizer.ts';
import type { TurnDetector } from '../../voices/turn-detector.ts';
import type { Vad } from '../../voices/vad.ts';
import type { EngineScript, RecognizerBehavior, SynthesizerBehavior, ReplyBehavior } from './engine-script.ts';
import type { Scheduler } from './scheduler.ts';
import { sampleRate, voicedShare, WordReader, type Vocabulary } from './speech.ts';

/** Silence after a spoken sentence. */
const sentencePauseMs = 120;
/** Words in a chunk of speech: synthesizers stream. */
const chunkWords = 3;

/** The engines of one session: scripted, on virtual time. Words are encoded as levels of the signal. */
export class SimulatedEngines {
  readonly recognizer: SpeechRecognizer;
  readonly agent: CharacterAgent;
  readonly synthesizer: SpeechSynthesizer;
  readonly vad: Vad;
  readonly turnDetector: TurnDetector;
  /** History passed to the reply source in each call. */
  readonly histories: (readonly Message[])[] = [];
  /** Words received by the recognizer, by utterance, including unfinished ones. */
  readonly utterances: WordReader[] = [];
  /** Number of calls in progress, by engine. */
  readonly running = { vad: 0, recognizer: 0, mind: 0, voice: 0 };
  readonly #scheduler: Scheduler;
  readonly #vocabulary: Vocabulary;
  readonly #script: EngineScript;
  readonly #person: string;
  #isHealed = false;
  #utterances = 0;
  #windows = 0;
  /**
   * The current reply: its index in the script, the number of messages it was made from, and whether it was aborted.
   */
  #reply = { number: -1, messages: -1, isGivenUp: false };

  constructor(parts: { scheduler: Scheduler; vocabulary: Vocabulary; script: EngineScript; person: string }) {
    this.#scheduler = parts.scheduler;
    this.#vocabulary = parts.vocabulary;
    this.#script = parts.script;
    this.#person = parts.person;
    const languages = ['en'];
    this.recognizer = {
      name: 'simulated',
      sampleRate,
      languages,
      transcribe: (audio, { signal }) => this.#counted('recognizer', this.#transcribe(audio, signal)),
    };
    this.agent = {
      character: { id: 'simulated' } as Character,
      reply: (history, options) =>
        this.#counted(
          'mind',
          this.#acted(this.#answer(history, options.signal, options.toolbox !== undefined), options),
        ),
    };
    this.synthesizer = {
      name: 'simulated',
      sampleRate,
      languages,
      speak: (phrases, { signal }) => this.#counted('voice', this.#speak(phrases, signal)),
    };
    this.vad = this.#openVad();
    let asked = 0;
    this.turnDetector = {
      name: 'simulated',
      endOfTurnProbability: async (_turn, { signal }) => {
        await this.#scheduler.sleep(10, signal);
        return this.#script.completeness?.[asked++] ?? 1;
      },
    };
  }

  #openVad(): Vad {
    return {
      name: 'simulated',
      sampleRate,
      windowSamples: (sampleRate * 32) / 1000,
      open: () => {
        this.running.vad += 1;
        return {
          score: async (window) => {
            this.#windows += 1;
            if (this.#script.deafAt?.includes(this.#windows) === true) throw this.#failure();
            return voicedShare(window) > 0.5 ? 0.95 : 0.02;
          },
          close: () => void (this.running.vad -= 1),
        };
      },
    };
  }

  async *#counted<Part>(engine: keyof SimulatedEngines['running'], parts: AsyncIterable<Part>): AsyncIterable<Part> {
    this.running[engine] += 1;
    try {
      yield* parts;
    } finally {
      this.running[engine] -= 1;
    }
  }

  async *#transcribe(
    audio: AsyncIterable<{ readonly samples: Float32Array; readonly voiced?: boolean }>,
    signal: AbortSignal,
  ): AsyncIterable<TranscriptPart> {
    const { partialMs = 240, finalMs = 80, fails, unclear }: RecognizerBehavior = this.#turn('hears', this.#utterances);
    this.#utterances += 1;
    const reader = new WordReader(this.#vocabulary);
    this.utterances.push(reader);
    if (fails === 'at once') throw this.#failure();
    let toldMs = this.#scheduler.now();
    let told = '';
    for await (const { samples } of audio) {
      signal.throwIfAborted();
      reader.push(samples);
      if (fails === 'while listening' && reader.heard.length > 0) throw this.#failure();
      if (this.#scheduler.now() - toldMs < partialMs || reader.text === told) continue;
      toldMs = this.#scheduler.now();
      told = reader.text;
      yield { type: 'transcript-partial', text: told };
    }
    await this.#scheduler.sleep(finalMs, signal);
    if (fails === 'at the end' && !this.#isHealed) throw this.#failure();
    const text = unclear === true ? '' : reader.text;
    const why = { code: 'low_confidence', message: 'Please say that again.' } as const;
    yield { type: 'transcript-final', text, ...(unclear === true ? { unclear: why } : {}) };
  }

  /** Splits off the actions of a reply, if the client has a game. */
  async *#acted(parts: AsyncIterable<ReplyPart>, { surroundings }: AgentOptions): AsyncIterable<ReplyPart> {
    const isAction = surroundings?.(this.agent.character.id).isAction;
    if (isAction === undefined) return yield* parts;
    const script = performanceScript('spoken', isAction);
    const asParts = (performed: ReturnType<typeof script.rest>): ReplyPart[] =>
      performed.map((part) => (part.type === 'cue' ? part : { ...part, type: 'text-delta' }));
    for await (const part of parts)
      yield* part.type === 'text-delta' ? asParts(script.add(part.text)) : [...asParts(script.rest()), part];
  }

  async *#answer(history: readonly Message[], signal: AbortSignal, mayCall: boolean): AsyncIterable<ReplyPart> {
    const number = this.#begin(history.length, signal);
    const turn: ReplyBehavior = this.#turn('thinks', number);
    this.histories.push(history);
    yield { type: 'reply-source', name: 'simulated' };
    await this.#scheduler.sleep(turn.firstTokenMs ?? 120, signal);
    const text = turn.says ?? this.#newText(turn.words);
    const isLeft = turn.givesWayAfter !== undefined;
    yield* this.#tokens(text, { ...turn, ...(isLeft ? { stopsAfter: turn.givesWayAfter } : {}) }, signal);
    if (isLeft) {
      yield { type: 'reply-source', name: 'substitute', because: 'ENGINE_UNAVAILABLE' };
      yield* this.#tokens(turn.instead ?? this.#newText(turn.words), {}, signal);
    }
    const calls = mayCall ? (turn.calls ?? []) : [];
    for (const [index, name] of calls.entries()) {
      yield { type: 'tool-call', callId: `call_${number}_${index}`, name, arguments: '{}' };
    }
    yield { type: 'usage', inputTokens: 1, outputTokens: text.length, cutShort: false };
  }

  async *#tokens(
    text: string,
    turn: ReplyBehavior & { readonly stopsAfter?: number | undefined },
    signal: AbortSignal,
  ): AsyncIterable<ReplyPart> {
    for (const [index, token] of text.split(/(?<=\s)/u).entries()) {
      if (index === turn.stopsAfter) return;
      if (index === turn.failsAfter) throw this.#failure();
      if (index === turn.stallsAfter) await this.#scheduler.sleep(turn.stallMs ?? 3_000, signal);
      if (index > 0 && turn.tokenMs !== 0) await this.#scheduler.sleep(turn.tokenMs ?? 15, signal);
      yield { type: 'text-delta', text: token };
    }
  }

  async *#speak(
    phrases: AsyncIterable<{ readonly text: string }>,
    signal: AbortSignal,
  ): ReturnType<SpeechSynthesizer['speak']> {
    let spoken = 0;
    let atMs = 0;
    for await (const { text } of phrases) {
      // The reply source has started by now.
      const turn: SynthesizerBehavior = this.#turn('speaks', this.#reply.number);
      const wordMs = turn.wordMs ?? 240;
      await this.#scheduler.sleep(turn.firstMs ?? 90, signal);
      const tokens = text.split(/(?<=\s)/u);
      for (let place = 0; place < tokens.length; place += chunkWords) {
        const chunk = tokens.slice(place, place + chunkWords);
        const isDying = turn.failsAfter !== undefined && spoken >= turn.failsAfter;
        if (isDying) throw this.#failure();
        if (turn.stallsAfter !== undefined && spoken >= turn.stallsAfter && spoken < turn.stallsAfter + chunkWords)
          await this.#scheduler.sleep(turn.stallMs ?? 3_000, signal);
        const { samples, words } = this.#sound(chunk, wordMs);
        spoken += words.length;
        const durationMs = (samples.length / sampleRate) * 1000;
        await this.#scheduler.sleep(durationMs * (turn.work ?? 0.1), signal);
        yield { frame: { samples, sampleRate, atMs }, text: chunk.join(''), words };
        atMs += durationMs;
      }
    }
  }

  #sound(tokens: readonly string[], wordMs: number): { samples: Float32Array; words: TimedWord[] } {
    const words: TimedWord[] = [];
    const perMs = sampleRate / 1000;
    const pauses = tokens.filter((token) => /[.!?]\s*$/u.test(token)).length;
    const samples = new Float32Array((tokens.length * wordMs + pauses * sentencePauseMs) * perMs);
    let startMs = 0;
    for (const token of tokens) {
      const text = token.trim();
      const { level } = this.#vocabulary.note(text, `${this.#person}'s character`, wordMs);
      const endMs = startMs + wordMs;
      samples.fill(level / 32_768, startMs * perMs, endMs * perMs);
      words.push({ text, startMs, endMs });
      startMs = endMs + (/[.!?]$/u.test(text) ? sentencePauseMs : 0);
    }
    return { samples, words };
  }

  /** Returns the index of a reply in the script. */
  #begin(messages: number, signal: AbortSignal): number {
    const { number, isGivenUp } = this.#reply;
    const isSame = isGivenUp && messages === this.#reply.messages;
    const reply = { number: isSame ? number : number + 1, messages, isGivenUp: false };
    this.#reply = reply;
    signal.addEventListener('abort', () => (reply.isGivenUp = true), { once: true });
    return reply.number;
  }

  #turn<Stage extends 'hears' | 'thinks' | 'speaks'>(
    stage: Stage,
    place: number,
  ): NonNullable<EngineScript[Stage]>[number] {
    const turn = this.#script[stage]?.[place] ?? {};
    return { ...this.#script.usual, ...(this.#isHealed ? {} : turn) };
  }

  /** From now on, all engines behave as usual, whatever the script says. */
  heal(): void {
    this.#isHealed = true;
  }

  /** Two sentences of new words. */
  #newText(words = 6): string {
    return `${this.#vocabulary.invent(words)}. ${this.#vocabulary.invent(words)}.`;
  }

  #failure(): EngineError {
    return new EngineError(
      'simulated',
      this.#script.error ?? 'ENGINE_UNAVAILABLE',
      'It broke, as the script wants it.',
    );
  }
}
