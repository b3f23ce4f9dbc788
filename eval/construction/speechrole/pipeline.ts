import type { Dialogue } from '../records/dialogue.ts';
import { readRoleSources, sceneText } from '../roles/role-source.ts';
import type { Prompt } from '../runner/prompts.ts';
import type { OutputRow, Pipeline } from '../runner/stage.ts';
import {
  categoryStage,
  contextStage,
  duplicateStage,
  generateStage,
  paperThresholds,
  requestsOf,
  splitStage,
  type DedupeBy,
  type RoleDialogue,
  type SplitBy,
  type Thresholds,
} from './dialogues.ts';

export interface SpeechRoleOptions {
  /** Roles: see `readRoleSources`. */
  readonly input: string;
  readonly rights: string;
  readonly promptOf: (name: string) => Prompt;
  /** Requests a mode and role, and replies a request: 8 and 10 in the paper. */
  readonly requests?: number | undefined;
  readonly choices?: number | undefined;
  /** Tokens of script in a request. */
  readonly chunkTokens?: number | undefined;
  readonly thresholds?: Thresholds | undefined;
  readonly dedupeBy?: DedupeBy | undefined;
  readonly splitBy?: SplitBy | undefined;
  /** Roles whose dialogues are for development. */
  readonly devRoles?: readonly string[] | undefined;
}

const defaults = { requests: 8, choices: 10, segmentTokens: 12_000 } as const;

/** SpeechRole-Data: questions to a role and its answers, single and in several turns. */
export function speechRolePipeline(options: SpeechRoleOptions): Pipeline {
  const { input, rights, promptOf, thresholds = paperThresholds } = options;
  const { requests = defaults.requests, choices = defaults.choices, chunkTokens = defaults.segmentTokens } = options;
  return {
    name: 'speechrole-dialogues',
    about: 'Questions to roles and their answers, single and in several turns, after SpeechRole-Data.',
    async *records(signal) {
      for await (const role of readRoleSources(input, signal))
        yield* requestsOf(role, { requests, segmentTokens: chunkTokens });
    },
    stages: [
      generateStage((mode) => promptOf(`speechrole/${mode}`), choices),
      contextStage(thresholds),
      duplicateStage(thresholds, options.dedupeBy),
      categoryStage(promptOf('speechrole/category')),
      splitStage(new Set(options.devRoles), options.splitBy),
    ],
    rows: (record) => rowsOf(record as RoleDialogue, rights),
    async *inputRows(signal) {
      for await (const { key, name, work, profile, scenes } of readRoleSources(input, signal)) {
        const opening = `I want you to act like ${name}${work === '' ? '' : ` from ${work}`}.`;
        yield { file: `role_profiles/${key}_profile.txt`, value: `${opening}\n${profile}\n` };
        yield { file: `scripts/${key}_scripts.txt`, value: `${scenes.map(sceneText).join('\n\n')}\n` };
      }
    },
  };
}

function rowsOf(dialogue: RoleDialogue, rights: string): readonly OutputRow[] {
  const { role, mode, turns, context, category, split, provenance } = dialogue;
  const general: Dialogue = {
    id: dialogue.id,
    language: role.language,
    source: role.work || role.name,
    rights,
    system: systemPrompt(role.profile, context),
    turns: turns.flatMap(({ user, role: reply }) => [
      { speaker: 'User', kind: 'user' as const, text: user },
      { speaker: role.name, kind: 'character' as const, text: reply, target: true },
    ]),
    labels: { split, mode, key: role.key, ...(category === null ? {} : { category }) },
    provenance: provenance as Dialogue['provenance'],
  };
  const value = {
    dialogue: turns,
    context,
    system_prompt: systemPrompt(role.profile, context),
    ...(category === null ? {} : { category }),
  };
  return [
    { file: 'dialogues.jsonl', value: general },
    { file: `${split}_data/${mode}_turn/${role.key}.json`, value, isItem: true },
  ];
}

/** Profile, then the excerpts; the sentence between them is the one that readers of SpeechRole's data look for. */
export function systemPrompt(profile: string, context: string): string {
  if (context === '') return profile;
  return `${profile}\n\nThe character script below may relate to the questions; take it as a helpful reference.\n[Character script]\n\n${context}`;
}
