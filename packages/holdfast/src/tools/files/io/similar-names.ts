import { readdir } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { escapeLine, type Fault, fault } from '@holdfast/protocol'
import { resolvePath } from '../../../system/files/resolve-path.ts'
import { shownIn } from './guarded-path.ts'

const namesMax = 3
const entriesMax = 5000

/** Adds the most similar names of the same directory to a fault about a missing file. */
export async function withSimilarNames(why: Fault, workdir: string, path: string): Promise<Fault> {
  if (why.code !== 'not_found') return why
  const directory = await resolvePath(workdir, dirname(path))
  if (!directory.ok || directory.value.missing.length > 0) return why
  const entries = await readdir(directory.value.absolute).catch(() => [])
  const wanted = basename(path)
  const names = entries
    .slice(0, entriesMax)
    .map((name) => ({ name, score: similarity(name.toLowerCase(), wanted.toLowerCase()) }))
    .filter(({ score }) => score >= 0.5)
    .sort((one, other) => other.score - one.score || (one.name < other.name ? -1 : 1))
    .slice(0, namesMax)
    .map(({ name }) => escapeLine(shownIn(directory.value.shown, name)))
  return names.length === 0 ? why : fault(why.code, `${why.message}. Similar names: ${names.join(', ')}`, why.details)
}

/** Returns how many pairs of neighbouring characters two names share, from 0 to 1. */
function similarity(one: string, other: string): number {
  const pairs = (name: string) =>
    new Set(Array.from({ length: Math.max(1, name.length - 1) }, (_, at) => name.slice(at, at + 2)))
  const [left, right] = [pairs(one), pairs(other)]
  return (2 * left.intersection(right).size) / (left.size + right.size)
}
