import { basename } from 'node:path'
import { resolvePath } from '../../../system/files/resolve-path.ts'
import { findGuard } from '../../files/io/guarded-path.ts'
import { programOf } from './known-programs.ts'
import type { PlainCommand } from './plain-commands.ts'

/** Whether a word may name something through a link that the command must not touch unasked. */
export type IsLinkedOut = (word: string) => boolean

/** More paths, or longer ones together, are not looked at: then any word may lead outside. */
const pathsMax = 400
const charsMax = 64 * 1024
/** How many folders a command may be in. Each `cd` may or may not have run. */
const foldersMax = 16
/** A short option may be a group with a value at its end, such as `-rfnotes`. */
const groupedMax = 8

/**
 * Finds the words of commands that name, through a link of the workdir, something outside of it, or a file that decides what
 * other programs run, such as `.git/config`. A repository can bring such links, and a pattern cannot see them.
 */
export async function findLinkedOut(commands: readonly PlainCommand[], workdir: string): Promise<IsLinkedOut> {
  const folders = foldersOf(commands)
  if (folders.length > foldersMax) return () => true
  const folderChars = folders.reduce((sum, folder) => sum + folder.length, 0)
  const candidates: Candidate[] = []
  let chars = 0
  // Counted while they are made: an unknown program has one for every two of its words.
  for (const candidate of candidatesOf(commands)) {
    candidates.push(candidate)
    chars += candidate.path.length * folders.length + folderChars
    if (candidates.length * folders.length > pathsMax || chars > charsMax) return () => true
  }
  const linked = new Set<string>()
  const looks = folders.flatMap((folder) =>
    candidates.map(async ({ word, path, onlyReads }) => {
      if (await isForbidden(workdir, `${folder}${path}`, onlyReads)) linked.add(word)
    }),
  )
  await Promise.all(looks)
  return (word) => linked.has(word)
}

type Candidate = { readonly word: string; readonly path: string; readonly onlyReads: boolean }

/** Yields what may be a path in the words of commands. */
function* candidatesOf(commands: readonly PlainCommand[]): Generator<Candidate> {
  for (const [program, ...all] of commands) {
    const words = [...new Set(all)]
    const hasKnownOptions = programOf(program).knownOptions !== undefined
    const onlyReads = hasKnownOptions && program !== 'git'
    for (const word of words) for (const path of pathsOf(word)) yield { word, path, onlyReads }
    if (hasKnownOptions) continue
    // Where it may write: a file that is copied into a folder keeps its name.
    for (const word of words)
      for (const other of words) if (other !== word) yield { word, path: `${word}/${basename(other)}`, onlyReads }
  }
}

async function isForbidden(workdir: string, path: string, onlyReads: boolean): Promise<boolean> {
  if (path.includes('\0')) return false
  const found = await resolvePath(workdir, path)
  if (!found.ok) return found.fault.code === 'outside_workdir'
  return !onlyReads && found.value.links.length > 0 && findGuard(found.value.shown) !== null
}

/** Returns the folders that the commands may run in: '' or a path that ends with '/'. */
function foldersOf(commands: readonly PlainCommand[]): readonly string[] {
  let folders = ['']
  for (const [program, folder] of commands)
    if (program === 'cd' && folder !== undefined && folders.length <= foldersMax)
      folders = [...folders, ...folders.map((one) => `${one}${folder}/`)]
  return folders
}

/** Returns what may be a path in a word: the word itself, or the value of an option. */
function pathsOf(word: string): readonly string[] {
  const value = word.includes('=') ? [word.slice(word.indexOf('=') + 1)] : []
  if (!word.startsWith('-')) return [word, ...value]
  if (word.startsWith('--')) return value
  const ends = Array.from({ length: Math.min(groupedMax, Math.max(0, word.length - 2)) }, (_, at) => word.slice(at + 2))
  return [...value, ...ends]
}
