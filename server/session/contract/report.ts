/** What a client reports of a conversation. */
export interface Report {
  readonly itemId: string;
  readonly reason?: string | undefined;
  readonly note?: string | undefined;
}

/** Words of a report. `by`: id of the character, in a scene. */
export interface ReportedWords {
  readonly role: 'system' | 'user' | 'assistant';
  readonly by: string | undefined;
  readonly text: string;
}
