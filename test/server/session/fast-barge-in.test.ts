import { describe, expect, it } from 'vitest';
import type { Clock } from '../../../server/session/contract/clock.ts';
import { cascade } from '../../../server/responders/responder.ts';
import { concatSamples } from '../../../voices/audio.ts';
import type { SpeechRecognizer } from '../../../voices/recognizer.ts';
import { fakeAgent } from '../../fakes/agent.ts';
import { fakeSynthesizer } from '../../fakes/synthesizer.ts';
import { silence, tone } from '../../fakes/vad.ts';
import { openRig } from '../../rigs/session-rig.ts';

/** Transcribes an utterance 300 ms after its end, however fast its audio arrived. `voicedMs`: voiced audio per utterance. */
function slowRecognizer(clock: () => Clock): SpeechRecognizer & { readonly voicedMs: number[] } {
  const voicedMs: number[] = [];
  return {
    name: 'slow-recognizer',
    sampleRate: 16_000,
    languages: ['en'],
    voicedMs,
    async *transcribe(audio, { signal }) {
      let samples = 0;
      for await (const frame of audio) samples += frame.voiced === false ? 0 : frame.samples.length;
      await clock().sleep(300, signal);
      voicedMs.push(samples / 16);
      yield { type: 'transcript-final', text: samples === 0 ? '' : 'stop that please' };
    },
  };
}

/** A character that speaks while this audio arrives, `pieceMs` of it every 20 ms. */
async function flood(sound: readonly Float32Array[], pieceMs: number) {
  const recognizer = slowRecognizer(() => rig.clock);
  const agent = fakeAgent(['One two three four five six seven eight nine ten eleven twelve thirteen.', 'Yes.']);
  const synthesizer = fakeSynthesizer();
  const rig = openRig({
    responder: cascade({ recognizer, agent, synthesizer, voice: { kind: 'preset', id: 'fake' } }),
  });
  rig.send({ type: 'reply', request: { inConversation: true } });
  await rig.silence(300);
  const samples = concatSamples(sound);
  const step = pieceMs * 24;
  for (let at = 0; at < samples.length; at += step) {
    rig.send({ type: 'audio', samples: samples.slice(at, at + step), sampleRate: 24_000 });
    await rig.clock.advance(20);
  }
  await rig.clock.advance(3_000);
  return { ...rig, recognizer, agent };
}

describe('barge-in faster than real time', () => {
  const longTurn = [tone(300), silence(400), tone(12_000), silence(1_500)];
  const manyWords = [...Array.from({ length: 20 }, () => [tone(400), silence(300)]).flat(), silence(1_500)];

  it.each([
    ['a word and a long sentence, all at once', longTurn, 60_000],
    ['a word and a long sentence, in pieces', longTurn, 1_000],
    ['word by word, all at once', manyWords, 60_000],
    ['word by word, in pieces', manyWords, 1_000],
  ])(
    'transcribes and answers an overlap that arrives faster than it was spoken, once and from its start: %s',
    async (_name, sound, pieceMs) => {
      const rig = await flood(sound, pieceMs);
      const spokenMs = sound.reduce(
        (sum, part) => sum + (part.some((sample) => sample !== 0) ? part.length / 24 : 0),
        0,
      );
      expect(rig.recognizer.voicedMs.at(-1)).toBeGreaterThanOrEqual(spokenMs);
      expect(rig.of('speech-started').map(({ atMs }) => atMs)).toEqual([0]);
      expect(rig.of('audio-committed')).toHaveLength(1);
      expect(rig.of('reply-ended').map(({ end }) => end.status)).toEqual(['cancelled', 'completed']);
      expect(rig.agent.histories.at(-1)?.at(-1)).toEqual({ role: 'user', text: 'stop that please' });
    },
  );
});
