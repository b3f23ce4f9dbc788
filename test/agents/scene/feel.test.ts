import {
  assert,
  constantFrom,
  array,
  integer,
  oneof,
  property,
  record,
  string,
  constant,
} from '../../fakes/property.ts';
import { describe, expect, it } from 'vitest';
import { emotionOf, intensityOf, feel, feelingsInWords, rounded, type FeltEvent } from '../../../agents/scene/feel.ts';
import { calmFeelings, type Feelings } from '../../../agents/feelings.ts';
import { recipeFor } from '../../../agents/recipes/recipes.ts';
import { emotions } from '../../../characters/emotion.ts';
import { asHistory, smallCharacter } from '../actor/stand-ins.ts';

const after = (...events: FeltEvent[]): Feelings => events.reduce(feel, calmFeelings);
const heard = (text: string): FeltEvent => ({ type: 'heard', text });
const minutes = (count: number): FeltEvent => ({ type: 'time', ms: count * 60_000 });

describe('feelings of a character', () => {
  it.each([
    ['You are a liar and a coward!', 'anger', 1],
    ['你这个笨蛋，闭嘴！', 'anger', 1],
    ['My dog is dead.', 'sadness', 1],
    ['他死了，我很难过。', 'sadness', 1],
    ['Beware, a ghost!', 'fear', 1],
    ['What a vile stench.', 'disgust', 1],
    ['Guess what happened.', 'surprise', 1],
    ['Thank you, that was wonderful.', 'happiness', 1],
    ['Shut up, you fool.', 'happiness', -1],
  ] as const)('feelings are moved by %s', (text, emotion, direction) => {
    const by = after(heard(text)).emotions[emotion] - calmFeelings.emotions[emotion];
    expect(Math.sign(by)).toBe(direction);
  });

  it('closeness grows with kindness and falls with unkindness', () => {
    expect(after(heard('Thank you, my dear friend.')).intimacy).toBeGreaterThan(calmFeelings.intimacy + 1);
    expect(after(heard('I hate you.')).intimacy).toBeLessThan(calmFeelings.intimacy);
  });

  it('anger grows with each interruption and with angry words of the character itself', () => {
    const once = after({ type: 'interrupted' });
    expect(once.emotions.anger).toBeGreaterThan(0);
    expect(feel(once, { type: 'interrupted' }).emotions.anger).toBeGreaterThan(once.emotions.anger);
    expect(feel(once, { type: 'said', emotion: 'angry' }).emotions.anger).toBeGreaterThan(once.emotions.anger);
  });

  it('feelings decay halfway to calm in a minute and fully in ten, and closeness lasts', () => {
    const angry = after(heard('You idiot!'));
    expect(feel(angry, minutes(1)).emotions.anger).toBeCloseTo(angry.emotions.anger / 2);
    const close = feel(after(heard('I love you')), minutes(10));
    expect(rounded(feel(angry, minutes(10))).emotions).toEqual(calmFeelings.emotions);
    expect(rounded(close).intimacy).toBeGreaterThan(calmFeelings.intimacy);
  });

  it('feelings stay from 0 to 10 and are deterministic', () => {
    const event = oneof(
      record({
        type: constant('heard' as const),
        text: oneof(string(), constantFrom('fool', '谢谢', 'ghost', 'he died')),
      }),
      record({ type: constant('said' as const), emotion: constantFrom(...emotions) }),
      constant({ type: 'interrupted' as const }),
      record({ type: constant('time' as const), ms: integer({ min: 0, max: 1e7 }) }),
    );
    assert(
      property(array(event, { maxLength: 60 }), (events) => {
        const state = after(...events);
        for (const value of [...Object.values(state.emotions), state.intimacy]) {
          expect(value).toBeGreaterThanOrEqual(0);
          expect(value).toBeLessThanOrEqual(10);
        }
        expect(after(...events)).toEqual(state);
      }),
    );
  });

  it('only feelings that depart from calm are passed to the LLM and the voice', () => {
    const notes = (feelings: Feelings): string =>
      recipeFor(smallCharacter())(asHistory(['Hello']), { feelings }).messages.at(-1)?.text ?? '';
    expect(notes(calmFeelings)).not.toContain('You feel');
    expect(emotionOf(calmFeelings)).toBeUndefined();
    const angry = after(heard('Fool!'), heard('Liar!'));
    expect(notes(angry)).toContain('You feel very angry');
    expect(emotionOf(angry)).toBe('angry');
    expect(intensityOf('angry', angry)).toBeGreaterThan(0.8);
    expect(intensityOf('angry', calmFeelings)).toBe(0.5);
    expect(intensityOf('tender', { ...calmFeelings, intimacy: 10 })).toBe(1);
    expect(feelingsInWords(after(heard('Guess what')))).toContain('a little taken by surprise');
    expect(feelingsInWords(after(heard('Guess what')), true)).toBe('你现在有点惊讶；让话里听得出来，但不要说破。');
  });
});
