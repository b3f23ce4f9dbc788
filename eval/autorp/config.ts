import { z } from 'zod';
import type { FlagFacts } from '../../server/terminal/flags.ts';
import { textConfigSchema, textFlags, type TextFlagsOf } from '../text/config.ts';

/** Configuration of a run of AutoRPEval. */
export const autoRpConfigSchema = textConfigSchema.extend({
  /** `own`: the judge chooses among the role's own labels, as coded. `distractors`: as many of other roles are with them. */
  candidates: z.enum(['own', 'distractors']).default('distractors'),
  /** JSONL of partners and scenes, which count instead of those of the data. */
  meetings: z.string().optional(),
  /** Utterances of a conversation, half of them by the partner. */
  utterances: z.number().int().min(2).max(40).default(10),
});

export type AutoRpConfig = z.infer<typeof autoRpConfigSchema>;

/** Flags of `eval run --task autorp`. */
export const autoRpFlags = {
  ...textFlags,
  data: { type: 'string', value: 'PLACE', help: 'folder with roles/ and roles_en/, or CESRP_test.json (alignment)' },
  partner: { type: 'string', value: 'URL#MODEL', help: 'model that plays the partner of each conversation' },
  'partner-key-env': { type: 'string', value: 'NAME', help: 'environment variable that contains its key' },
  meetings: { type: 'string', value: 'FILE', help: 'your own partners and scenes for the roles of the data (JSONL)' },
  candidates: {
    type: 'string',
    value: 'WHICH',
    help: 'labels to choose from: distractors (default), or own, as coded',
  },
  utterances: { type: 'string', value: 'N', help: 'utterances of a conversation (default 10)' },
} as const satisfies Record<string, FlagFacts>;

/** Makes the configuration from the flags. */
export const autoRpOptions: TextFlagsOf<AutoRpConfig> = {
  schema: autoRpConfigSchema,
  flags: autoRpFlags,
  models: { partner: 'partner' },
};
