import { EvalError } from '../eval-error.ts';
import type { EvalHost } from '../host.ts';
import { checkData, type DataCheck } from '../speechrole/data/data-check.ts';
import { parseFlags, textFlag } from '../../server/terminal/flags.ts';

/** `dramatis eval data check DIR`. */
export async function run(args: readonly string[], host: EvalHost): Promise<number> {
  const flags = {
    reference: { type: 'string', value: 'KEY', help: 'role_speech_path1, 2 or 3, if the data has three references' },
    json: { type: 'boolean', help: 'print JSON' },
  } as const;
  const parsed = parseFlags({ name: 'eval data', synopsis: 'check DIR [--json]', flags }, args, host.print);
  if (parsed === undefined) return 0;
  const [what, folder, ...more] = parsed.positionals;
  if (what !== 'check' || folder === undefined || more.length > 0)
    throw new EvalError('usage', 'Usage: dramatis eval data check DIR, with the folder that contains test_data/.');
  const check = await checkData(folder, { reference: textFlag(parsed.values.reference) });
  host.print(parsed.values.json === true ? JSON.stringify(check, null, 2) : asText(check));
  return check.problems.length === 0 && check.samples === check.expected ? 0 : 1;
}

function asText(check: DataCheck): string {
  const { samples, expected, byLanguage, byMode, byCategory, complete, missingRoles, unknownRoles, problems } = check;
  return [
    `${samples} of ${expected} dialogues, ${complete} with all their recordings`,
    `English ${byLanguage.en}, Chinese ${byLanguage.zh}; single turn ${byMode.single}, multi-turn ${byMode.multi}`,
    ...Object.entries(byCategory).map(([category, count]) => `  ${category}: ${count}`),
    missingRoles.length === 0
      ? ''
      : `${missingRoles.length} roles of the paper are missing: ${missingRoles.join(', ')}`,
    unknownRoles.length === 0 ? '' : `roles that are not in the paper: ${unknownRoles.join(', ')}`,
    ...problems,
    `data hash ${check.hash}`,
  ]
    .filter(Boolean)
    .join('\n');
}
