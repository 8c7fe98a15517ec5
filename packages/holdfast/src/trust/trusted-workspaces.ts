import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { clip, fault, type JudgedOffer, OfferKind, ok, type Result, refuse } from '@holdfast/protocol'
import { z } from 'zod'
import { ensurePrivateDirectory } from '../system/files/private-directory.ts'
import { replaceAlone } from '../system/files/replace-alone.ts'
import { systemErrorCode, systemErrorWords } from '../system/system-error.ts'
import type { Offer } from './offer.ts'

/** An offer as it was when a person trusted it. */
const TrustedItem = z.strictObject({
  kind: OfferKind,
  name: z.string(),
  path: z.string(),
  /** The beginning of its text, to show what has changed since. */
  text: z.string(),
  hash: z.string(),
})
export type TrustedItem = z.infer<typeof TrustedItem>

const TrustFile = z.strictObject({ version: z.literal(1), workspace: z.string(), items: z.array(TrustedItem) })
type TrustFile = z.infer<typeof TrustFile>

const textCharsMax = 16 * 1024
/** The trust of so many workspaces is remembered. */
const knownMax = 20

/** The trust that people have put in what workspaces offer: one private file for each workspace, outside of it. */
export type TrustedWorkspaces = ReturnType<typeof createTrustedWorkspaces>

/** Returns the difference of two texts as a unified diff. */
type DiffTexts = (change: { readonly path: string; readonly before: string; readonly after: string }) => string

export function createTrustedWorkspaces(directory: string, diffTexts: DiffTexts) {
  const pathOf = (workspace: string): string =>
    join(directory, `${createHash('sha256').update(workspace).digest('hex').slice(0, 32)}.json`)

  const known = new Map<string, { readonly stamp: string; readonly items: readonly TrustedItem[] }>()

  /** Reads a file of trust, if it has changed: it may be long, and each step asks. It is only ever replaced as a whole. */
  const read = async (workspace: string): Promise<Result<readonly TrustedItem[]>> => {
    const path = pathOf(workspace)
    const stamp = await stampOf(path)
    const before = known.get(path)
    if (stamp !== null && before?.stamp === stamp) return ok(before.items)
    const file = await readTrustFile(path)
    if (!file.ok) return file
    const items = file.value?.workspace === workspace ? file.value.items : []
    if (known.size >= knownMax) known.clear()
    if (stamp !== null) known.set(path, { stamp, items })
    return ok(items)
  }

  return {
    /** Returns what was trusted of a workspace, whether or not it has changed since. */
    items: read,

    /** Whether anything was ever trusted. Each prompt asks, so it takes microseconds: no promise, and no error. */
    hasAny: (): boolean => existsSync(directory),

    /** Whether anything of a workspace is trusted, as quickly. */
    isKnown: (workspace: string): boolean => existsSync(pathOf(workspace)),

    /** Compares what a workspace offers now with what was trusted. */
    async judge(workspace: string, offers: readonly Offer[]): Promise<Result<readonly JudgedOffer[]>> {
      const items = await read(workspace)
      if (!items.ok) return items
      return ok(offers.map((offer) => judgeOffer(offer, items.value, diffTexts)))
    },

    /** Trusts these offers as they are now, besides what is trusted already. Others of the same kind and name are replaced. */
    async grant(workspace: string, offers: readonly Offer[]): Promise<Result<null>> {
      const path = pathOf(workspace)
      try {
        ensurePrivateDirectory(directory)
        return await replaceAlone(path, async (write) => {
          const before = await read(workspace)
          if (!before.ok) return before
          const kept = before.value.filter((item) => !offers.some((offer) => isSameName(item, offer)))
          const added = offers.map(({ kind, name, path: from, text, hash }) => ({
            kind,
            name,
            path: from,
            hash,
            text: clip(text, textCharsMax),
          }))
          const file: TrustFile = { version: 1, workspace, items: [...kept, ...added] }
          const written = await write(`${JSON.stringify(file, null, 2)}\n`)
          return written.ok ? ok(null) : written
        })
      } catch (error) {
        if (systemErrorCode(error) === null) throw error
        return unusable(path, `cannot be written: ${systemErrorWords(error)}.`)
      }
    },

    /** Takes back all trust in a workspace. Returns whether there was any. */
    async revoke(workspace: string): Promise<Result<boolean>> {
      const path = pathOf(workspace)
      const items = await read(workspace)
      try {
        await rm(path, { force: true })
        return ok(!items.ok || items.value.length > 0)
      } catch (error) {
        if (systemErrorCode(error) === null) throw error
        return unusable(path, `cannot be removed: ${systemErrorWords(error)}.`)
      }
    },

    list: () => listTrusted(directory),
  }
}

/** Lists the workspaces that are trusted, with what was trusted of each. Refused if a file cannot be read. */
async function listTrusted(directory: string): Promise<Result<readonly Pick<TrustFile, 'workspace' | 'items'>[]>> {
  const names = await readNames(directory)
  if (!names.ok) return names
  const found: Pick<TrustFile, 'workspace' | 'items'>[] = []
  for (const name of names.value.filter((one) => one.endsWith('.json'))) {
    const file = await readTrustFile(join(directory, name))
    if (!file.ok) return file
    if (file.value !== null) found.push({ workspace: file.value.workspace, items: file.value.items })
  }
  return ok(found.sort((a, b) => (a.workspace < b.workspace ? -1 : 1)))
}

async function readNames(directory: string): Promise<Result<readonly string[]>> {
  try {
    return ok(await readdir(directory))
  } catch (error) {
    const code = systemErrorCode(error)
    if (code === null) throw error
    return code === 'ENOENT' ? ok([]) : unusable(directory, `cannot be read: ${systemErrorWords(error)}.`)
  }
}

type Named = Pick<Offer, 'kind' | 'name'>
const isSameName = (a: Named, b: Named): boolean => a.kind === b.kind && a.name === b.name

function judgeOffer(offer: Offer, items: readonly TrustedItem[], diffTexts: DiffTexts): JudgedOffer {
  const known = items.find((item) => isSameName(item, offer))
  if (known === undefined) return { ...offer, verdict: 'new', before: null, diff: null }
  if (known.hash === offer.hash) return { ...offer, verdict: 'trusted', before: null, diff: null }
  // Of a long text only the beginning was kept, so only the beginnings are compared.
  const after = known.text.length < textCharsMax ? offer.text : clip(offer.text, textCharsMax)
  const diff = known.text === after ? null : diffTexts({ path: offer.path, before: known.text, after })
  return { ...offer, verdict: 'changed', before: known.text, diff }
}

/** Identifies a state of a file; null if there is none. */
async function stampOf(path: string): Promise<string | null> {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true })
    return [ino, size, mtimeNs, ctimeNs].join()
  } catch (error) {
    if (systemErrorCode(error) === null) throw error
    return null
  }
}

async function readTrustFile(path: string): Promise<Result<TrustFile | null>> {
  try {
    const parsed = TrustFile.safeParse(JSON.parse(await readFile(path, 'utf8')))
    return parsed.success
      ? ok(parsed.data)
      : unusable(path, 'is not a file of trust. Remove it, and grant trust again.')
  } catch (error) {
    if (error instanceof SyntaxError) return unusable(path, 'is not JSON. Remove it, and grant trust again.')
    const code = systemErrorCode(error)
    if (code === null) throw error
    return code === 'ENOENT' ? ok(null) : unusable(path, `cannot be read: ${systemErrorWords(error)}.`)
  }
}

const unusable = (path: string, what: string): Result<never> =>
  refuse(fault('storage_error', `${path} ${what}`, { path }))
