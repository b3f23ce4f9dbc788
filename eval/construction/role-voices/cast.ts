import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { EvalError } from '../../eval-error.ts';

const cast = z.strictObject({
  work: z.string().default(''),
  roles: z
    .array(
      z.strictObject({
        /** Name of the role's files; the name itself by default. */
        key: z
          .string()
          .trim()
          .min(1)
          .regex(/^[^/\\]+$/, 'without slashes')
          .optional(),
        name: z.string().trim().min(1),
        aliases: z.array(z.string()).default([]),
        /** A few words for the models. */
        about: z.string().default(''),
      }),
    )
    .min(1),
});

/** The people who may be heard in recordings. */
export type Cast = z.infer<typeof cast>;

/** Reads the cast of a film or show. Throws an `EvalError` that names the first field that is wrong. */
export async function readCast(file: string): Promise<Cast> {
  try {
    return cast.parse(JSON.parse((await readFile(file, 'utf8')).replace(/^\uFEFF/, '')));
  } catch (cause) {
    const [issue] = cause instanceof z.ZodError ? cause.issues : [];
    const why = issue === undefined ? 'it is not readable as JSON' : `${issue.path.join('.')} ${issue.message}`;
    throw new EvalError('data', `--cast: ${file}: ${why}. Give {"work", "roles": [{"name", "aliases"}]}.`, cause);
  }
}

/** The role that a model names; undefined if it is none of the cast. */
export function roleNamed(name: string, { roles }: Cast): Cast['roles'][number] | undefined {
  const wanted = name.trim().toLowerCase();
  return roles.find((role) => [role.name, ...role.aliases].some((each) => each.toLowerCase() === wanted));
}

export function castText({ roles }: Cast): string {
  return roles
    .map(({ name, aliases, about }) => [name, ...aliases].join(' / ') + (about === '' ? '' : `: ${about}`))
    .join('\n');
}
