import { scriptedNote } from './scripted-note.ts';
import { printableConfig } from '../config/config.ts';
import { missingVoices } from '../engines/library-voice.ts';
import { startServer } from '../app/serve.ts';
import { engineList } from '../terminal/stage-names.ts';
import { trustAdvice } from '../tls/credentials.ts';
import { parseCommand } from '../terminal/commands.ts';
import { requireNone } from '../terminal/flags.ts';
import { jsonText, printLine, tellIfSlow, wrap } from '../terminal/text.ts';

/**
 * `dramatis serve`: runs until SIGINT or SIGTERM, then lets replies finish and clients disconnect; a second signal ends
 * it at once.
 */
export async function run(args: string[]): Promise<number> {
  const parsed = parseCommand('serve', '[--print-config]', args, {
    'print-config': { type: 'boolean', help: 'print the effective configuration, secrets masked, and exit' },
  });
  if (parsed === undefined) return 0;
  requireNone(parsed.positionals);
  const { config } = parsed;
  if (parsed.values['print-config'] === true) {
    printLine(jsonText(printableConfig(config), 2));
    return 0;
  }
  const server = await tellIfSlow('Loading the engines; the first start takes longest …', startServer(config));
  printLine(`\nDramatis is ready: ${server.url}\n`);
  const scenes = [...server.characters.values()].filter(({ stage }) => stage !== undefined).length;
  for (const line of [
    `${server.characters.size - scenes} characters, ${scenes} scenes`,
    engineList(server.engines.summary),
    ...server.engines.notes,
    ...[scriptedNote(config)].filter((note) => note !== undefined),
    ...missingVoices(server.characters.values(), config.dataDir),
    ...(config.tlsDev ? [trustAdvice(config.dataDir)] : []),
    'Open this address in a browser, choose a character, and speak.',
    'Ctrl-C stops the server.',
  ])
    printLine(wrap(`  ${line}`, 4));
  printLine();
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
  printLine('Stopping after the current replies. Press Ctrl-C again to stop at once.');
  await server.close();
  return 0;
}
