export const json = { about: 'print JSON' } as const
export const store = { value: 'url', about: 'use this store: sqlite:PATH, jsonl:DIR or postgres://…' } as const
export const url = { value: 'url', about: 'use the server at this address, not a store here' } as const
export const tokenFile = { value: 'file', about: 'with --url: read the token from this file' } as const
/** Where the sessions are: in a store of this machine, or at a server. */
export const where = { store, url, 'token-file': tokenFile } as const
/** The same for commands that take no store. */
export const atServer = { url, 'token-file': tokenFile } as const
export const dryRun = { about: 'only print what would happen' } as const
export const listLimit = { value: 'n', range: [1, 1_000_000], about: 'print at most n sessions (default: 50)' } as const
export const listCursor = { value: 'cursor', about: 'continue an earlier list ("next" in its JSON)' } as const

export const sessionNote =
  '<session> is an id, a unique beginning of an id, a handle such as calm-harbor-12, or @latest: the session of this folder with the latest message.'
export const ageNote = 'An age is a whole number and a unit: 90m, 12h, 30d or 2w.'
