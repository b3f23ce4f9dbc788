import { hash } from 'node:crypto';
import type { Dialogue } from '../records/dialogue.ts';
import type { Prompt } from '../runner/prompts.ts';
import type { OutputRow, Pipeline } from '../runner/stage.ts';
import { readCharacters, type WikiCharacter } from './characters.ts';
import { pairStage, queryStage, responseStage, sessionStage, type RoleSession } from './simulation.ts';

export interface DittoOptions {
  /** JSONL of characters: see `readCharacters`. */
  readonly input: string;
  readonly rights: string;
  readonly promptOf: (name: string) => Prompt;
}

const testShare = 0.1;

/** DITTO: characters of an encyclopedia are asked what they know and what they cannot know, and answer in their role. */
export function dittoPipeline({ input, rights, promptOf }: DittoOptions): Pipeline {
  return {
    name: 'ditto',
    about: 'Sessions with characters of Wikidata, with questions that each can and cannot answer, after DITTO.',
    records: (signal) => readCharacters(input, signal),
    stages: [
      pairStage(),
      queryStage(promptOf('ditto/query')),
      responseStage(promptOf('ditto/response')),
      sessionStage(),
    ],
    rows: (record) => rowsOf(record as RoleSession, rights),
  };
}

function rowsOf({ id, character, turns, provenance }: RoleSession, rights: string): readonly OutputRow[] {
  const { label, lang } = character;
  const system = systemPrompt(character);
  // By its label, so that a character is in one split in both of its languages.
  const isTest = hash('sha1', character.id || label, 'buffer').readUInt32BE(0) / 2 ** 32 < testShare;
  const general: Dialogue = {
    id,
    language: lang,
    source: 'Wikidata and Wikipedia',
    rights,
    system,
    turns: turns.flatMap(({ question, answer }) => [
      { speaker: 'User', kind: 'user' as const, text: question },
      { speaker: label, kind: 'character' as const, text: answer, target: true },
    ]),
    labels: { split: isTest ? 'test' : 'train', key: id, foreign: turns.map(({ isForeign }) => isForeign) },
    provenance: provenance as Dialogue['provenance'],
  };
  const messages = [
    { role: 'system', content: system },
    ...turns.flatMap(({ question, answer }) => [
      { role: 'user', content: question },
      { role: 'assistant', content: answer },
    ]),
  ];
  const labels = turns.map(({ isForeign }) => Number(isForeign));
  return [
    { file: 'dialogues.jsonl', value: general },
    { file: 'characters.jsonl', value: character },
    isTest
      ? {
          file: 'test.jsonl',
          value: {
            system,
            prompts: turns.map(({ question }) => question),
            ref_messages: messages,
            meta: { ...character, rejection_labels: labels },
          },
        }
      : { file: 'chatml.jsonl', value: { messages } },
  ];
}

/** Only name and description: the prompt leaves out what the model should have learned. */
function systemPrompt({ label, description, lang }: WikiCharacter): string {
  if (lang === 'zh') return description === '' ? `你是${label}。` : `你是${label}，${description}。`;
  return description === '' ? `You are ${label}.` : `You are ${label}, ${description}.`;
}
