import { describe, expect, it } from 'vitest';
import {
  finalTranscript,
  confidenceOf,
  isDoubtful,
  judge,
  scoreOf,
  withCommand,
  type Hypothesis,
} from '../../../voices/recognition/hypothesis.ts';

const messages = { language_not_supported: 'another language', low_confidence: 'not clear' };

/** Hypotheses of the model for real recordings, as measured. */
const english: Hypothesis = {
  text: 'Go! Do you hear? He had never been fathered. A plant full of blossoms.',
  logProbabilities: [-0.97, -0.88, -0.04, 0, -0.12, -0.06, -0.69, -0.1, -0.28, -0.85, -0.84, -0.02, -1.22, -0.17, 0],
  silenceLogProbability: -7.06,
  forced: false,
  seconds: 5.7,
};
const chinese: Hypothesis = {
  text: "Or don't show for the time, don't use your work fancy.",
  logProbabilities: [-1.9, -1.82, -0.06, 0, -1.51, -1.39, -0.58, -0.81, -1.51, -0.03, -0.75, -0.05, -1.38, -0.5, -0.08],
  silenceLogProbability: -1.97,
  forced: false,
  seconds: 3.8,
};
const music: Hypothesis = {
  text: '',
  logProbabilities: [-0.015],
  silenceLogProbability: -0.015,
  forced: false,
  seconds: 3.6,
};
const tone: Hypothesis = {
  text: 'Pew, pew, pew!',
  logProbabilities: [-0.7, -0.8, -0.9, -0.6],
  silenceLogProbability: -0.07,
  forced: true,
  seconds: 1.2,
};

describe('judge', () => {
  it('English in noise is believed', () => expect(judge(english)).toBe('words'));

  it('English words that the model hears in Chinese speech are babble', () => expect(judge(chinese)).toBe('babble'));

  it('music is no speech', () => expect(judge(music)).toBe('nothing'));

  it('musical notes are no speech', () => expect(judge({ ...english, text: '♪♪♪' })).toBe('nothing'));

  it('a tone that the model takes for a word is no speech', () => expect(judge(tone)).toBe('nothing'));

  it('a confident forced word is believed', () => {
    const word = { text: 'Stop.', logProbabilities: [-0.3, -0.4, -0.1], silenceLogProbability: -0.4, forced: true };
    expect(judge({ ...word, seconds: 0.8 })).toBe('words');
  });

  it('a command that the model repeats in a loop, or mishears without silence around it, was said once', () => {
    const looped: Hypothesis = {
      text: 'What what what what what what wh',
      logProbabilities: [-0.39, -0.6, -0.5, -0.5, -0.5, -0.5, -0.5, -0.4],
      silenceLogProbability: -2.1,
      forced: false,
      seconds: 0.86,
    };
    expect(withCommand(looped).text).toBe('What.');
    expect(judge(withCommand(looped))).toBe('words');
    expect(judge({ ...looped, seconds: 3 })).toBe('babble');
    expect(withCommand(english)).toEqual(english);
    const misheard: Hypothesis = {
      text: 'You.',
      logProbabilities: [-1, -0.5, -0.2],
      silenceLogProbability: -1.1,
      forced: false,
      seconds: 0.58,
    };
    const no = { ...misheard, text: 'No.', seconds: 0.98 };
    expect(withCommand({ ...misheard, padded: no })).toEqual(no);
    expect(withCommand({ ...misheard, padded: { ...no, text: 'Now.' } })).toEqual(misheard);
  });

  it('a command that the model would rather take for silence is no speech', () => {
    const oh = {
      text: 'No,',
      logProbabilities: [-0.53, -0.7],
      silenceLogProbability: -0.29,
      forced: true,
      seconds: 0.9,
    };
    expect(judge(oh)).toBe('nothing');
    expect(judge({ ...oh, silenceLogProbability: -1.2 })).toBe('words');
  });

  it('several unsure forced words are babble', () => {
    expect(judge({ ...chinese, forced: true, silenceLogProbability: -0.3 })).toBe('babble');
  });

  it('text in another script is another language, however sure the model is', () => {
    expect(judge({ ...english, text: '我们来听听' })).toBe('babble');
    expect(judge({ ...english, text: 'He said 我们来听听听听听' })).toBe('babble');
  });

  it('accents and digits do not make a text foreign', () => {
    expect(judge({ ...english, text: 'Café at 12.' })).toBe('words');
    expect(judge({ ...english, text: '1984' })).toBe('words');
  });

  it('a repetition loop is babble unless the model is sure', () => {
    const loop = 'I am sorry, I am sorry, I am sorry, I am sorry.';
    expect(judge({ ...english, text: loop })).toBe('babble');
    expect(judge({ ...english, text: loop, logProbabilities: Array<number>(16).fill(-0.05) })).toBe('words');
  });

  it('a few bad tokens count as unclear speech, because they are too few to detect the language', () => {
    expect(judge({ ...chinese, text: 'Lobster', logProbabilities: [-1.4, -1.6, -1.2] })).toBe('mumble');
  });

  it('a hypothesis without scores is not believed', () => {
    const broken = { ...english, logProbabilities: [Number.NaN, Number.NaN], silenceLogProbability: Number.NaN };
    expect(judge(broken)).toBe('mumble');
  });
});

describe('scoreOf', () => {
  it('scores of English and Chinese speech are well separated', () => {
    expect(scoreOf(english)).toBeGreaterThan(-0.25);
    expect(scoreOf(chinese)).toBeLessThan(-0.6);
  });

  it('the score is the mean of two hypotheses, and low if the second had no words', () => {
    expect(scoreOf({ ...chinese, second: english })).toBeCloseTo((scoreOf(chinese) + scoreOf(english)) / 2);
    expect(scoreOf({ ...english, second: { ...english, text: '' } })).toBeCloseTo((scoreOf(english) - 1) / 2);
  });

  it('a second hypothesis is needed only near the limit', () => {
    const lower = (by: number): Hypothesis => ({
      ...english,
      logProbabilities: english.logProbabilities.map((value) => value - by),
    });
    expect([0, 0.3, 0.9].map((by) => isDoubtful(lower(by)))).toEqual([false, true, false]);
    expect(isDoubtful({ ...english, forced: true })).toBe(true);
    expect(isDoubtful({ ...lower(0.3), text: '' })).toBe(false);
  });

  it('the score falls with token doubt, no-speech probability and speaking rate', () => {
    const score = scoreOf(english);
    const { logProbabilities } = english;
    expect(scoreOf({ ...english, logProbabilities: logProbabilities.map((value) => value - 0.1) })).toBeLessThan(score);
    expect(scoreOf({ ...english, silenceLogProbability: -1 })).toBeLessThan(score);
    expect(scoreOf({ ...english, seconds: 2 })).toBeLessThan(score);
  });
});

describe('finalTranscript', () => {
  it('the final transcript is empty if there was no speech', () => {
    expect(finalTranscript([], messages)).toEqual({ type: 'transcript-final', text: '' });
    expect(finalTranscript([music], messages)).toEqual({ type: 'transcript-final', text: '' });
  });

  it('the final transcript joins the pieces of an utterance', () => {
    const final = finalTranscript([english, music, { ...english, text: 'The end.' }], messages);
    expect(final.text).toBe(`${english.text} The end.`);
    expect(final.language).toBe('en');
    expect(final.confidence).toBeCloseTo(confidenceOf([english]));
    expect(final.unclear).toBeUndefined();
  });

  it('the final transcript leaves babble out of English', () => {
    expect(finalTranscript([english, chinese], messages)).toMatchObject({ text: english.text });
  });

  it('the final transcript believes no stray words in what is mostly babble', () => {
    const stray = { ...english, text: 'For the time.', seconds: 1 };
    const final = finalTranscript([chinese, stray, chinese], messages);
    expect(final).toMatchObject({
      text: '',
      unclear: { code: 'language_not_supported', message: messages.language_not_supported },
    });
    expect(final.confidence).toBeLessThan(confidenceOf([chinese, english]) + 0.5);
  });

  it('the final transcript is marked as not understood if the language cannot be detected', () => {
    const mumble = { ...chinese, text: 'Lobster', logProbabilities: [-1.4, -1.6, -1.2] };
    expect(finalTranscript([mumble], messages)).toMatchObject({
      text: '',
      confidence: expect.closeTo(Math.exp(-1.4)),
      unclear: { code: 'low_confidence', message: messages.low_confidence },
    });
  });
});
