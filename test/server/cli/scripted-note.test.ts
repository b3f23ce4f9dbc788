import { expect, it } from 'vitest';
import { scriptedNote } from '../../../server/cli/scripted-note.ts';
import { readConfig } from '../../../server/config/config.ts';

it('the command line says that replies are scripted and how to connect an LLM, unless one is configured', () => {
  const note = scriptedNote(readConfig({ flags: {}, environment: {} }));
  expect(note).toMatch(/^Replies are scripted, because no LLM is connected\. .*DRAMATIS_LLM_BASE_URL/);
  const flags = { llmBaseUrl: 'http://127.0.0.1:9/v1', llmModel: 'some-model' };
  expect(scriptedNote(readConfig({ flags, environment: {} }))).toBeUndefined();
});
