import { omniPrompt } from '../../agents/omni-prompt.ts';
import type { Message } from '../../agents/chat.ts';
import type { Character } from '../../characters/character.ts';
import { concatSamples, durationMs, type AudioFrame } from '../../voices/audio.ts';
import { EngineError } from '../../voices/engine.ts';
import type { OmniModel, OmniPart, OmniSound } from '../../voices/omni.ts';
import { speechOf, type OmniPace } from '../../voices/omni-speech.ts';
import type { SpeechRecognizer, TranscriptPart } from '../../voices/recognizer.ts';
import type { ReplyOptions, Responder, SpokenPart } from './responder.ts';

export interface OmniResponderParts {
  readonly model: OmniModel;
  /** One of the model's own; absent: its default. */
  readonly voice?: string | undefined;
  readonly character: Character;
  /** Tells the client, the turns and the history what the user said; the model hears for itself. */
  readonly recognizer: SpeechRecognizer;
  /** Answers where the model fails before it is heard. */
  readonly backup: Pick<Responder, 'reply'>;
}

/** Utterances whose sound is kept: what is answered is the last, or the one before. */
const keptUtterances = 3;
const keptMs = 60_000;

/** A model that hears and speaks in place of mind and voice: the user's sound in, its own sound out. Made for one session. */
export function omniResponder({ model, voice, character, recognizer, backup }: OmniResponderParts): Responder {
  const heard: Utterance[] = [];
  const pace: OmniPace = { msPerUnit: undefined };
  return {
    sampleRate: recognizer.sampleRate,
    async *listen(audio, options): AsyncGenerator<TranscriptPart> {
      const utterance = new Utterance();
      heard.push(utterance);
      if (heard.length > keptUtterances) heard.shift();
      for await (const part of recognizer.transcribe(utterance.listenTo(audio), options)) {
        utterance.text = part.text;
        yield part;
      }
    },
    async *reply(history, options) {
      const sound = soundOf(history, heard);
      const messages = omniPrompt(character, history, {
        scene: options.scene,
        situation: options.situation,
        sound,
        memories: options.memories,
      });
      const { signal, speaks, maxTokens } = options;
      const call = { signal, speaks, voice, ...(maxTokens === undefined ? {} : { maxTokens }) };
      let isHeard = false;
      try {
        for await (const part of spokenParts(model.reply(messages, call), pace, options)) {
          if (!isHeard) yield { type: 'mind', name: model.name };
          isHeard = true;
          yield part;
        }
      } catch (cause) {
        signal.throwIfAborted();
        if (isHeard || !(cause instanceof EngineError)) throw cause;
        for await (const part of backup.reply(history, options)) {
          yield part.type === 'mind' ? { ...part, because: part.because ?? cause.code } : part;
        }
      }
    },
  };
}

/** What was heard of one utterance. */
class Utterance {
  /** What the recognizer has made of it. */
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

  /** Undefined where there is none, or only the beginning of it. */
  get sound(): OmniSound | undefined {
    const [first] = this.#frames;
    if (first === undefined || this.#ms > keptMs) return undefined;
    return { samples: concatSamples(this.#frames.map(({ samples }) => samples)), sampleRate: first.sampleRate };
  }
}

/** The sound of the last message, where it was spoken. */
function soundOf(history: readonly Message[], heard: readonly Utterance[]): OmniSound | undefined {
  const last = history.at(-1);
  if (last?.role !== 'user' || last.text.trim() === '') return undefined;
  return heard.findLast(({ text }) => text.trim() === last.text.trim())?.sound;
}

async function* spokenParts(
  parts: AsyncIterable<OmniPart>,
  pace: OmniPace,
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
  if (speaks) {
    for await (const chunk of speechOf(counted(), pace)) {
      trace.mark('first_phrase');
      onSpeech?.(durationMs(chunk.frame));
      yield { type: 'speech', chunk, emotion: undefined };
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
