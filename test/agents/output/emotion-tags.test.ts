import { array, assert, nat, property } from '../../fakes/property.ts';
import { describe, expect, it } from 'vitest';
import { emotionTags } from '../../../agents/output/emotion-tags.ts';
import { scriptedAgent } from '../../../agents/scripted/scripted.ts';
import { actor } from '../../../agents/actor/actor.ts';
import { emotions } from '../../../characters/emotion.ts';
import type { Emotion } from '../../../server/client/types/api.d.ts';
import { fakeChat, replyParts, smallCharacter } from '../actor/stand-ins.ts';

const martha = smallCharacter();

/** Output for a text, whole or cut at the given places, with `{emotion}` at the start of each emotion. */
function through(text: string, cuts: readonly number[] = []): string {
  const places = [...cuts.map((cut) => cut % (text.length + 1)).toSorted((left, right) => left - right), text.length];
  const tags = emotionTags();
  const felt = places.flatMap((place, index) => tags.add(text.slice(places[index - 1] ?? 0, place)));
  return [...felt, ...tags.rest()].map((part) => (part.emotion ? `{${part.emotion}}` : '') + part.text).join('');
}

describe('emotion tags', () => {
  it.each([
    ['none', 'Pray continue.', 'Pray continue.'],
    ['one in front', '[cheerful] Good evening!', '{cheerful}Good evening!'],
    ['one in front of a later sentence', 'It is late. [sad] He is gone.', 'It is late. {sad}He is gone.'],
    ['one without spaces', 'It is late.[sad]He is gone.', 'It is late.{sad}He is gone.'],
    ['one behind a quotation', '“Go!” [afraid] I ran.', '“Go!” {afraid}I ran.'],
    ['one on a line of its own', '[Angry]\nNo.', '{angry}No.'],
    ['one in a Chinese reply', '来得好。[cheerful]请坐！', '来得好。{cheerful}请坐！'],
    ['one that nobody knows', '[mysterious] Who knows? [whispering softly] I do.', 'Who knows? I do.'],
    ['two at once', '[sighs] [tender] My dear.', '{tender}My dear.'],
    ['brackets inside a sentence', 'He [the king] came, [sad] but late.', 'He [the king] came, [sad] but late.'],
    ['a bracket that is none', '[1] is a note. [', '[1] is a note. ['],
    ['a bracket that never closes', '[it goes on and on and on and on', '[it goes on and on and on and on'],
    ['nothing else', '[sad]', ''],
  ])('the emotion tag filter handles %s', (_what, text, expected) => {
    expect(through(text)).toBe(expected);
  });

  it.each([
    ['[slightly sad] He is gone.', 'sad', 0.3],
    ['[a little afraid] Who is there?', 'afraid', 0.3],
    ['[rather annoyed] Not again.', 'angry', 0.6],
    ['[very angry] Out!', 'angry', 1],
    ['[非常高兴] 来得好！', 'cheerful', 1],
    ['[angry] Out!', 'angry', undefined],
  ])('%s is said with its intensity', (text, emotion, intensity) => {
    const tags = emotionTags();
    const [first] = [...tags.add(text), ...tags.rest()];
    expect([first?.emotion, first?.intensity]).toEqual([emotion, intensity]);
  });

  it('a performance keeps the intensity of a tag, and speaks no degree', async () => {
    const parts = await replyParts(actor(martha, fakeChat(['[very sad] He is gone. [slight', 'ly angry] Go.'])), [
      'Hello',
    ]);
    expect(parts.filter((part) => part.type === 'text-delta')).toEqual([
      { type: 'text-delta', text: 'He is gone. ', emotion: 'sad', intensity: 1 },
      { type: 'text-delta', text: 'Go.', emotion: 'angry', intensity: 0.3 },
    ]);
  });

  it('the emotion tag filter gives the same result however the deltas are cut', () => {
    const text = '[sad] He is gone. [odd] Well… [cheerful] [the] end [is] near! [calm';
    const whole = through(text);
    assert(
      property(array(nat()), (cuts) => {
        const inPieces = through(text, cuts);
        expect(inPieces).toBe(whole);
      }),
    );
  });

  it('the emotion tag filter holds back no text that cannot become a tag', () => {
    expect(emotionTags().add('He [the')).toEqual([{ text: 'He ' }, { text: '[' }, { text: 'the' }]);
    expect(emotionTags().add('[the')).toEqual([]);
  });

  it('emotion tags are removed from a chat model’s reply', async () => {
    const parts = await replyParts(actor(martha, fakeChat(['[ch', 'eerful] Come ', 'in. [sad', '] It rains.'])), [
      'Hello',
    ]);
    expect(parts.filter((part) => part.type === 'text-delta')).toEqual([
      { type: 'text-delta', text: 'Come ', emotion: 'cheerful' },
      { type: 'text-delta', text: 'in. ' },
      { type: 'text-delta', text: 'It rains.', emotion: 'sad' },
    ]);
  });

  it('a reply with only emotion tags counts as empty', async () => {
    await expect(replyParts(actor(martha, fakeChat(['[sad] '])), ['Hello'])).rejects.toMatchObject({
      code: 'ENGINE_BAD_REPLY',
    });
  });
});

describe('pack line', () => {
  it('a pack line carries its emotion if the pack states one', async () => {
    const line = { asks: ['Where is your husband?'], reply: 'Drowned, these ten years.', emotion: 'sad' as const };
    const parts = await replyParts(scriptedAgent(smallCharacter({ lines: [line] })), line.asks);
    expect(parts).toContainEqual({ type: 'text-delta', text: 'Drowned, these ten years.', emotion: 'sad' });
  });
});

describe('emotions', () => {
  it('the emotions are those that the client protocol lists', () => {
    const told: Record<Emotion, true> = {
      calm: true,
      cheerful: true,
      tender: true,
      sad: true,
      angry: true,
      afraid: true,
      surprised: true,
    };
    expect(Object.keys(told)).toEqual([...emotions]);
  });
});
