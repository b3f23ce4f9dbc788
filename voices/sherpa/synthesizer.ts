import type { Adapter, EngineContext } from '../calls/context.ts';
import type { PcmBlock } from '../calls/pcm-stream.ts';
import { streamWithTimeouts } from '../calls/process-call.ts';
import { openProcess } from '../runtime/process.ts';
import { EngineError, type CallOptions } from '../engine.ts';
import { isCloner, languagesOf, synthesizerSettings, type SynthesizerSettings } from './synthesizer-settings.ts';
import type { SpeechSynthesizer } from '../synthesizer.ts';
import { speakByPhrase, type RenderOptions } from '../synthesis/by-phrase.ts';
import { clipOf } from '../synthesis/default-clip.ts';
import { openClips } from '../synthesis/reference-clip.ts';

/** Start-up data of the process. */
export interface SynthesizerProcessData {
  readonly name: string;
  readonly settings: SynthesizerSettings;
}

export type SynthesizerProcessRequest =
  | { readonly kind: 'load' }
  | {
      readonly kind: 'speak';
      readonly text: string;
      /** Number of a built-in voice. */
      readonly speaker: number;
      readonly speed: number;
      readonly steps?: number | undefined;
      readonly reference?: Clip | undefined;
    };

interface Clip {
  readonly samples: Float32Array;
  readonly sampleRate: number;
  readonly transcript: string;
}

/** Maximum length of a reference clip; a longer one makes speech no better, and takes longer. */
const mostClipSeconds = 15;

/** Synthesizers by sherpa-onnx in their own process; see `synthesizerSettings` for the families. */
export const adapter: Adapter<SpeechSynthesizer, SynthesizerSettings> = {
  settings: synthesizerSettings,
  // One text uses all processors; a second would only delay both.
  callPolicy: () => ({ concurrency: 1, timeouts: { queueMs: 20_000 } }),
  clones: isCloner,
  open(settings, context) {
    const { name } = context;
    const synthesizerProcess = openProcess<SynthesizerProcessRequest, PcmBlock>({
      name,
      url: new URL('./synthesizer-worker.ts', import.meta.url),
      data: { name, settings } satisfies SynthesizerProcessData,
    });
    const cast = openVoiceParameters(settings, context);
    const renderer = {
      languages: languagesOf(settings),
      maxCharacters: 240,
      comesWhole: true,
      async *render(text: string, options: RenderOptions): AsyncGenerator<PcmBlock> {
        const { voice, speed, signal } = options;
        const pace = voice.kind === 'preset' ? (voice.rate ?? 1) : 1;
        const order = { kind: 'speak', text, speed: speed * pace, ...(await cast(options)) } as const;
        yield* streamWithTimeouts(
          synthesizerProcess,
          { load: { kind: 'load' }, request: order },
          { ...context, signal },
        );
      },
    };
    const load = (options: CallOptions): Promise<PcmBlock> => synthesizerProcess.once({ kind: 'load' }, options);
    return {
      ...speakByPhrase(renderer, context),
      warm: async (options) => void (await load(options)),
      async check(options) {
        const { sampleRate } = await load(options);
        return `${settings.family} is loaded, its weights match their SHA-256, ${sampleRate / 1000} kHz`;
      },
      close: () => synthesizerProcess.close(),
    };
  },
};

/** Returns a function that gives the model's voice parameters for a call. */
function openVoiceParameters(
  settings: SynthesizerSettings,
  context: EngineContext,
): (
  options: RenderOptions,
) => Promise<Pick<Extract<SynthesizerProcessRequest, { kind: 'speak' }>, 'speaker' | 'steps' | 'reference'>> {
  if ('defaultVoice' in settings) {
    return async ({ voice }) => ({
      speaker: voice.kind === 'preset' && /^\d{1,4}$/.test(voice.id) ? Number(voice.id) : settings.defaultVoice,
    });
  }
  const { defaultClip, steps } = settings;
  const readClip = openClips(context.name, { mostSeconds: mostClipSeconds });
  return async (options) => {
    const reference = clipOf(options.voice, defaultClip, context);
    if (settings.family === 'zipvoice' && reference.transcript.trim() === '') {
      const detail = `this engine requires a transcript of ${reference.wavPath}: add it in "references"`;
      throw new EngineError(context.name, 'ENGINE_REFUSED', detail);
    }
    const { samples, sampleRate, transcript } = await readClip(reference, options);
    return { speaker: 0, steps, reference: { samples, sampleRate, transcript } };
  };
}
