import { dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { type InstructionFile, limits } from '@holdfast/protocol'
import { isInside } from '../../system/files/resolve-path.ts'
import { readGuidanceText } from '../guidance-file.ts'
import { exists, realOrNull } from '../list-folder.ts'
import { findImports, withoutComments } from './find-imports.ts'

/** A file of instructions, with the text that the model gets. */
export type ReadInstructions = InstructionFile & { readonly text: string }

export type InstructionPlaces = {
  readonly workdir: string
  /** The root of its repository, or the workdir itself. */
  readonly workspace: string
  /** The folders of files in play, relative to the workdir. */
  readonly folders: readonly string[]
  readonly configDir: string
  readonly userDir: string
  /** Returns whether the rules let the model read a file. The user's own file is read without a check, what it imports is not. */
  readonly mayRead: (path: string) => Promise<boolean>
}

/** What does not fit is left out, the last file cut at a line. */
const bytesMax = limits.instructionsBytesMax
const filesMax = 50
const importDepthMax = 4

/** The names of instruction files in a folder. The first that exists counts. */
const names = ['AGENTS.md', 'CLAUDE.md', '.claude/CLAUDE.md'] as const

/**
 * Reads the instructions for a workdir: the user's own, those of the repository's root and each folder down to the workdir,
 * those of the folders of files in play, and what they import. Later ones count more. A file that is missing, unreadable,
 * not text, denied by a rule, or a link out of the workspace is left out; one that is reached twice is read once.
 */
export async function readInstructions(places: InstructionPlaces): Promise<readonly ReadInstructions[]> {
  const reader = createReader(places)
  const ofUser = [join(places.configDir, 'AGENTS.md'), join(places.userDir, '.claude/CLAUDE.md')]
  const ofFolders = listFolders(places).map((folder) => names.map((name) => join(folder, name)))
  // Most of them are missing, so all are looked for at once before any is read.
  const [user, ...folders] = await Promise.all([ofUser, ...ofFolders].map(thatExist))
  for (const path of user ?? []) if (await reader.readUser(path)) break
  for (const found of folders) for (const path of found) if (await reader.readWorkspace(path)) break
  return reader.files
}

async function thatExist(paths: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(paths.map(exists))
  return paths.filter((_, index) => found[index])
}

/** Returns the folders from the root down to the workdir, then from the workdir down to each folder in play. */
function listFolders({ workdir, workspace, folders }: InstructionPlaces): readonly string[] {
  const down = (from: string, to: string): readonly string[] => {
    const way = relative(from, to)
    const steps = way === '' ? [] : way.split('/')
    return [from, ...steps.map((_, index) => join(from, ...steps.slice(0, index + 1)))]
  }
  const inPlay = folders
    .map((folder) => resolve(workdir, folder))
    .filter((folder) => isInside(workdir, folder) && !isOfDependency(relative(workdir, folder)))
  return [...new Set([...down(workspace, workdir), ...inPlay.sort().flatMap((folder) => down(workdir, folder))])]
}

/** Whether a folder belongs to an installed package: its instructions are for those who work on the package. */
const isOfDependency = (folder: string): boolean => folder.split('/').includes('node_modules')

type Reading = { readonly root: string; readonly scope: InstructionFile['scope'] }
type Importer = { readonly path: string; readonly depth: number }

function createReader({ workdir, workspace, userDir, mayRead }: InstructionPlaces) {
  const files: ReadInstructions[] = []
  const seen = new Set<string>()
  let left = bytesMax

  /** Reads a file and what it imports. Returns whether it exists inside `root`, also if it was read before or is denied. */
  const read = async (path: string, { root, scope }: Reading, by: Importer | null = null): Promise<boolean> => {
    const found = await readText(root, path)
    if (found === null) return false
    if (by !== null && scope === 'workspace' && !isImportable(found.path)) return false // a link to another file
    if (seen.has(found.path) || files.length >= filesMax) return true
    seen.add(found.path)
    const needsLeave = by !== null || scope === 'workspace'
    if (needsLeave && !((await mayRead(path)) && (await mayRead(found.path)))) return true
    const text = withoutComments(found.text).trim()
    if (text === '' || left <= 0) return true
    const shown = scope === 'user' ? path : relative(workdir, path)
    const kept = cutAtLine(text, left)
    const isFull = kept.length < text.length
    left = isFull ? 0 : left - Buffer.byteLength(kept)
    const size = { bytes: Buffer.byteLength(kept), isCut: found.isCut || isFull }
    files.push({ path: shown, text: kept, scope, ...(by && { importedBy: by.path }), ...size })
    const depth = (by?.depth ?? 0) + 1
    if (depth > importDepthMax) return true
    for (const named of findImports(text)) {
      if (left <= 0) break
      const target = scope === 'user' && named.startsWith('~/') ? join(userDir, named.slice(2)) : named
      const imported = isAbsolute(target) ? target : join(dirname(found.path), target)
      if (scope === 'user' || isImportable(imported)) await read(imported, { root, scope }, { path: shown, depth })
    }
    return true
  }
  return {
    files,
    readUser: async (path: string) =>
      (await read(path, { root: userDir, scope: 'user' })) || read(path, { root: dirname(path), scope: 'user' }),
    readWorkspace: (path: string) => read(path, { root: workspace, scope: 'workspace' }),
  }
}

/** Whether a file of a workspace may be imported: text for people, not keys, settings or what Holdfast and git keep there. */
const isImportable = (path: string): boolean =>
  /\.(md|mdx|mdc|txt|rst|adoc)$/i.test(path) && !/(^|\/)\.(git|holdfast|ssh|gnupg|aws)(\/|$)/i.test(path)

type ReadText = { readonly path: string; readonly text: string; readonly isCut: boolean }

/** Reads a text file whose real path is inside `root`; null for anything else. */
async function readText(root: string, path: string): Promise<ReadText | null> {
  const [real, base] = await Promise.all([realOrNull(path), realOrNull(root)])
  if (real === null || base === null || !isInside(base, real)) return null
  const read = await readGuidanceText(base, relative(base, real), { bytesMax }) // checks again: a folder may become a link
  if (!read.ok) return null
  return { path: real, text: read.value.text.replace(/^\ufeff/, ''), isCut: read.value.isCut }
}

/** Returns the lines at the start of a text that fit. */
function cutAtLine(text: string, max: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= max) return text
  const end = bytes.subarray(0, max).lastIndexOf('\n')
  return bytes.toString('utf8', 0, Math.max(0, end))
}
