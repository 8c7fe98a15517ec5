import { readdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { ifExists } from '../disk.ts'
import { repairCommand } from '../storage-fault.ts'
import type { DiskLocation } from './store-location.ts'

/** Returns the copies that were saved when another program changed the files of the open store. */
export async function findSavedCopies({ kind, path }: Pick<DiskLocation, 'kind' | 'path'>): Promise<readonly string[]> {
  const directory = kind === 'sqlite' ? dirname(path) : path
  const isCopy = (name: string) =>
    /\.recovered-\d+$/.test(name) && (kind === 'jsonl' || name.startsWith(`${basename(path)}.`))
  const names = (await ifExists(readdir(directory))) ?? []
  return names.filter(isCopy).map((name) => join(directory, name))
}

/** Tells people that records may be missing, and where they are. */
export function describeSavedCopies({ url }: Pick<DiskLocation, 'url'>, copies: readonly string[]): string {
  const [first, ...more] = copies
  const where = more.length === 0 ? first : `${first} and ${more.length} more files`
  return `Records may be missing: another program changed the files of the store while it was open, and what it had was saved to ${where}. holdfast doctor says what is only there. Stop Holdfast and run ${repairCommand(url)} to put it back. To do without it, move it elsewhere.`
}
