import { describe, expect, it } from 'vitest';
import { speechDialects, type SpeechDialectName } from '../../../voices/synthesizers/openai-speech-dialects.ts';

const order = { text: 'He is gone.', voiceId: 'martha', reference: undefined, language: 'en', speed: 1 };
const server = { baseUrl: 'http://127.0.0.1:1/v1', model: 'm', streams: true, instructions: undefined, extra: {} };

describe('emotion for an engine', () => {
  it.each(Object.keys(speechDialects) as SpeechDialectName[])(
    'an emotion becomes an instruction and no tag in the text: %s',
    (name) => {
      const dialect = speechDialects[name];
      const body = JSON.stringify(dialect.request({ ...order, emotion: 'sad' }, server).json ?? {});
      expect(body).toContain('"He is gone."');
      const told = { no: /"He is gone\."(?!.*\bsad)/, instructions: /"instructions":"Speak sadly\."/, word: /"sad"/ };
      expect(body).toMatch(told[dialect.emotions]);
    },
  );

  it('the emotion comes after the standing instructions, and calm adds none', () => {
    const standing = { ...server, instructions: 'An old man.' };
    const body = (emotion: string) => speechDialects.openai.request({ ...order, emotion }, standing).json;
    expect(body('angry')).toMatchObject({ instructions: 'An old man. Speak angrily.' });
    expect(body('calm')).toMatchObject({ instructions: 'An old man.' });
  });
});
