import { createHash } from 'node:crypto'
import { lstat, readlink } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { escapeLine } from '@holdfast/protocol'
import { openFile } from '../../system/files/open-file.ts'
import { systemErrorCode } from '../../system/system-error.ts'
import { createOffer, type Offer } from '../../trust/offer.ts'
import { listFolder } from '../list-folder.ts'
import { type SkillOnDisk, skillFileName } from './find-skills.ts'

const filesMax = 1000
const bytesMax = 32 * 1024 * 1024
const cachedMax = 1000
/** A longer file is shown by its size and hash alone, and so are all after this many bytes of a skill. */
const shownBytesMax = 16 * 1024
const shownBytesOfSkillMax = 64 * 1024

/** A file of a skill's folder: its hash, or where a link leads; and its text if it is short. */
type SkillFile = { readonly hash: Uint8Array; readonly bytes: number; readonly text: string | null }
type SkillFiles = ReadonlyMap<string, SkillFile>

/**
 * Returns a skill as what its workspace offers: its text, and all files of its folder, which it can tell the model to run.
 * Null if it cannot be read, or if its folder is too large to be checked.
 */
export function createSkillOffers() {
  const known = new Map<string, { readonly stamps: string; readonly offer: Offer }>()

  return async (name: string, skill: SkillOnDisk): Promise<Offer | null> => {
    if (!skill.file.ok) return null
    const found = await stampFiles(skill.folder)
    if (found === null) return null
    const stamps = JSON.stringify([name, skill.file.value.hash, found])
    const before = known.get(skill.folder)
    if (before?.stamps === stamps) return before.offer
    const files = await hashFiles(skill.folder, found)
    if (files === null) return null
    const text = describe(skill.file.value.source, files)
    const hashes = new Map([...files].map(([path, { hash }]) => [path, hash]))
    const offer = createOffer({ kind: 'skill', name, path: join(name, skillFileName), text, files: hashes })
    if (known.size >= cachedMax) known.clear()
    known.set(skill.folder, { stamps, offer })
    return offer
  }
}

/** Describes a skill in full. The hashes come first: of a long text only the beginning is compared after a change. */
function describe(source: string, files: SkillFiles): string {
  const others = [...files].filter(([path]) => path !== skillFileName).sort(([a], [b]) => (a < b ? -1 : 1))
  if (others.length === 0) return source
  const list = others.map(
    ([path, { bytes, hash }]) => `${escapeLine(path)}, ${bytes} bytes, ${Buffer.from(hash).toString('hex', 0, 6)}`,
  )
  let room = shownBytesOfSkillMax
  const texts = others.flatMap(([path, { bytes, text }]) => {
    if (text === null || bytes > room) return []
    room -= bytes
    return ['', `File ${escapeLine(path)}:`, text]
  })
  return ['Other files of its folder, with the beginning of their hashes:', ...list, '', source, ...texts].join('\n')
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

async function hashFiles(folder: string, found: readonly Stamped[]): Promise<SkillFiles | null> {
  const files = new Map<string, SkillFile>()
  try {
    for (const { path, link } of found) {
      const file = link === null ? await readSkillFile(folder, path) : describeLink(link)
      if (file === null) return null
      files.set(path, file)
    }
    return files
  } catch (error) {
    if (systemErrorCode(error) === null) throw error
    return null
  }
}

const describeLink = (target: string): SkillFile => ({
  hash: createHash('sha256').update(`link to ${target}`).digest(),
  bytes: target.length,
  text: `[a link to ${escapeLine(target)}]`,
})

/** Hashes a file, and keeps its text if it is short; null if it has become something else. */
async function readSkillFile(folder: string, path: string): Promise<SkillFile | null> {
  const opened = await openFile(folder, path)
  if (!opened.ok) return null
  await using handle = opened.value.handle
  const hash = createHash('sha256')
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of handle.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>) {
    hash.update(piece)
    bytes += piece.length
    if (bytes <= shownBytesMax) pieces.push(piece)
  }
  const content = Buffer.concat(pieces)
  const isText = bytes <= shownBytesMax && !content.includes(0)
  return { hash: hash.digest(), bytes, text: isText ? content.toString('utf8') : null }
}
