import { omniPrompt } from '../../agents/prompting/omni-prompt.ts';
import type { Message } from '../../agents/chat.ts';
import { correctionOf } from '../../agents/guardrails/guardrail.ts';
import { nearLast, type FindPackMatches } from '../../agents/prompting/pack-search.ts';
import type { Violation } from '../../agents/violation.ts';
import { openGuardrail, type GuardrailCheck } from '../../agents/guardrails/guardrail-rules.ts';
import type { Character } from '../../characters/character.ts';
import { concatSamples, durationMs, type AudioFrame } from '../../voices/audio.ts';
import { EngineError } from '../../voices/engine.ts';
import type { OmniModel, OmniPart, OmniAudio } from '../../voices/omni.ts';
import { speechChunksOf, type OmniSpeakingRate } from '../../voices/omnis/omni-speech.ts';
import type { SpeechRecognizer, TranscriptPart } from '../../voices/recognizer.ts';
import { lettersIn } from '../session/contract/item.ts';
import type { ReplyOptions, Responder, SpokenPart } from '../session/contract/responder.ts';
import { openClauses } from '../../agents/guardrails/clauses.ts';
import { Queue } from '../../voices/runtime/streams.ts';

export interface OmniResponderParts {
  readonly model: OmniModel;
  /** One of the model's own; absent: its default. */
  readonly voice?: string | undefined;
  readonly character: Character;
  /** Transcribes the user for the client, the turns and the history; the model takes the audio itself. */
  readonly recognizer: SpeechRecognizer;
  /** Makes the reply if the model fails before any of its reply is heard. */
  readonly backup: Pick<Responder, 'reply'>;
  /** Finds lore entries and memories by embedding, too. */
  readonly findByEmbedding?: FindPackMatches | undefined;
}

/** Utterances whose audio is kept: the reply answers the last one, or the one before. */
const keptUtterances = 3;

const keptMs = 60_000;

/** After a violation the model gets a correction, once. */
const attempts = 2;

/**
 * An omni model instead of LLM and TTS, for one session. At a violation the reply stops before it, unless it was
 * heard, and the model continues, corrected; at a second one it ends or, if nothing was heard, the backup makes it.
 */
export function omniResponder(parts: OmniResponderParts): Responder {
  const { model, voice, character, recognizer, backup, findByEmbedding } = parts;
  const heard: UtteranceAudio[] = [];
  const pace: OmniSpeakingRate = { msPerUnit: undefined };
  return {
    sampleRate: recognizer.sampleRate,
    async *listen(audio, options): AsyncGenerator<TranscriptPart> {
      const utterance = new UtteranceAudio();
      heard.push(utterance);
      if (heard.length > keptUtterances) heard.shift();
      for await (const part of recognizer.transcribe(utterance.listenTo(audio), options)) {
        utterance.text = part.text;
        yield part;
      }
    },
    async *reply(history, options) {
      if (options.through !== undefined) return yield* backup.reply(history, options);
      // The model cannot be asked to continue at a position, so the heard part is all there is.
      if ((options.heard ?? '') !== '') return;
      const sound = soundOf(history, heard);
      const messages = omniPrompt(character, history, {
        scene: options.scene,
        situation: options.situation,
        sound,
        memories: options.memories,
        around: options.surroundings?.(character.id),
        near: await nearLast(history, findByEmbedding, options.signal),
      });
      const guard = character.persona === 'instructions' ? () => undefined : openGuardrail(character, history);
      const { signal, speaks, maxTokens, onViolation } = options;
      const made: Made = { isHeard: false, text: '' };
      let violation: Violation | undefined;
      for (let attempt = 0; attempt < attempts; attempt += 1) {
        const stop = new AbortController();
        const said = [...messages, ...(violation === undefined ? [] : correctionOf(character, violation, made.text))];
        const asked = model.reply(said, {
          signal: AbortSignal.any([signal, stop.signal]),
          speaks,
          voice,
          ...(maxTokens === undefined ? {} : { maxTokens }),
        });
        const watched = watchOmni(asked, guard, speaks);
        try {
          yield* noted(spokenParts(watched, pace, options), model.name, made);
        } catch (cause) {
          signal.throwIfAborted();
          if (made.isHeard || !(cause instanceof EngineError)) throw cause;
          yield* because(cause.code, backup.reply(history, options));
          return;
        } finally {
          stop.abort();
        }
        violation = watched.violation;
        if (violation === undefined) return;
        onViolation?.(violation);
      }
      // The backup checks its words before it speaks.
      if (!made.isHeard) yield* backup.reply(history, options);
    },
  };
}

/** State of a reply: whether any of it went out, and its text. */
interface Made {
  isHeard: boolean;
  text: string;
}

async function* noted(parts: AsyncIterable<SpokenPart>, source: string, made: Made): AsyncGenerator<SpokenPart> {
  for await (const part of parts) {
    if (!made.isHeard) yield { type: 'reply-source', name: source };
    made.isHeard = true;
    if (part.type === 'speech') made.text += part.chunk.text;
    if (part.type === 'text') made.text += part.text;
    yield part;
  }
}

async function* because(code: string, parts: AsyncIterable<SpokenPart>): AsyncGenerator<SpokenPart> {
  for await (const part of parts)
    yield part.type === 'reply-source' ? { ...part, because: part.because ?? code } : part;
}

class UtteranceAudio {
  text = '';
  readonly #frames: AudioFrame[] = [];
  #ms = 0;

  async *listenTo(audio: AsyncIterable<AudioFrame>): AsyncGenerator<AudioFrame> {
    for await (const frame of audio) {
      this.#ms += durationMs(frame);
      if (this.#ms <= keptMs) this.#frames.push(frame);
      yield frame;
    }
  }

  /** Its audio; undefined if there is none, or if it was too long to be kept. */
  get sound(): OmniAudio | undefined {
    const [first] = this.#frames;
    if (first === undefined || this.#ms > keptMs) return undefined;
    return { samples: concatSamples(this.#frames.map(({ samples }) => samples)), sampleRate: first.sampleRate };
  }
}

/** Returns the audio of the last message, if it was spoken. */
function soundOf(history: readonly Message[], heard: readonly UtteranceAudio[]): OmniAudio | undefined {
  const last = history.at(-1);
  if (last?.role !== 'user' || last.text.trim() === '') return undefined;
  const said = last.by === undefined ? last.text : last.text.slice(`${last.by}: `.length);
  return heard.findLast(({ text }) => text.trim() === said.trim())?.sound;
}

async function* spokenParts(
  { parts, mayBeHeard }: WatchedReply,
  pace: OmniSpeakingRate,
  { speaks, trace, onSpeech }: ReplyOptions,
): AsyncGenerator<SpokenPart> {
  let end: Extract<OmniPart, { type: 'omni-end' }> | undefined;
  async function* counted(): AsyncGenerator<OmniPart> {
    for await (const part of parts) {
      if (part.type === 'omni-end') end = part;
      else trace.mark('first_token');
      yield part;
    }
  }
  let letters = 0;
  if (speaks) {
    for await (const chunk of speechChunksOf(counted(), pace)) {
      letters += lettersIn(chunk.text);
      if (!mayBeHeard(letters)) return;
      trace.mark('first_phrase');
      onSpeech?.(durationMs(chunk.frame));
      yield { type: 'speech', chunk };
    }
  } else {
    for await (const part of counted()) if (part.type === 'text-delta') yield { type: 'text', text: part.text };
  }
  if (end === undefined) return;
  yield {
    type: 'usage',
    inputTokens: end.inputTokens,
    outputTokens: end.outputTokens,
    cutShort: end.reason !== 'stop' && end.reason,
  };
}

type TextPart = Extract<OmniPart, { readonly type: 'text-delta' }>;

/** A reply of an omni model whose words are being checked. */
interface WatchedReply {
  readonly parts: AsyncIterable<OmniPart>;
  /** The guardrail violation that ended it; undefined while there is none. */
  readonly violation: Violation | undefined;
  /** Returns true if audio may be played up to this many letters of the reply. */
  readonly mayBeHeard: (letters: number) => boolean;
}

/**
 * Checks the words of an omni model clause by clause, ahead of their audio, which is paced. At a violation reading
 * stops; audio may be played up to the clause before. Audio sent before its clause was complete cannot be taken back:
 * waiting would add a clause of silence. Text-only replies (`speaks` false) do wait.
 */
function watchOmni(parts: AsyncIterable<OmniPart>, guard: GuardrailCheck, speaks: boolean): WatchedReply {
  const read = new Queue<OmniPart>();
  const clauses = openClauses<TextPart>(guard);
  let safeLetters = 0;
  const letOut = (passed: readonly TextPart[]): void => {
    for (const part of passed) {
      safeLetters += lettersIn(part.text);
      if (!speaks) read.push(part);
    }
  };
  const reading = async (): Promise<void> => {
    for await (const part of parts) {
      if (part.type === 'text-delta') letOut(clauses.add(part));
      if (part.type === 'omni-end') letOut(clauses.rest());
      if (clauses.violation !== undefined) return;
      if (speaks || part.type !== 'text-delta') read.push(part);
    }
  };
  reading().then(
    () => read.end(),
    (fault: unknown) => read.fail(fault),
  );
  return {
    parts: read,
    get violation() {
      return clauses.violation;
    },
    mayBeHeard: (letters) => clauses.violation === undefined || letters <= safeLetters,
  };
}
