/** What several commands take, and are told by. */
export const json = { about: 'print JSON' } as const
export const store = {
  takes: 'url',
  about: 'sqlite:PATH or jsonl:DIR (default: HOLDFAST_STORE, else the store of the data directory)',
} as const
export const dryRun = { about: 'only say what would happen' } as const
export const sessionNote =
  'A session is named by its id, the beginning of one, its handle, or @latest (of this workspace).'
