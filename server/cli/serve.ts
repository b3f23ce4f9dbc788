import { printableConfig } from '../config/config.ts';
import { missingVoices } from '../engines/library-voice.ts';
import { startServer } from '../app/serve.ts';
import { trustAdvice } from '../tls/credentials.ts';
import { wrapped } from '../terminal/help-text.ts';
import { parseCommand, requireNone } from '../terminal/usage.ts';

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
    console.log(JSON.stringify(printableConfig(config), undefined, 2));
    return 0;
  }
  const server = await startServer(config);
  console.log(`\nDramatis is ready: ${server.url}\n`);
  const scenes = [...server.characters.values()].filter(({ stage }) => stage !== undefined).length;
  for (const line of [
    `${server.characters.size - scenes} characters, ${scenes} scenes`,
    server.engines.summary.map((engine) => `${engine.stage} ${engine.name}`).join(', '),
    ...server.engines.notes,
    ...missingVoices(server.characters.values(), config.dataDir),
    ...(config.tlsDev ? [trustAdvice(config.dataDir)] : []),
    'Open the address in a browser, pick a character, and speak.',
    'Ctrl-C stops the server.',
  ])
    console.log(wrapped(`  ${line}`, 4));
  console.log();
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
  console.log('Stopping; replies may finish. Once more stops at once.');
  await server.close();
  return 0;
}
