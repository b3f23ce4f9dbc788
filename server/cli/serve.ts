import cluster from 'node:cluster';
import { scriptedNote } from './scripted-note.ts';
import { printableConfig, type Config } from '../config/config.ts';
import { missingVoices } from '../engines/library-voice.ts';
import { startServer, type RunningServer } from '../app/serve.ts';
import { engineList } from '../terminal/stage-names.ts';
import { trustAdvice } from '../tls/credentials.ts';
import { parseCommand } from '../terminal/commands.ts';
import { numberFlag, requireNone } from '../terminal/flags.ts';
import { jsonText, printLine, tellIfSlow, wrap } from '../terminal/text.ts';

/** Most processes of `--nodes`. */
const mostNodes = 64;
const loading = 'Loading the engines; the first start takes longest …';
const stopping = 'Stopping after the current replies. Press Ctrl-C again to stop at once.';

/**
 * `dramatis serve`: runs until SIGINT or SIGTERM, then lets replies finish and clients disconnect; a second signal ends
 * it at once.
 */
export async function run(args: string[]): Promise<number> {
  const ownNode = cluster.isWorker ? await (await import('../cluster/local-nodes.ts')).openOwnNode() : undefined;
  const parsed = parseCommand('serve', '[--nodes N] [--print-config]', args, {
    nodes: { type: 'string', value: 'N', help: 'serve with N processes, which share a Redis: needs redis-server' },
    'print-config': { type: 'boolean', help: 'print the effective configuration, secrets masked, and exit' },
  });
  if (parsed === undefined) return 0;
  requireNone(parsed.positionals);
  const { config } = parsed;
  const nodes = numberFlag(parsed.values.nodes, 'nodes', { min: 1, max: mostNodes, isWhole: true }) ?? 1;
  if (parsed.values['print-config'] === true) {
    printLine(jsonText(printableConfig(config), 2));
    return 0;
  }
  if (ownNode === undefined && nodes > 1) return (await import('../cluster/local-nodes.ts')).serveNodes(nodes, config);
  const server = await (ownNode === undefined ? tellIfSlow(loading, startServer(config)) : startServer(config));
  const lines = readyLines(server, config);
  if (ownNode === undefined) for (const line of [...lines, '']) printLine(line);
  else ownNode.tell(server.app, lines);
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGTERM', ...(ownNode === undefined ? ['SIGINT'] : [])])
      process.once(signal, () => resolve());
  });
  if (ownNode === undefined) printLine(stopping);
  await server.close();
  ownNode?.leave();
  return 0;
}

/** Lines about a server that is ready. */
function readyLines(server: RunningServer, config: Config): string[] {
  const scenes = [...server.characters.values()].filter(({ stage }) => stage !== undefined).length;
  const facts = [
    `${server.characters.size - scenes} characters, ${scenes} scenes`,
    engineList(server.engines.summary),
    ...server.engines.notes,
    ...[scriptedNote(config)].filter((note) => note !== undefined),
    ...missingVoices(server.characters.values(), config.dataDir),
    ...(config.tlsDev ? [trustAdvice(config.dataDir)] : []),
    'Open this address in a browser, choose a character, and speak.',
    'Ctrl-C stops the server.',
  ];
  return [`\nDramatis is ready: ${server.url}\n`, ...facts.map((fact) => wrap(`  ${fact}`, 4))];
}
