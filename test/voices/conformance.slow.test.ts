import { afterAll } from 'vitest';
import { openMoonshine } from '../../voices/recognizers/moonshine.ts';
import { isEspeakInstalled, openEspeak } from '../../voices/synthesizers/espeak.ts';
import { openFlite } from '../../voices/synthesizers/flite.ts';
import { openBuiltInDetector } from '../../voices/turn-detectors/built-in.ts';
import { recognizerConformance } from '../conformance/recognizer.ts';
import { synthesizerConformance } from '../conformance/synthesizer.ts';
import { turnDetectorConformance } from '../conformance/turn-detector.ts';
import { alone } from '../conformance/upstream.ts';
import { fakeRecognizer } from '../fakes/recognizer.ts';
import { fakeSynthesizer } from '../fakes/synthesizer.ts';
import { fakeTurnDetector } from '../fakes/turn-detector.ts';
import { tone } from '../fakes/vad.ts';
import { spoken } from '../fakes/spoken.ts';

// One of each for all tests: they are slow to load.
const moonshine = openMoonshine({ workers: 1 });
const flite = openFlite();
const espeak = isEspeakInstalled() ? openEspeak() : undefined;
afterAll(() => Promise.all([moonshine.close(), flite.close(), espeak?.close()]));

const kept = <Engine>(engine: Engine) => ({
  open: async () => alone(engine),
});
const fresh = <Engine>(make: () => Engine) => ({
  open: async () => alone(make()),
});

recognizerConformance({
  title: 'the fake',
  ...fresh(() => fakeRecognizer(['hello there'])),
  abortsLate: 'tests of sessions count on how promptly it answers',
  speech: tone(640, 16_000),
  says: /^hello there$/,
});

recognizerConformance({
  title: 'Moonshine',
  ...kept(moonshine),
  speech: await spoken('The weather is fine today.', {
    synthesizer: flite,
    voice: { kind: 'preset', id: 'rms' },
    sampleRate: 16_000,
  }),
  says: /is fine/i,
});

synthesizerConformance({ title: 'the fake', ...fresh(() => fakeSynthesizer()), voice: { kind: 'preset', id: 'fake' } });
synthesizerConformance({ title: 'Flite', ...kept(flite), voice: { kind: 'preset', id: 'rms' } });
if (espeak !== undefined) {
  synthesizerConformance({ title: 'eSpeak NG', ...kept(espeak), voice: { kind: 'preset', id: 'en' } });
}

turnDetectorConformance({ title: 'the fake', ...fresh(() => fakeTurnDetector([0.5])) });
turnDetectorConformance({ title: 'the built-in detector', ...fresh(() => openBuiltInDetector()) });
