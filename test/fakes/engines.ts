import type { Engines } from '../../server/engines/engines.ts';
import type { Voice } from '../../voices/synthesizer.ts';
import { cascade } from '../../server/responders/responder.ts';
import { fakeAgent } from './agent.ts';
import { fakeRecognizer } from './recognizer.ts';
import { fakeSynthesizer } from './synthesizer.ts';
import { fakeTurnDetector } from './turn-detector.ts';
import { fakeVad } from './vad.ts';

/** Engines that cost nothing, for tests of everything around them. */
export function fakeEngines(
  options: {
    readonly hears?: Parameters<typeof fakeRecognizer>[0];
    readonly says?: Parameters<typeof fakeAgent>[0];
    readonly completeness?: Parameters<typeof fakeTurnDetector>[0];
    readonly synthesizer?: ReturnType<typeof fakeSynthesizer>;
    readonly voice?: Voice;
  } = {},
): Engines & { readonly agent: ReturnType<typeof fakeAgent>; readonly fakeVad: ReturnType<typeof fakeVad> } {
  const vad = fakeVad();
  const recognizer = fakeRecognizer(options.hears ?? ['hello there']);
  const agent = fakeAgent(options.says ?? ['One two three.']);
  const synthesizer = options.synthesizer ?? fakeSynthesizer();
  const voice = options.voice ?? { kind: 'preset', id: 'fake' };
  return {
    vad,
    fakeVad: vad,
    turnDetector: fakeTurnDetector(options.completeness),
    agent,
    recognizer,
    voiceOf: () => ({ synthesizer, voice }),
    responderFor: () => cascade({ recognizer, agent, synthesizer, voice }),
    summary: [{ stage: 'vad', name: vad.name, provider: 'cpu' }],
    notes: [],
    providers: {},
    warm: async () => undefined,
    close: async () => undefined,
  };
}
