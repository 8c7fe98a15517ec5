import type { StoredToken } from '@holdfast/core/ports'
import { createSerialQueue } from '@holdfast/protocol/serial-queue'
import { readJsonIfExists, replaceFile } from './replace-file.ts'

/** Reads the tokens of a store. A file that is missing or damaged lets nobody in. */
export async function readTokens(path: string): Promise<readonly StoredToken[]> {
  const stored = (await readJsonIfExists(path)) as { readonly tokens?: readonly StoredToken[] } | null // written by us
  return stored?.tokens ?? []
}

/** Opens the tokens of a store. If the file is deleted, all tokens are revoked. */
export async function openTokenFile(path: string) {
  let tokens = await readTokens(path)
  const serialize = createSerialQueue()

  /** Writes first: a change counts only once it is on disk. */
  const change = (next: (known: readonly StoredToken[]) => readonly StoredToken[]): Promise<void> =>
    serialize(async () => {
      const changed = next(tokens)
      await replaceFile(path, `${JSON.stringify({ tokens: changed }, null, 2)}\n`)
      tokens = changed
    })

  return {
    all: (): readonly StoredToken[] => tokens.map((token) => ({ ...token })),
    add: (token: StoredToken) => change((known) => [...known, { ...token }]),
    async remove(id: string): Promise<boolean> {
      if (!tokens.some((token) => token.id === id)) return false
      await change((known) => known.filter((token) => token.id !== id))
      return true
    },
    async touch(id: string, at: string): Promise<void> {
      if (!tokens.some((token) => token.id === id)) return
      await change((known) => known.map((token) => (token.id === id ? { ...token, lastUsedAt: at } : token)))
    },
    settled: () => serialize(async () => undefined),
  }
}
