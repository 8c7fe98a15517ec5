import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')

/** A package that people install. */
export type PublishedPackage = {
  readonly folder: 'client' | 'holdfast' | 'testkit'
  /** The internal packages bundled into its tarball. */
  readonly bundled: readonly ('protocol' | 'core' | 'client')[]
}

/** The packages that people install. */
export const published: readonly PublishedPackage[] = [
  { folder: 'client', bundled: ['protocol'] },
  { folder: 'holdfast', bundled: ['protocol', 'core', 'client'] },
  { folder: 'testkit', bundled: ['protocol', 'core'] },
]

/** One path that a program can import from, and its source. */
export type PublishedEntry = { readonly folder: string; readonly specifier: string; readonly source: string }

/** Paths that only the other packages of this repository import. */
const internal = ['./internal', './code-roles', './highlight', './language-names']

/** Returns the exports of a published package. */
export const withoutInternal = <Value>(exports: Readonly<Record<string, Value>>): Readonly<Record<string, Value>> =>
  Object.fromEntries(Object.entries(exports).filter(([path]) => !internal.includes(path)))

/** Returns every path that a program can import from a published package. */
export function publishedEntries({ folder }: PublishedPackage): readonly PublishedEntry[] {
  const { name, exports } = JSON.parse(readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8')) as {
    readonly name: string
    readonly exports: Readonly<Record<string, string>>
  }
  return Object.entries(withoutInternal(exports)).map(([path, source]) => ({
    folder,
    specifier: join(name, path),
    source: join('packages', folder, source),
  }))
}
