import { z } from 'zod';
import { executedModels, providers } from '../../voices/onnx/execution.ts';
import { withoutBrackets } from './loopback.ts';

/** Documentation of a setting, beside its type and default. */
export interface SettingFacts {
  readonly help: string;
  /** Markdown added to the help text in SETTINGS.md. */
  readonly more?: string;
  /** Placeholder of the value in the help text; `N` for numbers. */
  readonly value?: string;
  /** Default as the documentation shows it, if the schema has none or it depends on the machine. */
  readonly shown?: string;
  /** Environment variable, if it is not `DRAMATIS_` and the name. */
  readonly env?: string;
  /** Masked by `--print-config`. */
  readonly secret?: boolean;
}

/** Documentation of the settings, by schema. */
export const facts = z.registry<SettingFacts>();

export const text = z.string().min(1);

export const count = z.number().int().min(1);

export const httpUrl = z.url({ protocol: /^https?$/ });

/** A switch: `true`, `1` or nothing is on; `false` or `0` is off. */
export const onOff = z.preprocess(
  (value) =>
    value === 'true' || value === '1' || value === '' ? true : value === 'false' || value === '0' ? false : value,
  z.boolean(),
);

/** Schema of a list: a JSON array in the config file, comma-separated text elsewhere. */
export function listOf<Item extends z.ZodType>(item: Item) {
  return z.preprocess(
    (value) =>
      typeof value === 'string'
        ? value
            .split(',')
            .map((entry) => entry.trim())
            .filter(Boolean)
        : value,
    z.array(item).readonly(),
  );
}

export const list = listOf(text);

/** Schema of a number: a JSON number in the config file, text elsewhere. */
export function numeric<Numeric extends z.ZodType<number | undefined>>(schema: Numeric) {
  return z.preprocess((value) => (typeof value === 'string' && value.trim() !== '' ? Number(value) : value), schema);
}

export const ipAddress = text.transform(withoutBrackets).pipe(z.union([z.ipv4(), z.ipv6()], 'must be an IP address'));

const badPorts = 'must be a range from 1024 to 65535, such as 20000-20099';

const port = z.int(badPorts).min(1_024, badPorts).max(65_535, badPorts);

/** `20000-20099`, or both ends as a list. */
export const portRange = z.preprocess(
  (value) => (typeof value === 'string' ? value.split('-').map((end) => Number(end.trim() || Number.NaN)) : value),
  z
    .tuple([port, port], badPorts)
    .readonly()
    .refine(([first, last]) => first < last, badPorts),
);

const address = /(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?/i.source;

const iceUrl = (form: string, example: string): z.ZodString =>
  z.string().regex(new RegExp(`^${form}$`, 'i'), `must look like ${example}`);

export const stunUrl = iceUrl(`stun:${address}`, 'stun:stun.example.com:3478');

export const turnUrl = iceUrl(`turns?:${address}(?:\\?transport=(?:udp|tcp))?`, 'turn:turn.example.com:3478');

export const mirrors = listOf(
  z.string().regex(/^https?:\/\/[^=\s]+=https?:\/\/[^=\s]+$/, 'must be FROM=TO, both http or https'),
);

/** Prices, `NAME=NUMBER` each. */
export const prices = listOf(
  z.string().regex(/^(?:input|output|audio)=\d+(?:\.\d+)?$/, 'must be input=PRICE, output=PRICE or audio=PRICE'),
);

const provider = `(${providers.join('|')})`;

/** Execution providers for all models, or `MODEL=PROVIDER+PROVIDER` for one. */
export const execution = listOf(
  z
    .string()
    .regex(
      new RegExp(`^(${provider}|(${executedModels.join('|')})=${provider}(\\+${provider})*)$`),
      `must be ${providers.join(', ')}, or MODEL=PROVIDER+PROVIDER with MODEL one of: ${executedModels.join(', ')}`,
    ),
);
