import { array, assert, nat, property } from '../../fakes/property.ts';
import { describe, expect, it } from 'vitest';
import { spokenText } from '../../../agents/chats/spoken-text.ts';
import { speakerLabelFilter } from '../../../agents/output/speaker-labels.ts';

/** Output of a filter for a text, whole or cut at the given places. */
function through(
  filter: { add(delta: string): string; rest(): string },
  text: string,
  cuts: readonly number[] = [],
): string {
  const places = [
    0,
    ...cuts.map((cut) => cut % (text.length + 1)).toSorted((left, right) => left - right),
    text.length,
  ];
  const deltas = places.slice(1).map((place, index) => text.slice(places[index], place));
  return deltas.map((delta) => filter.add(delta)).join('') + filter.rest();
}

describe('reasoning filter', () => {
  it.each([
    ['no tags', 'Pray continue.', 'Pray continue.'],
    ['a thought before it', '<think>\nShe lies.\n</think>\n\nPray continue.', 'Pray continue.'],
    ['a thought within', 'Pray <think>hm</think>continue.', 'Pray continue.'],
    ['a thought without end', '<think>She lies. Or', ''],
    ['a leaked control token', 'Yes.<|eot_id|><|start_header_id|>assistant', 'Yes.'],
    ['a bare less-than sign', 'Three < four <b> and <', 'Three < four <b> and <'],
  ])('the reasoning filter handles %s', (_what, text, spoken) => {
    expect(through(spokenText(), text)).toBe(spoken);
  });

  it('the reasoning filter gives the same text however the deltas are cut', () => {
    const text = '<think>a < b</think> Pray <|continue|> no';
    assert(
      property(array(nat()), (cuts) => {
        expect(through(spokenText(), text, cuts)).toBe('Pray ');
      }),
    );
  });
});

describe('speaker label filter', () => {
  it.each([
    ['no label', 'Pray continue.', 'Pray continue.'],
    ['its name in front', 'Sherlock Holmes: Pray continue.', 'Pray continue.'],
    ['its short name in bold', '**Holmes:** Pray continue.', 'Pray continue.'],
    ['its name as an address', 'Holmes is the name.', 'Holmes is the name.'],
    ['a line for the user', 'Pray continue.\nUser: I will.\nHolmes: Good.', 'Pray continue.\n'],
    ['its name on a later line', 'Hm.\nHolmes: Pray continue.', 'Hm.\nPray continue.'],
    [
      'a word that begins like a label',
      'Users and humans are alike.\nYours too.',
      'Users and humans are alike.\nYours too.',
    ],
    ['a note of the director', 'Hm.\n<notes>secret</notes>', 'Hm.\n'],
    ['nothing but a label', 'Holmes', 'Holmes'],
  ])('the speaker label filter handles %s', (_what, text, own) => {
    expect(through(speakerLabelFilter('Sherlock Holmes'), text)).toBe(own);
  });

  it('the speaker label filter gives the same text however the deltas are cut', () => {
    const text = 'Holmes: Hm.\n\n*Sherlock:* Pray continue.\nVisitor: I shall.\nMore';
    assert(
      property(array(nat()), (cuts) => {
        expect(through(speakerLabelFilter('Sherlock Holmes'), text, cuts)).toBe('Hm.\nPray continue.\n');
      }),
    );
  });

  it('the speaker label filter holds back no text that cannot become a label', () => {
    const words = speakerLabelFilter('Sherlock Holmes');
    expect(words.add('Pray')).toBe('Pray');
    expect(words.add(' con')).toBe(' con');
  });
});
