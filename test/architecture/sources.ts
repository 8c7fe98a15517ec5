import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'

export type Source = { readonly path: string; readonly name: string; readonly text: string; readonly lines: number }

const isTest = (path: string) =>
  /([.]test[.]tsx?$|[/]testing[/]|^packages[/]testkit[/]|node_modules|[/]dist[/])/.test(path)

/** The source files of the packages, without tests; paths are relative to the repo. */
export const sources: readonly Source[] = globSync('packages/*/{src,bin}/**/*.{ts,tsx,mjs}')
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => !isTest(path))
  .map((path) => {
    const text = readFileSync(path, 'utf8')
    return { path, name: basename(path).replace(/[.][a-z]+$/, ''), text, lines: text.split('\n').length }
  })

export const under = (...folders: readonly string[]): readonly Source[] =>
  sources.filter(({ path }) => folders.some((folder) => path.startsWith(folder)))

/** Returns the code of a source without comments and string contents. */
export const codeOf = ({ text }: Source): string =>
  text
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/(^|[^:])\/\/.*$/gm, '$1')
    .replace(/'(?:[^'\\\n]|\\.)*'/g, "''")
