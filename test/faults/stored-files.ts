import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { SubjectLocation } from './subject/subject.ts'
import { sha256 } from './workload.ts'

/** Returns the bytes of each log and blob, by name. A database protects its own file. */
export type StoredFiles = ReadonlyMap<string, Buffer>

const isLog = (name: string): boolean => /^ses_[0-9a-z]+(\.shared)?\.jsonl/.test(name) && !name.includes('.new-')
const isBlob = (name: string): boolean => /^[0-9a-f]{2}\/[0-9a-f]{62}$/.test(name)

export async function readStoredFiles({ kind, directory }: SubjectLocation): Promise<StoredFiles> {
  if (kind === 'sqlite' || kind === 'inline') return new Map()
  const found = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => [])
  const names = found.filter((one) => one.isFile()).map((one) => relative(directory, join(one.parentPath, one.name)))
  const truth = names.filter(kind === 'blobs' ? isBlob : isLog).toSorted()
  const files = truth.map(async (name) => [name, await readFile(join(directory, name))] as const)
  return new Map(await Promise.all(files))
}

/** Returns the same as digests, for a comparison. */
export const digestsOf = (files: StoredFiles): readonly (readonly [string, string])[] =>
  [...files].map(([name, bytes]) => [name, sha256(bytes)])

const isTorn = (name: string): boolean => name.includes('.torn-')

export const newlyTorn = (before: StoredFiles, after: StoredFiles): readonly string[] =>
  [...after.keys()].filter((name) => isTorn(name) && !before.has(name))

/** Returns whether a problem names the file. */
export const isReported = (name: string, problems: readonly string[]): boolean =>
  problems.some((problem) => problem.includes(name))

/** Returns what a recovery deleted: each byte must be where it was, or in a file beside it. */
export function withoutSideFiles(before: StoredFiles, after: StoredFiles): readonly string[] {
  const torn = newlyTorn(before, after)
  return [...before].flatMap(([name, bytes]) => {
    const is = after.get(name)
    if (is === undefined) return [`${name} is gone`]
    const aside = torn.filter((one) => one.startsWith(`${name}.torn-`)).map((one) => after.get(one) ?? Buffer.alloc(0))
    const isKept = (aside.length === 0 ? is : Buffer.concat([is, ...aside])).equals(bytes)
    return isKept ? [] : [`${name} had ${bytes.length} bytes, of which some are neither in it nor beside it`]
  })
}
