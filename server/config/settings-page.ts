import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { settings, type Setting } from './config.ts';

/** The text of `server/SETTINGS.md`. */
export function settingsPage(): string {
  const groups = [...new Set(settings.map(({ group }) => group))];
  return [
    '# Settings',
    '<!-- Generated from config/settings.ts by `npm run settings`; do not edit. -->',
    'For example: `PORT=9000 npm start -- --llm-base-url http://localhost:11434/v1 --llm-model qwen3:8b`.',
    'A flag overrides the environment variable, which overrides `dramatis.config.json` in the working directory (or the\n' +
      'file named with `--config`; its keys are the flags in camelCase, such as `llmBaseUrl`), which overrides the default.\n' +
      '`dramatis serve --help` lists all settings; `dramatis serve --print-config` prints the effective values.',
    ...groups.flatMap((group) => [`## ${group}`, tableOf(settings.filter((setting) => setting.group === group))]),
    '## Security',
    'Unless `HOST` is a loopback address, the server does not start without keys. Logs contain ids and events, never\n' +
      'audio, text, prompts or keys, unless `DRAMATIS_LOG_CONTENT` is on.',
  ]
    .join('\n\n')
    .concat('\n');
}

function tableOf(members: readonly Setting[]): string {
  const rows = members.map(({ env, flag, shown, help, more }) => {
    const what = more === undefined ? help : `${help}. ${more}`;
    return `| \`${env}\` | \`${flag}\` | ${shown ?? 'none'} | ${what} |`;
  });
  return ['| environment | flag | default | meaning |', '|---|---|---|---|', ...rows].join('\n');
}

if (import.meta.main) writeFileSync(path.join(import.meta.dirname, '../SETTINGS.md'), settingsPage());
