import { basename } from 'node:path'
import { resolvePath } from '../../../system/files/resolve-path.ts'
import { programOf } from './known-programs.ts'
import type { PlainCommand } from './plain-commands.ts'

/** Whether a word may name something outside the workdir through a link. */
export type IsLinkedOut = (word: string) => boolean

/** More paths are not looked at: then any word may lead outside. */
const pathsMax = 400
/** How many folders a command may be in. Each `cd` may or may not have run. */
const foldersMax = 16
/** A short option may be a group with a value at its end, such as `-rfnotes`. */
const groupedMax = 8

/**
 * Finds the words of commands that name something outside the workdir through a link of the workdir. A repository can bring
 * such links, and a pattern cannot see them.
 */
export async function findLinkedOut(commands: readonly PlainCommand[], workdir: string): Promise<IsLinkedOut> {
  const folders = foldersOf(commands)
  const candidates = commands.flatMap(([program, ...words]) => [
    ...words.flatMap((word) => pathsOf(word).map((path) => ({ word, path }))),
    ...(programOf(program).knownOptions ? [] : destinationsOf(words)),
  ])
  if (folders.length > foldersMax || candidates.length * folders.length > pathsMax) return () => true
  const linked = new Set<string>()
  const looks = folders.flatMap((folder) =>
    candidates.map(async ({ word, path }) => {
      if (await isOut(workdir, `${folder}${path}`)) linked.add(word)
    }),
  )
  await Promise.all(looks)
  return (word) => linked.has(word)
}

async function isOut(workdir: string, path: string): Promise<boolean> {
  if (path.includes('\0')) return false
  const found = await resolvePath(workdir, path)
  return !found.ok && found.fault.code === 'outside_workdir'
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

/** Returns where a program may write: a file that is copied into a folder keeps its name. */
const destinationsOf = (words: readonly string[]) =>
  words.flatMap((word) =>
    words.filter((other) => other !== word).map((other) => ({ word, path: `${word}/${basename(other)}` })),
  )
