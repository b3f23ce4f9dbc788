import type { FlagFacts } from '../../server/terminal/flags.ts';

/** Flags that describe the system under test, for every benchmark. */
export const agentFlags = {
  name: { type: 'string', help: 'display name of the system in reports' },
  'agent-key-env': { type: 'string', value: 'NAME', help: 'environment variable that contains its key' },
  'agent-voice': { type: 'string', value: 'ID', help: 'voice of the agent' },
  'agent-concurrency': { type: 'string', value: 'N', help: 'concurrent conversations (default 4)' },
  'agent-rpm': { type: 'string', value: 'N', help: 'conversations per minute, at most' },
  character: { type: 'string', value: 'ID', help: 'one character for all roles (default: one per role)' },
  'allow-fallback': {
    type: 'boolean',
    help: 'also score fallback replies after a failure of the LLM; they are counted',
  },
} as const satisfies Record<string, FlagFacts>;

/** Flags that select a part of the test data. */
export const selectionFlags = {
  roles: { type: 'string', value: 'A,B', help: 'only these roles' },
  language: { type: 'string', value: 'en|zh', help: 'only this language' },
  limit: { type: 'string', value: 'N', help: 'only the first N' },
} as const satisfies Record<string, FlagFacts>;
