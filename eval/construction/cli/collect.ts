import {
  numberFlag,
  parseFlags,
  requireFlag,
  requireNone,
  textFlag,
  type FlagFacts,
} from '../../../server/terminal/flags.ts';
import { EvalError } from '../../eval-error.ts';
import { machineClock } from '../../limits.ts';
import { collectCharacters, introductions } from '../ditto/wikidata-client.ts';
import { charactersInDump } from '../ditto/wikidata-dump.ts';
import { openDraft } from '../runner/record-file.ts';
import type { DataHost } from './host.ts';

const flags = {
  out: { type: 'string', value: 'FILE', help: 'JSONL to write; answers are kept in FILE.cache' },
  dump: { type: 'string', value: 'FILE', help: 'Wikidata dump (.json, .json.gz) to read instead of querying SPARQL' },
  contact: { type: 'string', value: 'WHO', help: 'your e-mail address or page, which the services ask for' },
  language: { type: 'string', value: 'en|zh', help: 'language of labels and articles (default en)' },
  limit: { type: 'string', value: 'N', help: 'number of real persons, and of fictional ones (default 5000)' },
  'least-links': { type: 'string', value: 'N', help: 'minimum number of articles about a character (default 40)' },
  sparql: { type: 'string', value: 'URL', help: 'default https://query.wikidata.org/sparql' },
  api: { type: 'string', value: 'URL', help: 'default https://www.wikidata.org/w/api.php' },
  wikipedia: { type: 'string', value: 'URL', help: 'default https://LANGUAGE.wikipedia.org/w/api.php' },
} as const satisfies Record<string, FlagFacts>;

/** `dramatis data collect --out FILE --contact WHO`. */
export async function run(args: readonly string[], host: DataHost): Promise<number> {
  const about =
    'Collects characters for the build "ditto": one request at a time, none twice; or from a dump. With a dump, --contact ' +
    'adds the introductions of Wikipedia.';
  const parsed = parseFlags(
    { name: 'data collect', synopsis: '--out FILE --contact WHO', about, flags },
    args,
    host.print,
  );
  if (parsed === undefined) return 0;
  const { values } = parsed;
  requireNone(parsed.positionals);
  const language = textFlag(values.language) ?? 'en';
  if (language !== 'en' && language !== 'zh') throw new EvalError('usage', '--language must be en or zh.');
  const out = requireFlag(values.out, 'out');
  const dump = textFlag(values.dump);
  const contact = dump === undefined ? requireFlag(values.contact, 'contact') : textFlag(values.contact);
  const draft = await openDraft(out);
  let count = 0;
  try {
    const sought = {
      language,
      limit: numberFlag(values.limit, 'limit', { min: 1, isWhole: true }) ?? 5_000,
      leastLinks: numberFlag(values['least-links'], 'least-links', { min: 1, isWhole: true }) ?? 40,
    } as const;
    const wikipediaUrl = (tag: string): string =>
      textFlag(values.wikipedia) ?? `https://${tag}.wikipedia.org/w/api.php`;
    const asking = { wikipediaUrl, cache: `${out}.cache`, clock: machineClock, signal: host.signal };
    const characters =
      dump === undefined
        ? collectCharacters(sought, {
            ...asking,
            sparqlUrl: textFlag(values.sparql) ?? 'https://query.wikidata.org/sparql',
            apiUrl: textFlag(values.api) ?? 'https://www.wikidata.org/w/api.php',
            contact: contact ?? '',
          })
        : charactersInDump(dump, {
            ...sought,
            signal: host.signal,
            introductionOf: contact === undefined ? undefined : introductions(language, { ...asking, contact }),
          });
    for await (const character of characters) {
      await draft.write(`${JSON.stringify(character)}\n`);
      count += 1;
    }
  } catch (fault) {
    await draft.abandon();
    throw fault;
  }
  await draft.finish();
  host.print(`${count} characters in ${out}. Wikidata is CC0, texts of Wikipedia are CC BY-SA 4.0.`);
  return 0;
}
