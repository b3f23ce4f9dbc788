import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { conflictIn } from './conflicts.ts';
import { groups, settingsSchema, type Config } from './settings.ts';
import { facts, type SettingFacts } from './setting-types.ts';

export type { Config };

/** An unusable configuration. The message names the setting, its source and the remedy. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly code = 'invalid_configuration';
}

/** A setting as the command line, the environment and the documentation know it. */
export interface Setting extends Required<Pick<SettingFacts, 'help' | 'value' | 'env' | 'secret'>> {
  readonly name: keyof Config;
  readonly group: string;
  /** `--llm-base-url` for `llmBaseUrl`. */
  readonly flag: string;
  /** A boolean; its flag takes no value. */
  readonly isSwitch: boolean;
  /** Default as text; undefined if there is none. */
  readonly shown: string | undefined;
  readonly more: string | undefined;
}

/** All settings, in the order of the documentation. */
export const settings: readonly Setting[] = Object.entries(groups).flatMap(([group, members]) =>
  Object.entries(members).map(([name, schema]) => settingOf(group, name as keyof Config, schema)),
);

function settingOf(group: string, name: keyof Config, schema: z.ZodType): Setting {
  const about = facts.get(schema);
  if (about === undefined) throw new Error(`the setting ${name} has no documentation`);
  const words = (separator: string): string => name.replaceAll(/[A-Z]/g, (letter) => `${separator}${letter}`);
  const value: unknown = schema.parse(undefined);
  return {
    name,
    group,
    flag: `--${words('-').toLowerCase()}`,
    env: about.env ?? `DRAMATIS_${words('_').toUpperCase()}`,
    isSwitch: typeof value === 'boolean',
    help: about.help,
    value: about.value ?? 'N',
    shown: about.shown ?? shownDefault(value),
    more: about.more,
    secret: about.secret === true,
  };
}

function shownDefault(value: unknown): string | undefined {
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

/**
 * Reads the configuration: `flags` before `environment` before the file before the defaults. Throws `ConfigError` on an
 * invalid value, an unknown key, and if others could reach the server without a key.
 */
export function readConfig(sources: {
  readonly flags: Readonly<Record<string, string | boolean | undefined>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Default: `dramatis.config.json` in the working directory, if it exists. */
  readonly file?: string;
}): Config {
  const fromFile = readFile(sources.file);
  const merged: Record<string, unknown> = { ...fromFile.values };
  const origin: Record<string, string> = Object.fromEntries(Object.keys(merged).map((name) => [name, fromFile.path]));
  for (const { name, env, flag } of settings) {
    const environment = sources.environment[env];
    const flagged = sources.flags[name];
    if (environment !== undefined && environment !== '') [merged[name], origin[name]] = [environment, env];
    if (flagged !== undefined) [merged[name], origin[name]] = [flagged, flag];
  }
  const parsed = settingsSchema.safeParse(merged);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const name = issue?.code === 'unrecognized_keys' ? issue.keys[0] : String(issue?.path[0]);
    const wrong = issue?.code === 'invalid_type' ? `must be a ${issue.expected}` : issue?.message;
    throw new ConfigError(`${origin[name ?? ''] ?? name} (setting "${name}"): ${wrong ?? 'invalid'}`);
  }
  const config = Object.freeze(parsed.data);
  const conflict = conflictIn(config);
  if (conflict !== undefined) throw new ConfigError(conflict);
  return config;
}

/** The configuration for display, with secrets masked. */
export function printableConfig(config: Config): Record<string, unknown> {
  return Object.fromEntries(
    settings.map(({ name, secret }) => {
      const value = config[name];
      const hidden = secret && value !== undefined && (!Array.isArray(value) || value.length > 0);
      if (hidden) return [name, Array.isArray(value) ? value.map(() => '••••') : '••••'];
      return [name, value ?? null];
    }),
  );
}

function readFile(file: string | undefined): { path: string; values: Record<string, unknown> } {
  const place = file ?? path.resolve('dramatis.config.json');
  let text: string;
  try {
    text = readFileSync(place, 'utf8');
  } catch (cause) {
    if (file === undefined) return { path: place, values: {} };
    throw new ConfigError(`${place}: cannot be read; check the path`, { cause });
  }
  try {
    return { path: place, values: z.record(z.string(), z.unknown()).parse(JSON.parse(text)) };
  } catch (cause) {
    throw new ConfigError(`${place}: not a JSON object`, { cause });
  }
}
