import type { ImportReport } from './draft.ts';

/** Importers of research data sets, by the name `--from` takes; each reads a file or folder. */
export const importers: Readonly<Record<string, () => Promise<(place: string) => Promise<ImportReport>>>> = {
  speechrole: async () => (await import('./speechrole.ts')).importSpeechRole,
  rolebench: async () => (await import('./rolebench.ts')).importRoleBench,
  chatharuhi: async () => (await import('./chat-haruhi.ts')).importChatHaruhi,
  coser: async () => (await import('./coser.ts')).importCoser,
  'beyond-dialogue': async () => (await import('./beyond-dialogue.ts')).importBeyondDialogue,
  wikidata: async () => (await import('./wikidata.ts')).importWikidata,
};
