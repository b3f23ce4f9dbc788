import { describe, expect, it } from 'vitest';
import type { CharacterAgent } from '../../../agents/agent.ts';
import { followPhrases } from '../../../server/responders/script.ts';
import { cascade } from '../../../server/responders/responder.ts';
import { calmFeelings } from '../../../agents/feelings.ts';
import { TurnTimings } from '../../../server/session/contract/turn-timings.ts';
import { ManualClock } from '../../fakes/clock.ts';
import { fakeAgent } from '../../fakes/agent.ts';
import { fakeRecognizer } from '../../fakes/recognizer.ts';
import { fakeSynthesizer } from '../../fakes/synthesizer.ts';
import { connect } from '../../rigs/connection-rig.ts';

/** The deltas of a reply with their emotions, and the emotion on its items. */
async function told(says: string, modality: 'audio' | 'text' = 'audio') {
  const wire = connect({ says: [says] });
  wire.send({ type: 'response.create', response: { output_modalities: [modality] } });
  await wire.clock.advance(10_000);
  const type = modality === 'audio' ? 'response.output_audio_transcript.delta' : 'response.output_text.delta';
  const deltas: [text: string, emotion: unknown][] = wire.events.flatMap((event: any) =>
    event.type === type ? [[event.delta, event.x_dramatis?.emotion]] : [],
  );
  const items = ['response.output_item.added', 'conversation.item.added', 'response.output_item.done'];
  const onItems = items.map((name) => wire.last(name).item.x_dramatis);
  const done = wire.last('response.done').response;
  await wire.hangUp();
  return { deltas, onItems, done };
}

const tagged = '[sad] One two. Three. [cheerful] Four five six. [odd] Seven.';

describe('emotion', () => {
  it('sends the emotion of a reply with its words and item and does not speak it', async () => {
    const { deltas, onItems, done } = await told(tagged);
    expect(deltas.map(([text]) => text).join('')).toBe('One two. Three. Four five six. Seven.');
    const felt = (emotion: string): string =>
      deltas.flatMap(([text, each]) => (each === emotion ? [text] : [])).join('');
    expect(felt('sad')).toBe('One two. Three. ');
    expect(felt('cheerful')).toBe('Four five six. Seven.');
    expect(onItems).toEqual(Array.from({ length: 3 }, () => ({ emotion: 'sad', intensity: 0.5 })));
    expect(done.output[0].x_dramatis).toEqual({ emotion: 'sad', intensity: 0.5 });
    expect(done.output[0].content[0].transcript).not.toContain('[');
  });

  it('sends the emotion of a text reply', async () => {
    const { deltas, onItems } = await told(tagged, 'text');
    expect(deltas).toEqual([
      ['One two. ', 'sad'],
      ['Three. ', 'sad'],
      ['Four five six. ', 'cheerful'],
      ['Seven.', 'cheerful'],
    ]);
    expect(onItems[0]).toEqual({ emotion: 'sad', intensity: 0.5 });
  });

  it('sends no emotion if the LLM wrote none', async () => {
    for (const modality of ['audio', 'text'] as const) {
      const { deltas, onItems } = await told('One two. Three.', modality);
      expect(deltas.map(([, emotion]) => emotion).filter(Boolean)).toEqual([]);
      expect(onItems).toEqual([undefined, undefined, undefined]);
    }
  });

  it('passes the emotion to the TTS engine until another LLM takes over', async () => {
    const agent: CharacterAgent = {
      ...fakeAgent([]),
      async *reply() {
        yield { type: 'reply-source', name: 'first' };
        yield { type: 'text-delta', text: 'One. ', emotion: 'angry' };
        yield { type: 'text-delta', text: 'Two thr' };
        yield { type: 'reply-source', name: 'second', because: 'ENGINE_TIMEOUT' };
        yield { type: 'text-delta', text: 'Four.' };
      },
    };
    const plain = fakeSynthesizer();
    const spoken: unknown[] = [];
    const synthesizer: typeof plain = {
      ...plain,
      async *speak(phrases, options) {
        async function* noted() {
          for await (const phrase of phrases) {
            spoken.push(phrase);
            yield phrase;
          }
        }
        yield* plain.speak(noted(), options);
      },
    };
    const voice = { kind: 'preset', id: 'fake' } as const;
    const responder = cascade({ recognizer: fakeRecognizer([]), agent, synthesizer, voice });
    const { signal } = new AbortController();
    const trace = new TurnTimings(new ManualClock());
    const felt: unknown[] = [];
    for await (const part of responder.reply([], { signal, speaks: true, scene: '', speed: 1, trace })) {
      if (part.type === 'speech') felt.push([part.chunk.text, part.emotion]);
    }
    expect(spoken).toEqual([{ text: 'One. ', emotion: 'angry' }, { text: 'Four.' }]);
    expect(felt).toEqual([
      ['One. ', 'angry'],
      ['Four.', undefined],
    ]);
  });
});

describe('the intensity of an emotion', () => {
  it('comes from the tag, else from the feelings', async () => {
    const agent: CharacterAgent = {
      ...fakeAgent([]),
      async *reply() {
        yield { type: 'reply-source', name: 'first' };
        yield { type: 'text-delta', text: 'One. ', emotion: 'sad', intensity: 0.3 };
        yield { type: 'text-delta', text: 'Two. ', emotion: 'angry' };
      },
    };
    const plain = {
      ...fakeAgent([]),
      async *reply() {
        yield { type: 'text-delta', text: 'Three. ' } as const;
      },
    };
    const feelings = { ...calmFeelings, emotions: { ...calmFeelings.emotions, anger: 8 } };
    const { signal } = new AbortController();
    const trace = new TurnTimings(new ManualClock());
    const voice = { kind: 'preset', id: 'fake' } as const;
    const felt: unknown[] = [];
    for (const each of [agent, plain]) {
      const responder = cascade({ recognizer: fakeRecognizer([]), agent: each, synthesizer: fakeSynthesizer(), voice });
      for await (const part of responder.reply([], { signal, speaks: true, scene: '', speed: 1, trace, feelings }))
        if (part.type === 'speech') felt.push([part.chunk.text, part.emotion, part.intensity]);
    }
    expect(felt).toEqual([
      ['One. ', 'sad', 0.3],
      ['Two.', 'angry', 1],
      // What only the feelings colour is not told: it would stir the feelings in turn.
      ['Three.', undefined, undefined],
    ]);
  });
});

describe('followPhrases', () => {
  it('finds the emotion of each piece of speech although the synthesizer reads ahead, splits and skips text', () => {
    const follower = followPhrases<{ readonly text: string; readonly emotion: string }>();
    const emotionOf = (text: string): string | undefined => follower.phraseOf(text).phrase?.emotion;
    follower.handed({ text: 'One two. ', emotion: 'sad' });
    expect(emotionOf('One ')).toBe('sad');
    follower.handed({ text: '— ', emotion: 'angry' });
    follower.handed({ text: 'One more.', emotion: 'cheerful' });
    expect(emotionOf('two. ')).toBe('sad');
    expect(emotionOf('One more')).toBe('cheerful');
    expect(emotionOf('.')).toBe('cheerful');
    expect(emotionOf('')).toBe('cheerful');
  });
});
