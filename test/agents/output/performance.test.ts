import { array, assert, nat, property } from '../../fakes/property.ts';
import { describe, expect, it } from 'vitest';
import { actor } from '../../../agents/actor/actor.ts';
import { performanceScript, type PerformancePart, type ScriptForm } from '../../../agents/output/performance.ts';
import { fakeChat, replyParts, smallCharacter } from '../actor/stand-ins.ts';

const marks = { action: 'A', thought: 'T', narration: 'N' } as const;

/** Speech unchanged, cues and emotions in braces. */
function through(text: string, form: ScriptForm, cuts: readonly number[] = []): string {
  const script = performanceScript(form);
  const places = [0, ...cuts.map((cut) => cut % (text.length + 1)).toSorted((a, b) => a - b), text.length];
  const parts: PerformancePart[] = places.slice(1).flatMap((to, index) => script.add(text.slice(places[index], to)));
  return [...parts, ...script.rest()]
    .map((part) =>
      part.type === 'cue'
        ? `{${marks[part.kind]}:${part.text}}`
        : (part.emotion === undefined ? '' : `{${part.emotion}}`) + part.text,
    )
    .join('');
}

const marked = [
  '[He suspects me.] (leans back) “You are late, Doctor.” [Why?] [sad] I am sorry. (sighs) Truly.\nNarrator: Rain falls.\nGo.',
  '{T:He suspects me.}{A:leans back}“You are late, Doctor.” {T:Why?}{sad}I am sorry. {A:sighs}Truly.\n{N:Rain falls.}Go.',
] as const;

describe('performance script', () => {
  it.each([
    ['of all kinds', ...marked],
    ['with an action in mid-sentence', 'I saw (points) him there.', 'I saw {A:points}him there.'],
    ['whose thought never closes', 'Well. [I must not say that', 'Well. {T:I must not say that}'],
    ['with a thought over two lines', '[One.\nTwo.] Three.', '{T:One. Two.}Three.'],
    ['in Chinese', '（拱手）师父，请上马！【此去必有妖怪。】旁白', '{A:拱手}师父，请上马！{T:此去必有妖怪。}旁白'],
    ['with an emotion inside a sentence', 'He said [sad] so.', 'He said {A:sad}so.'],
  ])('a performance script is split into marked parts, %s', (_what, text, expected) => {
    expect(through(text, 'marked')).toBe(expected);
  });

  it.each([
    [
      'an action in parentheses',
      '(bows deeply) Good evening. (in a low voice) Sit.',
      '{A:bows deeply}Good evening. {A:in a low voice}Sit.',
    ],
    ['an action in asterisks', '*smiles* Well, *really*.', '{A:smiles}Well, *really*.'],
    ['a remark in parentheses', 'He came. (You know him.) So.', 'He came. (You know him.) So.'],
    ['a word that is no emotion', '[sighs] [tender] My dear.', '{A:sighs}{tender}My dear.'],
    [
      'a thought all the same',
      '[He must never find out about the letter.] Good day.',
      '{T:He must never find out about the letter.}Good day.',
    ],
    ['brackets in a sentence', 'He [the king] came (late).', 'He [the king] came (late).'],
    ['a line of a narrator', 'Go!\n旁白：天黑了。\nNow.', 'Go!\n{N:天黑了。}Now.'],
    [
      'a stressed word at the head of a sentence',
      '*Horses* are noble. **Smiles** Come.',
      '*Horses* are noble. {A:Smiles}Come.',
    ],
    ['a bold heading', '**Rules:** None.', '**Rules:** None.'],
    ['a bracket that never closes', '[it goes on and on', '[it goes on and on'],
  ])('a performance script for speech only handles %s', (_what, text, expected) => {
    expect(through(text, 'spoken')).toBe(expected);
  });

  it('a performance script gives the same parts however the deltas are cut', () => {
    for (const form of ['marked', 'spoken'] as const) {
      const text = `${marked[0]} (bows) [sighs] *nods* He [the king] (late) is here. [calm`;
      const whole = through(text, form);
      assert(
        property(array(nat()), (cuts) => {
          expect(through(text, form, cuts)).toBe(whole);
        }),
      );
    }
  });

  it('the actor speaks neither thoughts nor actions of a model that was asked to write them', async () => {
    const model = fakeChat(['[A spy', '?] (bows', ') Good day.']);
    expect(await replyParts(actor(smallCharacter(), model, { recipe: 'coser' }), ['Hello'])).toEqual([
      { type: 'reply-source', name: 'fake-model' },
      { type: 'cue', kind: 'thought', text: 'A spy?' },
      { type: 'cue', kind: 'action', text: 'bows' },
      { type: 'text-delta', text: 'Good day.' },
      expect.objectContaining({ type: 'usage' }),
    ]);
  });
});
