/** A save as the first version of the format has it, with no field that may be left out; its key is `the key of version 1`. It must load for ever. */
export const versionOne: unknown = {
  object: 'dramatis.save',
  version: 1,
  made_at: '2026-11-24T20:00:00.000Z',
  turns: [
    {
      character: 'alice',
      asked: 'I live in Leeds.',
      answered: 'Indeed?',
      at: 1000,
    },
  ],
  facts: [
    {
      character: 'alice',
      turn: 0,
      text: 'I live in Leeds.',
      at: 1000,
    },
  ],
  state: {
    '*': {
      world: {
        set: {
          place: 'the garden',
        },
      },
    },
  },
  hmac: 'Sc5bYwwtT8y16morEkA6GioID8jdJ6cqtfuTyMjCxrc',
};
