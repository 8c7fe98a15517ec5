import { createHash } from 'node:crypto'
import { lstat, readlink } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { openFile } from '../../system/files/open-file.ts'
import { systemErrorCode } from '../../system/system-error.ts'
import { createOffer, type Offer } from '../../trust/offer.ts'
import { listFolder } from '../list-folder.ts'
import { type SkillOnDisk, skillFileName } from './find-skills.ts'

const filesMax = 1000
const bytesMax = 32 * 1024 * 1024
const cachedMax = 1000

/** Returns the name under which a skill of a workspace is trusted. */
export const offerNameOf = (workspace: string, { folder }: Pick<SkillOnDisk, 'folder'>): string =>
  relative(workspace, folder)

/**
 * Returns a skill as what its workspace offers: its text, and all files of its folder, which it can tell the model to run.
 * Null if it cannot be read, or if its folder is too large to be checked.
 */
export function createSkillOffers() {
  const known = new Map<string, { readonly stamps: string; readonly files: ReadonlyMap<string, Uint8Array> }>()

  return async (workspace: string, skill: SkillOnDisk): Promise<Offer | null> => {
    if (!skill.file.ok) return null
    const found = await stampFiles(skill.folder)
    if (found === null) return null
    const stamps = JSON.stringify(found)
    const before = known.get(skill.folder)
    const files = before?.stamps === stamps ? before.files : await hashFiles(skill.folder, found)
    if (files === null) return null
    if (known.size >= cachedMax) known.clear()
    known.set(skill.folder, { stamps, files })
    const name = offerNameOf(workspace, skill)
    return createOffer({ kind: 'skill', name, path: join(name, skillFileName), text: skill.file.value.source, files })
  }
}

type Stamped = { readonly path: string; readonly stamp: string; readonly link: string | null }

/** Returns all files and links below a folder, with what changes when they change; null if there are too many. */
async function stampFiles(folder: string): Promise<readonly Stamped[] | null> {
  const found: Stamped[] = []
  let bytes = 0
  const visit = async (path: string): Promise<boolean> => {
    for (const entry of await listFolder(path, filesMax + 1)) {
      const inner = join(path, entry.name)
      if (entry.isDirectory()) {
        if (!(await visit(inner))) return false
        continue
      }
      const stats = await lstat(inner, { bigint: true })
      bytes += Number(stats.size)
      if (found.length >= filesMax || bytes > bytesMax) return false
      found.push({
        path: relative(folder, inner),
        stamp: [stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs, stats.mode].join(),
        link: stats.isFile() ? null : stats.isSymbolicLink() ? await readlink(inner) : 'neither a file nor a link',
      })
    }
    return true
  }
  try {
    return (await visit(folder)) ? found : null
  } catch (error) {
    if (systemErrorCode(error) === null) throw error
    return null // it changes right now
  }
}

async function hashFiles(folder: string, found: readonly Stamped[]): Promise<ReadonlyMap<string, Uint8Array> | null> {
  const files = new Map<string, Uint8Array>()
  try {
    for (const { path, link } of found) {
      const content = link === null ? await hashFile(folder, path) : Buffer.from(link)
      if (content === null) return null
      files.set(path, content)
    }
    return files
  } catch (error) {
    if (systemErrorCode(error) === null) throw error
    return null
  }
}

/** Hashes a file; null if it has become something else. */
async function hashFile(folder: string, path: string): Promise<Uint8Array | null> {
  const opened = await openFile(folder, path)
  if (!opened.ok) return null
  await using handle = opened.value.handle
  const hash = createHash('sha256')
  for await (const piece of handle.createReadStream({ autoClose: false })) hash.update(piece)
  return hash.digest()
}
